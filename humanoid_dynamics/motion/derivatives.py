"""Velocities and accelerations of a clip by central differences on the manifold."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.smoothing import smooth
from humanoid_dynamics.spatial.arrays import Matrix, Vector


def differentiate(clip: Clip, cutoff: float | None = None, kind: str = "gaussian") -> Clip:
    """Return the clip with velocities and accelerations.

    Between two samples the motion is the straight one of ``pin.difference``; a parabola through three neighbours gives velocity and
    acceleration at the middle one, exact to the square of the step.  At the ends the parabola of the neighbour is continued.

    Args:
        clip: The clip.
        cutoff: Frequency of a low-pass without delay that goes before [Hz]; none where None.
        kind: Kind of low-pass, see ``smooth``.

    Returns:
        The clip (low-passed where that was asked for) with v and a.
    """
    if cutoff is not None:
        clip = smooth(clip, cutoff, kind)
    v, a = central_differences(clip.robot.model, clip.times, clip.q)
    return clip.change(v=v, a=a)


def central_differences(model: pin.Model, times: Vector, q: Matrix) -> tuple[Matrix, Matrix]:
    """Differentiate configurations twice.

    Args:
        model: The tree.
        times: (n,) instants [s].
        q: (n, nq) configurations, n >= 3.

    Returns:
        v: (n, nv) velocities.
        a: (n, nv) accelerations.
    """
    steps = np.array([pin.difference(model, q[k], q[k + 1]) for k in range(len(q) - 1)]).reshape(len(q) - 1, model.nv)
    h = np.diff(times)[:, None]
    slope = steps / h
    v, a = np.empty((2, len(q), model.nv))
    a[1:-1] = 2.0 * (slope[1:] - slope[:-1]) / (h[1:] + h[:-1])
    v[1:-1] = (h[:-1] * slope[1:] + h[1:] * slope[:-1]) / (h[1:] + h[:-1])
    a[0], a[-1] = a[1], a[-2]
    v[0], v[-1] = slope[0] - 0.5 * h[0] * a[1], slope[-1] + 0.5 * h[-1] * a[-2]
    return v, a
