"""A compiled tick of the filter, for instants at which every sole stands on its face or is free: buffers, Pinocchio, one kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from humanoid_dynamics.constraints.kinematics import Kinematics
from humanoid_dynamics.filtering.paper import contact_procedure as paper_contact_procedure
from humanoid_dynamics.filtering.paper import contacts as paper_contacts
from humanoid_dynamics.filtering.paper.contacts import Held, Sole
from humanoid_dynamics.filtering.paper.feedback import ControlPoint
from humanoid_dynamics.filtering.paper.ground import Slope
from humanoid_dynamics.filtering.paper.kernel_solution import SOLUTION
from humanoid_dynamics.filtering.paper.kernel_wish import WISHES
from humanoid_dynamics.filtering.paper.kernels import FIGURES, FRICTION, OTHERWISE, PIECES, TORQUE, Point, quick_tick
from humanoid_dynamics.filtering.paper.style import PaperStyle
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector
from humanoid_dynamics.spatial.compiling import compile_kernel
from humanoid_dynamics.spatial.polygon import ON_THE_EDGE

_AXES = pin.LOCAL_WORLD_ALIGNED


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
        self._soles, self._point, self._style = soles, point, style
        self._frames = [sole.surface.frame for sole in soles]
        self._names = [sole.surface.name for sole in soles]
        self._model, self._motors = robot.model, len(robot.actuated_v)
        most = max(len(sole.corners) for sole in soles)
        self._held: list[Held | None] = [None for _ in soles]
        self._bits, self._flagged = [0 for _ in soles], False
        self._corners: list[Held] = [() for _ in soles]
        self._before, self._may = np.zeros(len(soles), dtype=np.intp), np.ones(len(soles), dtype=np.intp)
        self._now = np.zeros(len(soles), dtype=np.intp)
        self._arms, self._gap, self._rise = np.zeros((len(soles), most, 3)), np.zeros((len(soles), most)), np.zeros((len(soles), most))
        self._spins, self._sunk = np.zeros((len(soles), 3)), np.zeros((len(soles), 6))
        self._seen = np.zeros((len(soles), 6, robot.nv)), np.zeros((len(soles), 6)), np.zeros((len(soles), 3, 3))
        places = (self._arms, self._gap, self._rise, self._spins, self._sunk)
        self._watched = (self._before, self._may, self._now, *places, *self._seen)
        self._views = [self._view(k) for k in range(len(soles))]
        self._lift = np.array(robot.model.gravity.vector)
        self._normal = np.array(ground.normal[0])
        self._robot = (*_shape(soles, most), *_motors(robot), _numbers(robot, style, ground, costs, shared=point is not None))
        still = np.zeros(robot.nv)
        self._no_point: Point = (np.eye(4), np.zeros((6, robot.nv)), np.zeros(6), np.eye(4), np.zeros(6), np.zeros(6))
        self._kernel = compile_kernel(quick_tick, (*SOLUTION, *WISHES, *PIECES))
        kinematics = Kinematics(robot)
        self.ask(kinematics, robot.posture, still, (robot.posture, still, still), None, pushes=())

    def ask(
        self, kinematics: Kinematics, q: Vector, v: Vector, reference: tuple[Vector, Vector, Vector],
        flags: Mapping[str, bool] | None, *, pushes: Sequence[tuple[int, Vector, float]],
    ) -> Quick | None:  # fmt: skip
        """Answer one tick, where it can; soles are as they were where it cannot.

        Args:
            kinematics: Work space.
            q: (nq,) configuration.
            v: (nv,) velocity.
            reference: Configuration, velocity and acceleration that are wanted.
            flags: Surface -> whether it is meant to stand.
            pushes: Frame, force and end of each push that lasts.

        Returns:
            The answer, or None.
        """
        model, data = self._model, kinematics.data
        M, h = kinematics.weigh(q, v)
        wish = (pin.difference(model, q, reference[0]), reference[1], reference[2])
        point, U, D = self._no_point, M, v
        poses = tuple([pin.updateFramePlacement(model, data, frame).homogeneous for frame in self._frames])
        jacobians = tuple([pin.getFrameJacobian(model, data, frame, _AXES) for frame in self._frames])
        drifts = tuple([pin.getFrameClassicalAcceleration(model, data, frame, _AXES).vector for frame in self._frames])
        if self._point is not None:
            U = pin.cholesky.decompose(model, data)
            D = data.D
            point = self._point.look(kinematics, reference)
        for frame, force, _ in pushes:
            h = h - pin.getFrameJacobian(model, data, frame, _AXES)[:3].T.dot(force)
        self._remember(flags)
        count, nv = len(self._frames), len(v)
        a, tau, wrenches, figures = np.empty(nv), np.empty(self._motors), np.empty((count, 6)), np.empty(FIGURES)
        tree, soles = (M, h, U, D, v), (poses, jacobians, drifts, self._lift)
        found = self._kernel(tree, soles, (*wish, point), self._robot, (self._watched, (a, tau, wrenches, figures)))
        if found == OTHERWISE or self._is_refused(figures):
            return None
        return Quick(a, tau, wrenches, self._seen[2].copy(), self._show(), figures.tolist())

    def _is_refused(self, figures: Vector) -> bool:
        """Return whether the style wants more than a report of what is wrong."""
        style = self._style
        return bool((style.friction == "cones" and figures[FRICTION] < -ON_THE_EDGE) or (style.torques == "kept" and figures[TORQUE] < 0.0))

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
        """Tell the soles what was seen; what they are told is overwritten at the next tick."""
        for k, (sole, bits, views) in enumerate(zip(self._soles, self._now.tolist(), self._views, strict=True)):
            if bits != self._bits[k]:
                self._bits[k] = bits
                self._corners[k] = tuple(c for c in range(len(sole.corners)) if bits >> c & 1)
            sole.touching = self._corners[k]
            if sole.gap is not views[0]:
                sole.gap, sole.arms, sole.rise, sole.spin, sole.sunk, sole.J, sole.drift, sole.R = views
                sole.normal = self._normal
        return tuple(self._corners)

    def _view(self, k: int) -> tuple[Vector, Matrix, Vector, Vector, Vector, Matrix, Vector, Matrix]:
        """Return what a sole is told, as parts of the buffers."""
        count = len(self._soles[k].corners)
        J, drifts, R = self._seen
        return (
            self._gap[k, :count], self._arms[k, :count], self._rise[k, :count], self._spins[k], self._sunk[k], J[k], drifts[k], R[k]
        )  # fmt: skip


def _shape(soles: Sequence[Sole], most: int) -> tuple[Matrix, Indices, Matrix, Vector]:
    """Return corners, their number, edges and friction; what there is less of is repeated."""
    corners = np.array([sole.corners[np.minimum(np.arange(most), len(sole.corners) - 1)] for sole in soles])
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
    return driven, np.setdiff1d(np.arange(robot.nv), driven), subtree, np.where(limit > 0.0, limit, np.inf)


def _numbers(robot: RobotModel, style: PaperStyle, ground: Slope, costs: Costs, *, shared: bool) -> Vector:
    """Return the numbers in the order of ``kernels``."""
    near, gains, units = paper_contacts, style.gains, style.units
    collides = costs.collides if style.collisions else np.inf
    normal = ground.normal[0]
    touch = (near.ENTER, near.LEAVE, near.MEETS, near.SEPARATING, near.DRIFT_RATE / 2.0, style.dt, collides)
    hold = (near.DRIFT_RATE, near.DRIFT_SPRING, paper_contact_procedure.PULL * costs.weight, ON_THE_EDGE, costs.weight, near.MOMENT_ARM)
    point = (gains.point_p, gains.point_d, gains.share if shared else 0.0, float(robot.root == "free_flyer"), costs.standing)
    solve = (units.k, units.k / units.torque**2, 1.0 + units.k / units.acceleration**2)
    return np.array((*normal, ground.height * normal[2], *touch, *hold, gains.joint_p, gains.joint_d, *point, *solve))
