# SPDX-License-Identifier: Apache-2.0
"""Smooth motion to fourth order, for those who count every joule: Runge and Kutta's method on the group of configurations.

A way theta from q leads to the configuration q + theta; the rate of theta that belongs to a velocity v there solves J(theta) theta' = v,
where J is the derivative of that sum.  Adding up velocities of balls and free bodies as they are would lose the order [SV, eq. 25-29].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_dynamics.simulation.steps.outside import Outside
from humanoid_dynamics.simulation.steps.terms import Terms
from humanoid_dynamics.spatial.arrays import Vector

STAGES = ((0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0))  # where in the step, and weight times six


@dataclass(frozen=True, eq=False)
class Flight:
    """A step of smooth motion.

    Attributes:
        q: (nq,) configuration at its end.
        v: (nv,) velocity at its end.
        way: (nv,) integral of the velocity, of which forces make work.
        lam: (k,) mean force of each bilateral row.
        given: (6,) impulse on all trees of all but gravity, about the origin of the world; zero where nobody asked.
    """

    q: Vector
    v: Vector
    way: Vector
    lam: Vector
    given: Vector


def fly(
    terms: Terms, q: Vector, v: Vector, force: Vector, dt: float, *, outside: Outside | None = None
) -> Flight | None:
    """Move under constant generalized forces and what the bilateral rows hold.

    Args:
        terms: Work space.
        q: (nq,) configuration at the start.
        v: (nv,) velocity at the start.
        force: (nv,) generalized force besides gravity.
        dt: Length of the step [s].
        outside: What acts on the trees from outside, for those who want to know what it gave.

    Returns:
        Where it leads; None where the inertia is not positive definite.
    """
    model = terms.model
    theta, rate, a = np.zeros(len(v)), v, np.zeros(len(v))
    turned, gained, way, lam = (
        np.zeros(len(v)),
        np.zeros(len(v)),
        np.zeros(len(v)),
        np.zeros(terms.constraints.size),
    )
    given: Vector = np.zeros(6)
    for place, weight in STAGES:
        theta, v_here = place * dt * rate, v + place * dt * a
        q_here = pin.integrate(model, q, theta)
        rate = np.linalg.solve(pin.dIntegrate(model, q, theta, pin.ARG1), v_here) if place else v
        found = accelerate(terms, q_here, v_here, force)
        if found is None:
            return None
        a, pull = found
        turned, gained = turned + weight / 6.0 * rate, gained + weight / 6.0 * a
        way, lam = way + weight / 6.0 * dt * v_here, lam + weight / 6.0 * pull
        if outside is not None:
            given += (
                weight / 6.0 * dt * find_given(terms, outside, (q_here, v_here, a), (force, pull))
            )
    return Flight(pin.integrate(model, q, dt * turned), v + dt * gained, way, lam, given)


def find_given(
    terms: Terms,
    outside: Outside,
    motion: tuple[Vector, Vector, Vector],
    forces: tuple[Vector, Vector],
) -> Vector:
    """Return (6,) the wrench on all trees of all but gravity, about the origin of the world.

    Args:
        terms: Work space, evaluated there.
        outside: What acts on the trees from outside.
        motion: Configuration (nq,), velocity and acceleration (nv,).
        forces: Generalized force besides gravity (nv,), and forces of the bilateral rows (k,).
    """
    force, pull = forces
    told = force + pull.dot(terms.rows) if len(pull) else force
    given = outside.sum_generalized(told, terms.data)
    if outside.carries:
        given += outside.bear(motion, terms.force(terms.momentum(motion[2])) + terms.h - told)
    return given


def accelerate(terms: Terms, q: Vector, v: Vector, force: Vector) -> tuple[Vector, Vector] | None:
    """Return acceleration (nv,) and forces of the bilateral rows (k,); None where the inertia is not positive definite.

    Args:
        terms: Work space.
        q: (nq,) configuration.
        v: (nv,) velocity.
        force: (nv,) generalized force besides gravity.
    """
    gamma = None
    if len(terms.constraints):
        terms.kinematics.move(q, v)
        gamma = np.array(terms.constraints.drift(terms.kinematics))
    terms.place(q, v)
    terms.factor()
    if not terms.ok:
        return None
    z = terms.whiten(force - terms.h)
    if gamma is None:
        return terms.velocity(z), np.zeros(0)
    terms.hold_here()
    bound = terms.restrain(z) + terms.closing(gamma)
    return terms.velocity(bound), terms.multipliers(terms.Q.T.dot(bound - z))
