# SPDX-License-Identifier: Apache-2.0
"""Which contacts of a motion a rule is to resolve, and what load each of them takes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_dynamics.errors import count
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.contact_detection import detect_contacts
from humanoid_dynamics.motion.measured.load_transfer import share_table
from humanoid_dynamics.motion.schedule import TouchTimes, runs, schedule_from_labels
from humanoid_dynamics.spatial.arrays import Matrix, Vector

SAME_FOOT = 3  # joints between bodies of one foot: ankle, subtalar joint, toes
ROOT_WAY = 2  # bodies on the way to the base: the world and the base itself
FALLING = 0.05  # of the weight; a motion that needs less from the ground, beside what was measured, has left it
CARRIED = 0.3  # of the weight; where one foot was measured and this much is missing, the other one bears it


@dataclass(frozen=True, eq=False)
class OpenContacts:
    """Contacts whose wrenches nobody measured.

    Attributes:
        names: Their surfaces.
        shares: (n, names) part of the load of each at each frame, of sum 1; all zero where none of them touches.
        notices: What was assumed.
    """

    names: tuple[str, ...]
    shares: Matrix = field(repr=False)
    notices: tuple[str, ...] = ()


def find_open_contacts(
    clip: Clip, free: Matrix, plated: tuple[str, ...], covered: NDArray[np.bool_]
) -> OpenContacts:
    """Find the contacts of a motion that were not measured.

    Which surface touches when is what the clip says, or is found from the motion of two soles; otherwise the surfaces that the robot
    rests on touch all the time.

    Args:
        clip: The motion.
        free: (n, nv) torques of free motion, less those of measured wrenches.
        plated: Links that were measured.
        covered: (n,) when they were.

    Returns:
        The contacts with their shares.
    """
    measured = _surfaces_on(clip.robot, plated)
    schedule, notices = _find_schedule(
        clip, free, [name for name in clip.robot.stance if name not in measured], covered
    )
    names = tuple(name for name in schedule.intervals if not (name in measured and covered.all()))
    shares = share_table(schedule, names, clip.times)
    for column, name in enumerate(names):
        if name in measured:
            shares[covered, column] = 0.0
    total = shares.sum(axis=1, keepdims=True)
    guessed = {
        clip.robot.surfaces[name].assumed: name
        for name in names
        if clip.robot.surfaces[name].assumed
    }
    notices += tuple(f"{name} was {assumed}" for assumed, name in guessed.items())
    return OpenContacts(
        names, np.divide(shares, total, out=np.zeros_like(shares), where=total > 0.0), notices
    )


def _surfaces_on(robot: RobotModel, links: tuple[str, ...]) -> set[str]:
    """Return the surfaces of measured bodies, and of bodies next to them on the same limb: an ankle's sole stands on the heel's plate."""
    measured = {robot.model.frames[robot.link_frame(link)].parentJoint for link in links}
    found = set()
    for name, surface in robot.surfaces.items():
        body = robot.model.frames[surface.frame].parentJoint
        if any(_joints_between(robot, body, other) <= SAME_FOOT for other in measured):
            found.add(name)
    return found


def _joints_between(robot: RobotModel, one: int, other: int) -> float:
    """Return how many joints lead from one body to another on the same limb; infinite elsewhere, and to what the base carries rigidly."""
    ways = [list(robot.model.supports[body]) for body in (one, other)]
    if one == other:
        return 0.0
    shorter, longer = sorted(ways, key=len)
    return (
        len(longer) - len(shorter)
        if len(shorter) > ROOT_WAY and longer[: len(shorter)] == shorter
        else np.inf
    )


def _find_schedule(
    clip: Clip, free: Matrix, unmeasured: list[str], covered: NDArray[np.bool_]
) -> tuple[TouchTimes, tuple[str, ...]]:
    robot = clip.robot
    if clip.contacts:
        return schedule_from_labels(clip.times, clip.contacts), ()
    if robot.root != "free_flyer" or len(robot.stance) != 2:
        notice = f"contacts were not given; taken to touch all the time: {', '.join(robot.stance) or 'nothing'}"
        return schedule_from_labels(
            clip.times, dict.fromkeys(robot.stance, np.ones(len(clip), dtype=bool))
        ), (notice,)
    need = _upward_force(clip, free) / (
        robot.mass * float(np.linalg.norm(robot.model.gravity.linear)) or 1.0
    )
    falling = need < FALLING
    labels = {
        name: touches & ~falling
        for name, touches in detect_contacts(clip).labels(clip.times).items()
    }
    notice = "contacts were not given; they were found from the motion of the soles"
    if len(unmeasured) == 1:
        labels[unmeasured[0]] |= _bears_rest(need) & covered
        notice += f", and that of {unmeasured[0]} from the weight that was not measured"
    if falling.any():
        notice += f", and none in {count(int(falling.sum()), 'frame')} with less than {FALLING:.0%} of the weight to bear"
    return schedule_from_labels(clip.times, labels), (notice,)


def _bears_rest(need: Vector) -> NDArray[np.bool_]:
    """Tell when a foot must bear what is missing: as long as something is, if at some time in between it is much."""
    bears = np.zeros(len(need), dtype=bool)
    for first, after, lacks in runs(need > FALLING):
        bears[first:after] = lacks and need[first:after].max() > CARRIED
    return bears


def _upward_force(clip: Clip, free: Matrix) -> Matrix:
    """Return the force that the motion needs from the ground, against gravity, (n,) [N]."""
    up = -clip.robot.model.gravity.linear / (
        float(np.linalg.norm(clip.robot.model.gravity.linear)) or 1.0
    )
    return np.array(
        [
            up @ (pin.Quaternion(q[3:7]).toRotationMatrix() @ f[:3])
            for q, f in zip(clip.q, free, strict=True)
        ]
    )
