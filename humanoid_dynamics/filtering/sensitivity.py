# SPDX-License-Identifier: Apache-2.0
"""Five small perturbations of a clip: a filter that keeps a motion by luck alone does not keep it under all of them."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.clip import FEWEST_FRAMES, Clip
from humanoid_dynamics.motion.resampling import resample

SPEED = 0.05  # share by which the clip is faster or slower
HEIGHT = 0.01  # m by which the base, and so the feet, are higher or lower
MASS = 0.02  # share by which all links are heavier or lighter
RATES = (
    30.0,
    50.0,
)  # Hz; a clip is resampled to the second, or to the first where it has the second
SAME_RATE = 0.5  # Hz
SHIFT = (0.05, 0.2)  # s by which the start is later
LONGEST_SHIFT = 0.2  # of the duration
ENOUGH = 4  # perturbed runs of five that must be preserved beside the nominal one


class Perturbation(NamedTuple):
    """A perturbed clip, and the robot it is filtered on."""

    name: str
    clip: Clip
    robot: RobotModel


def perturbations(clip: Clip, robot: RobotModel, seed: int = 0) -> list[Perturbation]:
    """Return a clip under five perturbations: speed, foot height, mass, rate and start.

    Each perturbed run is judged against its own perturbed clip.

    Args:
        clip: The clip, in axes of the ground.
        robot: The robot.
        seed: Chooses the signs and the shift of the start.

    Returns:
        Name, clip and robot of each: ``speed`` 5 % faster or slower, ``foot_height`` 1 cm higher or lower, ``mass`` 2 % heavier or lighter,
        ``rate`` 50 Hz (30 Hz where the clip has 50 Hz), ``start`` up to 0.2 s later.
    """
    rng = np.random.default_rng(seed)
    faster, higher, heavier = rng.choice((-1.0, 1.0), 3)
    plain = clip.change(v=None, a=None) if len(clip) >= FEWEST_FRAMES else clip
    start = clip.times[0]
    raised = np.array(clip.q)
    raised[:, 2] += HEIGHT * higher
    rate = RATES[0] if len(clip) > 1 and abs(clip.rate - RATES[1]) < SAME_RATE else RATES[1]
    other = scale_mass(robot, 1.0 + MASS * heavier)
    return [
        Perturbation(
            "speed",
            plain.change(times=start + (clip.times - start) / (1.0 + SPEED * faster)),
            robot,
        ),
        Perturbation("foot_height", plain.change(q=raised), robot),
        Perturbation("mass", clip.change(robot=other), other),
        Perturbation("rate", resample(plain, max(rate, FEWEST_FRAMES / clip.duration)), robot),
        Perturbation(
            "start",
            _cut_start(plain, min(rng.uniform(*SHIFT), LONGEST_SHIFT * clip.duration)),
            robot,
        ),
    ]


def scale_mass(robot: RobotModel, factor: float) -> RobotModel:
    """Return a robot whose links are all heavier or lighter by a factor, shapes and limits unchanged.

    Args:
        robot: The robot.
        factor: New over old mass [-].
    """
    model = robot.model.copy()
    for joint in range(1, model.njoints):
        inertia = model.inertias[joint]
        model.inertias[joint] = pin.Inertia(
            factor * inertia.mass, inertia.lever, factor * inertia.inertia
        )
    return replace(robot, model=model)


def _cut_start(clip: Clip, shift: float) -> Clip:
    """Return a clip without its first samples; at least as many as a clip needs remain."""
    first = min(
        max(int(np.searchsorted(clip.times, clip.times[0] + shift)), 1),
        max(len(clip) - FEWEST_FRAMES, 0),
    )
    contacts = {name: labels[first:] for name, labels in clip.contacts.items()}
    return clip.change(times=clip.times[first:], q=clip.q[first:], contacts=contacts)
