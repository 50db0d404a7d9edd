# SPDX-License-Identifier: Apache-2.0
"""Motions of robots from trainers: conventions that the file does not state are decided by its data, or asked for.

The joint order follows from joint names, from recorded bodies by forward kinematics, or from the only known order of that size; the order of
quaternions from recorded bodies or from the base, which is upright; degrees and centimetres from joint limits and the size of the robot.
Every decision that is not the convention of the format is a notice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_dynamics.errors import ClipError, count
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.clip import check_times
from humanoid_dynamics.motion.formats.columns import BASE_POSE
from humanoid_dynamics.motion.formats.joint_orders import Names, find_orders, parse_order
from humanoid_dynamics.motion.formats.recording import Recording
from humanoid_dynamics.spatial.arrays import Matrix, Vector

SAMPLES = 8  # frames that forward kinematics is compared at
SAME_BODIES = 1e-3  # m; recorded bodies and those of the robot agree
OTHER_ROBOT = 0.05  # m; beyond this no order is that of the file
FARTHEST = 0.2  # m; more than this counts as this
CLEARLY = 3.0  # times smaller is the error of the order that is chosen
BEYOND = 0.05  # rad; farther outside a joint limit counts against an order
RARELY, OFTEN = 0.002, 0.02  # shares of samples beyond limits
SAME_AXIS = 0.99  # cosine between axes
UPRIGHT, LYING = 0.7, 0.3  # cosine of the tilt of the base
SIZES = (0.1, 5.0)  # of the size of the robot, between which the base is
POSE = 7  # columns of the pose of the base in a table without names
LENGTHS = {"centimetres": 0.01, "millimetres": 0.001}
ROUNDED, ROUGH = (
    1e-3,
    0.1,
)  # errors of the length of a quaternion: of digits, and of linear interpolation
HALF = 0.5  # of the columns that must be joints of the robot


@dataclass(frozen=True, eq=False)
class BodyPositions:
    """Positions of bodies that a file recorded beside the joints.

    Attributes:
        positions: (n, m, 3) positions [m].
        names: Names of the links, or empty where the file has none.
        local: Whether they are in axes of the base, from its origin; otherwise in the world.
    """

    positions: Matrix
    names: Names = ()
    local: bool = False


@dataclass(frozen=True, eq=False)
class RobotMotion:
    """A motion of a robot as a trainer writes it.

    Attributes:
        origin: The file, for messages.
        times: (n,) instants [s].
        base: (n, 3) positions of the root link [m].
        turns: (n, 4) orientations of the root link in the order of the file.
        joints: (n, k) joint positions [rad].
        names: (k,) joint names; empty where the file has none.
        scalar_first: Whether quaternions of this format are w, x, y, z.
        breadth_first: Whether joints may be in the order of Isaac Lab.
        bodies: Bodies that were recorded, or None.
        axes: (k, 3) axes that joints turn about, of either sign, zero where unknown, or None.
        extras: Other arrays, kept under their name.
        notices: Assumptions of the reader.
    """

    origin: str
    times: Vector
    base: Matrix
    turns: Matrix
    joints: Matrix
    names: Names = ()
    scalar_first: bool = False
    breadth_first: bool = False
    bodies: BodyPositions | None = None
    axes: Matrix | None = None
    extras: Mapping[str, NDArray[np.generic]] = field(default_factory=dict)
    notices: Names = ()

    def __post_init__(self) -> None:
        times = check_times(self.times, self.origin, 1)
        object.__setattr__(self, "times", times)
        for name, width in (("base", 3), ("turns", 4), ("joints", np.shape(self.joints)[-1])):
            table = np.array(getattr(self, name), dtype=np.float64)
            if table.shape != (len(times), width):
                raise ClipError(
                    self.origin, f"{name} has shape {table.shape}, expected {(len(times), width)}"
                )
            if not np.isfinite(table).all():
                row = int(np.argwhere(~np.isfinite(table))[0][0])
                raise ClipError(self.origin, f"{name} is not finite", row=row)
            object.__setattr__(self, name, table)
        if self.names and len(self.names) != self.joints.shape[1]:
            problem = f"has {count(len(self.names), 'joint name')} and {count(self.joints.shape[1], 'joint')}"
            raise ClipError(self.origin, problem)


def name_joints(
    motion: RobotMotion,
    robot: RobotModel,
    joint_order: str | Sequence[str] = "",
    kept: frozenset[str] = frozenset(),
) -> Recording:
    """Return a motion as a table with named columns, with the conventions that its data decide.

    Args:
        motion: The motion.
        robot: The robot.
        joint_order: Name of a known order, or joint names, where the file has none and its data do not decide.
        kept: Columns that a joint map uses.

    Returns:
        The table; joints that the robot does not have are left out, with a notice.

    Raises:
        ClipError: If the data leave more than one order, or fit none.
    """
    motion = _check_quaternions(_convert_units(motion, robot))
    orders = _list_orders(motion, robot, joint_order)
    turns = {
        first: _unit(motion, first) for first in (motion.scalar_first, not motion.scalar_first)
    }
    choose = _choose_by_limits if motion.bodies is None else _choose_by_bodies
    order, first, notices = choose(motion, robot, orders, turns)
    if first != motion.scalar_first:
        notices += (f"quaternions are {'w x y z' if first else 'x y z w'} here, by the data",)
    names = orders[order]
    if not motion.names and not joint_order:
        notices += (f"joint order: {order}",)
    own = {joint.name for joint in robot.joints} | kept
    wanted = [index for index, name in enumerate(names) if name in own]
    if len(wanted) < HALF * len(names):
        known = ", ".join(joint.name for joint in robot.joints[1:])
        problem = f"has the joints {', '.join(names)}; robot {robot.name!r} has {known}"
        raise ClipError(motion.origin, problem)
    notices += _tell_lost(motion.joints, names, wanted)
    return Recording(
        motion.origin,
        motion.times,
        BASE_POSE + tuple(names[index] for index in wanted),
        np.hstack((motion.base, turns[first], motion.joints[:, wanted])),
        extras=motion.extras,
        notices=motion.notices + notices,
    )


def _tell_lost(joints: Matrix, names: Names, wanted: Sequence[int]) -> Names:
    """Return a notice of the joints that are left out, with the largest angle."""
    lost = [index for index in range(len(names)) if index not in wanted]
    if not lost:
        return ()
    angle = float(np.max(np.abs(joints[:, lost])))
    listed = ", ".join(names[index] for index in lost)
    return (f"joints that the robot does not have are left out: {listed}; at most {angle:.3g} rad",)


def take_table(
    table: Recording, robot: RobotModel, joint_order: str = ""
) -> Recording | RobotMotion:
    """Return a table without names as a motion of a robot, unless its rows are configurations of the robot.

    Args:
        table: The table.
        robot: The robot.
        joint_order: Joint order that the caller has named.
    """
    width = table.values.shape[1]
    if table.columns or table.velocities is not None or robot.root != "free_flyer" or width <= POSE:
        return table
    if width == robot.nq and not joint_order:
        return table
    base, turns, joints = np.split(table.values, [3, POSE], axis=1)
    return RobotMotion(table.origin, table.times, base, turns, joints, notices=table.notices)


def _list_orders(
    motion: RobotMotion, robot: RobotModel, joint_order: str | Sequence[str]
) -> dict[str, Names]:
    width = motion.joints.shape[1]
    if motion.names:
        return {"names of the file": motion.names}
    if joint_order:
        order = (
            parse_order(joint_order, robot) if isinstance(joint_order, str) else tuple(joint_order)
        )
        if len(order) != width:
            problem = f"has {count(width, 'joint')}, the joint order has {len(order)}"
            raise ClipError(motion.origin, problem)
        return {"as given": order}
    orders = find_orders(robot, width, breadth_first=motion.breadth_first)
    if motion.axes is not None:
        axes = joint_axes(robot)
        orders = {name: o for name, o in orders.items() if _fits_axes(o, motion.axes, axes)}
    if not orders:
        problem = f"has {count(width, 'joint')} without names, and no known order of that size fits robot {robot.name!r}"
        raise ClipError(
            motion.origin,
            f"{problem}; give one as joint_order= (--joint-order), names between commas",
        )
    return orders


def joint_axes(robot: RobotModel) -> dict[str, Vector]:
    """Return the axis of each revolute joint in its own frame.

    Args:
        robot: The robot.
    """
    zero, axes = pin.neutral(robot.model), {}
    for joint in robot.joints:
        if joint.kind == "revolute":
            made = robot.model.joints[joint.index].createData()
            robot.model.joints[joint.index].calc(made, zero)
            axes[joint.name] = np.array(made.S).ravel()[3:]
    return axes


def _fits_axes(order: Names, found: Matrix, axes: Mapping[str, Vector]) -> bool:
    """Return whether the axes of a file are those of the joints, where both are known."""
    return all(
        not axis.any() or name not in axes or abs(axis @ axes[name]) > SAME_AXIS
        for name, axis in zip(order, found, strict=True)
    )


def _unit(motion: RobotMotion, scalar_first: bool) -> Matrix:
    """Return unit quaternions as x, y, z, w."""
    turns = motion.turns / np.linalg.norm(motion.turns, axis=1)[:, None]
    return np.roll(turns, -1, axis=1) if scalar_first else turns


def _choose_by_bodies(
    motion: RobotMotion,
    robot: RobotModel,
    orders: Mapping[str, Names],
    turns: Mapping[bool, Matrix],
) -> tuple[str, bool, Names]:
    """Choose joint and quaternion order by forward kinematics of the recorded bodies."""
    firsts = [motion.scalar_first] if motion.bodies and motion.bodies.local else list(turns)
    errors = {
        (order, first): _body_error(motion, robot, orders[order], turns[first])
        for order, first in product(orders, firsts)
    }
    best = min(errors, key=lambda key: errors[key])
    if errors[best] > OTHER_ROBOT and not motion.names:
        told = ", ".join(f"{order}: {error:.3f} m" for (order, _), error in errors.items())
        raise ClipError(
            motion.origin,
            f"bodies of the file are not those of robot {robot.name!r} in any known joint order ({told})",
        )
    if errors[best] <= SAME_BODIES:
        return *best, ()
    if any(error < CLEARLY * errors[best] for key, error in errors.items() if key != best):
        raise ClipError(motion.origin, _ask(orders))
    notice = f"bodies of the file differ from those of robot {robot.name!r} by {errors[best]:.4f} m on average"
    return *best, (notice,)


def _body_error(motion: RobotMotion, robot: RobotModel, names: Names, turns: Matrix) -> float:
    """Return the mean distance between recorded bodies and links of the robot; of unnamed ones, to the nearest link [m]."""
    bodies = motion.bodies
    assert bodies is not None
    rows = np.unique(np.linspace(0, len(motion.times) - 1, SAMPLES).astype(int))
    places = {joint.name: joint.q.start for joint in robot.joints}
    shared = [(index, places[name]) for index, name in enumerate(names) if name in places]
    frames = {
        link: robot.link_frame(link) for link in robot.links if _moves_by(robot, link) <= set(names)
    }
    data, errors = robot.data(), []
    for row in rows:
        q = np.array(robot.posture)
        q[:7] = (0, 0, 0, 0, 0, 0, 1) if bodies.local else (*motion.base[row], *turns[row])
        for index, place in shared:
            q[place] = motion.joints[row, index]
        pin.framesForwardKinematics(robot.model, data, q)
        links = {link: np.array(data.oMf[frame].translation) for link, frame in frames.items()}
        errors += _distances(bodies, row, links)
    return float(np.mean(errors)) if errors else FARTHEST


def _distances(bodies: BodyPositions, row: int, links: Mapping[str, Vector]) -> list[float]:
    """Return distances between bodies and links [m]; without names, from each to the nearest other, for the nearer half of them."""
    places = bodies.positions[row]
    if bodies.names:
        named = dict(zip(bodies.names, places, strict=True))
        pairs = [(named[name], links[name]) for name in named if name in links]
        return [min(float(np.linalg.norm(a - b)), FARTHEST) for a, b in pairs]
    between = np.linalg.norm(np.array(list(links.values()))[:, None] - places[None], axis=2)
    found: list[float] = []
    for axis in (
        0,
        1,
    ):  # some bodies are no links of the robot, and some links no bodies of the file
        nearest = np.sort(np.minimum(np.min(between, axis=axis), FARTHEST))
        found += nearest[: 1 + len(nearest) // 2].tolist()
    return found


def _moves_by(robot: RobotModel, link: str) -> set[str]:
    """Return the joints between the root and a link."""
    joint = robot.model.frames[robot.link_frame(link)].parentJoint
    return {robot.model.names[index] for index in robot.model.supports[joint] if index > 1}


def _choose_by_limits(
    motion: RobotMotion,
    robot: RobotModel,
    orders: Mapping[str, Names],
    turns: Mapping[bool, Matrix],
) -> tuple[str, bool, Names]:
    """Choose the only order, or the only one whose samples stay within the joint limits; the base is upright."""
    first = _choose_upright(motion.scalar_first, turns, robot)
    if len(orders) == 1:
        return next(iter(orders)), first, ()
    shares = {name: _share_beyond(motion, robot, order) for name, order in orders.items()}
    inside = [name for name, share in shares.items() if share < RARELY]
    if len(inside) == 1 and all(shares[name] > OFTEN for name in orders if name != inside[0]):
        return inside[0], first, ("other joint orders leave the joint limits",)
    raise ClipError(motion.origin, _ask(orders))


def _ask(orders: Mapping[str, Names]) -> str:
    width = len(next(iter(orders.values())))
    return f"has {count(width, 'joint')} without names, which fit the orders {', '.join(orders)}; choose one with joint_order= (--joint-order)"


def _share_beyond(motion: RobotMotion, robot: RobotModel, order: Names) -> float:
    """Return the largest share of the samples of a joint beyond its limits."""
    lower, upper = robot.limits.lower, robot.limits.upper
    shares = [
        np.mean(
            (motion.joints[:, index] < lower[joint.q.start] - BEYOND)
            | (motion.joints[:, index] > upper[joint.q.start] + BEYOND)
        )
        for joint in robot.joints
        if joint.name in order
        for index in (order.index(joint.name),)
    ]
    return float(max(shares, default=0.0))


def _choose_upright(usual: bool, turns: Mapping[bool, Matrix], robot: RobotModel) -> bool:
    """Return the quaternion order of the format, unless the base lies with it and stands with the other."""
    up = pin.Quaternion(np.array(robot.posture[3:7])).matrix()[2]

    def stand(first: bool) -> float:
        x, y, z, w = turns[first].T
        rows = np.column_stack((2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)))
        return float(np.median(rows @ up))

    return not usual if stand(usual) < LYING and stand(not usual) > UPRIGHT else usual


def _check_quaternions(motion: RobotMotion) -> RobotMotion:
    """Refuse what is no quaternion; note those that an interpolation made shorter."""
    errors = np.abs(np.linalg.norm(motion.turns, axis=1) - 1.0)
    row = int(np.argmax(errors))
    if errors[row] > ROUGH:
        length = np.linalg.norm(motion.turns[row])
        raise ClipError(motion.origin, f"quaternion of length {length:.6g}, expected 1", row=row)
    if errors[row] < ROUNDED:
        return motion
    notice = f"quaternions differ from unit length by up to {errors[row]:.3g} and are normalised"
    return replace(motion, notices=(*motion.notices, notice))


def _convert_units(motion: RobotMotion, robot: RobotModel) -> RobotMotion:
    """Convert degrees and centimetres or millimetres, where only these fit the robot."""
    notices: Names = ()
    if float(np.max(np.abs(motion.joints), initial=0.0)) > 2.0 * np.pi:
        joints = np.radians(motion.joints)
        if float(np.max(np.abs(joints), initial=0.0)) < np.pi:
            motion, notices = (
                replace(motion, joints=joints),
                ("joints are in degrees, by their size",),
            )
    height = float(np.median(np.abs(motion.base[:, 2])))
    size = float(robot.posture[2]) or 1.0
    for name, scale in LENGTHS.items():
        if height > SIZES[1] * size and SIZES[0] * size < scale * height < SIZES[1] * size:
            motion = replace(motion, base=scale * motion.base)
            notices += (f"lengths are in {name}, by the height of the base",)
            break
    return replace(motion, notices=motion.notices + notices)
