"""What a world refuses to start with: joints beyond their limits, bodies inside others, loops that are open."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.simulation.reach import REACH
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
    _check_loops(stepper)
    _check_depth(stepper)


def _check_limits(robot: RobotModel, q: Vector) -> None:
    for joint in robot.joints:
        if not joint.v.stop - joint.v.start == 1 == joint.q.stop - joint.q.start:
            continue
        value, low, high = (float(x[joint.q.start]) for x in (q, robot.limits.lower, robot.limits.upper))
        if not low - BEYOND <= value <= high + BEYOND:
            raise ShapeError("q", f"joint {joint.name!r} at {value:.6g}", f"a start within its limits, {low:.6g} to {high:.6g} rad or m")


def _check_loops(stepper: Stepper) -> None:
    constraints, kinematics = stepper.mechanism.constraints, stepper.mechanism.kinematics
    if not constraints.size:
        return
    kinematics.place(stepper.q)
    error = np.abs(constraints.error(kinematics))
    worst = int(np.argmax(error))
    if error[worst] > REACH:
        said = f"row {constraints.labels[worst]!r} is open by {error[worst]:.3g}"
        raise ShapeError("q", said, f"connections that are closed to {REACH:g} m or rad at the start")


def _check_depth(stepper: Stepper) -> None:
    terms, contacts = stepper.engine.terms, stepper.engine.contacts
    terms.place(stepper.q)
    contacts.look(terms, 0.0)
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
