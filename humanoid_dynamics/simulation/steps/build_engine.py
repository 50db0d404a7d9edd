# SPDX-License-Identifier: Apache-2.0
"""The engine of a world: tables, contacts and terms of one tree, with arrays or compiled."""

from __future__ import annotations

from collections.abc import Sequence

from humanoid_dynamics.dynamics.mechanism import Mechanism
from humanoid_dynamics.simulation.contacts.calm_contacts import CalmContacts
from humanoid_dynamics.simulation.contacts.compiled_cones import CompiledCones
from humanoid_dynamics.simulation.contacts.compiled_contacts import CompiledContacts
from humanoid_dynamics.simulation.contacts.joint_limits import LimitTable
from humanoid_dynamics.simulation.contacts.moving_shapes import bind_shapes
from humanoid_dynamics.simulation.contacts.point_table import bind_points
from humanoid_dynamics.simulation.contacts.terrain import build_terrain
from humanoid_dynamics.simulation.contacts.terrain_points import add_edges
from humanoid_dynamics.simulation.contacts.touch_points import TouchPoint
from humanoid_dynamics.simulation.setup import Setup
from humanoid_dynamics.simulation.steps.branch_terms import BranchTerms
from humanoid_dynamics.simulation.steps.calm_engine import CalmEngine
from humanoid_dynamics.simulation.steps.compiled import compile_step
from humanoid_dynamics.simulation.steps.compiled_engine import CompiledEngine
from humanoid_dynamics.simulation.steps.engine import Engine
from humanoid_dynamics.simulation.steps.joint_forces import JointForces
from humanoid_dynamics.simulation.steps.tables import Tables
from humanoid_dynamics.simulation.steps.terms import Terms


def build_engine(
    mechanism: Mechanism, joints: JointForces, setup: Setup, points: Sequence[TouchPoint]
) -> Engine:
    """Return the engine of a tree.

    Args:
        mechanism: The tree and its bilateral constraints.
        joints: What its joints do by themselves.
        setup: Its surroundings.
        points: Its touch points.

    Returns:
        The engine.

    Raises:
        UnknownNameError: If a link does not exist.
        ShapeError: If two shapes of the ground have one name.
    """
    robot = mechanism.robot
    table = bind_points(robot, points)
    movers = bind_shapes(robot, setup.shapes, table.groups)
    table = add_edges(table, setup.terrain, movers)
    terrain, limits = build_terrain(setup.terrain), LimitTable(robot) if setup.limits else None
    tables = Tables(robot, table, terrain, movers, limits)
    if setup.compiled is False:
        contacts = CalmContacts(table, terrain, movers, limits, tables, law=setup.contact)
        return CalmEngine(
            Terms(mechanism.kinematics, mechanism.constraints), contacts, joints, tables
        )
    kernels = compile_step()
    compiled = CompiledContacts(
        table,
        terrain,
        movers,
        limits,
        tables,
        law=setup.contact,
        solver=CompiledCones(kernels.solve_cones),
    )
    terms = BranchTerms(
        mechanism.kinematics, mechanism.constraints, (tables.joints, tables.parents), kernels
    )
    return CompiledEngine(terms, compiled, joints, tables, kernels)
