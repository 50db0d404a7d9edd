# SPDX-License-Identifier: Apache-2.0
"""Parts of the frozen record that need no recordings: inverse dynamics, scenes and hostile streams."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pinocchio as pin

from benchmarks.motion import streams
from humanoid_dynamics.model.load import load_robot
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.resolution.answer import Answer
from humanoid_dynamics.resolution.inverse import InverseDynamics
from humanoid_dynamics.resolution.rules import RULES
from humanoid_dynamics.simulation.scenes.file import load_scene
from humanoid_dynamics.simulation.scenes.judge import judge_run
from humanoid_dynamics.simulation.scenes.names import scene_names
from humanoid_dynamics.simulation.scenes.run import Summary as SceneSummary
from humanoid_dynamics.simulation.scenes.run import build_world, let_happen, run_scene, step_scene
from humanoid_dynamics.spatial.arrays import Vector

ROBOTS = ("human28", "g1", "talos_reduced", "legs12")
ANSWERS = 10_000
ANGLE, SPEED, ACCELERATION = (
    0.15,
    1.0,
    4.0,
)  # rad, rad/s, rad/s^2; standard deviations around the standing posture
NEAR, GENTLE = 0.02, 0.05  # rad; share of the acceleration, for half of the questions
SCENE_SETTINGS = (
    ("highbar_regrasp", {"release": "0.4"}),
    ("biped_step", {"rule": "minimum_torque"}),
)  # beside every scene as it is
LONGEST_SCENE, INSTANTS = 2.0, 8  # s, samples
Progress = Callable[[float], object]


def freeze_answers(progress: Progress | None = None) -> dict[str, Any]:
    """Return what inverse dynamics answers to ten thousand questions: two random projections of each answer, its norm and its status."""
    rows, statuses = [], []
    for number, answer in enumerate(_answers()):
        values = np.concatenate(
            (answer.tau, *(np.concatenate((w.f_W, w.m_W)) for w in answer.wrenches.values()))
        )
        rng = np.random.default_rng(len(values))
        rows.append(
            [float(rng.standard_normal(len(values)) @ values) for _ in range(2)]
            + [float(np.linalg.norm(values))]
        )
        statuses.append(answer.certificate.status)
        if progress is not None and number % 100 == 0:
            progress(number / ANSWERS)
    return {"values": rows, "statuses": statuses}


def _answers() -> Iterator[Answer]:
    rules = list(RULES)
    count = ANSWERS // (len(ROBOTS) * len(rules))
    missing = ANSWERS - count * len(ROBOTS) * len(rules)
    for name in ROBOTS:
        robot = load_robot(name)
        for rule in rules:
            solver, extra = (
                InverseDynamics(robot, rule=rule),
                missing if (name, rule) == (ROBOTS[0], rules[0]) else 0,
            )
            for q, v, a, shares in _questions(robot, count + extra):
                yield solver.solve(q, v, a, shares)


def _questions(robot: RobotModel, count: int) -> Iterator[tuple[Vector, Vector, Vector, Vector]]:
    """Yield questions: half of them near the standing posture with soles at rest, half of them far from it with soles that move."""
    rng, data = np.random.default_rng(7), robot.data()
    frames = [robot.surface(name).frame for name in robot.stance]
    for k in range(count):
        share = (0.5, 1.0, 0.0, float(rng.uniform()))[k // 2 % 4]
        shares = (
            np.array((share, 1.0 - share))
            if len(robot.stance) == 2
            else np.full(len(robot.stance), 1.0 / len(robot.stance))
        )
        near = k % 2 == 0
        q = np.array(
            pin.integrate(
                robot.model,
                robot.posture,
                (NEAR if near else ANGLE) * rng.standard_normal(robot.nv),
            )
        )
        v, a = SPEED * rng.standard_normal(robot.nv), ACCELERATION * rng.standard_normal(robot.nv)
        if near:
            pin.computeJointJacobians(robot.model, data, q)
            J = np.vstack(
                [pin.getFrameJacobian(robot.model, data, frame, pin.LOCAL) for frame in frames]
            )
            v, a = np.zeros(robot.nv), GENTLE * (a - np.linalg.lstsq(J, J @ a, rcond=None)[0])
        yield q, v, a, shares


def freeze_scenes(progress: Progress | None = None) -> dict[str, Any]:
    """Return states of twenty scenes before their first impact, and whether the checks of each whole run pass."""
    scenes: list[tuple[str, dict[str, str]]] = [
        *((name, {}) for name in scene_names()),
        *SCENE_SETTINGS,
    ]
    found = {}
    for number, (name, settings) in enumerate(scenes):
        label = " ".join((name, *(f"{key}={value}" for key, value in settings.items())))
        found[label] = _freeze_scene(name, settings)
        if progress is not None:
            progress((number + 1) / len(scenes))
    return found


def _freeze_scene(name: str, settings: dict[str, str]) -> dict[str, Any]:
    scene = load_scene(name, settings)
    seconds = min(scene.seconds, LONGEST_SCENE)
    world = build_world(scene)
    summary = run_scene(scene, world, seconds)
    failed = [
        check.name for check in judge_run(summary, world, scene.tolerated) if not check.passed
    ]
    return {
        "seconds": seconds,
        "failed": failed,
        "statuses": sorted(summary.statuses),
        "states": _states_before_impact(name, settings, seconds),
    }


def _states_before_impact(name: str, settings: dict[str, str], seconds: float) -> list[list[float]]:
    """Return time, configuration and velocity at some instants before the first impact."""
    scene = load_scene(name, settings)
    world, summary = build_world(scene), SceneSummary()
    pending, watches = list(scene.moments), list(scene.watches)
    every = max(round(seconds / scene.dt) // INSTANTS, 1)
    rows = []
    for k in range(round(seconds / scene.dt)):
        while pending and pending[0].at <= world.t + 0.5 * scene.dt:
            let_happen(scene, world, pending.pop(0), summary)
        step_scene(scene, world, watches, summary)
        if summary.impacts or world.reason:
            break
        if (k + 1) % every == 0:
            rows.append([float(world.t), *world.q.tolist(), *world.v.tolist()])
    return rows


def freeze_streams(progress: Progress | None = None) -> dict[str, Any]:
    """Return for each of 130 hostile streams whether all frames hold, and how long recovery takes [s]."""
    kinds = [(kind, seed) for kind in streams.KINDS for seed in range(streams.SEEDS)]
    found = {}
    for number, (kind, seed) in enumerate(kinds):
        fault = streams.draw_fault(kind, seed)
        _, frames, _ = streams.follow(fault)
        holds = all(
            frame.certificate.holds and np.isfinite(frame.q).all() and np.isfinite(frame.tau).all()
            for frame in frames
        )
        found[f"{kind} {seed}"] = {
            "holds": bool(holds and frames),
            "recovery": round(streams.recovery(fault, frames), 4),
        }
        if progress is not None:
            progress((number + 1) / len(kinds))
    return found
