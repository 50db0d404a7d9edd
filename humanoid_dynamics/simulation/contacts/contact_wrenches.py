# SPDX-License-Identifier: Apache-2.0
"""Forces on touch points, summed up to the wrench of each contact surface and of each link that touches otherwise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from humanoid_dynamics.constraints.kinematics import attach
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.model.surface import ContactSurface
from humanoid_dynamics.series.layout import WRENCH, Patch
from humanoid_dynamics.simulation.contacts.contact_rows import Touching
from humanoid_dynamics.simulation.contacts.touch_points import (
    TouchPoint,
    list_body_points,
    list_surface_points,
)
from humanoid_dynamics.simulation.setup import PointForce
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

LINK = "link "  # before the name of a link that touches without a surface
TINY = 1e-12  # m
SKEW = ((1, 2, 0), (2, 0, 1))


class ContactWrenches:
    """Sums up forces on the touch points of one robot.

    A surface stands for its whole link where the link has no other: also what touches beside the sole is load of the foot.  The force
    of a corner acts where the corner is, that of a ball or a disc where it touches.

    Attributes:
        patches: The contacts: surfaces in the order of the robot, then links.
    """

    def __init__(
        self, robot: RobotModel, points: str | tuple[TouchPoint, ...], names: Sequence[str]
    ) -> None:
        """Sort the points.

        Args:
            robot: The robot.
            points: Its touch points, as the setup of the world has them.
            names: Names of those that take part, in the order of the forces.
        """
        listed = {point.name: point for point in _list(robot, points)}
        taking = [listed[name] for name in names]
        owners = [find_owner(robot, point.name, point.link) for point in taking]
        found = dict.fromkeys(owners)
        order = [name for name in robot.surfaces if name in found] + [
            name for name in found if name not in robot.surfaces
        ]
        frames, patches, p_C = [], [], []
        for name in order:
            if name in robot.surfaces:
                surface = robot.surfaces[name]
                frames.append(attach(robot, surface.link, surface.X_LC))
                patches.append(Patch(name, _name_frame(robot, surface), surface.vertices[:, :2]))
            else:
                link = name.removeprefix(LINK)
                frames.append(attach(robot, link))
                patches.append(
                    Patch(name if link in robot.surfaces else link, link, np.zeros((0, 2)))
                )
        self.patches: tuple[Patch, ...] = tuple(patches)
        self._frames = [(frame.joint, frame.X_JF) for frame in frames]
        self._rows = {
            point.link: order.index(owner) for point, owner in zip(taking, owners, strict=True)
        }
        self._owner: Indices = np.array([order.index(owner) for owner in owners], dtype=np.intp)
        for point, owner in zip(taking, owners, strict=True):
            X_LC = robot.surfaces[owner].X_LC if owner in robot.surfaces else pin.SE3.Identity()
            p_C.append(X_LC.actInv(np.array(point.p_L)))
        self._p_C: Matrix = np.array(p_C).reshape(-1, 3)
        self._radius: Vector = np.array([point.radius for point in taking])
        self._discs = np.array([np.any(point.axis) for point in taking], dtype=np.bool_)

    def measure(self, data: pin.Data, forces: Matrix, touching: Touching) -> Vector:
        """Return the wrench of every contact.

        Args:
            data: Work space of the robot with its joints placed.
            forces: (n, 3) force on each point, in the world [N].
            touching: What touched, and where; only balls need it.

        Returns:
            (6 contacts,) forces and moments in their frames, at their origins [N, N·m].
        """
        wrenches = np.zeros((len(self.patches), len(WRENCH)))
        loaded = np.flatnonzero(forces.any(axis=1))
        for k in dict.fromkeys(self._owner[loaded].tolist()):
            own = loaded[self._owner[loaded] == k]
            joint, X_JF = self._frames[k]
            X_WC = data.oMi[joint] * X_JF
            p_C, f_C = self._p_C[own], forces[own] @ X_WC.rotation
            if self._radius[own].any():
                places = np.zeros_like(forces)
                known = touching.point < len(places)
                places[touching.point[known]] = touching.place[known]
                p_C = p_C + self._reach(own, (places[own] - X_WC.translation) @ X_WC.rotation - p_C)
            turning = p_C.T @ f_C  # sum of p f': the moment p x f is its skew part
            wrenches[k, :3], wrenches[k, 3:] = f_C.sum(axis=0), (turning - turning.T)[SKEW]
        return wrenches.ravel()

    def add_edges(self, data: pin.Data, forces: Sequence[PointForce], wrenches: Vector) -> None:
        """Add the forces of edges of the terrain on links.

        Args:
            data: Work space of the robot with its joints placed.
            forces: The forces.
            wrenches: (6 contacts,) wrenches, overwritten.
        """
        for edge in forces:
            k = self._rows.get(edge.link)
            if k is not None:
                joint, X_JF = self._frames[k]
                wrench = pin.Force(edge.force, np.cross(edge.place, edge.force))
                wrenches[6 * k : 6 * k + 6] += (data.oMi[joint] * X_JF).actInv(wrench).vector

    def _reach(self, own: Indices, towards: Matrix) -> Matrix:
        """Return the vectors from the middles of balls to where they touch: as long as their radius, of discs as long as they are."""
        lengths = np.maximum(np.linalg.norm(towards, axis=1), TINY)
        return np.asarray(
            np.where(self._discs[own], 1.0, self._radius[own] / lengths)[:, None] * towards
        )


def _name_frame(robot: RobotModel, surface: ContactSurface) -> str:
    """Return what TF calls the frame of a surface: its REP-120 name where it has one."""
    target = robot.model.frames[surface.frame].name
    return next((alias for alias, meant in robot.aliases.items() if meant == target), surface.name)


def _list(robot: RobotModel, points: str | tuple[TouchPoint, ...]) -> tuple[TouchPoint, ...]:
    if not isinstance(points, str):
        return points
    return list_body_points(robot) if points == "body" else list_surface_points(robot)


def find_owner(robot: RobotModel, point: str, link: str) -> str:
    """Return the surface a point counts for: the one it is a corner of, or the only one of its link; else ``link`` and the link.

    Args:
        robot: The robot.
        point: Name of the point.
        link: Link that carries it.
    """
    own = [surface.name for surface in robot.surfaces.values() if surface.link == link]
    if len(own) == 1:
        return own[0]
    name = point.rpartition(".")[0]
    return name if name in own else LINK + link
