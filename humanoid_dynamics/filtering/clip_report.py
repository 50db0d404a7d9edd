# SPDX-License-Identifier: Apache-2.0
"""What is true of a filtered clip: whether it is preserved, whether it is finished, and the measures behind both.

Use::

    report = filter_clip(robot, clip, sensitivity=True).report
    report.preserved, report.headline, report.broken  # bool, one line, what is outside its bound
    report.measures  # PreservationMeasures
    report.to_dict()  # plain data, ready for JSON
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from humanoid_dynamics.filtering.certificate import COP, FRICTION, PULL, SHARE, FrameCertificate
from humanoid_dynamics.filtering.fallen import has_fallen
from humanoid_dynamics.filtering.frame import Frame
from humanoid_dynamics.filtering.preservation import PreservationMeasures, find_broken_bounds
from humanoid_dynamics.filtering.proportions import Proportions
from humanoid_dynamics.filtering.sensitivity import ENOUGH
from humanoid_dynamics.filtering.sole_edges import FLAT, find_edges
from humanoid_dynamics.filtering.ticks.sliding import BEARS
from humanoid_dynamics.filtering.ticks.step import RUNGS
from humanoid_dynamics.filtering.ticks.terms import BASE
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Matrix, Vector

LEAST_FOLLOWED, LEAST_FLOWN = (
    0.8,
    0.5,
)  # shares of the samples and of the flight of a reference that a finished clip keeps
SATURATED = 1.0 - 1e-3  # of a torque limit
RIM = 0.002  # m; pressure that is nearer to the rim of what bears


@dataclass(frozen=True)
class PerturbedRun:
    """Run of a clip under a small perturbation, judged against the perturbed clip.

    Attributes:
        name: The perturbation.
        broken: What is outside its bound; nothing where the run is preserved.
    """

    name: str
    broken: tuple[str, ...]


@dataclass(frozen=True)
class ClipReport:
    """Report of a filtered clip; what was not judged is None: limits of joints and motors that cannot be meant.

    Attributes:
        finished: Whether the robot was on its feet to the end, 0.8 of the samples of the reference were followed, and half of its flight
            was flown.
        fell: When it fell [s], or None.
        frames: Frames that were produced.
        residual: Largest residual of the equation of motion, over the weight [-].
        cop: Share of frames with the centre of pressure inside the soles.
        friction: Share of frames inside the friction cones.
        torque: Share of frames inside the torque limits.
        joints: Share of frames inside the position and speed limits of joints.
        all_limits: Share of frames inside all of these.
        worst_torque: Largest share of a torque limit [-].
        cop_margin: Smallest distance of the centre of pressure to the edge of a sole [m]; negative outside, None where nothing bears load.
        worst_friction: Largest share of the friction coefficient [-].
        joint_margin: Smallest distance to a position limit [rad or m]; negative outside.
        joint_rms: Root mean square over joints and time of what joints differ from the reference [rad].
        joint_max: Largest of these [rad].
        com_rms: Root mean square of what the centre of mass differs from its reference, strides scaled, slides corrected [m].
        base_max: Largest way of the base from its reference, likewise [m].
        slip: Longest way a standing sole moves, from the first frame on in which it bears load [m].
        stride: That of the measures; None where the reference makes no strides [-].
        rolled: Share of time in which a sole stands on an edge.
        flight_replaced: Time in which the reference flies and the robot stands instead [s].
        flown: Time in which the reference flies, and the robot too [s].
        rungs: Rung of the ladder -> frames.
        microseconds: Time per frame, what is compiled first not counted [us].
        notices: What was assumed, and what became of samples that were not simply taken.
        torque_saturated: Share of frames in which a motor gives all its torque [-].
        sole_rim: Share of frames that bear load with the centre of pressure within 2 mm of the rim of a sole [-].
        torque_step: Largest change of a torque from tick to tick, over its limit [-].
        jerk: Root mean square of the jerk of joints [rad/s^3].
        delay: By how much a frame of a stream would be later than the newest sample, at most [s].
        measures: What is kept of the reference; None where it was not measured.
        first_attempt: Whether it was the first attempt.
        perturbed: Runs under perturbations; none where these were not made.
    """

    finished: bool
    fell: float | None
    frames: int
    residual: float
    cop: float
    friction: float
    torque: float | None
    joints: float | None
    all_limits: float | None
    worst_torque: float | None
    cop_margin: float | None
    worst_friction: float
    joint_margin: float | None
    joint_rms: float
    joint_max: float
    com_rms: float
    base_max: float
    slip: float
    stride: float | None
    rolled: float
    flight_replaced: float
    flown: float
    rungs: dict[str, int]
    microseconds: float
    notices: tuple[str, ...] = ()
    delay: float = 0.0
    torque_saturated: float | None = None
    sole_rim: float | None = None
    torque_step: float | None = None
    jerk: float | None = None
    measures: PreservationMeasures | None = None
    first_attempt: bool = True
    perturbed: tuple[PerturbedRun, ...] = ()

    @property
    def broken(self) -> tuple[str, ...]:
        """What keeps the nominal run from being preserved: a field that does not hold, or a measure outside its bound."""
        held = {
            "finished": self.finished,
            "all_limits": self.all_limits == 1.0,
            "first_attempt": self.first_attempt,
        }
        return (
            *(name for name, holds in held.items() if not holds),
            *find_broken_bounds(self.measures),
        )

    @property
    def preserved(self) -> bool:
        """Whether the nominal run is preserved and, where perturbed runs were made, four of five of these are."""
        return not self.broken and (
            not self.perturbed or sum(not run.broken for run in self.perturbed) >= ENOUGH
        )

    @property
    def headline(self) -> str:
        """The verdict in one line, with what is outside its bound in the worst run."""
        if not self.perturbed:
            return (
                "preserved (nominal run only)"
                if self.preserved
                else f"not preserved: {', '.join(self.broken)}"
            )
        kept, worst = (
            sum(not run.broken for run in self.perturbed),
            max(self.perturbed, key=lambda run: len(run.broken)),
        )
        count = f"{kept} of {len(self.perturbed)} perturbed runs"
        under = f"; worst under {worst.name}: {', '.join(worst.broken)}" if worst.broken else ""
        if self.preserved:
            return f"preserved ({count}{under})"
        return f"not preserved: {', '.join(self.broken) or 'sensitive'} ({count}{under})"

    def to_dict(self) -> dict[str, Any]:
        """Return the report in plain data, ready for JSON.

        What is not finite becomes None; ``broken`` names measures that could not be taken, so that None of another one means that it does
        not apply.
        """
        told = {"preserved": self.preserved, "headline": self.headline, "broken": self.broken}
        plain: dict[str, Any] = to_plain({**told, **asdict(self)})
        return plain

    def without_limits(self) -> ClipReport:
        """Return the report without what limits of joints and motors say."""
        return replace(
            self,
            torque=None,
            joints=None,
            all_limits=None,
            worst_torque=None,
            joint_margin=None,
            torque_saturated=None,
            torque_step=None,
        )


def to_plain(value: Any) -> Any:
    """Return records as plain data, ready for JSON: None for what is not finite."""
    if isinstance(value, dict):
        return {key: to_plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(part) for part in value]
    if isinstance(value, float) and not isfinite(value):
        return None
    return value


class _Consistency(NamedTuple):
    residual: float
    cop: float
    friction: float
    torque: float
    joints: float
    all_limits: float
    worst_torque: float
    cop_margin: float | None
    worst_friction: float
    joint_margin: float


class _Errors(NamedTuple):
    joint_rms: float
    joint_max: float
    com_rms: float
    base_max: float


def judge_clip(
    robot: RobotModel,
    proportions: Proportions,
    frames: Sequence[Frame],
    reference: Matrix,
    *,
    microseconds: float = 0.0,
    notices: tuple[str, ...] = (),
    lost: bool = False,
    measures: PreservationMeasures | None = None,
) -> ClipReport:
    """Judge a clip by its frames.

    Args:
        robot: The robot.
        proportions: Its measures.
        frames: The frames, one or more.
        reference: (n, nq) what the clip wanted at each frame.
        microseconds: Time per frame [us].
        notices: What was assumed.
        lost: Whether what would have come next was a robot that has fallen.
        measures: What is kept of the reference.

    Returns:
        The report.
    """
    fell = lost or has_fallen(frames[-1].q, proportions.pelvis, proportions.up)
    replaced, flown = _measure_flight(frames)
    if replaced > 0.0:
        notices = (
            *notices,
            f"for {replaced:.2f} s of flight in the reference the robot stands or steps",
        )
    names, counts = np.unique([frame.rung for frame in frames], return_counts=True)
    consistency = _judge_certificates([frame.certificate for frame in frames])
    return ClipReport(
        **consistency._asdict(),
        **_measure_errors(robot, frames, reference)._asdict(),
        **_measure_effort(robot, frames)._asdict(),
        finished=not fell and (measures is None or _is_followed(measures)),
        fell=frames[-1].time if fell else None,
        frames=len(frames),
        slip=measure_slip(robot, proportions, frames),
        stride=None if measures is None else measures.stride,
        rolled=float(np.mean([any(frame.edges) for frame in frames])),
        flight_replaced=replaced,
        flown=flown,
        rungs={RUNGS[int(name)]: int(count) for name, count in zip(names, counts, strict=True)},
        microseconds=microseconds,
        notices=(*notices, *_tell_lost(measures)),
        measures=measures,
    )


def _is_followed(measures: PreservationMeasures) -> bool:
    return measures.followed >= LEAST_FOLLOWED and (
        measures.flight is None or measures.flight >= LEAST_FLOWN
    )


def _tell_lost(measures: PreservationMeasures | None) -> tuple[str, ...]:
    """Return notices of what was not followed, where that is too much for a finished clip."""
    if measures is None or _is_followed(measures):
        return ()
    lost = [f"{measures.followed:.0%} of the reference are followed"]
    lost += (
        [f"{measures.flight_lost:.2f} s of its flight are lost"]
        if measures.flight_lost > 0.0
        else []
    )
    return (f"not finished: {', '.join(lost)}",)


class _Effort(NamedTuple):
    torque_saturated: float
    sole_rim: float
    torque_step: float
    jerk: float


def _measure_effort(robot: RobotModel, frames: Sequence[Frame]) -> _Effort:
    """Measure how much of the margins is used, and how smooth torques and accelerations are."""
    effort = np.array(robot.limits.effort[BASE:])
    limited = np.isfinite(effort) & (effort > 0.0)
    tau, vdot = (
        np.array([frame.tau for frame in frames]),
        np.array([frame.vdot[BASE:] for frame in frames]),
    )
    dt = frames[1].time - frames[0].time if len(frames) > 1 else np.inf
    bears = [frame.certificate.cop for frame in frames if np.isfinite(frame.certificate.cop)]
    steps = np.abs(np.diff(tau[:, limited], axis=0)) / effort[limited]
    jerk = np.diff(vdot, axis=0) / dt
    return _Effort(
        torque_saturated=float(
            np.mean([frame.certificate.torque >= SATURATED for frame in frames])
        ),
        sole_rim=float(np.mean(np.array(bears) < RIM)) if bears else 0.0,
        torque_step=float(np.max(steps, initial=0.0)),
        jerk=float(np.sqrt(np.mean(jerk**2))) if jerk.size else 0.0,
    )


def _judge_certificates(certificates: Sequence[FrameCertificate]) -> _Consistency:
    return _Consistency(
        residual=max(c.residual for c in certificates),
        cop=float(np.mean([c.cop >= -COP and c.pull <= PULL for c in certificates])),
        friction=float(np.mean([c.friction <= 1.0 + FRICTION for c in certificates])),
        torque=float(np.mean([c.torque <= 1.0 + SHARE for c in certificates])),
        joints=float(np.mean([c.joint >= -SHARE and c.speed <= 1.0 + SHARE for c in certificates])),
        all_limits=float(np.mean([c.holds for c in certificates])),
        worst_torque=max(c.torque for c in certificates),
        cop_margin=min((c.cop for c in certificates if np.isfinite(c.cop)), default=None),
        worst_friction=max(c.friction for c in certificates),
        joint_margin=min(c.joint for c in certificates),
    )


def _measure_errors(robot: RobotModel, frames: Sequence[Frame], reference: Matrix) -> _Errors:
    data = robot.data()
    errors = np.array(
        [
            pin.difference(robot.model, a, frame.q)[BASE:]
            for a, frame in zip(reference, frames, strict=True)
        ]
    )
    com = np.array([pin.centerOfMass(robot.model, data, f.q) - f.target.com for f in frames])
    base = np.array([f.q[:3] - f.target.q[:3] for f in frames])
    return _Errors(
        joint_rms=float(np.sqrt(np.mean(errors**2))),
        joint_max=float(np.max(np.abs(errors))),
        com_rms=float(np.sqrt(np.mean(np.sum(com**2, axis=1)))),
        base_max=float(np.max(np.linalg.norm(base, axis=1))),
    )


def _measure_flight(frames: Sequence[Frame]) -> tuple[float, float]:
    """Return for how long the reference flies and the robot does not, and for how long both do [s]."""
    dt = frames[1].time - frames[0].time if len(frames) > 1 else 0.0
    aloft = [frame for frame in frames if frame.target.aloft]
    stands = sum(any(frame.stands) for frame in aloft)
    return dt * stands, dt * (len(aloft) - stands)


def measure_slip(robot: RobotModel, proportions: Proportions, frames: Sequence[Frame]) -> float:
    """Return the longest way a sole moves from where it stands, from the first frame in which it bears load to its lift-off.

    Args:
        robot: The robot.
        proportions: Its measures.
        frames: The frames.

    Returns:
        The way [m].
    """
    data, worst = robot.data(), 0.0
    settled: list[Vector | None] = [None, None]
    on, least = [FLAT, FLAT], BEARS * proportions.mass * proportions.gravity
    rims = [find_edges(corners) if len(corners) > 2 else None for corners in proportions.corners]
    for frame in frames:
        pin.forwardKinematics(robot.model, data, frame.q)
        for foot, sole in enumerate(proportions.soles):
            if not frame.stands[foot]:
                settled[foot], on[foot] = None, FLAT
                continue
            if frame.edges[foot] != on[foot]:
                settled[foot], on[foot] = None, frame.edges[foot]
            if settled[foot] is None and frame.wrenches[foot, 2] <= least:
                continue
            rim = rims[foot]
            point = (
                proportions.centres[foot] if rim is None or not on[foot] else rim.middle(on[foot])
            )
            place = np.array(pin.updateFramePlacement(robot.model, data, sole).act(point))
            first = settled[foot]
            if first is None:
                settled[foot] = place
            else:
                worst = max(worst, float(np.linalg.norm(place - first)))
    return worst
