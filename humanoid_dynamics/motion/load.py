# SPDX-License-Identifier: Apache-2.0
"""From a file of any known format to a clip of a robot."""

from __future__ import annotations

from operator import attrgetter
from pathlib import Path

from humanoid_dynamics.errors import ClipError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.clip import Clip, check_times
from humanoid_dynamics.motion.formats.bvh_file import Bvh
from humanoid_dynamics.motion.formats.deepmimic_file import DeepMimic
from humanoid_dynamics.motion.formats.detect import read_motion
from humanoid_dynamics.motion.formats.mapping import JointMap, build_clip
from humanoid_dynamics.motion.formats.recording import Recording
from humanoid_dynamics.motion.formats.robot_motion import RobotMotion, name_joints, take_table
from humanoid_dynamics.motion.retargeted import Retargeting, retarget, retarget_human
from humanoid_dynamics.motion.retargeting.joint_positions import JointPositions, build_human
from humanoid_dynamics.motion.retargeting.skeleton_map import (
    SkeletonMap,
    find_skeleton_map,
    shipped_skeleton_maps,
)


def load_clip(
    path: str | Path,
    robot: RobotModel,
    *,
    joint_map: JointMap | None = None,
    skeleton_map: SkeletonMap | None = None,
    fps: float | None = None,
    joint_order: str = "",
    motion: str = "",
) -> Clip:
    """Read a motion file and put it on a robot.

    Joints are mapped by name or by a joint map; skeletons are retargeted by a skeleton map, found by content where none is given.

    Args:
        path: The file, in any known format.
        robot: The robot.
        joint_map: Which column is which joint.
        skeleton_map: Which joint of a skeleton is which point of a body.
        fps: Samples per second of a file that has no times and no rate, such as a table of text without a header [Hz].
        joint_order: Joint order of a file without joint names whose data do not decide: ``g1_29``, ``g1_23``, ``g1_23_fixed_wrists``,
            ``h1_19``, ``h1_2_27``, ``t1_21``, ``t1_23``, ``t1_29``, or joint names between commas.
        motion: Name of the motion in a file of several.

    Returns:
        The clip.

    Raises:
        ClipError: If the file cannot be read, or has neither times nor a rate and none is given.
    """
    read = read_motion(Path(path), fps, motion)
    if isinstance(read, Recording):
        read = take_table(read, robot, joint_order)
    if isinstance(read, RobotMotion):
        kept = () if joint_map is None else map(attrgetter("column"), joint_map.sources.values())
        read = name_joints(read, robot, joint_order, frozenset(kept))
    if isinstance(read, Recording):
        check_times(read.times, read.origin)
        return build_clip(read, robot, joint_map)
    return retarget_file(read, robot, skeleton_map).clip


def retarget_file(
    motion: Bvh | DeepMimic | JointPositions,
    robot: RobotModel,
    skeleton_map: SkeletonMap | None = None,
) -> Retargeting:
    """Retarget what a file of a skeleton says.

    Args:
        motion: The file, read.
        robot: The robot.
        skeleton_map: The map; found by content where None.

    Returns:
        The motion on the robot.

    Raises:
        ClipError: If no map fits.
    """
    if isinstance(motion, JointPositions):
        return retarget_human(build_human(motion, skeleton_map), robot)
    if isinstance(motion, Bvh):
        moved = motion.skeleton_motion()
        return retarget(
            moved, robot, skeleton_map or find_skeleton_map(moved.skeleton, motion.origin)
        )
    if skeleton_map is None:
        skeleton_map = next((found for found in shipped_skeleton_maps() if found.joints), None)
    if skeleton_map is None:
        raise ClipError(motion.origin, "no skeleton map holds the joints of this format")
    return retarget(motion.skeleton_motion(skeleton_map), robot, skeleton_map)
