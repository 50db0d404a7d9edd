# SPDX-License-Identifier: Apache-2.0
"""How people hand their weight from foot to foot: measured double supports against the transfer functions of the package."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from humanoid_dynamics.contact.transfer import switch_share, transfer_share, two_segment_share

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"  # beside the project
PLATES = ("human_grf/walk1.forces", "human_id/subject01_walk1_grf.mot")
TOUCHES = 20.0  # N; a plate that bears less bears nothing
FEW = 5  # samples that tell where a foot came down or left

Series = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class DoubleSupport:
    """One measured hand-over.

    Attributes:
        walker: Who walked.
        duration: How long both feet bore weight [s].
        step_time: Time from this foot's touch-down to that of the next one [s]; nan for the last one.
        u: (n,) time within double support, 0 to 1 [-].
        share: (n,) measured share of the vertical force on the front foot [-].
        middle: Share at half time for which the pressures would be at the toe that leaves and the heel that came, from the mean pressure
            of both feet then [-].
    """

    walker: str
    duration: float
    step_time: float
    u: Series = field(repr=False)
    share: Series = field(repr=False)
    middle: float


def _curve(profile: str, segments: int) -> Callable[[DoubleSupport], Series]:
    def follow(step: DoubleSupport) -> Series:
        if segments == 1:
            return np.array([transfer_share(u, 0.0, 1.0, profile) for u in step.u])
        return np.array(
            [two_segment_share(u, (0.0, 0.5, 1.0), step.middle, profile) for u in step.u]
        )

    return follow


CURVES: Mapping[str, Callable[[DoubleSupport], Series]] = MappingProxyType(
    {
        "linear": _curve("linear", 1),
        "quintic": _curve("quintic", 1),
        "two segments, linear": _curve("linear", 2),
        "two segments, quintic": _curve("quintic", 2),
    }
)
"""Transfer functions by name."""


def is_there(data: Path = DATA) -> bool:
    """Tell whether the measurements are installed."""
    return all((data / name).exists() for name in PLATES)


def read_steps(data: Path = DATA) -> list[DoubleSupport]:
    """Return all double supports that the measurements hold whole."""
    steps = find_double_supports("A", *_read_bmc(data / PLATES[0]))
    return steps + find_double_supports("B", *_read_opensim(data / PLATES[1]))


def find_double_supports(
    walker: str, times: Series, forces: Series, places: Series
) -> list[DoubleSupport]:
    """Cut two feet into double supports.

    Args:
        walker: Who walked.
        times: (n,) instants [s].
        forces: (2, n) vertical force on each foot [N].
        places: (2, n) centre of pressure of each foot along the way [m].

    Returns:
        Those that begin and end within the measurement.
    """
    both = np.all(forces > TOUCHES, axis=0)
    edges = np.flatnonzero(np.diff(both.astype(int))) + 1
    starts, ends = [k for k in edges if both[k]], [k for k in edges if not both[k]]
    whole = [
        (start, next(end for end in ends if end > start))
        for start in starts
        if any(end > start for end in ends)
    ]
    found = []
    for i, (start, end) in enumerate(whole):
        front = int(
            forces[0, start] > forces[1, start]
        )  # the foot that bears less has just come down
        (f, r), (x_f, x_r) = (
            (table[front, start:end], table[1 - front, start:end]) for table in (forces, places)
        )
        share, half = f / (f + r), (end - start) // 2
        pressure = share[half] * x_f[half] + (1.0 - share[half]) * x_r[half]
        middle = switch_share(pressure, float(np.mean(x_r[-FEW:])), float(np.mean(x_f[:FEW])))
        later = times[whole[i + 1][0]] - times[start] if i + 1 < len(whole) else np.nan
        u = (times[start:end] - times[start]) / (times[end - 1] - times[start])
        found.append(
            DoubleSupport(
                walker, float(times[end - 1] - times[start]), float(later), u, share, middle
            )
        )
    return found


def miss(step: DoubleSupport, curve: str) -> float:
    """Return the root mean square of share less transfer function [-]."""
    return float(np.sqrt(np.mean((step.share - CURVES[curve](step)) ** 2)))


def write_rows(data: Path = DATA) -> list[tuple[str, ...]]:
    """Return the rows of the table: one for each double support, then the mean of each walker."""
    steps = read_steps(data)
    rows = []
    for walker in dict.fromkeys(step.walker for step in steps):
        own = [step for step in steps if step.walker == walker]
        for number, step in enumerate(own, 1):
            time = f"{step.step_time:.2f}" if np.isfinite(step.step_time) else ""
            rows.append(
                (
                    f"{walker}{number}",
                    f"{step.duration:.3f}",
                    time,
                    *(f"{miss(step, curve):.3f}" for curve in CURVES),
                )
            )
        means = [f"**{np.mean([miss(step, curve) for step in own]):.3f}**" for curve in CURVES]
        rows.append(
            (f"**{walker}, mean**", f"{np.mean([step.duration for step in own]):.3f}", "", *means)
        )
    return rows


def _read_bmc(path: Path) -> tuple[Series, Series, Series]:
    """Four plates in a row, y up, mm: feet alternate from plate to plate."""
    lines = path.read_text().splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("#Sample"))
    names = lines[first].removeprefix("#").split()
    rate = float(next(line for line in lines if line.startswith("SampleRate")).partition("=")[2])
    table = np.array([line.split() for line in lines[first + 1 :] if line.strip()], dtype=float)
    force, place = (
        {plate: table[:, names.index(f"{letter}{plate}")] for plate in (6, 5, 3, 4)}
        for letter in ("FY", "X")
    )
    feet = ((6, 3), (5, 4))
    forces = np.array([force[a] + force[b] for a, b in feet])
    places = np.array([np.where(force[a] > force[b], place[a], place[b]) for a, b in feet]) / 1e3
    return (table[:, 0] - table[0, 0]) / rate, forces, places


def _read_opensim(path: Path) -> tuple[Series, Series, Series]:
    """Two plates, one for each foot, y up, m."""
    lines = path.read_text().splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("time"))
    names = lines[first].split()
    table = np.array([line.split() for line in lines[first + 1 :] if line.strip()], dtype=float)
    forces, places = (
        np.array([table[:, names.index(f"{foot}ground_force_{what}")] for foot in ("", "1_")])
        for what in ("vy", "px")
    )
    return table[:, names.index("time")], forces, places
