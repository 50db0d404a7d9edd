# SPDX-License-Identifier: Apache-2.0
"""Pictures drawn from numbers, which each carries in its file, so that a check can compare them with what the code says now."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from types import MappingProxyType

import human_steps
import numpy as np
from numpy.typing import NDArray

from humanoid_dynamics.errors import MissingExtraError
from humanoid_dynamics.model.load import load_robot
from humanoid_dynamics.motion.walking.gait_r1 import GaitR1
from humanoid_dynamics.motion.walking.rolling_step import build_planar_step
from humanoid_dynamics.motion.walking.step_rules import StepComparison
from humanoid_dynamics.papers.biped.recursion import FRONT_SIGN
from humanoid_dynamics.papers.biped.schedule import (
    Step,
    build_step,
    compute_step_torques,
    measure_jumps,
)
from humanoid_dynamics.papers.biped.step import PHASES

IMAGES = Path(__file__).resolve().parent / "images"
CARRIED = "Comment"  # key of the text in a picture that holds its numbers
CLOSE = 1e-3
LIMITED = "minimum_torque_limited"
RULES = (
    ("pseudo_inverse", "pseudo-inverse (27)"),
    ("minimum_torque", "least torque, procedures 1 = 2"),
    (LIMITED, "least torque inside all limits"),
    ("linear_transition", "linear transition (28), procedures 3 = 4"),
    ("smooth_transition", "smooth transition"),
    ("recommended_transition", "two segments, feet kept flat"),
)
JOINTS = ("left_ankle", "left_knee", "left_hip", "right_hip", "right_knee", "right_ankle")
LABELS = ("rear ankle", "rear knee", "rear hip", "front hip", "front knee", "front ankle")
COLOURS = (
    "#0072b2",
    "#56b4e9",
    "#009e73",
    "#e69f00",
    "#d55e00",
    "#cc79a7",
)  # told apart by everybody [Okabe and Ito]
SPAN = (0.48, 1.04)  # s
INSTANTS = 60  # of each phase
SHADES = 64  # colours of a picture

Numbers = NDArray[np.float64]


class StepTorques:
    """Torques of the reference step by any of the rules."""

    def __init__(self) -> None:
        """Prepare both the equations of the paper and the rules for any robot."""
        gait = GaitR1()
        self.step: Step = build_step(gait.parameters.body, gait.at, gait.switches)
        self._general = StepComparison(build_planar_step(load_robot("biped7"), gait))
        robot = self._general.step.robot
        self._places = [robot.actuated.index(name) for name in JOINTS]

    def torques(self, rule: str, t: float, phase: str) -> Numbers:
        """Return the torques from the rear ankle to the front one, (6,) [N·m]."""
        if rule == LIMITED:
            return np.asarray(self._general.answer(t, rule, phase).tau[self._places] * FRONT_SIGN)
        return compute_step_torques(self.step, t, rule, PHASES[phase]).tau

    def jumps(self, rule: str) -> Numbers:
        """Return the largest jump at each switch, (3,) [N·m]."""
        return self._general.jumps(rule) if rule == LIMITED else measure_jumps(self.step, rule)


def compute_step_torques_picture() -> dict[str, list[float]]:
    """Return the jumps of every rule."""
    step = StepTorques()
    return {rule: step.jumps(rule).tolist() for rule, _ in RULES}


def draw_step_torques(path: Path, numbers: Mapping[str, list[float]]) -> None:
    """Six panels, one for each rule: six torques through the step, with gaps where they jump."""
    plt = _plotter()
    step = StepTorques()
    t0, t1, t2 = step.step.times
    edges = (SPAN[0], t0, t1, t2, SPAN[1])
    figure, axes = plt.subplots(2, 3, figsize=(10.5, 6.0), sharex=True, sharey=True)
    for axis, (rule, title) in zip(axes.flat, RULES, strict=True):
        axis.axvspan(t0, t1, color="0.92", lw=0)
        axis.axvspan(t1, t2, color="0.85", lw=0)
        ends: dict[str, tuple[Numbers, Numbers]] = {}
        for phase, start, end in zip(PHASES, edges[:-1], edges[1:], strict=True):
            times = np.linspace(start, end, INSTANTS)
            tau = np.array([step.torques(rule, float(t), phase) for t in times])
            ends[phase] = (tau[0], tau[-1])
            for column, colour in zip(tau.T, COLOURS, strict=True):
                axis.plot(times, column, color=colour, lw=1.6)
        for t, before, after in zip((t0, t1, t2), list(PHASES)[:-1], list(PHASES)[1:], strict=True):
            for low, high, colour in zip(ends[before][1], ends[after][0], COLOURS, strict=True):
                axis.plot((t, t), (low, high), color=colour, lw=1.0, ls=":")
        axis.set_title(
            f"{title}\njumps {', '.join(_short(jump) for jump in numbers[rule])} N·m", fontsize=9
        )
        axis.grid(color="0.9", lw=0.5)
        axis.set_axisbelow(True)
    for axis in axes[:, 0]:
        axis.set_ylabel("torque [N·m]")
    for axis in axes[1]:
        axis.set_xlabel("time [s]")
    axes[0, 0].set_xlim(SPAN)
    handles = [plt.Line2D([], [], color=colour, lw=2) for colour in COLOURS]
    handles += [plt.Rectangle((0, 0), 1, 1, color=shade) for shade in ("0.92", "0.85")]
    labels = [*LABELS, "front foot on its heel", "rear foot on its toe"]
    figure.legend(handles, labels, loc="lower center", ncol=4, frameon=False, fontsize=9)
    figure.tight_layout(rect=(0, 0.09, 1, 1))
    _save(plt, figure, path, numbers)


def compute_load_share() -> dict[str, list[float]] | None:
    """Return the misses of all transfer functions, by double support; None where nothing was measured."""
    if not human_steps.is_there():
        return None
    return {
        f"{step.walker} {step.duration:.3f} {number}": [
            human_steps.miss(step, curve) for curve in human_steps.CURVES
        ]
        for number, step in enumerate(human_steps.read_steps())
    }


def draw_load_share(path: Path, numbers: Mapping[str, list[float]]) -> None:
    """Two panels, one for each walker: measured shares and transfer functions over the time of double support."""
    plt = _plotter()
    steps = human_steps.read_steps()
    walkers = tuple(dict.fromkeys(step.walker for step in steps))
    figure, axes = plt.subplots(1, len(walkers), figsize=(9.0, 4.2), sharey=True)
    styles = dict(
        zip(
            human_steps.CURVES,
            (("#0072b2", "-"), ("#d55e00", "-"), ("#0072b2", "--"), ("#d55e00", "--")),
            strict=True,
        )
    )
    for axis, walker in zip(axes, walkers, strict=True):
        own = [step for step in steps if step.walker == walker]
        for step in own:
            axis.plot(step.u, step.share, color="0.35", lw=1.2)
        typical = own[len(own) // 2]
        for name, (colour, style) in styles.items():
            axis.plot(typical.u, human_steps.CURVES[name](typical), color=colour, ls=style, lw=1.6)
        axis.set_title(
            f"walker {walker}: both feet down for {1e3 * np.mean([s.duration for s in own]):.0f} ms",
            fontsize=10,
        )
        axis.set_xlabel("time within double support [-]")
        axis.grid(color="0.9", lw=0.5)
        axis.set_xlim(0, 1)
        axis.set_ylim(0, 1)
    axes[0].set_ylabel("share of the vertical force\non the front foot [-]")
    handles = [plt.Line2D([], [], color="0.35", lw=1.2)]
    handles += [
        plt.Line2D([], [], color=colour, ls=style, lw=1.6) for colour, style in styles.values()
    ]
    figure.legend(
        handles,
        ["measured, each step", *styles],
        loc="lower center",
        ncol=5,
        frameon=False,
        fontsize=9,
    )
    figure.tight_layout(rect=(0, 0.08, 1, 1))
    _save(plt, figure, path, numbers)


PICTURES: Mapping[
    str,
    tuple[
        Callable[[], dict[str, list[float]] | None],
        Callable[[Path, Mapping[str, list[float]]], None],
    ],
] = MappingProxyType(
    {
        "step_torques.png": (compute_step_torques_picture, draw_step_torques),
        "load_share.png": (compute_load_share, draw_load_share),
    }
)
"""File name -> what computes its numbers, and what draws it with them."""


def read_numbers(path: Path) -> dict[str, list[float]]:
    """Return the numbers a picture carries."""
    content, place = path.read_bytes(), 8
    while place < len(content):
        (size,), kind = (
            struct.unpack(">I", content[place : place + 4]),
            content[place + 4 : place + 8],
        )
        key, _, text = content[place + 8 : place + 8 + size].partition(b"\x00")
        if kind == b"tEXt" and key.decode() == CARRIED:
            numbers: dict[str, list[float]] = json.loads(text)
            return numbers
        place += size + 12
    return {}


def differs(one: Mapping[str, Sequence[float]], other: Mapping[str, Sequence[float]]) -> bool:
    """Tell whether two sets of numbers are not the same to a thousandth."""
    if set(one) != set(other):
        return True
    return any(
        np.shape(one[key]) != np.shape(other[key])
        or np.abs(np.subtract(one[key], other[key])).max() > CLOSE
        for key in one
    )


def _short(jump: float) -> str:
    return "0" if jump < 5e-4 else f"{jump:.3g}"


def _plotter():
    try:
        import matplotlib as mpl
    except ImportError as cause:
        raise MissingExtraError("matplotlib", "plot", "drawing the pictures") from cause
    mpl.use("Agg")
    from matplotlib import pyplot

    return pyplot


def _save(plt, figure, path: Path, numbers: Mapping[str, Sequence[float]]) -> None:
    from PIL import Image, PngImagePlugin

    text, told = (
        json.dumps({key: [round(float(x), 6) for x in values] for key, values in numbers.items()}),
        PngImagePlugin.PngInfo(),
    )
    told.add_text(CARRIED, text)
    drawn = BytesIO()
    figure.savefig(drawn, dpi=110)
    plt.close(figure)
    path.parent.mkdir(exist_ok=True)
    Image.open(drawn).convert("RGB").quantize(SHADES).save(path, optimize=True, pnginfo=told)
