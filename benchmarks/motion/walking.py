# SPDX-License-Identifier: Apache-2.0
"""Walking by command with MuJoCo as the plant: noise, delay, other masses, friction, and pushes at the base.

python -m benchmarks.motion.walking g1 --velocity 0.3,0,0 --seeds 10 --duration 20
"""

from __future__ import annotations

import argparse
import sys
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.motion.plant import FRICTION, SOFT, STEP, Noise, Plant, State, measure
from humanoid_dynamics.filtering.fallen import has_fallen
from humanoid_dynamics.filtering.plan.settings import WALK_TICK, PlanSettings
from humanoid_dynamics.filtering.walking import WalkFrame, WalkingFilter
from humanoid_dynamics.model.load import load_robot
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Vector

DELAY = 0.005  # s; age of a measured state
STILL = 1.0  # s of standing before a walk
PUSH_TIME = 0.1  # s


@dataclass(frozen=True)
class WalkConditions:
    """Conditions of one run: seed of the noise (none where 0), age of states [s], friction, factor on masses, push at the base.

    A push is its instant [s] and its impulse (3,) in axes of the world [N·s].
    """

    seed: int = 1
    delay: float = DELAY
    friction: float = FRICTION
    mass: float = 1.0
    push: tuple[float, tuple[float, float, float]] | None = None


@dataclass(frozen=True)
class PlantWalk:
    """One walk in the plant: time of the fall or None, frames of the filter, states of the plant."""

    fell: float | None
    frames: list[WalkFrame]
    states: list[State]


def build_filter(
    robot: RobotModel, rate: float = 200.0, settings: PlanSettings | None = None
) -> WalkingFilter:
    """Return a filter for soft ground."""
    return WalkingFilter(robot, rate=rate, settings=settings, tick=replace(WALK_TICK, inside=SOFT))


def walk_in_plant(
    walking: WalkingFilter,
    command: Callable[[float], Sequence[float]],
    duration: float,
    conditions: WalkConditions | None = None,
) -> PlantWalk:
    """Let a filter drive the plant with torques alone, from the measured state."""
    conditions = conditions or WalkConditions()
    robot, rng = walking.robot, np.random.default_rng(conditions.seed)
    noise = Noise() if conditions.seed else None
    walking.restart()
    plant = Plant(robot, conditions.friction, conditions.mass)
    plant.place(walking.q, walking.v)
    late: deque[State] = deque([plant.state()], maxlen=round(conditions.delay / STEP) + 1)
    found = PlantWalk(None, [], [])
    for k in range(round(duration / walking.dt)):
        time = k * walking.dt
        frame = walking.step(
            command(time), measured=measure(robot, late[0], noise, rng), age=conditions.delay
        )
        for _ in range(round(walking.dt / STEP)):
            plant.drive(frame.tau, 1, _push_at(conditions, time))
            late.append(plant.state())
        found.frames.append(frame)
        found.states.append(late[-1])
        if has_fallen(late[-1][0], walking.proportions.pelvis, walking.proportions.up):
            return replace(found, fell=time)
    return found


def _push_at(conditions: WalkConditions, time: float) -> Vector | None:
    if conditions.push is None or not 0.0 <= time - conditions.push[0] < PUSH_TIME:
        return None
    return np.array(conditions.push[1]) / PUSH_TIME


def main() -> None:
    """Run seeds with masses of 95 to 105 % and friction of 0.7 to 1, and print each run."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("robot")
    parser.add_argument("--velocity", default="0.3,0,0")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--duration", type=float, default=20.0)
    parser.add_argument("--rate", type=float, default=200.0)
    parser.add_argument("--vary", action="store_true", help="vary masses and friction")
    chosen = parser.parse_args()
    velocity = [float(word) for word in chosen.velocity.split(",")]
    walking, upright = build_filter(load_robot(chosen.robot), chosen.rate), 0
    for seed in range(1, chosen.seeds + 1):
        rng = np.random.default_rng(1000 + seed)
        conditions = WalkConditions(seed)
        if chosen.vary:
            friction, mass = rng.uniform(0.7, 1.0), rng.uniform(0.95, 1.05)
            conditions = WalkConditions(seed, friction=friction, mass=mass)
        found = walk_in_plant(
            walking, lambda t: velocity if t > STILL else [0.0] * 3, chosen.duration, conditions
        )
        upright += found.fell is None
        way = np.hypot(*(found.states[-1][0] - found.states[0][0])[:2])
        ended = "up" if found.fell is None else f"fell at {found.fell:.2f} s"
        sys.stdout.write(
            f"seed {seed}: {ended}, {walking.steps} steps, {way:.2f} m, {walking.repairs}\n"
        )
    sys.stdout.write(f"{chosen.robot} {chosen.velocity}: {upright} of {chosen.seeds} up\n")


if __name__ == "__main__":
    main()
