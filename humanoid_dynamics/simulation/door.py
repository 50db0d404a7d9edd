# SPDX-License-Identifier: Apache-2.0
"""What a world refuses to start with: joints beyond their limits, bodies inside others, loops that are open."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_dynamics.constraints.loop import LoopBlock
from humanoid_dynamics.dynamics.mechanism import Mechanism
from humanoid_dynamics.errors import HumanoidDynamicsError, ShapeError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.simulation.contacts.moving_shapes import carried_by
from humanoid_dynamics.simulation.contacts.shapes import Shape, frame_of
from humanoid_dynamics.simulation.reach import close_up, measure_gap
from humanoid_dynamics.simulation.steps.stepper import Stepper
from humanoid_dynamics.spatial.arrays import Vector

DEEPEST = 2e-3  # a start deeper inside something than this is a mistake [m]
BEYOND = 2e-3  # and so is a joint further beyond its limit [rad or m]


def check_start(stepper: Stepper, *, limits: bool) -> None:
    """Refuse a start that violates geometry by more than a step puts right.

    Args:
        stepper: Where all begins.
        limits: Whether joints have limits.

    Raises:
        ShapeError: Naming joint, point or row, its value and what is allowed.
    """
    if limits:
        _check_limits(stepper.robot, stepper.q)
    _check_depth(stepper)
    _check_middles(stepper)


def close_start(mechanism: Mechanism, q: Vector) -> Vector:
    """Return a start with its loops closed.

    Args:
        mechanism: The tree and its bilateral constraints.
        q: (nq,) configuration.

    Raises:
        ShapeError: If one is open by more than a little, or they cannot close together.
    """
    mechanism.kinematics.place(q)
    label, gap, most = measure_gap(mechanism.kinematics, mechanism.constraints)
    if gap > most:
        raise ShapeError(
            "q",
            f"row {label!r} is open by {gap:.3g}",
            f"connections that are closed to {most:g} m or rad at the start",
        )
    try:
        return close_up(mechanism, q)
    except HumanoidDynamicsError as cause:
        raise ShapeError("q", str(cause), "connections that can close at the start") from cause


def find_held(mechanism: Mechanism) -> set[int]:
    """Return the joints that connections hold: what rides on them may be inside what holds it.

    Args:
        mechanism: The tree and its bilateral constraints.
    """
    return {
        end.joint
        for block in mechanism.constraints
        if isinstance(block, LoopBlock)
        for end in (block.A, block.B)
    }


def _check_limits(robot: RobotModel, q: Vector) -> None:
    for joint in robot.joints:
        if not joint.v.stop - joint.v.start == 1 == joint.q.stop - joint.q.start:
            continue
        value, low, high = (
            float(x[joint.q.start]) for x in (q, robot.limits.lower, robot.limits.upper)
        )
        if not low - BEYOND <= value <= high + BEYOND:
            raise ShapeError(
                "q",
                f"joint {joint.name!r} at {value:.6g}",
                f"a start within its limits, {low:.6g} to {high:.6g} rad or m",
            )


def _check_depth(stepper: Stepper) -> None:
    terms, contacts = stepper.engine.terms, stepper.engine.contacts
    terms.place(stepper.q)
    contacts.look(terms, 0.0, everywhere=True)
    near = contacts.near
    if near is None:
        return
    worst = int(np.argmin(near.gap))
    if near.gap[worst] >= -DEEPEST:
        return
    point = int(near.point[worst])
    met = int(near.key[worst]) // max(len(contacts.table), 1)
    carrier = stepper.robot.model.names[contacts.movers[met - 1].joint] if met else "the ground"
    said = f"point {contacts.table.names[point]!r} of link {contacts.table.links[point]!r} {-near.gap[worst]:.3g} m inside {carrier}"
    raise ShapeError("q", said, f"a start at most {DEEPEST:g} m deep")


def _check_middles(stepper: Stepper) -> None:
    """Refuse shapes that lie in others so wholly that no corner looks at a side; those that connections hold may."""
    contacts, data = stepper.engine.contacts, stepper.robot.data()
    pin.forwardKinematics(stepper.robot.model, data, stepper.q)
    held = find_held(stepper.mechanism)
    movers = [
        (carried_by(one.shape, data.oMi[one.joint]), one)
        for one in contacts.movers
        if one.joint not in held
    ]
    for k, (shape, one) in enumerate(movers):
        others: list[tuple[Shape, str, int]] = [
            (other, f"link {by.link!r}", by.group) for n, (other, by) in enumerate(movers) if n != k
        ]
        others += [(standing, f"{standing.name!r}", -1) for standing in contacts.terrain.shapes]
        for other, name, group in others:
            depth = -float(other.probe(frame_of(shape).translation[None])[0][0])
            if group != one.group and depth > DEEPEST:
                said = f"the middle of link {one.link!r} {depth:.3g} m inside {name}"
                raise ShapeError("q", said, "a start with no body inside another")
