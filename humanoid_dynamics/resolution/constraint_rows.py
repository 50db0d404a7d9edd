# SPDX-License-Identifier: Apache-2.0
"""Constraint rows of the equation of motion: contacts, gears between joints that mimic each other, and closed loops."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise

import numpy as np

from humanoid_dynamics.constraints.constraint_set import ConstraintSet
from humanoid_dynamics.constraints.kinematics import Kinematics
from humanoid_dynamics.constraints.loop import build_loop
from humanoid_dynamics.contact.cone import FACETS, WrenchCone, build_wrench_cone
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.model.surface import ContactSurface
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

SOLID, FRICTION, YAW = range(3)  # kinds of rows of a contact: pressure and load, friction, yaw
OPEN = 1e-4  # m or rad; a loop that is farther apart counts as open
SPREADS = 1e-6  # of 1 + largest speed and acceleration; what is beyond it pulls a loop apart


@dataclass(frozen=True, eq=False)
class Contact:
    """A polygon, an edge or a point of a link that may touch the environment.

    Attributes:
        surface: Link, frame with the normal as z axis, vertices, friction and largest normal force.
        cone: Held directions as the columns of ``basis`` (6, r), and friction, centre of pressure, yaw and load as rows A f <= b.
        part: Where its force stands in f: the forces along x, y and the normal first, then the moments that its shape can carry.
    """

    surface: ContactSurface
    cone: WrenchCone
    part: slice

    @property
    def name(self) -> str:
        """Name of the surface."""
        return self.surface.name

    @cached_property
    def kinds(self) -> Indices:
        """(m,) kind of each row: pressure and load, friction, or yaw."""
        known = {"friction": FRICTION, "yaw": YAW}
        return np.array([known.get(label, SOLID) for label in self.cone.labels], dtype=np.intp)

    @property
    def held(self) -> Matrix:
        """(6, r) held directions in the surface frame, linear before angular: all of a polygon, five of an edge, three of a point."""
        return self.cone.basis


def list_contacts(
    robot: RobotModel,
    contacts: str | Iterable[str | ContactSurface] | None,
    facets: int = FACETS,
) -> tuple[Contact, ...]:
    """Return contacts with the places of their forces.

    Args:
        robot: The robot.
        contacts: Name or names of contact surfaces, or surfaces, each counted once; ``robot.stance`` where None.
        facets: Sides of the friction pyramids.

    Raises:
        UnknownNameError: If a surface does not exist.
    """
    asked = (
        robot.stance if contacts is None else (contacts,) if isinstance(contacts, str) else contacts
    )
    surfaces = tuple(
        each if isinstance(each, ContactSurface) else robot.surface(each)
        for each in dict.fromkeys(asked)
    )
    cones = [build_wrench_cone(surface, facets) for surface in surfaces]
    ends = [0, *accumulate(cone.basis.shape[1] for cone in cones)]
    parts = (slice(a, b) for a, b in pairwise(ends))
    return tuple(Contact(*each) for each in zip(surfaces, cones, parts, strict=True))


def gear_rows(robot: RobotModel) -> Matrix:
    """Return the directions in which the gears between followers and leaders push, (mimics, nv).

    Args:
        robot: The robot.
    """
    index = {joint.name: joint.v.start for joint in robot.joints}
    rows = np.zeros((len(robot.mimics), robot.nv))
    for row, mimic in zip(rows, robot.mimics, strict=True):
        row[index[mimic.joint]], row[index[mimic.leader]] = 1.0, -mimic.ratio
    return rows


class LoopRows:
    """The loops of a robot at one instant: make once, ``update`` at every tick.

    Attributes:
        size: Number of rows, each with one number in the push.
        torn: What is wrong with the motion: which loop it does not close; empty where nothing is.
        accelerations: (size,) along the rows at the last update: J a less gamma.
    """

    def __init__(self, robot: RobotModel) -> None:
        """Prepare.

        Args:
            robot: The robot.
        """
        self._set = ConstraintSet(robot, [build_loop(robot, loop) for loop in robot.loops])
        self._kinematics = Kinematics(robot)
        self.size = self._set.size
        self.torn = ""
        self.accelerations: Vector = np.zeros(self.size)

    @np.errstate(all="ignore")  # what is not finite tears the loops
    def update(self, q: Vector, v: Vector, a: Vector) -> Matrix:
        """Compute the rows, and whether the motion keeps them.

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.
            a: (nv,) acceleration.

        Returns:
            (size, nv) velocities that would pull the loops apart; valid until the next update.
        """
        self._kinematics.move(q, v, a)
        rows = self._set.evaluate(self._kinematics)
        self.accelerations = rows.gamma
        self.torn = self._find_torn(
            rows.phi, rows.scale * (rows.J @ v), rows.scale * rows.gamma, v, a
        )
        return rows.J

    def reach(self) -> Vector:
        """Return which coordinates the loops act on somewhere, (nv,) of 0 and 1."""
        robot = self._kinematics.robot
        reached = np.zeros(robot.nv)
        for loop in robot.loops:
            for link in (loop.link_a, loop.link_b):
                if link in robot.links:
                    for joint in robot.model.supports[
                        robot.model.frames[robot.link_frame(link)].parentJoint
                    ]:
                        first = robot.model.idx_vs[joint]
                        reached[first : first + robot.model.nvs[joint]] = 1.0
        return reached

    def _find_torn(self, phi: Vector, slip: Vector, push: Vector, v: Vector, a: Vector) -> str:
        allowed = SPREADS * (
            1.0 + float(np.max(np.abs(v), initial=0.0)) + float(np.max(np.abs(a), initial=0.0))
        )
        for text, unit, values, most in (
            ("is open by", "m or rad", phi, OPEN),
            ("is pulled apart with", "m/s", slip, allowed),
            ("is pulled apart with", "m/s²", push, allowed),
        ):
            worst = int(np.argmax(np.abs(values))) if values.size else -1
            if worst >= 0 and not abs(values[worst]) <= most:
                return f"the motion does not close the loops: {self._set.labels[worst]} {text} {abs(values[worst]):.3g} {unit}"
        return ""
