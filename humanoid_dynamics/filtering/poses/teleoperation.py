# SPDX-License-Identifier: Apache-2.0
"""Live teleoperation: poses of any frames in, consistent balanced motion out, whatever the operator does."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from humanoid_dynamics.errors import ShapeError, UnknownNameError, UnsupportedRobotError
from humanoid_dynamics.filtering.certificate import FrameJudge
from humanoid_dynamics.filtering.fallen import has_fallen
from humanoid_dynamics.filtering.measured import read_arrays, read_number, read_state
from humanoid_dynamics.filtering.poses.answer import (
    StreamReport,
    TeleoperationFrame,
    TeleoperationStatus,
    name_status,
)
from humanoid_dynamics.filtering.poses.gate import PoseStreamStatus
from humanoid_dynamics.filtering.poses.led_body import BODY_PACE, LedBody
from humanoid_dynamics.filtering.poses.led_feet import REASONS
from humanoid_dynamics.filtering.poses.led_frame import find_led_frames
from humanoid_dynamics.filtering.poses.led_poses import LedPoses
from humanoid_dynamics.filtering.poses.point_rows import PointLaw
from humanoid_dynamics.filtering.poses.reaching_tick import ReachingTick
from humanoid_dynamics.filtering.poses.rising import Rising
from humanoid_dynamics.filtering.proportions import measure_proportions
from humanoid_dynamics.filtering.ticks.program import Weights
from humanoid_dynamics.filtering.ticks.tick import TickSettings
from humanoid_dynamics.filtering.ticks.wishes import TaskGains
from humanoid_dynamics.model.doubt import doubtful_limits
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Matrix, Vector

TICK = TickSettings(
    TaskGains(height=(100.0, 20.0)), Weights(height=5e3)
)  # hands that are pulled do not raise the body
LONGEST_PAUSE = 1.0  # s; our time does not go on by more than this from call to call
FASTEST = 1e3  # of any coordinate [m/s, rad/s]; a state of our own beyond it is no state any more


class Teleoperation:
    """Teleoperation of one robot: ``observe`` poses as they come, ``tick`` at an even rate; neither raises.

    Attributes:
        robot: The robot.
        names: Names of the led frames.
        q: (nq,) configuration now.
        v: (nv,) velocity now.
        dt: Time between ticks [s].
        frames: The led frames.
    """

    def __init__(
        self,
        robot: RobotModel,
        frames: Sequence[str] = ("left_hand", "right_hand"),
        *,
        rate: float = 500.0,
        relative: bool = False,
        scale: float = 1.0,
        turn: ArrayLike | None = None,
        law: PointLaw | None = None,
        settings: TickSettings | None = None,
    ) -> None:
        """Prepare.

        Args:
            robot: A robot with a free base and two soles.
            frames: Control points, surfaces, links or REP-120 aliases that are led.
            rate: Ticks per second [Hz].
            relative: Whether motions count from where frame and operator were when the clutch closed, instead of poses.
            scale: Metres of the robot for a metre of the operator, in relative mode.
            turn: (3, 3) axes of the operator in those of the robot's world, in relative mode; the same where None.
            law: How frames are drawn to their goals, and how fast they go at most.
            settings: How the tick decides.

        Raises:
            UnsupportedRobotError: If the base is not free, there are not two soles, or a frame is named twice.
            UnknownNameError: If there is no frame of a name.
            ShapeError: If rate or scale is no positive number, or the turn no rotation.
        """
        if robot.root != "free_flyer":
            raise UnsupportedRobotError(
                "teleoperation", [robot.root], "requires a floating base, received root"
            )
        axes = _check(rate, scale, turn)
        self.robot, self.names, self.dt = robot, tuple(frames), 1.0 / rate
        proportions = measure_proportions(robot)
        self.frames = find_led_frames(robot, self.names, proportions)
        settings, law = settings or TICK, law or PointLaw()
        if doubtful_limits(robot):
            settings = replace(settings, joint_limits=False, torque_limits=False)
        self._poses = LedPoses(
            self.frames, law.pace, [BODY_PACE], relative=relative, scale=scale, turn=axes
        )
        self._tick = ReachingTick(
            robot,
            self.frames,
            self._poses.followers,
            settings=settings,
            proportions=proportions,
            law=law,
        )
        self._body = LedBody(robot, self.frames, self._poses, self._tick, proportions)
        self._judge, self._stands = (
            FrameJudge(robot, proportions),
            (proportions.pelvis, proportions.up),
        )
        self._rising = Rising(robot, self.dt)
        self.restart()
        self._rehearse()

    def _rehearse(self) -> None:
        """Follow poses for two ticks, so that no tick that counts has to wait until its kernels are compiled or read."""
        for now in (0.0, self.dt):
            for name in self.names:
                self.update(name, now, self.pose(name), now)
            self.step(now)
        self._body.feet.reach(0, self._tick.terms)
        self.restart()

    def restart(self, q: Vector | None = None) -> None:
        """Forget all streams, and start at rest.

        Args:
            q: (nq,) configuration; the robot's resting posture where None.
        """
        self._poses.restart()
        self._now, self._clock = 0.0, np.nan
        self._rest(np.array(self.robot.posture if q is None else q), np.zeros(self.robot.nv))

    def _rest(self, q: Vector, v: Vector) -> None:
        self.q, self.v, self._started = q, v, False
        self._rising.restart()
        self._body.rest(q, v)

    def engage(self, *names: str) -> None:
        """Close the clutch: the operator leads these frames; in relative mode motions count from now on.

        Args:
            *names: Frames; all where none is named.

        Raises:
            UnknownNameError: If a frame is not led.
        """
        for k in self._places(names):
            self._poses.engage(k, closed=True)

    def disengage(self, *names: str) -> None:
        """Open the clutch: these frames stay where they are.

        Args:
            *names: Frames; all where none is named.

        Raises:
            UnknownNameError: If a frame is not led.
        """
        for k in self._places(names):
            self._poses.engage(k, closed=False)

    def _places(self, names: Sequence[str]) -> list[int]:
        for name in names:
            if name not in self.names:
                raise UnknownNameError("led frame", name, self.names)
        return [self.names.index(name) for name in names or self.names]

    def pose(self, name: str) -> pin.SE3:
        """Return where a led frame is.

        Args:
            name: The frame.

        Raises:
            UnknownNameError: If it is not led.
        """
        k = self._places([name])[0]
        return pin.SE3(self._tick.points.R[k], self._tick.points.p[k])

    def update(
        self, name: str, stamp: float, pose: ArrayLike | pin.SE3, now: float
    ) -> PoseStreamStatus:
        """Take a pose of the operator; nothing raises.

        Args:
            name: The frame it is for.
            stamp: When it was measured by the clock of its sender; zero where that is not known [s].
            pose: x y z [m] and quaternion x y z w in the world, or an SE3.
            now: When it came, by our clock [s].

        Returns:
            What became of it, see ``PoseGate.take``; ``UNKNOWN_FRAME`` where the frame is not led.
        """
        if name not in self.names:
            return PoseStreamStatus.UNKNOWN_FRAME
        k = self.names.index(name)
        partner = self.frames[k].partner
        streams = self._poses.streams
        return streams[k].observe(
            read_number(stamp),
            pose,
            self._time(read_number(now)),
            streams[partner] if partner >= 0 else None,
        )

    def _time(self, now: float) -> float:
        """Return our time, which goes on as the clock does, and never back."""
        if np.isfinite(now):
            if np.isfinite(self._clock):
                self._now += min(max(now - self._clock, 0.0), LONGEST_PAUSE)
            self._clock = now
        return self._now

    def step(self, now: float, measured: tuple[Vector, Vector] | None = None) -> TeleoperationFrame:
        """Return the next command; nothing raises.

        Args:
            now: Our clock [s].
            measured: Configuration and velocity of a robot; our own where None.

        Returns:
            The command.
        """
        time, status = self._time(read_number(now)), TeleoperationStatus.OK
        if measured is not None:
            status = self._take_state(measured)
        q, v, tick = self.q, self.v, self._tick
        target = self._body.target(time, self.dt)
        step = tick.step(target, q, v, self.dt, measured=measured is not None)
        after = v + self.dt * step.vdot
        q_after = pin.integrate(self.robot.model, q, self.dt * after)
        back = False
        if (
            _is_gone(q_after, after)
            or self._rising.active
            or has_fallen(q_after if measured is None else q, *self._stands)
        ):
            if measured is None:
                step, q_after, after, back = self._rising.step(q, v, self._body.home)
            else:
                step, q_after, after = self._rising.brake(q, v)
                self._started = False  # somebody has to put the robot on its feet
            status = TeleoperationStatus.RESTARTED if back else TeleoperationStatus.FALLEN
        certificate = self._judge.judge(q, v, (q_after, after), step, target)
        if status is TeleoperationStatus.OK:
            status = name_status(step.rung, gave_way=tick.gave_way, rescues=self._body.feet.rescues)
        streams = self._report(time)
        self.q, self.v = q_after, after
        if back:
            self._rest(q_after, after)
        clearance = tick.clearance.distance
        return TeleoperationFrame(
            time,
            q,
            v,
            step.vdot,
            step.tau,
            step.wrenches,
            step.stands,
            step.rung,
            status,
            certificate,
            clearance,
            streams,
        )

    def _take_state(self, measured: tuple[Vector, Vector]) -> TeleoperationStatus:
        state = read_state(self.robot.model, measured)
        if state is None:
            if read_arrays(self.robot.model, measured) is None:
                return TeleoperationStatus.STATE_WRONG_SHAPE
            return TeleoperationStatus.STATE_NOT_FINITE
        q, v = state
        if self._started:
            self.q, self.v = q, v
        else:
            self._rest(q, v)
            self._started = True
        return TeleoperationStatus.OK

    def _report(self, now: float) -> dict[str, StreamReport]:
        poses, left = self._poses, self._tick.points.left
        reports = {}
        for k, (name, stream) in enumerate(zip(self.names, poses.streams, strict=True)):
            status, reason = poses.status(k, now), ""
            led = self.frames[k]
            if led.kind == "foot" and self._body.feet.refused[led.foot]:
                status, reason = (
                    PoseStreamStatus.REFUSED,
                    REASONS[self._body.feet.refused[led.foot]],
                )
            place, turn = left[k]
            share, reason = float(poses.shares[k]), reason or status.description
            away = math.dist(self._tick.points.p[k].tolist(), poses.asked[k].tolist())
            reports[name] = StreamReport(
                status,
                reason,
                share,
                float(place),
                float(turn),
                stream.age(now),
                stream.gate.refused,
                away,
            )
        return reports


def _is_gone(q: Vector, v: Vector) -> bool:
    """Return whether a state is none any more."""
    slow = v.dot(v) < FASTEST**2 or float(np.abs(v).max()) < FASTEST
    return not (math.isfinite(q.dot(q)) and slow)


def _check(rate: float, scale: float, turn: ArrayLike | None) -> Matrix:
    """Check numbers; return the axes of the operator."""
    for field, value in (("rate", rate), ("scale", scale)):
        if not (np.isfinite(value) and value > 0.0):
            raise ShapeError(field, str(value), "a positive number")
    axes = np.eye(3) if turn is None else np.array(turn, dtype=np.float64)
    if (
        axes.shape != (3, 3)
        or not np.allclose(axes @ axes.T, np.eye(3), atol=1e-6)
        or np.linalg.det(axes) < 0.0
    ):
        raise ShapeError("turn", str(axes.tolist()), "a rotation matrix of 3 by 3")
    return axes
