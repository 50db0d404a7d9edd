# SPDX-License-Identifier: Apache-2.0
"""A human's motion on a robot: scaled control points, then inverse kinematics from frame to frame.

Hips and ankles go where those of the human are, scaled by the length of the legs, the ankles by the width of the hips farther apart or
nearer.  Bones of thighs, arms and forearms point as those of the human do.  Pelvis, chest and feet are turned as those of the human are,
compared with a pose in which both stand upright with level feet.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin

from humanoid_dynamics.errors import ClipError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.body_points import SIDES, Body, chain_length, find_body
from humanoid_dynamics.motion.checking.limits import limit_excess, limit_shares
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.formats.doubts import tell_times
from humanoid_dynamics.motion.inverse_kinematics import Found, InverseKinematics, Task
from humanoid_dynamics.motion.resampling import align_signs
from humanoid_dynamics.motion.retargeting.human import LEG_BONES, HumanMotion
from humanoid_dynamics.motion.retargeting.skeleton import SkeletonMotion
from humanoid_dynamics.motion.retargeting.skeleton_map import SkeletonMap
from humanoid_dynamics.motion.smoothing import smooth_table
from humanoid_dynamics.spatial.arrays import Matrix, Vector

WEIGHTS = {
    "hips": 2.0,
    "pelvis": 1.0,
    "ankle": 10.0,
    "foot": 1.5,
    "knee": 0.7,
    "chest": 1.0,
    "elbow": 1.5,
    "hand": 1.5,
}
REST_WEIGHT = 0.015  # of the distance of a joint from its resting posture, per radian
LAST_WEIGHT = 0.03  # of its distance from where it was in the frame before, per radian
GROUND_SHARE = (
    5.0  # percent of the frames whose lower ankle is at or below the height taken as standing
)
HEADING_CUTOFF = 0.5  # Hz; the heading that widens the stance follows turns, not steps
STUCK, FREED, TRY_EVERY = (
    0.2,
    0.5,
    5,
)  # miss of an arm [m] after which it starts anew, share of it that is better, and every how many frames
FIRST_SEARCH, LATER_SEARCH = 200, 8  # iterations
LEVEL_PARTS = ("pelvis", "chest", "left_ankle", "right_ankle")


@dataclass(frozen=True, eq=False)
class Retargeting:
    """A motion on a robot, and how well it fits.

    Attributes:
        clip: The motion.
        scale: Length on the robot of one unit of the file [m].
        residuals: Task -> root mean square and largest miss [m]; tasks named ``turn:...`` in rad.
        at_limit: Coordinate -> share of frames it rests on a limit.
        excess: Joint -> how far it leaves its limits [rad]; empty, as limits are kept.
        iterations: Mean number of iterations per frame.
    """

    clip: Clip
    scale: float
    residuals: Mapping[str, tuple[float, float]] = field(repr=False)
    at_limit: Mapping[str, float] = field(repr=False)
    excess: Mapping[str, float]
    iterations: float


_ARMS = (("shoulder", "elbow"), ("elbow", "hand"))


def retarget(
    motion: SkeletonMotion,
    robot: RobotModel,
    skeleton_map: SkeletonMap,
    *,
    scale: float | None = None,
) -> Retargeting:
    """Put the motion of a skeleton on a robot.

    Args:
        motion: The motion.
        robot: A robot that stands on two soles.
        skeleton_map: Which joint of the skeleton is which point of a body.
        scale: Length on the robot of one unit of the file [m]; where None the legs decide.

    Returns:
        The clip, at the instants of the file, with what was missed.

    Raises:
        ClipError: If the skeleton has not the joints of the map, or no legs.
        UnsupportedRobotError: If the robot does not stand on two soles.
    """
    return retarget_human(_read_human(motion, skeleton_map), robot, scale=scale)


def retarget_human(
    human: HumanMotion, robot: RobotModel, *, scale: float | None = None
) -> Retargeting:
    """Put the motion of a human on a robot.

    Args:
        human: Body points and orientations of body parts over time.
        robot: A robot that stands on two soles.
        scale: Length on the robot of one unit of the motion [m]; where None the legs decide.

    Returns:
        The clip, at the instants of the motion, with the errors that remain.

    Raises:
        ClipError: If the legs have no length.
        UnsupportedRobotError: If the robot does not stand on two soles.
    """
    body = find_body(robot)
    rest = _Rest(robot, body)
    leg = human.leg()
    if leg <= 0.0:
        raise ClipError(human.origin, "the legs of the skeleton have no length")
    scale = rest.leg / leg if scale is None else scale
    tasks, goals, turns = _list_tasks(human, rest, scale)
    places, rotations = np.stack(goals, axis=1), np.stack(turns, axis=1)
    found, jumps = _follow(robot, tasks, places, rotations, human.R["pelvis"][0])
    q = align_signs(robot, np.array([one.q for one in found]))
    rows = ", ".join(map(str, jumps))
    notices = (f"an arm was caught behind a limit and jumps at rows {rows}",) if jumps else ()
    clip = Clip(
        robot,
        human.times,
        q,
        origin=human.origin,
        notices=human.notices + notices + tell_times(human.times),
    )
    errors = np.array([one.errors for one in found])
    return Retargeting(
        clip,
        scale,
        _residuals(tasks, errors),
        limit_shares(robot, np.array([one.at_limit for one in found])),
        limit_excess(robot, q),
        float(np.mean([one.iterations for one in found])),
    )


def _follow(
    robot: RobotModel, tasks: list[Task], places: Matrix, turns: Matrix, faces: Matrix
) -> tuple[list[Found], list[int]]:
    """Search frame after frame, each near the one before: what the tasks leave open follows instead of jumping.

    An arm that is caught behind a limit, far from where it should be, starts anew; the frames where it jumps are returned too.
    """
    weight = np.full(robot.nv, np.hypot(REST_WEIGHT, LAST_WEIGHT))
    weight[:6] = 0.0
    share = REST_WEIGHT**2 / (REST_WEIGHT**2 + LAST_WEIGHT**2)
    search = InverseKinematics(robot, tasks, weight)
    found = [
        search.solve(_start(robot, places[0, 0], faces), places[0], turns[0], most=FIRST_SEARCH)
    ]
    arms = [
        index
        for index, task in enumerate(tasks)
        if task.behind is not None and task.name.endswith(("elbow", "hand"))
    ]
    jumps: list[int] = []
    tried = 0
    for row in range(1, len(places)):
        rest = np.asarray(pin.interpolate(robot.model, found[-1].q, robot.posture, share))
        one = search.solve(found[-1].q, places[row], turns[row], rest=rest, most=LATER_SEARCH)
        miss = float(np.max(one.errors[arms, 0], initial=0.0))
        if miss > STUCK and row >= tried + TRY_EVERY:
            tried = row
            again = search.solve(_relaxed(robot, one.q), places[row], turns[row], most=FIRST_SEARCH)
            if again.errors[arms, 0].max() < FREED * miss:
                one = again
                jumps.append(row)
        found.append(one)
    return found, jumps


def _relaxed(robot: RobotModel, q: Vector) -> Vector:
    """Return the resting posture where the base is: a limb that was caught behind a limit starts anew."""
    relaxed = np.array(robot.posture)
    relaxed[:7] = q[:7]
    return relaxed


def _read_human(motion: SkeletonMotion, skeleton_map: SkeletonMap) -> HumanMotion:
    missing = [
        joint for joint in skeleton_map.points.values() if joint not in motion.skeleton.names
    ]
    if missing:
        raise ClipError(
            motion.origin,
            f"the skeleton has no joints {', '.join(missing)}, which {skeleton_map.origin} names",
        )
    p, R = motion.world()
    first = 1 if skeleton_map.rest == "first_frame" else 0
    R_rest = R[0] if first else np.tile(np.eye(3), (R.shape[1], 1, 1))
    T = skeleton_map.R_WF
    index = {point: motion.skeleton.index(joint) for point, joint in skeleton_map.points.items()}
    places = {point: p[first:, joint] @ T.T for point, joint in index.items()}
    parts = {part: index[part] for part in LEVEL_PARTS if part in index}
    turns = {part: T @ R[first:, joint] @ R_rest[joint].T @ T.T for part, joint in parts.items()}
    return HumanMotion(motion.origin, motion.times[first:] - motion.times[first], places, turns)


class _Rest:
    """Lengths, places and orientations of a robot in its resting posture."""

    def __init__(self, robot: RobotModel, body: Body) -> None:
        data = robot.data()
        pin.framesForwardKinematics(robot.model, data, robot.posture)
        self.body = body
        self.p = {
            name: np.asarray(data.oMf[point.frame].act(point.p_F))
            for name, point in body.points.items()
        }
        self.R = {frame: np.array(data.oMf[frame].rotation) for frame in range(robot.model.nframes)}
        lengths = [
            chain_length(np.array([self.p[f"{side}_{part}"] for part in ("hip", "knee", "ankle")]))
            for side in SIDES
        ]
        self.leg = float(np.mean(lengths))
        self.ankle_height = float(np.mean([self.p[f"{side}_ankle"][2] for side in SIDES]))
        self.hip_width = float(np.linalg.norm(self.p["left_hip"] - self.p["right_hip"]))

    def bone(self, side: str, first: str, second: str) -> float:
        """Return the length of a bone [m]."""
        return float(np.linalg.norm(self.p[f"{side}_{second}"] - self.p[f"{side}_{first}"]))


def _list_tasks(
    human: HumanMotion, rest: _Rest, scale: float
) -> tuple[list[Task], list[Matrix], list[Matrix]]:
    """List the tasks and, frame by frame, their goals; the first is the middle of the hips, the second the pelvis."""
    points, n = rest.body.points, len(human.times)
    ground = float(
        np.percentile(
            np.minimum(human.p["left_ankle"][:, 2], human.p["right_ankle"][:, 2]), GROUND_SHARE
        )
    )
    raised = np.array([0.0, 0.0, rest.ankle_height - scale * ground])
    still = np.tile(np.eye(3), (n, 1, 1))
    middle = 0.5 * (points["left_hip"].p_F + points["right_hip"].p_F)
    tasks = [Task("hips", points["left_hip"].frame, middle, place=WEIGHTS["hips"])]
    goals, turns = [0.5 * scale * (human.p["left_hip"] + human.p["right_hip"]) + raised], [still]
    sideways = _sideways(human, rest, scale)
    parts = [("pelvis", "pelvis", rest.body.pelvis, WEIGHTS["pelvis"])]
    if rest.body.chest is not None and "chest" in human.R:
        parts.append(("chest", "chest", rest.body.chest, WEIGHTS["chest"]))
    parts += [
        (f"{side}_foot", f"{side}_ankle", points[f"{side}_ankle"].frame, WEIGHTS["foot"])
        for side in SIDES
    ]
    for name, part, frame, weight in parts:
        tasks.append(Task(name, frame, turn=weight))
        goals.append(np.zeros((n, 3)))
        turns.append(human.R[part] @ rest.R[frame])
    for side, sign in zip(SIDES, (1.0, -1.0), strict=True):
        point = points[f"{side}_ankle"]
        tasks.append(Task(point.name, point.frame, point.p_F, place=WEIGHTS["ankle"]))
        goals.append(scale * human.p[point.name] + raised + sign * sideways)
        bones = [LEG_BONES[0]] + [
            bone
            for bone in _ARMS
            if f"{side}_{bone[1]}" in points and f"{side}_{bone[1]}" in human.p
        ]
        for first, second in bones:
            tasks.append(_bone_task(rest, side, first, second))
            goals.append(rest.bone(side, first, second) * _directions(human, side, first, second))
    turns += [still] * (len(tasks) - len(turns))
    return tasks, goals, turns


def _bone_task(rest: _Rest, side: str, first: str, second: str) -> Task:
    near, far = rest.body.points[f"{side}_{first}"], rest.body.points[f"{side}_{second}"]
    return Task(
        far.name,
        far.frame,
        far.p_F,
        place=WEIGHTS[second],
        behind=Task(near.name, near.frame, near.p_F),
    )


def _directions(human: HumanMotion, side: str, first: str, second: str) -> Matrix:
    bone = human.p[f"{side}_{second}"] - human.p[f"{side}_{first}"]
    return np.asarray(bone / np.maximum(np.linalg.norm(bone, axis=1), 1e-12)[:, None])


def _sideways(human: HumanMotion, rest: _Rest, scale: float) -> Matrix:
    """Return by how much the left ankle goes to the left because the hips of the robot are wider than those of the scaled human."""
    across = (human.p["left_hip"] - human.p["right_hip"]) * np.array([1.0, 1.0, 0.0])
    width = scale * float(np.linalg.norm(human.p["left_hip"] - human.p["right_hip"], axis=1).mean())
    rate = (len(human.times) - 1) / float(human.times[-1] - human.times[0])
    if rate > 2.0 * HEADING_CUTOFF:
        across = smooth_table(across, rate, HEADING_CUTOFF)
    left = across / np.maximum(np.linalg.norm(across, axis=1), 1e-12)[:, None]
    return np.asarray(0.5 * (rest.hip_width - width) * left)


def _start(robot: RobotModel, hips: Vector, faces: Matrix) -> Vector:
    """Return the resting posture, over the place and in the heading where the motion starts, turned as a human who stood is there."""
    q = np.array(robot.posture)
    R = pin.utils.rotate("z", float(np.arctan2(faces[1, 0], faces[0, 0])))
    moved = pin.SE3(R, np.array([hips[0], hips[1], 0.0])) * pin.XYZQUATToSE3(q[:7])
    q[:7] = pin.SE3ToXYZQUAT(moved)
    return q


def _residuals(tasks: list[Task], errors: Matrix) -> dict[str, tuple[float, float]]:
    found = {}
    for index, task in enumerate(tasks):
        for column, name in ((0, task.name), (1, f"turn:{task.name}")):
            if (task.place, task.turn)[column]:
                miss = errors[:, index, column]
                found[name] = (float(np.sqrt(np.mean(miss**2))), float(np.max(miss)))
    return found
