# SPDX-License-Identifier: Apache-2.0
"""Conditions that end a connection while a scene runs, and when exactly they do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_dynamics.constraints.kinematics import attach
from humanoid_dynamics.simulation.world import World
from humanoid_dynamics.spatial.arrays import Vector

LOCATED = 1e-5  # [s]; the event itself is asked for to 1e-4 s


@dataclass(frozen=True, eq=False)
class Watch:
    """A connection that is cut when a point leaves a rectangle [SV, sec. 5].

    Attributes:
        cut: The connection.
        link: Link that carries the point.
        p_L: (3,) the point in it [m].
        plate: Link that carries the rectangle.
        X_LP: Pose of the rectangle in it; it lies in the x-y plane.
        half: (2,) half its edges [m].
    """

    cut: str
    link: str
    p_L: Vector
    plate: str
    X_LP: pin.SE3
    half: Vector


def measure_watch(world: World, watch: Watch) -> float:
    """Return how far a point is outside its rectangle, negative inside [m].

    Args:
        world: The world.
        watch: The condition.
    """
    data = world.robot.data()
    pin.forwardKinematics(world.robot.model, data, world.q)
    point, plate = (
        attach(world.robot, watch.link, pin.SE3(np.eye(3), watch.p_L)),
        attach(world.robot, watch.plate, watch.X_LP),
    )
    X_WP = data.oMi[plate.joint] * plate.X_JF
    p_P = X_WP.actInv((data.oMi[point.joint] * point.X_JF).translation)
    return float((np.abs(p_P[:2]) - watch.half).max())


def find_event(
    world: World, watches: Sequence[Watch], dt: float, tau: Vector | None
) -> tuple[float, Watch] | None:
    """Return when in the next step the first of some conditions comes true, and which; the world is left as it was.

    Args:
        world: The world.
        watches: The conditions.
        dt: Length of the step [s].
        tau: (na,) torques of the step; none where left out.

    Returns:
        Time from the start of the step [s], found by bisection, and the condition; None where none comes true.
    """
    if not watches:
        return None
    start = world.keep()
    world.try_step(dt, tau)
    broken = [watch for watch in watches if measure_watch(world, watch) > 0.0]
    world.restore(start)
    first: tuple[float, Watch] | None = None
    for watch in broken:
        low, high = 0.0, dt if first is None else first[0]
        while high - low > LOCATED:
            middle = 0.5 * (low + high)
            world.try_step(middle, tau)
            low, high = (low, middle) if measure_watch(world, watch) > 0.0 else (middle, high)
            world.restore(start)
        if first is None or high < first[0]:
            first = high, watch
    return first
