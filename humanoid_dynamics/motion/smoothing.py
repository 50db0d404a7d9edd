# SPDX-License-Identifier: Apache-2.0
"""Low-pass filters without delay, for clips that are known whole."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import gaussian_filter1d

from humanoid_dynamics.errors import ClipError, UnknownNameError
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.resampling import align_signs, check_turns, restore_units
from humanoid_dynamics.spatial.arrays import Matrix

KINDS = ("gaussian", "butterworth")
WINDOW = 4.0  # standard deviations a Gaussian window reaches
SLOWEST = 1e-5  # of the rate; a cut-off below it drowns in round-off
SETTLED = (
    4.0  # periods of the cut-off after which a Butterworth filter has forgotten where it started
)
CUBIC = 4  # coefficients
BOTH_WAYS = (
    np.sqrt(2.0) - 1.0
) ** 0.25  # a second-order filter run both ways falls to -3 dB at this share of its corner [Winter]


def gaussian_deviation(cutoff: float) -> float:
    """Return the standard deviation [s] of the Gaussian window whose gain is -3 dB at a frequency [Hz].

    Args:
        cutoff: The frequency [Hz].
    """
    return float(np.sqrt(np.log(2.0)) / (2.0 * np.pi * cutoff))


def smooth(clip: Clip, cutoff: float, kind: str = "gaussian") -> Clip:
    """Low-pass the configurations of a clip, forwards and backwards, so that nothing is delayed.

    The gain is -3 dB at the cut-off for either kind.  The Gaussian never overshoots and damps below its cut-off too; the Butterworth of
    second order, run both ways, leaves what lies well below it alone.  Velocities and accelerations are dropped.

    Args:
        clip: The clip, with even steps.
        cutoff: Frequency where the gain is -3 dB [Hz].
        kind: ``gaussian`` or ``butterworth``.

    Returns:
        The smooth clip.

    Raises:
        UnknownNameError: If the kind is neither.
        ClipError: If the steps are uneven or the cut-off is not between 1e-5 and half of the rate.
    """
    if kind not in KINDS:
        raise UnknownNameError("low-pass filter", kind, KINDS)
    if not clip.is_even:
        raise ClipError(clip.origin, "has uneven time steps; resample it before smoothing")
    if not SLOWEST * clip.rate <= cutoff < 0.5 * clip.rate:
        expected = f"expected {SLOWEST * clip.rate:.3g} Hz or more and less than half the rate of {clip.rate:.6g} Hz"
        raise ClipError(clip.origin, f"received a cut-off of {cutoff} Hz, {expected}")
    q = align_signs(clip.robot, clip.q)
    check_turns(clip.robot, q, clip.origin)
    return clip.change(
        q=restore_units(clip.robot, smooth_table(q, clip.rate, cutoff, kind)), v=None, a=None
    )


def smooth_table(table: Matrix, rate: float, cutoff: float, kind: str = "gaussian") -> Matrix:
    """Low-pass the columns of a table without delay.

    Beyond its ends the Gaussian sees the mirror image through the end point; the Butterworth the cubic nearest to the last period of its
    cut-off, because a mirror image is straight at the end, whatever the acceleration is there.

    Args:
        table: (n, columns) samples at an even rate.
        rate: Samples per second [Hz].
        cutoff: Frequency where the gain is -3 dB [Hz].
        kind: ``gaussian`` or ``butterworth``.

    Returns:
        (n, columns) the smooth table.
    """
    if kind == "gaussian":
        deviation = gaussian_deviation(cutoff) * rate
        reach = min(len(table) - 1, int(np.ceil(WINDOW * deviation)))
        longer = np.concatenate(
            (
                2.0 * table[0] - table[reach:0:-1],
                table,
                2.0 * table[-1] - table[-2 : -reach - 2 : -1],
            )
        )
        found = gaussian_filter1d(longer, deviation, axis=0, mode="nearest", truncate=WINDOW)
    else:
        reach = min(len(table) - 1, int(np.ceil(0.5 * SETTLED * rate / cutoff)))
        period = min(len(table), max(round(rate / cutoff), 2 * CUBIC))
        longer = np.concatenate(
            (_continue(table[:period], reach), table, _continue(table[::-1][:period], reach)[::-1])
        )
        from scipy.signal import (
            butter,
            sosfiltfilt,
        )  # takes a second to load, which every node would wait for

        sections = butter(2, min(cutoff / BOTH_WAYS, 0.499 * rate), fs=rate, output="sos")
        found = sosfiltfilt(sections, longer, axis=0, padtype="odd", padlen=reach)
    return np.asarray(found[reach : reach + len(table)])


def _continue(samples: Matrix, count: int) -> Matrix:
    """Return what comes before some samples by the cubic nearest to them, (count, columns)."""
    times = np.arange(-count, len(samples)) / len(samples)
    powers = np.vander(times, min(CUBIC, len(samples)))
    return np.asarray(powers[:count] @ np.linalg.lstsq(powers[count:], samples, rcond=None)[0])
