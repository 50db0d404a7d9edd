"""How strong a pull may be: what a robot on its feet holds, unless more is asked for."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_dynamics.errors import HumanoidDynamicsError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Vector
from humanoid_dynamics.spatial.polygon import hull_of, margin_inside
from humanoid_dynamics.viewer.picture import Picture

STEADY = 0.35  # of the pull that would tip a rigid figure over the nearest rim
HIGH = 1.4  # of the height of the centre of mass: how high it is pulled
LEAST, FIRST, HEAVIEST = 0.005, 0.02, 1.5  # weights: what is always let through, the most while nothing is asked for, the most of all
LYING = 0.5  # of the height of the centre of mass in the posture the robot begins in


class Strength:
    """The limit of pulls at one robot, and whether it has fallen.

    Attributes:
        limit: The strongest pull now [N].
        range: The strongest pull at first, and the strongest that may be asked for [N].
    """

    def __init__(self, robot: RobotModel, q: Vector, *, stands: bool) -> None:
        """Begin.

        Args:
            robot: The robot.
            q: (nq,) configuration it begins in.
            stands: Whether it is one that can stand, on a floor.
        """
        stands = stands and bool(robot.stance) and robot.root == "free_flyer"
        self._height = float(pin.centerOfMass(robot.model, robot.data(), q)[2]) if stands else None
        self._weight = robot.mass * float(np.linalg.norm(robot.model.gravity.linear))
        self.range = ((FIRST if stands else HEAVIEST) * self._weight, HEAVIEST * self._weight)
        self._asked = not stands
        self.limit = self.range[0]

    def ask(self, force: float) -> None:
        """Let pulls be as strong as a force [N], whatever comes of it.

        Args:
            force: The force.

        Raises:
            HumanoidDynamicsError: If it is no number, or beyond the range.
        """
        if not 0.0 < force <= self.range[1]:
            raise HumanoidDynamicsError(f"a pull is at most {self.range[1]:.0f} N here, received {force:g}")
        self._asked, self.limit = True, force

    def see(self, picture: Picture) -> bool:
        """Look at how the robot stands now, which is what it holds while nobody has asked for more.

        Args:
            picture: How things are.

        Returns:
            Whether it has fallen.
        """
        if self._height is None:
            return False
        if not self._asked and len(picture.support):
            inside = margin_inside(hull_of(picture.support[:, :2]), picture.com[:2])
            held = STEADY * self._weight * inside / (HIGH * self._height)
            self.limit = float(np.clip(held, LEAST * self._weight, self.range[0]))
        return bool(picture.com[2] < LYING * self._height)

    def bound(self, force: Vector) -> Vector:
        """Return a pull that is no stronger than it may be now.

        Args:
            force: (3,) the pull [N].

        Returns:
            (3,) the pull [N].
        """
        size = float(np.linalg.norm(force))
        return np.array(force) * min(1.0, self.limit / size) if size > 0.0 else np.zeros(3)


def check_pull(point: Vector, force: Vector) -> None:
    """Refuse a pull that is none.

    Args:
        point: (3,) where it pulls [m].
        force: (3,) the pull [N].

    Raises:
        HumanoidDynamicsError: If a number is none.
    """
    if not (np.isfinite(np.linalg.norm(force)) and np.isfinite(point).all()):
        raise HumanoidDynamicsError("a pull that is not a number was left out")
