# SPDX-License-Identifier: Apache-2.0
"""One instant as it is drawn: poses, forces on the soles, centre of pressure, support, and the numbers beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin
from scipy.spatial import ConvexHull, QhullError

from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Matrix, Vector, read_only
from humanoid_dynamics.viewer.bodies import Body, place_bodies

METRES_PER_NEWTON = 1e-3
ABOVE = read_only([0.0, 0.0, 3e-3])  # m, so that what lies on the ground is seen
SMALLEST_FORCE = 1.0  # N
NO_ARROWS = read_only(np.zeros((0, 2, 3)))
NO_POINTS = read_only(np.zeros((0, 3)))


@dataclass(frozen=True, eq=False)
class Touch:
    """A force on a robot at a place.

    Attributes:
        link: What it acts on, such as a link or a contact surface.
        place: (3,) where, in the world [m].
        force: (3,) force, in the world [N].
        corners: (k, 3) rim of the surface that touches, in the world [m]; none for a point.
    """

    link: str
    place: Vector
    force: Vector
    corners: Matrix = field(default_factory=lambda: NO_POINTS)


@dataclass(frozen=True, eq=False)
class Picture:
    """One instant, ready to be drawn.

    Attributes:
        t: Time [s].
        poses: (n, 7) pose of each body: position [m] and quaternion w x y z.
        ghost: (n, 7) poses of the reference, or None.
        forces: (k, 2, 3) arrows of contact forces, start and end [m].
        cops: (m, 3) centre of pressure under each link that is touched, on the ground [m].
        support: (s, 3) corners of the polygon spanned by all that touches [m].
        com: (3,) centre of mass [m].
        numbers: Named numbers, with units in their names, for plots.
        status: In words.
        torques: Motor -> its torque [N·m, N].
        fallen: Whether the robot lies where it should stand.
    """

    t: float
    poses: Matrix
    com: Vector
    ghost: Matrix | None = None
    forces: Matrix = field(default_factory=lambda: NO_ARROWS)
    cops: Matrix = field(default_factory=lambda: NO_POINTS)
    support: Matrix = field(default_factory=lambda: NO_POINTS)
    numbers: Mapping[str, float] = field(default_factory=dict)
    status: str = ""
    torques: Mapping[str, float] = field(default_factory=dict)
    fallen: bool = False


class Painter:
    """Turns configurations into pictures of one robot.

    Attributes:
        robot: The robot.
        bodies: What is drawn of it.
    """

    def __init__(self, robot: RobotModel, bodies: tuple[Body, ...]) -> None:
        self.robot, self.bodies = robot, bodies
        self._data = robot.data()

    def paint(
        self,
        t: float,
        q: Vector,
        touches: Sequence[Touch] = (),
        *,
        reference: Vector | None = None,
        numbers: Mapping[str, float] | None = None,
        status: str = "",
    ) -> Picture:
        """Return the picture of an instant.

        Args:
            t: Time [s].
            q: (nq,) configuration.
            touches: Forces from the surroundings.
            reference: (nq,) configuration of the ghost, or None.
            numbers: For the plots.
            status: In words.
        """
        model, data = self.robot.model, self._data
        ghost = None
        if reference is not None:
            pin.forwardKinematics(model, data, reference)
            ghost = place_bodies(self.bodies, data)
        com = np.array(pin.centerOfMass(model, data, q))
        felt = [touch for touch in touches if np.linalg.norm(touch.force) > SMALLEST_FORCE]
        return Picture(
            t,
            place_bodies(self.bodies, data),
            com,
            ghost,
            gather_arrows(felt),
            gather_pressures(felt),
            span_support(felt),
            numbers or {},
            status,
        )


def gather_arrows(touches: Sequence[Touch]) -> Matrix:
    """Return one arrow for each link that is touched: its whole force, ending where it pushes, so that no leg hides it.

    Args:
        touches: Forces.

    Returns:
        (k, 2, 3) starts and ends [m].
    """
    arrows = []
    for group in _by_link(touches):
        force = np.sum([touch.force for touch in group], axis=0)
        end = _pressure(group)
        arrows.append((end - METRES_PER_NEWTON * force, end))
    return np.array(arrows) if arrows else NO_ARROWS


def gather_pressures(touches: Sequence[Touch]) -> Matrix:
    """Return the centre of pressure under each link that is pushed upwards, a little above the ground (k, 3) [m]."""
    places = [
        _pressure(group)
        for group in _by_link(touches)
        if sum(touch.force[2] for touch in group) > SMALLEST_FORCE
    ]
    return np.array(places) + ABOVE if places else NO_POINTS


def span_support(touches: Sequence[Touch]) -> Matrix:
    """Return the corners of the horizontal hull of all places that push upwards, in order (s, 3) [m]; none where it has no area."""
    loaded = [touch for touch in touches if touch.force[2] > 0.0]
    places = np.vstack(
        [
            NO_POINTS,
            *(touch.corners if len(touch.corners) else touch.place[None] for touch in loaded),
        ]
    )
    if len(places) < 3:
        return NO_POINTS
    try:
        corners = ConvexHull(places[:, :2]).vertices
    except QhullError:
        return NO_POINTS
    return np.asarray(places[corners] + ABOVE)


def _by_link(touches: Sequence[Touch]) -> list[list[Touch]]:
    groups: dict[str, list[Touch]] = {}
    for touch in touches:
        groups.setdefault(touch.link, []).append(touch)
    return list(groups.values())


def _pressure(group: Sequence[Touch]) -> Vector:
    weights = np.array([np.linalg.norm(touch.force) for touch in group])
    return np.asarray(weights @ np.array([touch.place for touch in group]) / weights.sum())
