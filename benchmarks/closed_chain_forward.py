# SPDX-License-Identifier: Apache-2.0
"""Forward dynamics with the soles held: W' M W, unit vectors as printed [CK, sec. 3.2], and Pinocchio's compiled algorithm."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pinocchio as pin

from benchmarks.floors import build_floor_dyn
from benchmarks.interleave import Contender, Timing
from benchmarks.rows import Measurement, Race, compare, compare_faster
from benchmarks.stand import Stand
from humanoid_dynamics.dynamics.compiled import CompiledForward, CompiledResult
from humanoid_dynamics.dynamics.forward import solve_forward
from humanoid_dynamics.dynamics.inverse import solve_inverse
from humanoid_dynamics.dynamics.results import ForwardResult
from humanoid_dynamics.dynamics.unit_vector import UnitVectorResult, solve_by_unit_vectors
from humanoid_dynamics.spatial.arrays import Vector

PATH = "closed_chain_forward"
OURS, COMPILED, LITERAL, PEER = (
    "W' M W",
    "CompiledForward",
    "unit vectors",
    "pin.constraintDynamics",
)
# With mu = 0, the default, redundant rows give NaN; the residual the solver reports is no stopping signal.
REGULARIZATION, ITERATIONS = 1e-8, 5


def build_closed_chain_forward(stand: Stand) -> Race:
    """Return our two routes, the literal one and Pinocchio's.

    Args:
        stand: The robot and what it is asked.

    Returns:
        The race.
    """
    mechanism, literal, q, v, a = stand.mechanism(), stand.mechanism(), stand.q, stand.v, stand.a
    compiled = CompiledForward(stand.mechanism())
    stand.use(0)
    tau = np.array(solve_inverse(mechanism, q, v, a).tau)
    peer = build_constraint_dynamics(stand, tau)

    def solve() -> ForwardResult:
        return solve_forward(mechanism, q, v, tau)

    def solve_compiled() -> CompiledResult:
        return compiled.solve(q, v, tau)

    def solve_literally() -> UnitVectorResult:
        return solve_by_unit_vectors(literal, q, v, tau)

    def measure(times: Mapping[str, Timing]) -> dict[str, Measurement]:
        to_peer = stand.worst(
            lambda: max(_distance(solve().a, peer()), _distance(solve_compiled().a, peer()))
        )
        to_literal = stand.worst(lambda: _distance(solve().a, solve_literally().a))
        return {
            f"{PATH}.compiled": compare(times[OURS], times[PEER], to_peer),
            f"{PATH}.unit_vectors": compare_faster(times[OURS], times[LITERAL], to_literal),
        }

    calls = {OURS: solve, COMPILED: solve_compiled, PEER: peer, LITERAL: solve_literally}
    contenders = [build_floor_dyn(stand), *(Contender(name, call) for name, call in calls.items())]
    return Race(PATH, contenders, measure, stand.use)


def build_constraint_dynamics(stand: Stand, tau: Vector) -> Callable[[], Vector]:
    """Return Pinocchio's forward dynamics with every sole held by six rows.

    Args:
        stand: The robot and what it is asked.
        tau: (na,) motor torques.

    Returns:
        From the motion in use to its (nv,) acceleration.
    """
    model, data, q, v = stand.robot.model, stand.robot.data(), stand.q, stand.v
    applied = np.zeros(model.nv)
    applied[stand.robot.actuated_v] = tau
    models, works = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for index in stand.frames:
        frame = model.frames[index]
        contact = pin.RigidConstraintModel(
            pin.ContactType.CONTACT_6D,
            model,
            frame.parentJoint,
            frame.placement,
            pin.ReferenceFrame.LOCAL_WORLD_ALIGNED,
        )
        models.append(contact)
        works.append(contact.createData())
    pin.initConstraintDynamics(model, data, models, works)
    settings = pin.ProximalSettings(1e-14, REGULARIZATION, ITERATIONS)

    def solve() -> Vector:
        a: Vector = pin.constraintDynamics(model, data, q, v, applied, models, works, settings)
        return a

    return solve


def _distance(a: Vector, b: Vector) -> float:
    return float(np.abs(a - b).max())
