# SPDX-License-Identifier: Apache-2.0
"""What is wanted of the whole body while some of its frames are led: a stance, a centre of mass over it, and rest for all else."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from humanoid_dynamics.filtering.poses.follower import GoalPace
from humanoid_dynamics.filtering.poses.led_feet import LedFeet
from humanoid_dynamics.filtering.poses.led_frame import LedFrame, place_point
from humanoid_dynamics.filtering.poses.led_poses import LedPoses
from humanoid_dynamics.filtering.poses.reaching_tick import ReachingTick
from humanoid_dynamics.filtering.proportions import Proportions
from humanoid_dynamics.filtering.ticks.target import Target
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Matrix, Vector, read_only

BODY_PACE = GoalPace(6.0, 0.3, 1.0, 0.6, 4.0)  # of the centre of mass, and of the heading
LOWEST, HIGHEST = 0.25, 0.02  # of the leg; how far the centre of mass may go down and up
INSIDE = (0.25, 0.5)  # share of the area under one sole, and under two, for the centre of mass
LEADS = 0.9  # share from which on a foot is asked for
FRESH = 1.0  # s; a pose of a foot that is older asks for nothing
CALM = (
    0.2,
    0.15,
    0.1,
)  # share of speed, acceleration and weight of led frames while one foot bears all
SHIFTING = 0.25  # share of their speed while the load goes there
LIFTING = (0.4, 0.25)  # share of speed and acceleration of led feet
WAITING = 0.01  # share of their speed while a foot is put down in haste
SAME = 1e-9  # m
UP = read_only([0.0, 0.0, 1.0])
UPWARD = read_only([UP, UP])


class LedBody:
    """From the goals of led frames to the target of a tick.

    Attributes:
        feet: What led feet do.
        floor: Height of the ground [m].
        home: (nq,) resting posture where both soles stood last.
    """

    def __init__(
        self,
        robot: RobotModel,
        frames: Sequence[LedFrame],
        poses: LedPoses,
        tick: ReachingTick,
        proportions: Proportions,
    ) -> None:
        """Prepare; ``rest`` must follow.

        Args:
            robot: The robot.
            frames: The led frames.
            poses: Their goals; the follower behind those of the frames is that of the centre of mass.
            tick: The tick.
            proportions: Measures of the robot.
        """
        self._robot, self._frames, self._poses, self._tick = robot, tuple(frames), poses, tick
        self._leg, self._com = proportions.leg, len(self._frames)
        self.feet = LedFeet(proportions)
        self._foot_of = {k: led.foot for k, led in enumerate(frames) if led.kind == "foot"}
        self._pelvis = next((k for k, led in enumerate(frames) if led.kind == "pelvis"), -1)
        self.floor, self._middle = 0.0, np.zeros(3)
        self._centres = proportions.centres
        self._stance: tuple[object, ...] = ()
        for k in self._foot_of:
            poses.followers.slow(k, *LIFTING)
        self._rest_com, self._rest_pelvis, self._rest_shoulders = (
            np.zeros(3),
            np.zeros(3),
            np.zeros((self._com, 3)),
        )
        self._q, self._turn, self._rest_soles = np.array(robot.posture), np.eye(3), np.zeros(3)
        self.home: Vector = np.array(robot.posture)

    def rest(self, q: Vector, v: Vector) -> None:
        """Stand where the robot is.

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.
        """
        tick, poses = self._tick, self._poses
        tick.restart()
        tick.read(q, v)
        terms, points = tick.terms, tick.points
        self.feet.restart(terms)
        self.floor = float(terms.place[:, 2].mean())
        self._ground = np.full(2, self.floor)
        self._area = self.feet.area((0, 1), terms, INSIDE[1])
        self._stance = ()
        # What rests is told from the resting posture, so that a robot that was found in another one goes there.
        self._rest_com, self._rest_pelvis, self._rest_shoulders, self._rest_soles = (
            self._resting_places()
        )
        poses.followers.place(self._com, terms.com, np.eye(3), np.zeros(6))
        for k in range(self._com):
            poses.stay(k, points.p[k], points.R[k], points.rate[k])
        self._q = np.array(self._robot.posture)
        self._turn_base()

    def _resting_places(self) -> tuple[Vector, Vector, Matrix, Vector]:
        """Return centre of mass, led pelvis and shoulders over the middle of both soles, in the resting posture, and that middle."""
        robot, data = self._robot, self._robot.data()
        pin.framesForwardKinematics(robot.model, data, robot.posture)
        middle = np.mean([data.oMf[frame].act(c) for frame, c in self.feet.soles], axis=0)
        com = np.array(pin.centerOfMass(robot.model, data, robot.posture)) - middle
        pelvis = (
            data.oMf[self._frames[self._pelvis].frame].translation - middle
            if self._pelvis >= 0
            else np.zeros(3)
        )
        points = [led.shoulder for led in self._frames]
        shoulders = [
            np.zeros(3) if point is None else place_point(data, robot.model, point) - middle
            for point in points
        ]
        return com, np.array(pelvis), np.array(shoulders), middle

    def target(self, now: float, dt: float) -> Target:
        """Return what is wanted now.

        Args:
            now: Our time [s].
            dt: Time until the next tick [s].
        """
        poses, terms, points = self._poses, self._tick.terms, self._tick.points
        for k in range(self._com):
            if poses.shares[k] <= 0.0 or self._stands(k):
                poses.stay(k, points.p[k], points.R[k], points.rate[k])
        poses.shoulders[:] = poses.followers.p[self._com] + self._turned(
            self._rest_shoulders - self._rest_com
        )
        poses.update(now, dt, terms, self._robot.model, self.floor)
        if self._foot_of:
            self._lead_feet(now, dt)
        self._find_area()
        wish, rate = self._wish_com()
        poses.set_goal(self._com, wish, rate=rate)
        if self._foot_of:
            self._calm()
        poses.step(dt)
        np.copyto(self._tick.shares, poses.shares)
        for k in self._foot_of:
            self._tick.shares[k] = 0.0 if self._stands(k) else 1.0
        return self._write()

    def _stands(self, k: int) -> bool:
        return k in self._foot_of and self.feet.phase[self._foot_of[k]] in {
            "stand",
            "shift",
            "give",
        }

    def _lead_feet(self, now: float, dt: float) -> None:
        poses, terms, feet = self._poses, self._tick.terms, self.feet
        heights = np.zeros(2)
        for k, foot in self._foot_of.items():
            X_FS, R = self._frames[k].X_FS, poses.goal_turn(k)
            p = feet.bound(foot, poses.goals[k] + R @ X_FS.translation, terms, self.floor)
            turn = feet.bound_turn(foot, R @ X_FS.rotation, terms)
            leads = (
                poses.shares[k] > LEADS and poses.engaged[k] and poses.streams[k].age(now) < FRESH
            )
            heights[foot] = p[2] - self.floor if leads else 0.0
            if feet.phase[foot] == "down":
                p, turn = feet.sink(foot, self.floor, dt)
            R = turn @ X_FS.rotation.T
            poses.set_goal(k, p - R @ X_FS.translation, R)
        feet.update(heights, terms, self._tick.footing.stands, dt)

    def _calm(self) -> None:
        """Let led frames go slowly, and weigh little, while one foot bears all: no faster than its sole can hold."""
        feet, alone = self.feet, self.feet.alone
        speed, acceleration, firmness = 1.0, 1.0, 1.0
        if alone >= 0 and all(feet.standing) and feet.phase[1 - alone] != "down":
            speed = SHIFTING
        elif alone >= 0:
            left = min(max(2.0 * (1.0 - feet.reach(alone, self._tick.terms)), 0.0), 1.0)
            speed, acceleration, firmness = CALM[0] * left, CALM[1], CALM[2]
        if feet.rescues:
            speed = 0.0
        for k in range(self._com):
            if k not in self._foot_of:
                self._poses.followers.slow(k, max(speed, WAITING), acceleration)
                self._tick.firmness[k] = firmness

    def _find_area(self) -> None:
        """Find the area under the soles that should bear the load, where those changed."""
        alone = self.feet.alone
        stance = (alone, *self._tick.footing.stands)
        if stance != self._stance:
            self._stance = stance
            feet = (0, 1) if alone < 0 else (alone,)
            self._area = self.feet.area(feet, self._tick.terms, INSIDE[len(feet) - 1])
            centres = self._tick.terms.place + np.einsum(
                "kij,kj->ki", self._tick.terms.turn, self._centres
            )
            self._middle = np.array([*centres[list(feet), :2].mean(axis=0), self.floor])
            if alone < 0:
                self._turn_base()
            if alone < 0 and all(self._tick.footing.stands):
                self.home = np.array(self._q)
                self.home[:3] = self._middle + self._turned(
                    self._robot.posture[:3] - self._rest_soles
                )

    def _turn_base(self) -> None:
        """Let the base look as the soles do, as it does in the resting posture."""
        ahead = self._tick.terms.turn[:, :, 0].sum(axis=0)
        half = 0.5 * float(np.arctan2(ahead[1], ahead[0]))
        turn = pin.Quaternion(np.cos(half), 0.0, 0.0, np.sin(half))
        self._q[3:7] = (turn * pin.Quaternion(self._robot.posture[3:7])).coeffs()
        self._turn = np.asarray(turn.matrix())

    def _wish_com(self) -> tuple[Vector, Vector]:
        """Return where the centre of mass should be and its twist: over the feet, moved as the pelvis is led, inside the soles."""
        area, poses, middle = self._area, self._poses, self._middle
        two = self.feet.alone < 0
        wish = middle + (self._turned(self._rest_com) if two else self._rest_com[2] * UP)
        if self._pelvis >= 0 and poses.shares[self._pelvis] > 0.0:
            rest = middle + self._turned(self._rest_pelvis)
            wish += float(poses.shares[self._pelvis]) * (poses.followers.p[self._pelvis] - rest)
        bounded, rate = wish.copy(), np.zeros(6)
        bounded[:2] = area.clamp(wish[None, :2], area.share)[0]
        height = self.floor + float(self._rest_com[2])
        bounded[2] = min(
            max(float(wish[2]), height - LOWEST * self._leg), height + HIGHEST * self._leg
        )
        if self._pelvis >= 0:
            inside = np.abs(bounded - wish) < SAME
            rate[:3] = (
                inside * float(poses.shares[self._pelvis]) * poses.followers.rate[self._pelvis, :3]
            )
        return bounded, rate

    def _turned(self, x: Matrix) -> Matrix:
        """Return vectors (..., 3) of the resting posture in the world."""
        return np.asarray(x @ self._turn.T)

    def _write(self) -> Target:
        terms, follower, nv = self._tick.terms, self._poses.followers, self._robot.nv
        place, turn = terms.place.copy(), terms.turn.copy()
        rate, acceleration = np.zeros((2, 6)), np.zeros((2, 6))
        for k, foot in self._foot_of.items():
            if not self._stands(k):
                led = self._frames[k]
                arm = follower.R[k] @ led.X_FS.translation
                place[foot], turn[foot] = follower.p[k] + arm, follower.R[k] @ led.X_FS.rotation
                rate[foot], acceleration[foot] = follower.rate[k], follower.acceleration[k]
                rate[foot, :3] += np.cross(follower.rate[k, 3:], arm)
        c = self._com
        zero = np.zeros(nv)
        target = Target(
            (True, True), follower.p[c].copy(), follower.rate[c, :3], follower.acceleration[c, :3], self._q, zero, zero,
            place, turn, rate, acceleration, self._ground.copy(), UPWARD.copy(),
        )  # fmt: skip
        self.feet.write(target)
        return target
