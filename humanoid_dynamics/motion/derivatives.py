"""Velocities and accelerations of a clip by central differences on the manifold."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_dynamics.errors import ClipError
from humanoid_dynamics.motion.clip import Clip, tell_gap
from humanoid_dynamics.motion.smoothing import smooth
from humanoid_dynamics.spatial.arrays import Matrix, Vector

WINDOW = 7  # samples
DEGREE = 6  # of the polynomial through them
SPAN, GROWTH = 0.06, 1.4  # s that the widest window takes, and by how much one is wider than the next
LISTENED = 21  # samples of a window from which noise is told
QUIET, NOISY = 0.02, 0.15  # rad/s² or m/s² that noise may make of an acceleration, and from where on it is told
PASSED = 0.1  # rad/s² or m/s² that noise may make of an acceleration after the low-pass that is recommended


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
    gap = tell_gap(clip.times)
    gaps = (f"{gap}; what was differentiated is rough there",) if gap else ()
    if clip.v is not None:
        notice = f"accelerations were not given; velocities were differentiated by polynomials through {min(WINDOW, len(clip))} samples"
        return clip.change(a=differentiate_rates(clip.times, clip.v), notices=(*clip.notices, notice, *gaps))
    width, noise, trouble = choose_width(clip.robot.model, clip.times, clip.q)
    v, a = window_differences(clip.robot.model, clip.times, clip.q, width)
    what = "velocities and accelerations were" if clip.a is None else "velocities were"
    notice = f"{what} not given; configurations were differentiated by polynomials through {width} samples"
    told = [notice]
    if trouble > NOISY:
        made = f"their noise of about {noise:.2g} rad or m makes accelerations wrong by about {trouble:.2g} rad/s² or m/s²"
        told.append(f"{made}: low-pass them first, at about {recommend_cutoff(noise, clip.times):.2g} Hz")
    return clip.change(v=v, a=a if clip.a is None else clip.a, notices=(*clip.notices, *told, *gaps))


def recommend_cutoff(noise: float, times: Vector) -> float:
    """Return the cut-off that lets ``PASSED`` of white noise through to accelerations, at most a quarter of the rate [Hz].

    A low-pass at f passes s (2 pi f)² (2 f / 5 r)^(1/2) of noise s in samples at a rate r.

    Args:
        noise: Standard deviation of samples, not zero [rad or m].
        times: (n,) instants [s].
    """
    rate = 1.0 / float(np.median(np.diff(times)))
    passing = 2.5 * rate * (PASSED / noise) ** 2 / (2.0 * np.pi) ** 4
    return min(float(passing**0.2), 0.25 * rate)


def choose_width(model: pin.Model, times: Vector, q: Matrix) -> tuple[int, float, float]:
    """Choose how many samples to lay a polynomial through: as few as their noise lets, at most what ``SPAN`` takes.

    Motions that are sampled fast need it: at 1 kHz what six digits round away is an acceleration of 30 rad/s² between seven samples.

    Args:
        model: The tree.
        times: (n,) instants [s].
        q: (n, nq) configurations, n >= 3.

    Returns:
        An odd number of samples, or all there are where these are fewer; the noise of samples [rad or m] and what it makes of an
        acceleration then [rad/s² or m/s²], zero where samples are too far apart to tell it.
    """
    step = float(np.median(np.diff(times)))
    widest = min(2 * round(0.5 * SPAN / step) + 1, len(q) - 1 + len(q) % 2)
    if widest <= WINDOW:
        return min(WINDOW, len(q)), 0.0, 0.0
    noise, width = measure_noise(model, times, q, min(widest, LISTENED)), WINDOW
    while True:
        offsets = np.arange(width) - width // 2
        trouble = noise * float(np.linalg.norm(_derivative_weights(offsets.astype(np.float64))[1])) / step**2
        if trouble <= QUIET or width == widest:
            return width, noise, trouble
        width = min(2 * int(0.5 * GROWTH * width) + 1, widest)


def measure_noise(model: pin.Model, times: Vector, q: Matrix, width: int) -> float:
    """Return the deviation of samples from polynomials through windows side by side, of the coordinate that has most.

    Args:
        model: The tree.
        times: (n,) instants [s].
        q: (n, nq) configurations, n >= width.
        width: Samples in a window, more than a polynomial has coefficients.

    Returns:
        Standard deviation [rad or m].
    """
    squares = []
    for first in range(0, len(q) - width + 1, width):
        middle, window = first + width // 2, slice(first, first + width)
        x = np.array([pin.difference(model, q[middle], sample) for sample in q[window]]).reshape(width, model.nv)
        basis, _ = np.linalg.qr(np.vander(_to_one(times[window] - times[middle]), DEGREE + 1))
        squares.append(np.sum((x - basis @ (basis.T @ x)) ** 2, axis=0) / (width - DEGREE - 1))
    return float(np.sqrt(np.max(np.mean(squares, axis=0), initial=0.0)))


def window_differences(model: pin.Model, times: Vector, q: Matrix, width: int = WINDOW) -> tuple[Matrix, Matrix]:
    """Differentiate configurations twice, by the polynomial of sixth degree nearest to a window of samples around each one.

    The window is laid into the tangent space at its sample, where velocity and acceleration are the first two derivatives.  The error
    falls with the fourth power of the step for the usual seven samples at the very ends, with the sixth inside.  Seven samples let all
    noise through; wider windows take it away.

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
    reach = float(np.max(np.abs(offsets)))
    powers = np.vander(_to_one(offsets), min(DEGREE + 1, len(offsets)), increasing=True)
    wanted = np.zeros((powers.shape[1], 2))
    wanted[1, 0], wanted[2, 1] = 1.0 / reach, 2.0 / reach**2
    return np.asarray(np.linalg.lstsq(powers.T, wanted, rcond=None)[0].T)


def _to_one(offsets: Vector) -> Vector:
    return np.asarray(offsets / np.max(np.abs(offsets)))
