# SPDX-License-Identifier: Apache-2.0
"""Motions written as bags of ROS 2: JointState for the joints, Odometry for a free base, stamps from their times.

Accelerations and contact labels have no place in these messages, and are left out; what is read back has none.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from humanoid_dynamics.errors import ClipError
from humanoid_dynamics.motion.formats.columns import BASE_POSE, BASE_VELOCITY
from humanoid_dynamics.motion.formats.recording import Recording
from humanoid_dynamics.series.bag_file import BagFile
from humanoid_dynamics.series.bag_writer import JOINTS, WORLD
from humanoid_dynamics.series.messages import NANO, build_template, joint_state_form, odometry_form

BODY = "base_link"  # what the frame of a free base is called, in a recording that does not know the robot


def write_bag_motion(recording: Recording, path: Path) -> None:
    """Write a motion as a bag.

    Args:
        recording: The motion.
        path: An MCAP file, which is replaced, or a folder that does not exist yet.

    Raises:
        ClipError: If there are no names, or joints of several freedoms, which these messages cannot hold.
        MissingExtraError: If ``rosbags`` is not installed.
        RecordError: If nothing can be written there.
    """
    place = {name: index for index, name in enumerate(recording.columns)}
    base = [place[name] for name in BASE_POSE] if set(BASE_POSE) <= set(place) else []
    names = [name for name in recording.columns if place[name] not in base]
    several = [name.removesuffix(".qw") for name in names if name.endswith(".qw")]
    if several or not names:
        problem = (
            f"a JointState cannot hold joints of several degrees of freedom: {', '.join(several)}"
            if several
            else "has no names of joints"
        )
        raise ClipError(recording.origin, problem)
    q = recording.values[:, [place[name] for name in names]]
    (v, twists), unknown, none = _find_rates(recording, names, base), np.zeros(36), np.zeros(0)
    states = build_template(joint_state_form(names, (len(names), v.shape[1], 0)))
    odometry = build_template(odometry_form(WORLD, BODY))
    bag = BagFile(path)
    try:
        said = bag.connect(JOINTS, states.form.kind)
        placed = bag.connect(f"/{WORLD}", odometry.form.kind) if base else None
        for row, time in enumerate(recording.times.tolist()):
            stamp = round(time * NANO)
            bag.write(said, stamp, states.encode(stamp, (q[row], v[row], none)))
            if placed is not None:
                bag.write(
                    placed,
                    stamp,
                    odometry.encode(
                        stamp, (recording.values[row, base], unknown, twists[row], unknown)
                    ),
                )
    finally:
        bag.close()


def _find_rates(
    recording: Recording, names: list[str], base: list[int]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the velocities of joints and the twists of the base; none, and zero, where they are not all known."""
    n, known = len(recording.times), recording.velocities
    rates = {name: index for index, name in enumerate(recording.rates)}
    asked = [*names, *BASE_VELOCITY] if base else names
    if known is None or not set(asked) <= set(rates):
        return np.zeros((n, 0)), np.zeros((n, 6))
    twists = known[:, [rates[name] for name in BASE_VELOCITY]] if base else np.zeros((n, 6))
    return known[:, [rates[name] for name in names]], twists
