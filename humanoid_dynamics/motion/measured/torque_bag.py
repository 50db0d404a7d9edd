# SPDX-License-Identifier: Apache-2.0
"""Torques of a motion as a bag: what the node ``inverse_dynamics`` would have said, on its topics, beside the states they belong to.

/unguarded/joint_torque_commands sensor_msgs/JointState       effort by name [N·m, N]
/planned_wrenches/<surface>   geometry_msgs/WrenchStamped  force and moment at the surface, axes of the world [N, N·m]
/certificate                  std_msgs/Float64MultiArray   residual and margins, as the node has them; the age is zero
/joint_states, /odom          as they were read, with the velocities that were found
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from humanoid_dynamics.model.joint import Joint
from humanoid_dynamics.motion.motion_torques import PROOF, MotionTorques
from humanoid_dynamics.series.bag_file import BagFile
from humanoid_dynamics.series.bag_writer import WORLD, clean
from humanoid_dynamics.series.messages import (
    NANO,
    Form,
    array_form,
    build_template,
    joint_state_form,
    odometry_form,
    wrench_form,
)
from humanoid_dynamics.spatial.arrays import Matrix, Vector

ONE = frozenset({"revolute", "continuous", "prismatic"})
Fill = Callable[[int], tuple[Vector, ...]]
Channel = tuple[str, Form, Fill]


def write_torque_bag(torques: MotionTorques, path: Path) -> None:
    """Write torques, wrenches and certificates as a bag.

    Args:
        torques: The torques.
        path: The file, which is replaced.

    Raises:
        MissingExtraError: If ``rosbags`` is not installed.
        RecordError: If the file cannot be written.
    """
    channels = _list_channels(torques)
    bag = BagFile(path)
    try:
        made = [
            (bag.connect(topic, form.kind), build_template(form), fill)
            for topic, form, fill in channels
        ]
        for k, t in enumerate(torques.clip.times.tolist()):
            stamp = round(t * NANO)
            for connection, template, fill in made:
                bag.write(connection, stamp, template.encode(stamp, fill(k)))
    finally:
        bag.close()


def _list_channels(torques: MotionTorques) -> list[Channel]:
    clip, names = torques.clip, torques.columns
    count = len(names)
    channels: list[Channel] = [
        (
            "/unguarded/joint_torque_commands",
            joint_state_form(names, (0, 0, count)),
            lambda k: (np.zeros(0), np.zeros(0), torques.tau[k]),
        ),
    ]
    for column, surface in enumerate(torques.surfaces):
        channels.append(
            (
                f"/planned_wrenches/{clean(surface)}",
                wrench_form(WORLD),
                _fill_wrench(torques.wrenches[:, column]),
            )
        )
    if len(torques.proofs):
        channels.append(
            (
                "/certificate",
                array_form((*PROOF, "age")),
                lambda k: (np.append(torques.proofs[k], 0.0),),
            )
        )
    joints = [joint for joint in clip.robot.joints if joint.kind in ONE]
    at = np.array([joint.v.start for joint in joints], dtype=np.intp)
    positions, speeds = _read_positions(joints, clip.q), np.asarray(clip.v)
    size = (len(joints), len(joints), 0)
    channels.append(
        (
            "/joint_states",
            joint_state_form([j.name for j in joints], size),
            lambda k: (positions[k], speeds[k, at], np.zeros(0)),
        )
    )
    if clip.robot.root == "free_flyer":
        unknown = np.zeros(36)
        form = odometry_form(WORLD, clip.robot.links[0])
        channels.append(
            (f"/{WORLD}", form, lambda k: (clip.q[k, :7], unknown, speeds[k, :6], unknown))
        )
    return channels


def _fill_wrench(wrenches: Matrix) -> Fill:
    return lambda k: (wrenches[k],)


def _read_positions(joints: list[Joint], q: Matrix) -> Matrix:
    """Return the position of each joint at each instant."""
    columns = [
        np.arctan2(q[:, joint.q.start + 1], q[:, joint.q.start])
        if joint.kind == "continuous"
        else q[:, joint.q.start]
        for joint in joints
    ]
    return np.column_stack(columns) if columns else np.zeros((len(q), 0))
