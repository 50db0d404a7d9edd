# SPDX-License-Identifier: Apache-2.0
"""Velocities and accelerations of a clip by central differences on the manifold."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_dynamics.errors import ClipError
from humanoid_dynamics.motion.clip import Clip, tell_gap
from humanoid_dynamics.motion.fitted_rates import (
    LEAST,
    FittedRates,
    fit_configurations,
    fit_velocities,
)
from humanoid_dynamics.motion.smoothing import smooth
from humanoid_dynamics.spatial.arrays import Matrix, Vector

WINDOW = 7  # samples
DEGREE = 6  # of the polynomial through them
QUIET, NOISY = (
    0.005,
    0.05,
)  # rad/s² or m/s² that noise may make of an acceleration, and from where on it is told


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
    steps = np.array([pin.difference(model, q[k], q[k + 1]) for k in range(len(q) - 1)]).reshape(
        len(q) - 1, model.nv
    )
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
        raise ClipError(
            clip.origin,
            "has velocities or accelerations, which would contradict low-pass filtered configurations",
        )
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
    v, a, told = (
        _differentiate_configurations(clip) if clip.v is None else _differentiate_velocities(clip)
    )
    return clip.change(v=v, a=a if clip.a is None else clip.a, notices=(*clip.notices, told, *gaps))


def _differentiate_configurations(clip: Clip) -> tuple[Matrix, Matrix, str]:
    """Return velocities and accelerations, and what was done to find them."""
    what = "velocities and accelerations were" if clip.a is None else "velocities were"
    what = f"{what} not given; configurations were differentiated by"
    if _may_be_fitted(clip):
        fitted = fit_configurations(clip.robot, clip.times, clip.q)
        if _is_noisy(fitted, clip.times, 2):
            return fitted.v, fitted.a, f"{what} splines through {_tell_noise(fitted, 'rad or m')}"
    return (
        *window_differences(clip.robot.model, clip.times, clip.q),
        f"{what} polynomials through {min(WINDOW, len(clip))} samples",
    )


def _differentiate_velocities(clip: Clip) -> tuple[Matrix, Matrix, str]:
    """Return velocities and accelerations, and what was done to find them."""
    v, what = np.asarray(clip.v), "accelerations were not given; velocities were differentiated by"
    if _may_be_fitted(clip):
        fitted = fit_velocities(clip.times, v)
        if _is_noisy(fitted, clip.times, 1):
            return v, fitted.a, f"{what} splines through {_tell_noise(fitted, 'rad/s or m/s')}"
    return (
        v,
        differentiate_rates(clip.times, v),
        f"{what} polynomials through {min(WINDOW, len(clip))} samples",
    )


def _may_be_fitted(clip: Clip) -> bool:
    """Return whether there are enough samples, and none lacking between them, for splines."""
    return len(clip) >= LEAST and not tell_gap(clip.times)


def _is_noisy(fitted: FittedRates, times: Vector, order: int) -> bool:
    """Return whether polynomials through a few samples would let more noise into accelerations than ``QUIET``."""
    passing = float(
        np.linalg.norm(_derivative_weights(np.arange(float(WINDOW)) - WINDOW // 2)[order - 1])
    )
    return bool(
        np.max(fitted.noise, initial=0.0) * passing / float(np.median(np.diff(times))) ** order
        > QUIET
    )


def _tell_noise(fitted: FittedRates, unit: str) -> str:
    """Tell of the noise that does most, and what is left of it where that is much."""
    worst = int(np.argmax(fitted.trouble))
    told = f"noise of about {fitted.noise[worst]:.2g} {unit}"
    if fitted.trouble[worst] <= NOISY:
        return told
    return f"{told}, which causes an acceleration error of about {fitted.trouble[worst]:.2g} rad/s² or m/s²"


def window_differences(model: pin.Model, times: Vector, q: Matrix) -> tuple[Matrix, Matrix]:
    """Differentiate configurations twice, by the polynomial of sixth degree nearest to a window of samples around each one.

    The window is laid into the tangent space at its sample, where velocity and acceleration are the first two derivatives.  The error
    falls with the fourth power of the step for the usual seven samples at the very ends, with the sixth inside.

    Args:
        model: The tree.
        times: (n,) instants [s].
        q: (n, nq) configurations, n >= 3.

    Returns:
        v: (n, nv) velocities.
        a: (n, nv) accelerations.
    """
    n = len(q)
    width = min(WINDOW, n)
    v, a = np.empty((2, n, model.nv))
    weights = {}
    for k in range(n):
        first = min(max(k - width // 2, 0), n - width)
        step = (times[first + width - 1] - times[first]) / (width - 1)
        offsets = (times[first : first + width] - times[k]) / step
        key = offsets.tobytes()
        if key not in weights:
            weights[key] = _derivative_weights(offsets)
        x = np.array(
            [pin.difference(model, q[k], sample) for sample in q[first : first + width]]
        ).reshape(width, model.nv)
        slope, bend = weights[key] @ x
        v[k], a[k] = slope / step, bend / step**2
    return v, a


def differentiate_rates(times: Vector, v: Matrix) -> Matrix:
    """Differentiate velocities, by the polynomial through a window of samples around each one.

    Args:
        times: (n,) instants [s].
        v: (n, nv) velocities, n >= 3.

    Returns:
        (n, nv) accelerations.
    """
    n = len(v)
    width = min(WINDOW, n)
    a = np.empty(v.shape)
    for k in range(n):
        first = min(max(k - width // 2, 0), n - width)
        step = (times[first + width - 1] - times[first]) / (width - 1)
        a[k] = (
            _derivative_weights((times[first : first + width] - times[k]) / step)[0]
            @ v[first : first + width]
            / step
        )
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
