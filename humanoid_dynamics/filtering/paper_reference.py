"""From a clip to references at the step of the filter: even samples, smooth, soles on the ground, at rest at both ends."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.body_points import find_soles
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.derivatives import differentiate
from humanoid_dynamics.motion.resampling import resample
from humanoid_dynamics.motion.smoothing import smooth, smooth_table
from humanoid_dynamics.spatial.arrays import Vector

CUTOFF = 4.4  # Hz; a Gaussian of 30 ms
REPAIR = 1.66  # Hz; a Gaussian of 80 ms
HOLD = 1.0  # s


def prepare_clip(
    clip: Clip, dt: float, *, cutoff: float | None = CUTOFF, repair: bool = True, hold: float = HOLD, level: float | None = 0.0
) -> Clip:
    """Make a clip a reference.

    Args:
        clip: The clip.
        dt: Step of the filter [s].
        cutoff: Low-pass without delay [Hz]; none where None.
        repair: Whether the base is lifted or lowered so that the lower sole stays on the ground.
        hold: How long it stands still before and after [s].
        level: Height of the ground the lower sole is brought to [m]; where None it stays as it is.

    Returns:
        The clip with velocities and accelerations, at the rate of the filter.
    """
    even = resample(clip.change(v=None, a=None, contacts={}), 1.0 / dt)
    if cutoff is not None:
        even = smooth(even, cutoff)
    if level is not None:
        even = _put_down(even, level, repair=repair)
    return hold_ends(differentiate(even), hold)


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
    contacts = {n: np.concatenate((np.repeat(c[:1], count), c, np.repeat(c[-1:], count))) for n, c in clip.contacts.items()}
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
            float((data.oMf[sole.frame].rotation[2] @ sole.vertices.T).min() + data.oMf[sole.frame].translation[2]) for sole in soles
        )
    return heights


def _put_down(clip: Clip, level: float, *, repair: bool) -> Clip:
    """Shift the base along z: as a whole by the first sample, or all the time, smoothly."""
    heights = lowest_corners(clip.robot, clip)
    shift = np.full(len(clip), heights[0])
    if repair and clip.rate > 2.0 * REPAIR:
        shift = smooth_table(heights[:, None], clip.rate, REPAIR)[:, 0]
        shift += heights[0] - shift[0]  # the robot starts on the ground exactly
    q = np.array(clip.q)
    q[:, 2] -= shift - level
    return clip.change(q=q)
