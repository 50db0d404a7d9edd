# SPDX-License-Identifier: Apache-2.0
"""A compiled tick of the filter, for instants at which every sole stands on its face or is free: buffers, Pinocchio, one kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.papers.dynamics_filter import contact_procedure as paper_contact_procedure
from humanoid_dynamics.papers.dynamics_filter import contacts as paper_contacts
from humanoid_dynamics.papers.dynamics_filter.contacts import Held, Sole
from humanoid_dynamics.papers.dynamics_filter.feedback import ControlPoint
from humanoid_dynamics.papers.dynamics_filter.ground import Slope
from humanoid_dynamics.papers.dynamics_filter.kernel_frames import FRAMES
from humanoid_dynamics.papers.dynamics_filter.kernel_solution import SOLUTION
from humanoid_dynamics.papers.dynamics_filter.kernel_wish import WISHES, Point
from humanoid_dynamics.papers.dynamics_filter.kernels import (
    FIGURES,
    FRICTION,
    OTHERWISE,
    PIECES,
    TORQUE,
    quick_tick,
)
from humanoid_dynamics.papers.dynamics_filter.style import PaperStyle
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector, writable
from humanoid_dynamics.spatial.compiling import compile_kernel
from humanoid_dynamics.spatial.polygon import ON_THE_EDGE

_AXES = pin.LOCAL_WORLD_ALIGNED
RIDING = {
    "JointModelFreeFlyer",
    "JointModelPlanar",
    "JointModelSpherical",
    "JointModelTranslation",
}  # kinds with more than one axis


@dataclass(frozen=True)
class Costs:
    """What the filter knows and the kernel needs.

    Attributes:
        weight: Weight of the robot [N].
        standing: What it costs the control point to move a sole that stands [kg].
        collides: Speed at which soles collide [m/s].
    """

    weight: float
    standing: float
    collides: float


class Quick(NamedTuple):
    """An answer.

    Attributes:
        a: (nv,) acceleration.
        tau: (na,) torques.
        wrenches: (s, 6) what the ground does to the soles, in their own axes [N, N·m].
        orientations: (s, 3, 3) of the soles.
        held: Corners that each sole holds.
        figures: Residual; margins of push, centre of pressure, friction, torque; depth.
    """

    a: Vector
    tau: Vector
    wrenches: Matrix
    orientations: Matrix
    held: tuple[Held, ...]
    figures: list[float]


class QuickTick:
    """The compiled tick, prepared for one filter."""

    def __init__(
        self, robot: RobotModel, soles: Sequence[Sole], point: ControlPoint | None, style: PaperStyle, ground: Slope, *, costs: Costs
    ) -> None:  # fmt: skip
        """Prepare and compile.

        Args:
            robot: The robot.
            soles: Its soles, one or more.
            point: The control point.
            style: How the filter is run.
            ground: The ground.
            costs: What else counts.
        """
        self._soles, self._style = soles, style
        self._frames = [sole.surface.frame for sole in soles]
        self._names = [sole.surface.name for sole in soles]
        self._model, self._motors = robot.model, len(robot.actuated_v)
        self._data, self._wished = robot.data(), robot.data()
        self._held: list[Held | None] = [None for _ in soles]
        self._bits, self._flagged = [0 for _ in soles], False
        self._corners: list[Held] = [() for _ in soles]
        self._watched = (
            np.zeros(len(soles), dtype=np.intp),
            np.ones(len(soles), dtype=np.intp),
            np.zeros(len(soles), dtype=np.intp),
        )
        self._before, self._may, self._now = self._watched
        self._guided = point.frame if point is not None else None
        data, wished, guided = self._data, self._wished, 0 if point is None else point.frame
        self._tree = data.M, data.U, data.D, data.J
        self._standing = tuple(
            [(data.oMf[frame].rotation, data.oMf[frame].translation) for frame in self._frames]
        )
        place, wished_place = data.oMf[guided], wished.oMf[guided]
        self._seen: Point = (
            place.rotation,
            place.translation,
            wished_place.rotation,
            wished_place.translation,
            wished.J,
        )
        ways = tuple([find_way(robot, frame) for frame in self._frames]), find_way(robot, guided)
        self._robot = (
            *_shape(soles),
            *_motors(robot),
            *ways,
            _numbers(robot, style, ground, costs, shared=point is not None),
        )
        self._kernel = compile_kernel(quick_tick, (*SOLUTION, *FRAMES, *WISHES, *PIECES))
        still = np.zeros(robot.nv)
        self.ask(robot.posture, still, (robot.posture, still, still), None, pushes=())

    def ask(
        self, q: Vector, v: Vector, reference: tuple[Vector, Vector, Vector], flags: Mapping[str, bool] | None,
        *, pushes: Sequence[tuple[int, Vector, float]],
    ) -> Quick | None:  # fmt: skip
        """Answer one tick, where it can; soles are as they were where it cannot.

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.
            reference: Configuration, velocity and acceleration that are wanted.
            flags: Surface -> whether it is meant to stand.
            pushes: Frame, force and end of each push that lasts.

        Returns:
            The answer, or None.
        """
        model, data = self._model, self._data
        h = pin.nonLinearEffects(model, data, q, v)
        pin.crba(model, data, q, pin.Convention.WORLD)  # leaves joint Jacobians behind
        for frame in self._frames:
            pin.updateFramePlacement(model, data, frame)
        if self._guided is not None:
            pin.cholesky.decompose(model, data)
            pin.updateFramePlacement(model, data, self._guided)
            pin.computeJointJacobians(model, self._wished, reference[0])
            pin.updateFramePlacement(model, self._wished, self._guided)
        for frame, force, _ in pushes:
            h = h - pin.getFrameJacobian(model, data, frame, _AXES)[:3].T.dot(force)
        self._remember(flags)
        M, U, D, J = self._tree
        wish = (
            pin.difference(model, q, reference[0]),
            writable(reference[1]),
            writable(reference[2]),
            self._seen,
        )
        count = len(self._frames)
        a, tau, figures = np.empty(len(v)), np.empty(self._motors), np.empty(FIGURES)
        wrenches, orientations = np.empty((count, 6)), np.empty((count, 3, 3))
        answers = a, tau, wrenches, orientations, figures
        found = self._kernel(
            (M, h, U, D, writable(v), J),
            self._standing,
            wish,
            self._robot,
            (self._watched, answers),
        )
        if found == OTHERWISE or self._is_refused(figures):
            return None
        return Quick(a, tau, wrenches, orientations, self._show(), figures.tolist())

    def _is_refused(self, figures: Vector) -> bool:
        """Return whether the style wants more than a report of what is wrong."""
        style = self._style
        return bool(
            (style.friction == "cones" and figures[FRICTION] < -ON_THE_EDGE)
            or (style.torques == "kept" and figures[TORQUE] < 0.0)
        )

    def _remember(self, flags: Mapping[str, bool] | None) -> None:
        """Write which corners touched, where something else has told the soles, and which soles may touch."""
        for k, sole in enumerate(self._soles):
            held = sole.touching
            if held is not self._held[k]:
                self._held[k], self._before[k] = held, sum(1 << corner for corner in held)
            if flags is not None or self._flagged:
                self._may[k] = flags is None or flags.get(self._names[k], True)
        self._flagged = flags is not None

    def _show(self) -> tuple[Held, ...]:
        """Tell the soles which corners touch."""
        for k, (sole, bits) in enumerate(zip(self._soles, self._now.tolist(), strict=True)):
            if bits != self._bits[k]:
                self._bits[k] = bits
                self._corners[k] = tuple(c for c in range(len(sole.corners)) if bits >> c & 1)
            sole.touching = self._corners[k]
        return tuple(self._corners)


def is_known(robot: RobotModel) -> bool:
    """Return whether every joint of a robot moves along axes that ride on it, as ``kernel_frames`` takes for granted."""
    return all(joint.nv < 2 or joint.shortname() in RIDING for joint in robot.model.joints)


def find_way(robot: RobotModel, frame: int) -> Indices:
    """Return first coordinate and number of coordinates of each joint that moves a frame, from the root.

    Args:
        robot: The robot.
        frame: The frame.

    Returns:
        (n, 2) numbers.
    """
    model = robot.model
    joints = [model.joints[k] for k in model.supports[model.frames[frame].parentJoint] if k]
    return np.array([(joint.idx_v, joint.nv) for joint in joints], dtype=np.intp).reshape(-1, 2)


def _shape(soles: Sequence[Sole]) -> tuple[Matrix, Indices, Matrix, Vector]:
    """Return corners, their number, edges and friction; what there is less of is repeated."""
    most = max(len(sole.corners) for sole in soles)
    corners = np.array(
        [sole.corners[np.minimum(np.arange(most), len(sole.corners) - 1)] for sole in soles]
    )
    counts = np.array([len(sole.corners) for sole in soles], dtype=np.intp)
    edges = np.zeros((len(soles), most, 3))
    edges[:, :, 2] = np.inf
    for k, sole in enumerate(soles):
        edges[k, : len(sole.A), :2], edges[k, : len(sole.A), 2] = sole.A, sole.b
    return corners, counts, edges, np.array([sole.surface.friction for sole in soles])


def _motors(robot: RobotModel) -> tuple[Indices, Indices, Indices, Vector]:
    """Return coordinates with a motor and without, sizes of subtrees, and torque limits."""
    driven = np.array(robot.actuated_v, dtype=np.intp)
    limit = np.array(robot.limits.effort)[driven]
    subtree = np.array(list(robot.data().nvSubtree_fromRow), dtype=np.intp)
    return (
        driven,
        np.setdiff1d(np.arange(robot.nv), driven),
        subtree,
        np.where(limit > 0.0, limit, np.inf),
    )


def _numbers(
    robot: RobotModel, style: PaperStyle, ground: Slope, costs: Costs, *, shared: bool
) -> Vector:
    """Return the numbers in the order of ``kernels``."""
    near, gains, units = paper_contacts, style.gains, style.units
    collides = costs.collides if style.collisions else np.inf
    normal = ground.normal[0]
    touch = (
        near.ENTER,
        near.LEAVE,
        near.MEETS,
        near.SEPARATING,
        near.DRIFT_RATE / 2.0,
        style.dt,
        collides,
    )
    hold = (
        near.DRIFT_RATE,
        near.DRIFT_SPRING,
        paper_contact_procedure.PULL * costs.weight,
        ON_THE_EDGE,
        costs.weight,
        near.MOMENT_ARM,
    )
    point = (
        gains.point_p,
        gains.point_d,
        gains.share if shared else 0.0,
        float(robot.root == "free_flyer"),
        costs.standing,
    )
    solve = (units.k, units.k / units.torque**2, 1.0 + units.k / units.acceleration**2)
    return np.array(
        (
            *normal,
            ground.height * normal[2],
            *touch,
            *hold,
            gains.joint_p,
            gains.joint_d,
            *point,
            *solve,
        )
    )
