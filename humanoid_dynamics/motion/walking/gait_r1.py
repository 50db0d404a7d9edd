# SPDX-License-Identifier: Apache-2.0
"""The reference gait R1: one step of the planar biped, twice continuously differentiable in time.

Rear foot flat until t1, then about its toe, swinging after t2; front foot lands on its heel at t0 without speed or acceleration and is
flat at t1; the hip follows a spline at constant height, knees bend forward.  It is one step, not a period.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.papers.biped.body import BipedBody, build_body
from humanoid_dynamics.papers.biped.chain import BipedMotion, rotation
from humanoid_dynamics.spatial.arrays import Matrix, Vector, check_vector, read_only
from humanoid_dynamics.spatial.records import Sealed

STEP = 0.35
"""Length the control values of the hip belong to [m]."""
HIP_X = (
    -0.071798, -0.062746, -0.045475, -0.022023, 0.006536, 0.039737, 0.076243, 0.114774, 0.159758,
    0.203640, 0.240725, 0.270159, 0.285110, 0.294624, 0.293004, 0.287751, 0.281120, 0.276982,
)  # fmt: skip
"""Control values of the hip ahead of the rear ankle [m]."""
DEGREE = 5
SHARE_OF_LEG = 0.9
LIFT_TIME = 0.3
MARGIN = 0.1


@dataclass(frozen=True, eq=False)
class GaitParameters:
    """What a step of this kind may differ in; the defaults are R1.

    Attributes:
        body: The biped that walks.
        times: t0, t1, t2, t3: heel strike, front foot flat, toe off, end [s].
        step: Distance from ankle to ankle in double support [m].
        lift: How high the swinging feet are lifted [m].
        heel_pitch: Of the front foot before heel strike, toes up [rad].
        toe_pitch: Of the rear foot at toe off, negative [rad].
        trunk: Angle of the trunk [rad].
        hip_height: Of the hip above the ground [m]; nine tenths of the straight leg where None.
        hip_x: (k,) control values of the hip ahead of the rear ankle, k >= 6 [m]; those of R1, scaled by the step, where None.
    """

    body: BipedBody = field(default_factory=build_body)
    times: tuple[float, float, float, float] = (0.6, 0.76, 0.92, 1.52)
    step: float = STEP
    lift: float = 0.06
    heel_pitch: float = math.radians(5.0)
    toe_pitch: float = math.radians(-6.0)
    trunk: float = math.radians(87.0)
    hip_height: float | None = None
    hip_x: Vector | None = None

    def __post_init__(self) -> None:
        t = check_vector("times", self.times, 4)
        if not (t[0] > 0.0 and np.all(np.diff(t) > 0.0)):
            raise ShapeError("times", f"{self.times}", "four positive times in order")
        for name in ("step", "lift", "heel_pitch", "toe_pitch", "trunk", "hip_height"):
            self._check_number(name)
        hip = np.array(HIP_X) * self.step / STEP if self.hip_x is None else self.hip_x
        if np.ndim(hip) != 1 or np.size(hip) <= DEGREE:
            raise ShapeError(
                "hip_x", f"shape {np.shape(hip)}", f"a row of at least {DEGREE + 1} numbers"
            )
        object.__setattr__(self, "hip_x", read_only(check_vector("hip_x", hip, np.size(hip))))

    def _check_number(self, name: str) -> None:
        value = getattr(self, name)
        if name == "hip_height" and value is None:
            return
        number = float(check_vector(name, [value], 1)[0])
        if (name in {"step", "hip_height"} and number <= 0.0) or (name == "lift" and number < 0.0):
            raise ShapeError(
                name,
                f"{number:g} m",
                "a length that is not negative" if name == "lift" else "a positive length",
            )


@dataclass(frozen=True, eq=False)
class Track(Sealed):
    """A function of time and its first two derivatives at one instant.

    Attributes:
        value: Its value, a number or a vector.
        rate: First derivative.
        acceleration: Second derivative.
    """

    value: Vector
    rate: Vector
    acceleration: Vector


class GaitR1:
    """The gait as a function of time."""

    def __init__(self, parameters: GaitParameters | None = None) -> None:
        """Prepare.

        Args:
            parameters: Of the step; R1 where None.
        """
        self.parameters = GaitParameters() if parameters is None else parameters
        given, control = self.parameters, np.asarray(self.parameters.hip_x)
        knots = np.concatenate(
            (
                np.zeros(DEGREE),
                np.linspace(0.0, given.times[3], len(control) - DEGREE + 1),
                np.full(DEGREE, given.times[3]),
            )
        )
        from scipy.interpolate import (
            BSpline,
        )  # takes half a second to load, for which every world would wait

        spline = BSpline(knots, control, DEGREE, extrapolate=False)
        self._hip = (spline, spline.derivative(1), spline.derivative(2))
        body = given.body
        straight = SHARE_OF_LEG * (body.shank + body.thigh) + body.ankle_height
        self._height = straight if given.hip_height is None else given.hip_height

    @property
    def switches(self) -> tuple[float, float, float]:
        """t0, t1, t2: where contacts change [s]."""
        t0, t1, t2, _ = self.parameters.times
        return t0, t1, t2

    def at(self, t: float) -> BipedMotion:
        """Return angles, rates and accelerations of all links.

        Args:
            t: Time, from 0 to t3 [s].

        Returns:
            The motion.

        Raises:
            ShapeError: If the time is outside, or the hip out of reach of a foot.
        """
        rear_pitch, rear_ankle, front_pitch, front_ankle, hip = self.points(t)
        rear_shank, rear_thigh = self._bend(hip, rear_ankle, t)
        front_shank, front_thigh = self._bend(hip, front_ankle, t)
        trunk = Track(np.asarray(self.parameters.trunk), np.zeros(()), np.zeros(()))
        links = (rear_pitch, rear_shank, rear_thigh, trunk, front_thigh, front_shank, front_pitch)
        return BipedMotion(
            *(
                np.array([float(getattr(link, name)) for link in links])
                for name in ("value", "rate", "acceleration")
            )
        )

    def points(self, t: float) -> tuple[Track, Track, Track, Track, Track]:
        """Return pitch and ankle of the rear foot, the same of the front foot, and the hip; the rear foot starts at x = 0.

        Args:
            t: Time, from 0 to t3 [s].

        Raises:
            ShapeError: If the time is outside.
        """
        end = self.parameters.times[3]
        if not 0.0 <= t <= end:
            raise ShapeError("t", f"{t:g}", f"a time from 0 to {end:g} s")
        x = [float(spline(t)) for spline in self._hip]
        hip = Track(np.array([x[0], self._height]), np.array([x[1], 0.0]), np.array([x[2], 0.0]))
        return (*self._rear_foot(t), *self._front_foot(t), hip)

    def _rear_foot(self, t: float) -> tuple[Track, Track]:
        given, (_, t1, t2, t3) = self.parameters, self.parameters.times
        pitch = _scaled(_rise(t, t1, t2 - t1), np.asarray(given.toe_pitch))
        toe, to_ankle = (
            np.array([given.body.toe, 0.0]),
            np.array([-given.body.toe, given.body.ankle_height]),
        )
        forward, up = _rise(t, t2, t3 + MARGIN - t2), _rise(t, t2, LIFT_TIME)
        swing = _sum(
            _scaled(forward, np.array([given.step, 0.0])), _scaled(up, np.array([0.0, given.lift]))
        )
        return pitch, _sum(_turned(pitch, to_ankle, toe), swing)

    def _front_foot(self, t: float) -> tuple[Track, Track]:
        given, (t0, t1, _, _) = self.parameters, self.parameters.times
        body = given.body
        pitch = _scaled(_fall(t, t0, t1 - t0), np.asarray(given.heel_pitch))
        landed = np.array([given.step - body.heel, 0.0])
        behind = _scaled(_fall(t, -MARGIN, t0 + MARGIN), np.array([-given.step, 0.0]))
        above = _scaled(_fall(t, t0 - LIFT_TIME, LIFT_TIME), np.array([0.0, given.lift]))
        to_ankle = np.array([body.heel, body.ankle_height])
        return pitch, _sum(_turned(pitch, to_ankle, landed), behind, above)

    def _bend(self, hip: Track, ankle: Track, t: float) -> tuple[Track, Track]:
        """Return shank and thigh between an ankle and the hip, knee forward; rates from the closed chain, not from the angles."""
        body = self.parameters.body
        r, dr, ddr = (
            getattr(hip, name) - getattr(ankle, name) for name in ("value", "rate", "acceleration")
        )
        length = float(np.hypot(*r))
        cosine = (body.shank**2 + length**2 - body.thigh**2) / (2.0 * body.shank * length)
        if not (abs(body.shank - body.thigh) < length < body.shank + body.thigh):
            raise ShapeError(
                "hip_x",
                f"a hip {length:.4f} m from an ankle at {t:g} s",
                f"less than the leg, {body.shank + body.thigh:.4f} m",
            )
        shank = math.atan2(r[1], r[0]) - math.acos(cosine)
        knee = body.shank * np.array([math.cos(shank), math.sin(shank)])
        thigh = math.atan2(r[1] - knee[1], r[0] - knee[0])
        along = np.array(
            [
                [body.shank * math.cos(shank), body.thigh * math.cos(thigh)],
                [body.shank * math.sin(shank), body.thigh * math.sin(thigh)],
            ]
        )
        across = np.array([-along[1], along[0]])
        rate = np.linalg.solve(across, dr)
        acceleration = np.linalg.solve(across, ddr + along @ rate**2)
        return tuple(
            Track(np.asarray(angle), rate[i], acceleration[i])
            for i, angle in enumerate((shank, thigh))
        )  # type: ignore[return-value]


def _rise(t: float, start: float, duration: float) -> Track:
    """Return the quintic 10 u³ - 15 u⁴ + 6 u⁵ of u = (t - start) / duration, constant outside 0 and 1."""
    u = min(max((t - start) / duration, 0.0), 1.0)
    value = u**3 * (10.0 - 15.0 * u + 6.0 * u**2)
    rate, acceleration = 30.0 * u**2 * (1.0 - u) ** 2, 60.0 * u * (1.0 - u) * (1.0 - 2.0 * u)
    return Track(
        np.asarray(value), np.asarray(rate / duration), np.asarray(acceleration / duration**2)
    )


def _fall(t: float, start: float, duration: float) -> Track:
    rise = _rise(t, start, duration)
    return Track(1.0 - rise.value, -rise.rate, -rise.acceleration)


def _scaled(track: Track, factor: Vector) -> Track:
    return Track(track.value * factor, track.rate * factor, track.acceleration * factor)


def _sum(*tracks: Track) -> Track:
    return Track(
        *(
            sum((getattr(track, name) for track in tracks), start=np.zeros(2))
            for name in ("value", "rate", "acceleration")
        )
    )


def _turned(angle: Track, arm: Vector, about: Vector) -> Track:
    """Return the point about + R(angle) arm."""
    along: Matrix = rotation(float(angle.value)) @ arm
    across = np.array([-along[1], along[0]])
    return Track(
        about + along, across * angle.rate, across * angle.acceleration - along * angle.rate**2
    )
