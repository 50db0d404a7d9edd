# SPDX-License-Identifier: Apache-2.0
"""Inverse dynamics inside limits while the robot sways: at times well inside, at times on them, at times beyond what feet can do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from time import perf_counter_ns

import daqp
import numpy as np
import pinocchio as pin
from scipy.ndimage import median_filter

from benchmarks import load_transfer
from benchmarks.floors import FLOOR_ID, build_floor_id
from benchmarks.interleave import MICROSECOND, Contender, Timing, no_collection, one_core
from benchmarks.load_transfer import build_passing, check_passing
from benchmarks.rows import Measurement, Race, build_warm_race, compare, compare_faster
from benchmarks.stand import POSTURE_SPREAD, SPEED, Motion, Stand
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.resolution.answer import Answer
from humanoid_dynamics.resolution.inverse import InverseDynamics
from humanoid_dynamics.resolution.objectives import TorqueObjective
from humanoid_dynamics.resolution.problem import DynamicsProblem
from humanoid_dynamics.resolution.rules import WRENCH_WEIGHT
from humanoid_dynamics.spatial.arrays import Vector

PATH = "inverse_dynamics_limits"
EQUALITY = 5  # how daqp marks an equation
RULE, REFERENCE = "minimum_torque_limited", "dense program, daqp"
SEED = 21
STATES, LOOKS = 64, 15
AROUND = 51  # ticks whose median is what a tick took there and then
INSIDE, BEYOND = ("kkt", "qp"), ("qp_soft",)
PATHS = INSIDE + BEYOND
ALL_STATES, STATES_PER_CALL = 10_000, 5
NEXT_TO_NOTHING = 1e-3  # of the weights of pushes
SLIPPERY = 0.3  # friction at which swaying comes to its limits
SWAY, JOINT_ACCELERATION = 0.8, 0.5  # m/s², rad/s²


def build_limits(stand: Stand) -> Race:
    """Return the rule that keeps limits, and the floor.

    Args:
        stand: The robot.

    Returns:
        The race; it sways by motions of its own.
    """
    robot = make_slippery(stand.robot)
    motions = build_sway(robot, STATES)
    solver, fading = (  # without joint friction, as what they race against
        InverseDynamics(robot, rule=rule, joint_friction=False)
        for rule in (RULE, load_transfer.RULE)
    )
    q, v, a, passing = stand.q, stand.v, stand.a, build_passing(robot, motions)
    now = passing[0]

    def use(number: int) -> None:
        nonlocal now
        motion, now = motions[number % len(motions)], passing[number % len(passing)]
        q[:], v[:], a[:] = motion.q, motion.v, motion.a

    def tick() -> Answer:
        return solver.solve(q, v, a)

    def fade() -> Answer:
        return fading.solve(now.motion.q, now.motion.v, now.motion.a, now.shares)

    reference = build_reference(robot, stand)

    def measure(times: Mapping[str, Timing]) -> dict[str, Measurement]:
        spent = measure_states(robot, solver, min(ALL_STATES, STATES_PER_CALL * times[RULE].calls))
        on, beyond = len(spent["qp"]), len(spent["qp_soft"])
        note = f"friction {SLIPPERY}; of {sum(map(len, spent.values()))} states {on} are on a limit, {beyond} beyond all and get the nearest"
        error = 0.0
        for number in range(len(motions)):
            use(number)
            answer, torque = tick(), reference()
            if answer.certificate.path != "qp_soft" and torque is not None:
                error = max(error, float(np.abs(answer.tau - torque).max()))
        return {
            f"{PATH}.reference": compare_faster(times[RULE], times[REFERENCE], error),
            f"{PATH}.floor": compare(times[RULE], times[FLOOR_ID], None, note),
            f"{PATH}.fading": compare(
                times[load_transfer.RULE], times[FLOOR_ID], *check_passing(fading, passing)
            ),
            **rate_worst(spent, note),
        }

    ours = [Contender(RULE, tick), Contender(load_transfer.RULE, fade)]
    return build_warm_race(
        PATH, [build_floor_id(stand), *ours, Contender(REFERENCE, reference)], measure, use
    )


def build_reference(robot: RobotModel, stand: Stand) -> Callable[[], Vector | None]:
    """Return the same question as it is written down: a dense program in torques and wrenches, for daqp.

    Least squared torques, S'tau + J'x = M a + h, rows of contacts on x, limits of torques; pushes weigh next to nothing.

    Args:
        robot: The robot.
        stand: What it is asked.

    Returns:
        From the motion in use to (na,) torques, None where no answer is inside limits.
    """
    problem = DynamicsProblem(robot)
    model, data, q, v, a = robot.model, robot.data(), stand.q, stand.v, stand.a
    objective, na = TorqueObjective(problem, WRENCH_WEIGHT), len(robot.actuated_v)
    H = np.zeros((na + problem.size, na + problem.size))
    H[:na, :na], H[na:, na:] = np.eye(na), NEXT_TO_NOTHING * objective.H_x
    S, effort = np.eye(robot.nv)[:, robot.actuated_v], robot.limits.effort[robot.actuated_v]
    bound = np.concatenate((effort, np.full(problem.size, np.inf)))
    sense = np.zeros(len(bound) + robot.nv + len(problem.b), dtype=np.intc)
    sense[len(bound) : len(bound) + robot.nv] = EQUALITY

    def solve() -> Vector | None:
        force = pin.rnea(model, data, q, v, a)
        pin.computeJointJacobians(model, data, q)
        J = np.vstack(
            [pin.getFrameJacobian(model, data, frame, pin.LOCAL) for frame in stand.frames]
        )
        A = np.block([[S, J.T], [np.zeros((len(problem.b), na)), problem.A]])
        upper, lower = (
            np.concatenate((bound, force, problem.b)),
            np.concatenate((-bound, force, np.full(len(problem.b), -np.inf))),
        )
        z, _, flag, _ = daqp.solve(H, np.zeros(len(H)), A, upper, lower, sense)
        torque: Vector = z[:na]
        return torque if flag == 1 else None

    return solve


def build_sway(robot: RobotModel, count: int) -> tuple[Motion, ...]:
    """Return motions near the resting posture whose base is pushed to and fro.

    Args:
        robot: The robot.
        count: How many.
    """
    rng = np.random.default_rng(SEED)
    motions = []
    for _ in range(count):
        a = JOINT_ACCELERATION * rng.standard_normal(robot.nv)
        a[:6] = 0.0
        a[:2] = rng.uniform(-SWAY, SWAY, 2)
        q = np.array(
            pin.integrate(
                robot.model, robot.posture, POSTURE_SPREAD * rng.standard_normal(robot.nv)
            )
        )
        motions.append(Motion(q, SPEED * rng.standard_normal(robot.nv), a))
    return tuple(motions)


def make_slippery(robot: RobotModel) -> RobotModel:
    """Return the robot on slippery soles.

    Args:
        robot: The robot.
    """
    return replace(
        robot,
        surfaces={
            name: replace(surface, friction=SLIPPERY) for name, surface in robot.surfaces.items()
        },
    )


def measure_states(robot: RobotModel, solver: InverseDynamics, states: int) -> dict[str, Vector]:
    """Return how long each state takes, by the path of its answer [us].

    Each is looked at several times, far apart, and counts by its median.  A look is compared with the ticks around it, which are of other
    states: what the machine does meanwhile is no property of a state.

    Args:
        robot: The robot.
        solver: What answers.
        states: How many to look at.
    """
    motions = build_sway(robot, states)
    times, paths = np.zeros((LOOKS, len(motions))), np.zeros(len(motions), dtype=object)
    with one_core(), no_collection():
        for look in range(-1, LOOKS):  # the first only warms up
            for number, motion in enumerate(motions):
                start = perf_counter_ns()
                answer = solver.solve(motion.q, motion.v, motion.a)
                times[look, number] = (perf_counter_ns() - start) / MICROSECOND
                paths[number] = answer.certificate.path
    typical = np.median(times / median_filter(times, size=(1, AROUND)), axis=0) * np.median(times)
    return {path: typical[paths == path] for path in PATHS}


def rate_worst(spent: Mapping[str, Vector], note: str) -> dict[str, Measurement]:
    """Compare the slowest state of all, of those that can be met, and of those that cannot, with the median of all.

    Args:
        spent: Times by path [us].
        note: What a reader should know.
    """
    median = float(np.median(np.concatenate(list(spent.values()))))
    kinds = {"worst": PATHS, "worst_inside": INSIDE, "worst_beyond": BEYOND}
    slowest = {
        kind: max((float(spent[path].max()) for path in paths if len(spent[path])), default=None)
        for kind, paths in kinds.items()
    }
    return {
        f"{PATH}.{kind}": Measurement(worst / median, ours=worst, against=median, note=note)
        for kind, worst in slowest.items()
        if worst is not None
    }
