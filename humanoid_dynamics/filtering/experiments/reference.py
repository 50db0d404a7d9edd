# SPDX-License-Identifier: Apache-2.0
"""From a clip to references at the step of the filter: even samples, smooth, soles on the ground, at rest at both ends."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.body_points import find_soles
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.contact_detection import detect_contacts
from humanoid_dynamics.motion.derivatives import differentiate
from humanoid_dynamics.motion.inverse_kinematics import InverseKinematics, Task
from humanoid_dynamics.motion.resampling import align_signs, resample
from humanoid_dynamics.motion.smoothing import smooth, smooth_table
from humanoid_dynamics.spatial.arrays import Matrix, Vector

CUTOFF = 4.4  # Hz; a Gaussian of 30 ms
REPAIR = 1.66  # Hz; a Gaussian of 80 ms
HOLD = 1.0  # s
FADE = 3.0  # Hz; how fast a sole goes from flat to as it was
SEARCH = 15  # iterations of inverse kinematics per sample


def prepare_clip(
    clip: Clip,
    dt: float,
    *,
    cutoff: float | None = CUTOFF,
    kind: str = "gaussian",
    repair: bool = True,
    hold: float = HOLD,
) -> Clip:
    """Make a clip a reference.

    Args:
        clip: The clip.
        dt: Step of the filter [s].
        cutoff: Low-pass without delay [Hz]; none where None.
        kind: Kind of low-pass, see ``smooth``.
        repair: Whether the base is lifted or lowered so that the lower sole stays on the ground, and soles that stand are laid flat.
        hold: How long it stands still before and after [s].

    Returns:
        The clip with velocities and accelerations, at the rate of the filter.
    """
    even = resample(clip.change(v=None, a=None, contacts={}), 1.0 / dt)
    if cutoff is not None:
        even = smooth(even, cutoff, kind)
    even = _put_down(even, repair=repair)
    if repair:
        even = level_soles(even)
    return hold_ends(differentiate(even), hold)


def level_soles(clip: Clip, level: float = 0.0) -> Clip:
    """Lay the soles that stand flat on level ground; the base stays, the legs follow by inverse kinematics.

    Recorded feet stand on an edge or a corner, which no robot does.  Nothing else is mended: feet slide as they did, and the zero-moment
    point stays where it was.

    Args:
        clip: A clip of a robot with two soles, at an even rate.
        level: Height of the ground [m].

    Returns:
        The clip, without velocities and accelerations.
    """
    robot, soles = clip.robot, find_soles(clip.robot)
    labels = detect_contacts(clip).labels(clip.times)
    stands = np.column_stack([labels[sole.name].astype(np.float64) for sole in soles])
    stands = np.clip(smooth_table(stands, clip.rate, FADE), 0.0, 1.0)
    base = int(robot.model.getFrameId(robot.links[0]))
    tasks = [Task(sole.name, sole.frame, place=100.0, turn=30.0) for sole in soles] + [
        Task("base", base, place=10.0, turn=10.0)
    ]
    weight = np.full(robot.nv, 0.3)
    weight[:6] = 0.0
    search, data = InverseKinematics(robot, tasks, weight), robot.data()
    q = np.array(clip.q)
    for row in range(len(clip)):
        pin.framesForwardKinematics(robot.model, data, clip.q[row])
        goals = [
            _laid(data.oMf[sole.frame], sole.vertices, float(share), level)
            for sole, share in zip(soles, stands[row], strict=True)
        ]
        goals.append(data.oMf[base])
        places, turns = (
            np.array([X.translation for X in goals]),
            np.array([X.rotation for X in goals]),
        )
        shift = (
            pin.difference(robot.model, clip.q[row - 1], q[row - 1]) if row else np.zeros(robot.nv)
        )
        start = pin.integrate(robot.model, clip.q[row], shift)
        q[row] = search.solve(start, places, turns, rest=clip.q[row], most=SEARCH).q
    return smooth(clip.change(q=align_signs(robot, q), v=None, a=None), CUTOFF)


def _laid(X_WC: pin.SE3, corners: Matrix, share: float, level: float) -> pin.SE3:
    """Return a pose of a sole that is flat on the ground by some share, and nowhere below it."""
    R = np.array(X_WC.rotation)
    tilt = np.cross(R[:, 2], np.array([0.0, 0.0, 1.0]))
    sine = float(np.linalg.norm(tilt))
    angle = np.arctan2(sine, R[2, 2])
    flat = pin.exp3(share * angle * tilt / sine) @ R if sine > 1e-9 else R
    p = np.array(X_WC.translation)
    lowest = p[2] + float((corners @ flat[2]).min()) - level
    p[2] -= max(share, 0.0) * lowest if lowest > 0.0 else lowest
    return pin.SE3(flat, p)


def hold_ends(clip: Clip, hold: float) -> Clip:
    """Let a clip stand still before its first and after its last sample.

    Args:
        clip: A clip with velocities and accelerations, at an even rate.
        hold: How long [s].

    Returns:
        The longer clip; times begin at zero.
    """
    count = round(hold * clip.rate)
    if clip.v is None or clip.a is None or count == 0:
        return clip
    q = np.concatenate((np.tile(clip.q[0], (count, 1)), clip.q, np.tile(clip.q[-1], (count, 1))))
    still = np.zeros((count, clip.robot.nv))
    v, a = (np.concatenate((still, table, still)) for table in (clip.v, clip.a))
    contacts = {
        n: np.concatenate((np.repeat(c[:1], count), c, np.repeat(c[-1:], count)))
        for n, c in clip.contacts.items()
    }
    return clip.change(times=np.arange(len(q)) / clip.rate, q=q, v=v, a=a, contacts=contacts)


def lowest_corners(robot: RobotModel, clip: Clip) -> Vector:
    """Return how high the lowest corner of both soles is.

    Args:
        robot: The robot.
        clip: A clip of it.

    Returns:
        (n,) heights [m].
    """
    data, soles = robot.data(), find_soles(robot)
    heights = np.empty(len(clip))
    for row, q in enumerate(clip.q):
        pin.framesForwardKinematics(robot.model, data, q)
        heights[row] = min(
            float(
                (data.oMf[sole.frame].rotation[2] @ sole.vertices.T).min()
                + data.oMf[sole.frame].translation[2]
            )
            for sole in soles
        )
    return heights


def _put_down(clip: Clip, *, repair: bool) -> Clip:
    """Shift the base along z: as a whole by the first sample, or all the time, smoothly."""
    heights = lowest_corners(clip.robot, clip)
    shift = np.full(len(clip), heights[0])
    if repair and clip.rate > 2.0 * REPAIR:
        shift = smooth_table(heights[:, None], clip.rate, REPAIR)[:, 0]
        shift += heights[0] - shift[0]  # the robot starts on the ground exactly
    q = np.array(clip.q)
    q[:, 2] -= shift
    return clip.change(q=q)
