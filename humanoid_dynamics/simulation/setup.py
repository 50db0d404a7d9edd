# SPDX-License-Identifier: Apache-2.0
"""What a world is made of besides bodies, and what it says after each step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from humanoid_dynamics.simulation.contacts.moving_shapes import MovingShape
from humanoid_dynamics.simulation.contacts.shapes import Shape
from humanoid_dynamics.simulation.contacts.touch_points import TouchPoint
from humanoid_dynamics.simulation.steps.joint_forces import Drive
from humanoid_dynamics.spatial.arrays import Vector
from humanoid_dynamics.status import StatusEnum

GRAVITY = (0.0, 0.0, -9.81)
SHORTEST_STEP, LONGEST_STEP = 1e-9, 0.02  # s
CONTACTS = ("friction", "paper")
INTEGRATORS = ("fast", "accurate")
HOOKS = (
    "before_step",
    "after_terms",
    "after_detect",
    "after_impact",
    "after_forces",
    "after_integrate",
    "after_step",
)


class SimulationStatus(StatusEnum):
    """What a step reports."""

    OK = "OK", "the step was taken and every law was kept"
    SATURATED = "SATURATED", "a torque exceeded the limit of its motor and was clipped"
    INVALID_INPUT = (
        "INVALID_INPUT",
        "a torque was not finite and counted as zero, or the time step was out of range and no step was taken",
    )
    INEXACT = (
        "INEXACT",
        "contact impulses exceed their error tolerance, a penetration correction did too much work, or a loop stays open",
    )
    UNBALANCED = (
        "UNBALANCED",
        "the energy or momentum error exceeds its tolerance, in the step or since the start; a smaller time step helps",
    )
    STOPPED = (
        "STOPPED",
        "the motion diverged; the simulation keeps the last good state, without forces, and takes no further step",
    )


@dataclass(frozen=True, eq=False)
class Setup:
    """Surroundings and manners of a world.

    Attributes:
        terrain: What stands still.
        points: Touch points: ``surfaces`` for the corners of all contact surfaces, ``body`` for all that can touch, or a list.
        contact: Law of contact: ``friction`` (Coulomb) or ``paper`` (surfaces that hold and let go, without a bound on friction).
        gravity: (3,) gravity [m/s²].
        limits: Whether joints stop at their position limits.
        drive: Joint position control inside the world, besides the torques that are given.
        passive: Motors that are switched off; they give nothing, their drive included.
        audit: Whether energy is measured at every step.
        compiled: False for the interpreter, numba otherwise.
        shapes: Shapes that ride on bodies and are touched by the points of other figures.
        integrator: ``fast``, of second order, or ``accurate``, of fourth where motion is smooth: no contact or limit near, no drive,
            no friction, no push.
    """

    terrain: tuple[Shape, ...] = ()
    points: str | tuple[TouchPoint, ...] = "surfaces"
    contact: str = "friction"
    gravity: tuple[float, float, float] = GRAVITY
    limits: bool = True
    drive: Drive | None = None
    passive: tuple[str, ...] = ()
    audit: bool = True
    compiled: bool | None = None
    shapes: tuple[MovingShape, ...] = ()
    integrator: str = "fast"


class StepReport(NamedTuple):
    """What one step says; a tuple, because it is made a thousand times a second.

    Attributes:
        t: Time after it [s].
        status: Whether every law was kept, and what went wrong otherwise.
        reason: What is wrong, in words; empty where nothing is.
        touching: Number of points that carry force.
        impacts: Number of impacts in this step.
        residual: Largest distance in its parts of the contact impulses from a solution in which nothing yields, as a velocity [m/s].
        complementarity: Largest product of a normal impulse and the velocity along it [J].
        cone: How far an impulse is outside its cone [N·s].
        depth: Largest depth of a point that touches in any of its parts [m]; ``World.find_inside`` tells what is let pass.
        closure: Largest position error of the bilateral rows [m].
        missing: Energy error since the start [J].
        momentum: Momentum of all bodies that nobody gave in this step [N·s].
        spin: The same about its centre of mass [N·m·s].
        rebound: Largest velocity by which an impact in this step missed its law: part with e times the speed of the approach [m/s].
        created: Largest energy that an impact in this step made out of nothing [J].
        handed: Why contacts of this step were handed from the law ``paper`` to ``friction``; empty where they were not.
        lifted: By how much the work of a push out of the ground exceeded that of lifting all bodies by the depth [J].
    """

    t: float
    status: SimulationStatus = SimulationStatus.OK
    reason: str = ""
    touching: int = 0
    impacts: int = 0
    residual: float = 0.0
    complementarity: float = 0.0
    cone: float = 0.0
    depth: float = 0.0
    closure: float = 0.0
    missing: float = 0.0
    momentum: float = 0.0
    spin: float = 0.0
    rebound: float = 0.0
    created: float = 0.0
    handed: str = ""
    lifted: float = 0.0


@dataclass(frozen=True, eq=False)
class PointForce:
    """The mean force on a touch point during a step.

    Attributes:
        point: Name of the point.
        link: Link it belongs to.
        place: (3,) where it touches [m].
        force: (3,) force on the body, in the world [N].
    """

    point: str
    link: str
    place: Vector
    force: Vector


def fastest_coordinate(v: Vector) -> int:
    """Return the index of the coordinate that ran away: the first that is not finite, or else the fastest."""
    wild = np.flatnonzero(~np.isfinite(v))
    return int(wild[0]) if len(wild) else int(np.argmax(np.abs(v)))
