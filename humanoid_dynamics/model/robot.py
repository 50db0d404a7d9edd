# SPDX-License-Identifier: Apache-2.0
"""What the robot is: one frozen record, made once, shared by every question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
import pinocchio as pin

from humanoid_dynamics.errors import SingularInertiaError, UnknownNameError
from humanoid_dynamics.model.imu import Imu
from humanoid_dynamics.model.joint import Joint, Limits, Mimic
from humanoid_dynamics.model.loop import LoopClosure, Wheel
from humanoid_dynamics.model.shape import Geometry
from humanoid_dynamics.model.surface import ContactSurface
from humanoid_dynamics.spatial.arrays import Indices, Vector


@dataclass(frozen=True, eq=False)
class ControlPoint:
    """A named frame that tasks and teleoperation refer to, such as ``left_hand`` or ``head``.

    Attributes:
        name: Its name.
        link: Link that carries it.
        frame: Index of the frame in the pinocchio model.
        X_LP: Pose of the point in the link.
    """

    name: str
    link: str
    frame: int
    X_LP: pin.SE3


@dataclass(frozen=True)
class Notice:
    """Something about a robot that its user should know.

    Attributes:
        severity: ``info`` for an assumption that was made, ``warning`` for a defect that can be lived with.
        element: What it is about, such as ``link 'left_foot'``.
        text: The message.
    """

    severity: str
    element: str
    text: str

    def __str__(self) -> str:
        return f"{self.element}: {self.text}"


@dataclass(frozen=True, eq=False)
class RobotModel:
    """A robot, complete: tree, limits, surfaces, loops, names.

    Nothing here changes after loading, and any number of threads may read it; each owner makes its own ``data()``.

    Attributes:
        name: Name of the robot.
        origin: Where it came from: catalogue name, path, or kind of object.
        urdf: The URDF it was built from, whole.
        root: How it hangs in the world: ``free_flyer``, ``fixed`` or ``planar`` (x, z and pitch).
        model: The pinocchio model; frames of surfaces and control points are part of it.
        joints: All joints in tree order, the root joint first where there is one.
        links: All links of the URDF, root first.
        actuated: Names of the velocity coordinates a motor drives, in tree order.
        actuated_v: (na,) their indices in the velocity.
        limits: Position, velocity and effort limits.
        friction: (nv,) Coulomb friction of each coordinate [N or N·m].
        damping: (nv,) viscous friction of each coordinate [N·s/m or N·m·s/rad].
        surfaces: Contact surfaces by name.
        control_points: Control points by name.
        loops: Loop closures.
        wheels: Wheels that may not slip sideways.
        mimics: Joints that follow others and are still coordinates of the model.
        aliases: REP-120 frame name -> link, ``surface:<name>`` or ``point:<name>``.
        posture: (nq,) the pose the robot rests in, half-sitting for a humanoid, soles on the ground z = 0.
        stance: Surfaces the resting posture stands on.
        inertialess: Links whose motion carries no inertia; where there are any the mass matrix is singular.
        notices: What was assumed and what is wrong.
        shapes: What each link looks like, by link; the file of a mesh is where it lies on this machine, empty where it is not found.
        solids: What each link touches with, likewise; what it looks like where nothing else is said.
        imus: Inertial measurement units by name; one at the origin of the root link where the description has none.
    """

    name: str
    origin: str
    urdf: str = field(repr=False)
    root: str
    model: pin.Model = field(repr=False)
    joints: tuple[Joint, ...] = field(repr=False)
    links: tuple[str, ...] = field(repr=False)
    actuated: tuple[str, ...] = field(repr=False)
    actuated_v: Indices = field(repr=False)
    limits: Limits = field(repr=False)
    friction: Vector = field(repr=False)
    damping: Vector = field(repr=False)
    surfaces: Mapping[str, ContactSurface] = field(repr=False)
    control_points: Mapping[str, ControlPoint] = field(repr=False)
    loops: tuple[LoopClosure, ...] = field(repr=False)
    wheels: tuple[Wheel, ...] = field(repr=False)
    mimics: tuple[Mimic, ...] = field(repr=False)
    aliases: Mapping[str, str] = field(repr=False)
    posture: Vector = field(repr=False)
    stance: tuple[str, ...] = field(repr=False)
    inertialess: tuple[str, ...] = field(repr=False)
    notices: tuple[Notice, ...] = field(repr=False)
    shapes: Mapping[str, tuple[Geometry, ...]] = field(repr=False, default_factory=dict)
    solids: Mapping[str, tuple[Geometry, ...]] = field(repr=False, default_factory=dict)
    imus: Mapping[str, Imu] = field(repr=False, default_factory=dict)

    def __getstate__(self) -> dict[str, object]:
        """Return all fields; views of mappings, which are those of this process, as mappings."""
        return {
            name: dict(value) if isinstance(value, MappingProxyType) else value
            for name, value in self.__dict__.items()
        }

    def __setstate__(self, state: dict[str, object]) -> None:
        """Take over all fields, mappings as views again and numbers locked."""
        for value in state.values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
        self.__dict__.update(
            (name, MappingProxyType(value) if isinstance(value, dict) else value)
            for name, value in state.items()
        )

    @property
    def nq(self) -> int:
        """Numbers in a configuration."""
        return int(self.model.nq)

    @property
    def nv(self) -> int:
        """Numbers in a velocity."""
        return int(self.model.nv)

    @property
    def mass(self) -> float:
        """Mass of all that moves [kg]; what is bolted to the world does not count."""
        return float(pin.computeTotalMass(self.model))

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of all nv velocity coordinates, in order."""
        return tuple(name for joint in self.joints for name in joint.coordinates)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Texts of the notices that are warnings."""
        return tuple(str(notice) for notice in self.notices if notice.severity == "warning")

    def data(self) -> pin.Data:
        """Fresh pinocchio work space, one per thread."""
        return self.model.createData()

    def joint(self, name: str) -> Joint:
        """Return the joint of that name.

        Raises:
            UnknownNameError: If there is none.
        """
        for joint in self.joints:
            if joint.name == name:
                return joint
        raise UnknownNameError("joint", name, (joint.name for joint in self.joints))

    def surface(self, name: str) -> ContactSurface:
        """Return the contact surface of that name.

        Raises:
            UnknownNameError: If there is none.
        """
        if name not in self.surfaces:
            raise UnknownNameError("contact surface", name, self.surfaces)
        return self.surfaces[name]

    def link_frame(self, name: str) -> int:
        """Return the pinocchio frame index of a link or of a REP-120 alias.

        Raises:
            UnknownNameError: If there is neither.
        """
        target = self.aliases.get(name, name)
        if target in self.links:
            return int(self.model.getFrameId(target, pin.FrameType.BODY))
        if name in self.aliases:
            return int(self.model.getFrameId(target, pin.FrameType.OP_FRAME))
        raise UnknownNameError("link", name, (*self.links, *self.aliases))

    def check_inertia(self, question: str) -> None:
        """Refuse a question that needs an inertia where a link moves without one.

        Raises:
            SingularInertiaError: If the mass matrix is singular.
        """
        if self.inertialess:
            raise SingularInertiaError(question, self.inertialess)
