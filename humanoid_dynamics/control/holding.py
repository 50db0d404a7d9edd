# SPDX-License-Identifier: Apache-2.0
"""Torques that hold a robot still where it stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_dynamics.errors import UnsupportedRobotError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.resolution.answer import Answer
from humanoid_dynamics.resolution.certificate import AnswerStatus
from humanoid_dynamics.resolution.inverse import InverseDynamics
from humanoid_dynamics.resolution.rules import DEFAULT_RULE
from humanoid_dynamics.spatial.arrays import Vector, read_only
from humanoid_dynamics.status import StatusEnum

MEASURABLE = ("revolute", "continuous", "prismatic")


class HoldingStatus(StatusEnum):
    """What the holding torques follow from."""

    HOLDING = "HOLDING", "torques hold the measured posture"
    WAITING = "WAITING", "positions of some joints have not come yet; torques are zero"
    STALE = "STALE", "good joint states stopped coming; the last torques fade to zero"
    INFEASIBLE = (
        "INFEASIBLE",
        "no torques and contact forces within their limits hold this posture; the nearest torques are sent, clipped",
    )
    INVALID_INPUT = (
        "INVALID_INPUT",
        "the latest joint state was rejected; the torques of the last good one are sent",
    )


@dataclass(frozen=True, eq=False)
class Command:
    """Torques to send, and why they are what they are.

    Attributes:
        tau: (na,) torques in the order of ``robot.actuated`` [N·m or N]; always finite, always within limits.
        status: What they follow from.
        reason: What is wrong, in words; empty while holding.
    """

    tau: Vector
    status: HoldingStatus
    reason: str


class HoldingTorques:
    """Holding torques for the latest joint positions; good states that stop coming make them fade.

    The base is placed so that the first surface of the stance rests where it rests in the robot's posture.  Passive joints nobody
    reports stay as in that posture, and joints that mimic others follow them.
    """

    def __init__(
        self,
        robot: RobotModel,
        rule: str = DEFAULT_RULE,
        timeout: float = 0.1,
        fade_out_duration: float = 0.5,
    ) -> None:
        """Prepare.

        Args:
            robot: The robot.
            rule: Rule that chooses among the torques.
            timeout: Age at which a joint state is stale [s].
            fade_out_duration: Time in which the torques of a stale state fade to zero [s].

        Raises:
            UnsupportedRobotError: If one number a joint does not tell the configuration.
            UnknownNameError: If the rule does not exist.
        """
        odd = [joint.name for joint in robot.joints if joint.kind in {"spherical", "universal"}]
        if odd:
            raise UnsupportedRobotError(
                "holding torques from joint states",
                odd,
                "one position cannot represent these joints of several degrees of freedom",
            )
        self._robot = robot
        self._timeout, self._fade_out_duration = timeout, fade_out_duration
        self._solver = InverseDynamics(robot, rule=rule)
        self._q = np.array(robot.posture)
        self._data = robot.data()
        self._zero = np.zeros(robot.nv)
        self._limits = robot.limits.effort[robot.actuated_v]
        self._measured = {
            joint.name: joint
            for joint in robot.joints
            if joint.kind in MEASURABLE and joint.v.stop > joint.v.start
        }
        self._unheard = dict.fromkeys(robot.actuated)  # in order
        self._X_WC = self._stance_pose(robot.posture) if robot.stance else None
        self._good = Command(
            read_only(np.zeros(len(robot.actuated))),
            HoldingStatus.WAITING,
            "no joint state has come",
        )
        self._complaint = ""

    def observe(self, names: Sequence[str], positions: Vector) -> bool:
        """Take the positions of some joints; others keep their last ones.

        Args:
            names: Joint names, in any order; unknown ones are passed over.
            positions: (len(names),) positions [rad or m].

        Returns:
            Whether they were taken; where not, the next command says why.
        """
        self._complaint = self._object_to(names, positions)
        if self._complaint:
            return False
        for name, position in zip(names, positions, strict=True):
            if name in self._measured:
                self._set(name, float(position))
                self._unheard.pop(name, None)
        if self._unheard:
            self._good = self._wait()
            return True
        answer = self._hold()
        if answer.certificate.status is AnswerStatus.INVALID_INPUT:
            self._complaint = "has a position too large to compute with"
            return False
        tau = np.clip(answer.tau, -self._limits, self._limits)
        status = (
            HoldingStatus.HOLDING
            if answer.certificate.status is AnswerStatus.OK
            else HoldingStatus.INFEASIBLE
        )
        self._good = Command(read_only(tau), status, "; ".join(answer.certificate.reasons))
        return True

    def command(self, age: float) -> Command:
        """Return the torques to send now.

        Args:
            age: Time since the last good joint state came [s]; infinite before the first.

        Returns:
            Torques and status; never an exception.
        """
        if self._good.status is HoldingStatus.WAITING:
            return Command(
                self._good.tau, HoldingStatus.WAITING, self._complaint or self._good.reason
            )
        if not age <= self._timeout:
            share = (
                max(0.0, 1.0 - (age - self._timeout) / self._fade_out_duration)
                if np.isfinite(age)
                else 0.0
            )
            said = f"no good joint state for {self._timeout:g} s" + (
                f"; the latest {self._complaint}" if self._complaint else ""
            )
            return Command(read_only(share * self._good.tau), HoldingStatus.STALE, said)
        if self._complaint:
            return Command(
                self._good.tau, HoldingStatus.INVALID_INPUT, f"joint state {self._complaint}"
            )
        return self._good

    def _object_to(self, names: Sequence[str], positions: Vector) -> str:
        if len(names) != len(positions):
            return f"has {len(names)} names but {len(positions)} positions"
        broken = [
            name
            for name, position in zip(names, positions, strict=True)
            if name in self._measured and not np.isfinite(position)
        ]
        if broken:
            return f"has a position that is not finite: {', '.join(broken)}"
        return (
            ""
            if any(name in self._measured for name in names)
            else f"names no joint of {self._robot.name}"
        )

    def _set(self, name: str, position: float) -> None:
        joint = self._measured[name]
        # A continuous joint is the cosine and sine of its angle in the configuration.
        self._q[joint.q] = (
            (np.cos(position), np.sin(position)) if joint.kind == "continuous" else position
        )

    def _hold(self) -> Answer:
        self._place_followers()
        self._place_base()
        return self._solver.solve(self._q, self._zero, self._zero)

    def _wait(self) -> Command:
        missing = ", ".join(list(self._unheard)[:4]) + (", ..." if len(self._unheard) > 4 else "")
        return Command(
            self._good.tau,
            HoldingStatus.WAITING,
            f"no position yet of {len(self._unheard)} joints: {missing}",
        )

    def _place_followers(self) -> None:
        for mimic in self._robot.mimics:
            if mimic.joint in self._measured and mimic.leader in self._measured:
                self._set(mimic.joint, mimic.ratio * self._position(mimic.leader) + mimic.offset)

    def _position(self, name: str) -> float:
        q = self._q[self._measured[name].q]
        return float(np.arctan2(q[1], q[0]) if len(q) == 2 else q[0])

    def _stance_pose(self, q: Vector) -> pin.SE3:
        pin.framesForwardKinematics(self._robot.model, self._data, q)
        return pin.SE3(self._data.oMf[self._robot.surfaces[self._robot.stance[0]].frame])

    def _place_base(self) -> None:
        if self._X_WC is None or self._robot.root == "fixed":
            return
        X_WC = self._stance_pose(self._q)
        X_WB = self._X_WC * X_WC.inverse() * self._data.oMi[1]
        if self._robot.root == "free_flyer":
            self._q[:7] = pin.SE3ToXYZQUAT(X_WB)
        else:  # planar: x, z and pitch about y
            self._q[:3] = (
                X_WB.translation[0],
                X_WB.translation[2],
                np.arctan2(X_WB.rotation[0, 2], X_WB.rotation[0, 0]),
            )
