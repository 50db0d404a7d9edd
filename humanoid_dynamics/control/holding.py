"""Torques that hold a robot still where it stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.resolution.inverse_dynamics import InverseDynamics
from humanoid_dynamics.spatial.arrays import Vector, read_only

STATUSES = {
    "holding": "torques hold the measured posture",
    "waiting": "no joint state has come yet; torques are zero",
    "stale": "joint states stopped coming; the last torques fade to zero",
    "infeasible": "no torques within limits hold this posture; the nearest are sent, clamped",
    "invalid_input": "the joint state is incomplete or not finite; the last good one is used",
}


@dataclass(frozen=True, eq=False)
class Command:
    """Torques to send, and why they are what they are.

    Attributes:
        tau: (na,) torques in the order of ``robot.actuated`` [N·m or N]; always finite, always within limits.
        status: One of ``STATUSES``.
        reason: What is wrong, in words; empty while holding.
    """

    tau: Vector
    status: str
    reason: str


class HoldingTorques:
    """Holding torques for the latest joint positions; a state that stops coming makes them fade.

    The base is placed so that the first surface of the stance rests where it rests in the robot's posture.
    """

    def __init__(self, robot: RobotModel, rule: str = "minimum_torque", timeout: float = 0.1, decay: float = 0.5) -> None:
        """Prepare.

        Args:
            robot: The robot; it must have a stance.
            rule: Rule that chooses among the torques.
            timeout: Age at which a joint state is stale [s].
            decay: Time in which the torques of a stale state fade to zero [s].
        """
        self._robot = robot
        self._timeout, self._decay = timeout, decay
        self._solver = InverseDynamics(robot, rule=rule)
        self._q = np.array(robot.posture)
        self._data = robot.data()
        self._zero = np.zeros(robot.nv)
        self._limits = robot.limits.effort[robot.actuated_v]
        self._measured = {joint.name: joint.q.start for joint in robot.joints if joint.q.stop - joint.q.start == 1}
        self._X_WC = self._stance_pose(robot.posture) if robot.stance else None
        self._good = Command(read_only(np.zeros(len(robot.actuated))), "waiting", "no joint state yet")
        self._complaint = ""

    def observe(self, names: Sequence[str], positions: Vector) -> None:
        """Take the positions of some joints; others keep their last ones.

        Args:
            names: Joint names, in any order; unknown ones are passed over.
            positions: (len(names),) positions [rad or m].
        """
        if len(names) != len(positions) or not np.isfinite(positions).all():
            self._complaint = f"{len(names)} names, {len(positions)} positions, not all finite"
            return
        self._complaint = ""
        for name, position in zip(names, positions, strict=True):
            if name in self._measured:
                self._q[self._measured[name]] = position
        self._place_base()
        answer = self._solver.tick(self._q, self._zero, self._zero)
        certificate = answer.certificate
        tau = np.clip(np.nan_to_num(answer.tau), -self._limits, self._limits)
        status = "holding" if certificate.status == "ok" else "infeasible"
        self._good = Command(read_only(tau), status, "; ".join(certificate.reasons))

    def command(self, age: float) -> Command:
        """Return the torques to send now.

        Args:
            age: Time since the last joint state came [s]; infinite before the first.

        Returns:
            Torques and status; never an exception.
        """
        if self._good.status == "waiting" or age <= self._timeout:
            return Command(self._good.tau, "invalid_input", self._complaint) if self._complaint else self._good
        share = max(0.0, 1.0 - (age - self._timeout) / self._decay)
        return Command(read_only(share * self._good.tau), "stale", f"no joint state for {age:.2f} s")

    def _stance_pose(self, q: Vector) -> pin.SE3:
        pin.framesForwardKinematics(self._robot.model, self._data, q)
        return pin.SE3(self._data.oMf[self._robot.surfaces[self._robot.stance[0]].frame])

    def _place_base(self) -> None:
        if self._X_WC is None or self._robot.root != "free_flyer":
            return
        X_WB = pin.XYZQUATToSE3(self._q[:7])
        X_BC = X_WB.actInv(self._stance_pose(self._q))
        self._q[:7] = pin.SE3ToXYZQUAT(self._X_WC * X_BC.inverse())
