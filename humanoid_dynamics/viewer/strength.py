# SPDX-License-Identifier: Apache-2.0
"""How strong a pull may be: as strong as a robot on its feet withstands, unless more is asked for."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_dynamics.errors import HumanoidDynamicsError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Vector
from humanoid_dynamics.spatial.polygon import half_planes, hull_of
from humanoid_dynamics.viewer.picture import Picture

RESERVE = (
    0.16  # of the length of the support polygon along the pull, in which the capture point stays
)
GAIN = 3.0  # shift of the centre of pressure by the pull, per distance of the capture point from the reserve
FIRST, HEAVIEST = 0.15, 1.5  # weights: the most while nothing is asked for, and the most of all
TWIST = (
    6.0  # of a moment about the vertical, compared with one that tips: soles that turn carry less
)
LIFTED = 0.03  # m above the lowest sole: soles higher than that carry nothing
LYING = 0.5  # of the height of the centre of mass in the posture the robot begins in


class Strength:
    """The limit of pulls at one robot, and whether it has fallen.

    A robot withstands a pull that its centre of pressure can balance: the pull at a height z shifts that by z f / (m g). A robot whose
    capture point [Koolen et al.] is well inside the support polygon may be pulled beyond that until it leans; the limit decreases
    to zero as the capture point approaches the edge.

    Attributes:
        limit: The strongest pull that is asked for, or that is allowed at all while nothing is asked for [N].
        weight: Weight of the robot [N].
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
        self._robot, self._data = robot, robot.data()
        self._height = float(pin.centerOfMass(robot.model, self._data, q)[2]) if stands else None
        self._gravity = float(np.linalg.norm(robot.model.gravity.linear))
        self.weight = robot.mass * self._gravity
        self.range = ((FIRST if stands else HEAVIEST) * self.weight, HEAVIEST * self.weight)
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
            raise HumanoidDynamicsError(
                f"a pull is at most {self.range[1]:.0f} N here, received {force:g}"
            )
        self._asked, self.limit = True, force

    def has_fallen(self, picture: Picture) -> bool:
        """Return whether the robot lies where it should stand."""
        return self._height is not None and bool(picture.com[2] < LYING * self._height)

    def bound(self, link: str, point: Vector, force: Vector, q: Vector, v: Vector) -> Vector:
        """Return a pull that is no stronger than it may be now.

        Args:
            link: The link that is pulled.
            point: (3,) where, in the link [m].
            force: (3,) the pull [N].
            q: (nq,) configuration.
            v: (nv,) velocity.

        Returns:
            (3,) the pull [N].
        """
        size = float(np.linalg.norm(force))
        if not size > 0.0:
            return np.zeros(3)
        limit = (
            self.limit
            if self._asked
            else min(self.limit, self._withstood(link, point, force / size, q, v))
        )
        return np.array(force) * min(1.0, limit / size)

    def _withstood(
        self, link: str, point: Vector, direction: Vector, q: Vector, v: Vector
    ) -> float:
        """Return the strongest pull in a direction that does not tip the robot over an edge of its support polygon [N]."""
        model, data = self._robot.model, self._data
        com = np.array(pin.centerOfMass(model, data, q, v))
        soles = [self._robot.surfaces[name] for name in self._robot.stance]
        placed = [(sole, pin.updateFramePlacement(model, data, sole.frame)) for sole in soles]
        corners = [sole.vertices @ X_WC.rotation.T + X_WC.translation for sole, X_WC in placed]
        floor = min(float(sole[:, 2].min()) for sole in corners)
        support = hull_of(
            np.vstack([sole[:, :2] for sole in corners if sole[:, 2].min() < floor + LIFTED])
        )
        height = float(com[2]) - floor
        if len(support) < 3 or not height > 0.0:
            return 0.0
        capture = com[:2] + data.vcom[0][:2] * np.sqrt(height / self._gravity)
        place = pin.updateFramePlacement(model, data, self._robot.link_frame(link)).act(point)
        # Shift of the centre of pressure by a pull of one newton: the moment balance about the capture point.
        shift = (
            (place[2] - floor) * direction[:2] - direction[2] * (place[:2] - capture)
        ) / self.weight
        size = float(np.linalg.norm(shift))
        if not size > 0.0:
            return self.limit
        arm = (place[:2] - capture) / self.weight
        twist = abs(float(arm[0] * direction[1] - arm[1] * direction[0]))
        A, b = half_planes(support)
        along, left = A @ shift / size, b - A @ capture
        ahead, behind = (
            float(np.min(left[side > 0.0] / side[side > 0.0])) for side in (along, -along)
        )
        return max(0.0, GAIN * (ahead - RESERVE * (ahead + behind)) / (size + TWIST * twist))


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
