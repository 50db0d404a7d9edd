# SPDX-License-Identifier: Apache-2.0
"""What can be read from a step that was taken: its report, and the forces on its points."""

from __future__ import annotations

from humanoid_dynamics.simulation.balance import (
    ENERGY,
    FREE,
    NONE,
    find_gain,
    find_imbalance,
    find_jolt,
)
from humanoid_dynamics.simulation.contacts.cone_problem import CLOSE
from humanoid_dynamics.simulation.setup import PointForce, SimulationStatus, StepReport
from humanoid_dynamics.simulation.steps.rows import MASS
from humanoid_dynamics.simulation.steps.stepper import Stepper
from humanoid_dynamics.spatial.arrays import read_only


def read_report(
    stepper: Stepper, status: SimulationStatus, reason: str, impacts: int
) -> StepReport:
    """Return what a step says.

    Args:
        stepper: What took it.
        status: What became of its torques.
        reason: Why, in words.
        impacts: Number of impacts in it.
    """
    residual, complementarity, cone, _, depth, touching, missing, momentum, spin = (
        stepper.quality.tolist()
    )
    if stepper.worst is not None:
        residual, complementarity, cone, _, depth = stepper.certificate
    if status is SimulationStatus.OK and (
        residual > CLOSE
        or stepper.lifted > 0.0
        or stepper.apart
        or abs(missing) > NONE
        or momentum > NONE
    ):
        status, reason = find_fault(stepper, residual, (missing, momentum))
    told = (
        stepper.t,
        status,
        reason,
        int(touching),
        impacts,
        residual,
        complementarity,
        cone,
        depth,
        stepper.closure,
    )
    books = (
        missing,
        momentum,
        spin,
        stepper.strayed,
        stepper.created,
        stepper.engine.contacts.law.handed,
        stepper.lifted,
    )
    return tuple.__new__(StepReport, told + books)  # what fills in defaults takes twice as long


def find_fault(
    stepper: Stepper, residual: float, ungiven: tuple[float, float]
) -> tuple[SimulationStatus, str]:
    """Return status and reason of a step that was taken with the torques it was given.

    Args:
        stepper: What took it.
        residual: Distance of the contact impulses from a solution, as a velocity [m/s].
        ungiven: Energy error since the start [J], and momentum that did in the step [N·s].
    """
    missing, momentum = ungiven
    if residual > CLOSE:
        return (
            SimulationStatus.INEXACT,
            f"contact impulses are a velocity of {residual:.1e} m/s away from a solution",
        )
    if stepper.lifted > 0.0:
        return (
            SimulationStatus.INEXACT,
            f"pushing out what is too deep did {stepper.lifted:.1e} J more work than to lift all by the depth",
        )
    if stepper.apart:
        return (
            SimulationStatus.INEXACT,
            f"row {stepper.apart!r} stays open: the loops are apart by {stepper.closure:.1e} m",
        )
    reason, made = "", missing - stepper.missed
    if momentum > NONE:
        reason = find_jolt(
            momentum,
            stepper.books.account[MASS],
            max(stepper.swing, stepper.kinetic_before, stepper.measure_kinetic()),
        )
    driven = (
        stepper.engine.joints.drive is not None
    )  # drives bring and take more in a step than all moves with
    if stepper.audit and not (reason or driven) and made > FREE:
        stepper.swing = max(stepper.swing, stepper.measure_kinetic())
        reason = find_gain(made, stepper.swing, stepper.length)
    if stepper.audit and not reason and abs(missing) > ENERGY * abs(stepper.books.start) + NONE:
        reason = find_imbalance(stepper.books, stepper.missed, stepper.measure_kinetic())
    return (SimulationStatus.UNBALANCED if reason else SimulationStatus.OK), reason


def list_forces(stepper: Stepper) -> tuple[PointForce, ...]:
    """Return the mean forces on all points that touched in the last step.

    Where an edge of the terrain touches a shape, the force is that on the shape and its link.

    Args:
        stepper: What took it.
    """
    contacts, touched = stepper.engine.contacts, stepper.whole_touching
    table, own, found = contacts.table, contacts.table.own, []
    for i, met, place, impulse in zip(
        touched.point.tolist(), touched.met.tolist(), touched.place, touched.impulse, strict=True
    ):
        if impulse.any():
            link, sign = (table.links[i], 1.0) if i < own else (contacts.movers[met - 1].link, -1.0)
            found.append(
                PointForce(
                    table.names[i],
                    link,
                    read_only(place),
                    read_only(sign * impulse / stepper.length),
                )
            )
    return tuple(found)
