"""Velocities and accelerations of a clip by central differences on the manifold."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_dynamics.errors import ClipError
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.smoothing import smooth
from humanoid_dynamics.spatial.arrays import Matrix, Vector

WINDOW = 7  # samples


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


def smooth_bare(clip: Clip, cutoff: float) -> Clip:
    """Low-pass the configurations of a clip whose velocities are to be found from them, and tell so.

    Args:
        clip: A clip without velocities and accelerations, with even steps.
        cutoff: Frequency where the gain of the Butterworth filter, run both ways, is -3 dB [Hz].

    Returns:
        The smooth clip.

    Raises:
        ClipError: If the clip has velocities or accelerations, steps are uneven, or the cut-off is not below half the rate.
    """
    if clip.v is not None or clip.a is not None:
        raise ClipError(clip.origin, "has velocities or accelerations, which would no longer be those of low-passed configurations")
    notice = f"configurations were low-passed at {cutoff:g} Hz, both ways"
    return smooth(clip, cutoff, "butterworth").change(notices=(*clip.notices, notice))


def complete_rates(clip: Clip) -> Clip:
    """Return the clip with the velocities and accelerations it does not have, and a notice of what was differentiated.

    Args:
        clip: The clip.

    Returns:
        The same clip where it has both.
    """
    if clip.v is not None and clip.a is not None:
        return clip
    told = f"by polynomials through {min(WINDOW, len(clip))} samples"
    if clip.v is not None:
        notice = f"accelerations were not given; velocities were differentiated {told}"
        return clip.change(a=differentiate_rates(clip.times, clip.v), notices=(*clip.notices, notice))
    v, a = window_differences(clip.robot.model, clip.times, clip.q)
    what = "velocities and accelerations were" if clip.a is None else "velocities were"
    notice = f"{what} not given; configurations were differentiated {told}"
    return clip.change(v=v, a=a if clip.a is None else clip.a, notices=(*clip.notices, notice))


def window_differences(model: pin.Model, times: Vector, q: Matrix, width: int = WINDOW) -> tuple[Matrix, Matrix]:
    """Differentiate configurations twice, by the polynomial through a window of samples around each one.

    The window is laid into the tangent space at its sample, where velocity and acceleration are the first two derivatives.  The error
    falls with the fourth power of the step for the usual seven samples at the very ends, with the sixth inside; whatever is noise in the
    samples comes through, so this is for motions that are smooth already.

    Args:
        model: The tree.
        times: (n,) instants [s].
        q: (n, nq) configurations, n >= 3.
        width: Samples in a window; an odd number, as many as there are where there are fewer.

    Returns:
        v: (n, nv) velocities.
        a: (n, nv) accelerations.
    """
    n = len(q)
    width = min(width, n)
    v, a = np.empty((2, n, model.nv))
    weights = {}
    for k in range(n):
        first = min(max(k - width // 2, 0), n - width)
        step = (times[first + width - 1] - times[first]) / (width - 1)
        offsets = (times[first : first + width] - times[k]) / step
        key = offsets.tobytes()
        if key not in weights:
            weights[key] = _derivative_weights(offsets)
        x = np.array([pin.difference(model, q[k], sample) for sample in q[first : first + width]]).reshape(width, model.nv)
        slope, bend = weights[key] @ x
        v[k], a[k] = slope / step, bend / step**2
    return v, a


def differentiate_rates(times: Vector, v: Matrix, width: int = WINDOW) -> Matrix:
    """Differentiate velocities, by the polynomial through a window of samples around each one.

    Args:
        times: (n,) instants [s].
        v: (n, nv) velocities, n >= 3.
        width: Samples in a window.

    Returns:
        (n, nv) accelerations.
    """
    n = len(v)
    width = min(width, n)
    a = np.empty(v.shape)
    for k in range(n):
        first = min(max(k - width // 2, 0), n - width)
        step = (times[first + width - 1] - times[first]) / (width - 1)
        a[k] = _derivative_weights((times[first : first + width] - times[k]) / step)[0] @ v[first : first + width] / step
    return a


def _derivative_weights(offsets: Vector) -> Matrix:
    """Return how samples at these offsets make the first two derivatives at zero, (2, samples)."""
    powers = np.vander(offsets, increasing=True).T
    wanted = np.zeros((len(offsets), 2))
    wanted[1, 0], wanted[2, 1] = 1.0, 2.0
    return np.asarray(np.linalg.solve(powers, wanted).T)
