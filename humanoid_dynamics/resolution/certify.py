# SPDX-License-Identifier: Apache-2.0
"""How certificates are made: at a tick by one kernel, or from published torques and wrenches alone by Pinocchio's recursion."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter
from typing import TypeAlias

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from humanoid_dynamics.contact.ground import AnyGround, Ground, find_grounds
from humanoid_dynamics.contact.wrench import ContactWrench
from humanoid_dynamics.errors import UnknownNameError
from humanoid_dynamics.resolution.certificate import (
    CONTACT,
    KEPT,
    MISMATCH,
    MISSING,
    MOTOR,
    RESIDUAL_TOLERANCE,
    Certificate,
)
from humanoid_dynamics.resolution.constraint_rows import FRICTION, SOLID, YAW, LoopRows, gear_rows
from humanoid_dynamics.resolution.contact_motion import ContactMotion
from humanoid_dynamics.resolution.problem import DynamicsProblem
from humanoid_dynamics.resolution.violations import BROKEN, TORQUE_TOLERANCE
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector, check_vector
from humanoid_dynamics.spatial.compiling import compile_kernel

AnyWrench: TypeAlias = "ContactWrench | ArrayLike"
LOCAL = pin.ReferenceFrame.LOCAL
ROUNDING = 1e-12  # of the largest torque of free motion
RANK = 1e-10  # of the largest singular value


def find_violation(
    J: Matrix,
    tau_0: Vector,
    f: Vector,
    tau: Vector,
    A: Matrix,
    places: Indices,
    limits: Vector,
    left: Vector,
) -> int:
    """Write what the equation of motion misses, tau_0 - J'f - S'tau, and return the first kind of row that is violated.

    Args:
        J: (size, nv) Jacobian.
        tau_0: (nv,) generalized forces of free motion.
        f: (size,) forces.
        tau: (na,) torques.
        A: (m, size) rows of contacts.
        places: Coordinates with a motor (na,), those without, kinds of rows (m,), where the forces of each contact start, and
            where its rows do (contacts + 1,) each.
        limits: Most that motors may give, tolerance included (na,), bounds of the rows (m,), coefficients of friction and largest normal
            forces (2 contacts,), what a row of a contact may be missed by, and one of the equation of motion.
        left: (nv,) written.
    """
    nv, na = len(tau_0), len(tau)
    overloads, square, broken, allowed = False, 0.0, limits[-2], limits[-1]
    for i in range(nv):
        left[i] = tau_0[i]
    for k in range(len(f)):
        for i in range(nv):
            left[i] -= f[k] * J[k, i]
    for i in range(na):
        needed = left[places[i]]
        left[places[i]] = needed - tau[i]
        overloads = overloads or not abs(needed) <= limits[i]  # NaN is not within any limit
    for i in range(na, nv):
        if not abs(left[places[i]]) <= allowed:
            return MISSING
    if breaks_contact(f, A, places[nv:], limits[na : len(limits) - 2], broken):
        return CONTACT
    if overloads:
        return MOTOR
    for i in range(nv):
        square += left[i] * left[i]
    return KEPT if square <= allowed * allowed else MISMATCH


def breaks_contact(f: Vector, A: Matrix, places: Indices, limits: Vector, broken: float) -> bool:
    """Whether a contact pulls, bears too much, slips out of its round cone, tips or turns; see ``find_faults``.

    Args:
        f: (size,) forces.
        A: (m, size) rows of contacts.
        places: Kinds of rows, where the forces of each contact start, and where its rows do.
        limits: Bounds of the rows, coefficients of friction and largest normal forces.
        broken: What a row may be missed by.
    """
    m = len(A)
    contacts = (len(limits) - m) // 2
    for c in range(contacts):
        at = places[m + c]
        normal, along = f[at + 2], (f[at] * f[at] + f[at + 1] * f[at + 1]) ** 0.5
        if not (-broken <= normal <= limits[m + contacts + c] + broken):
            return True
        if not along <= limits[m + c] * normal + broken:
            return True
        rubs, turns = False, False
        for i in range(places[m + contacts + 1 + c], places[m + contacts + 2 + c]):
            over = -limits[i]
            for k in range(at, places[m + c + 1]):
                over += A[i, k] * f[k]
            if not over <= broken:
                if places[i] == SOLID:
                    return True
                rubs, turns = rubs or places[i] == FRICTION, turns or places[i] == YAW
        if turns and not rubs:
            return True
    return False


class Certifier:
    """Certifies answers for one problem: make once, ``certify`` many times."""

    def __init__(self, problem: DynamicsProblem) -> None:
        """Take the memory and compile.

        Args:
            problem: The equation of motion.
        """
        self._problem = problem
        self._rows = (problem.A, *_pack_rows(problem))
        self._check = compile_kernel(find_violation)
        n, na, nv = problem.size, len(problem.driven_v), problem.robot.nv
        self._check(problem.J, problem.tau_0, np.zeros(n), np.zeros(na), *self._rows, np.zeros(nv))

    def keeps(self, f: Vector, tau: Vector) -> bool:
        """Whether the equation of motion and all limits hold within tolerance at the last update of the problem.

        Args:
            f: (size,) forces.
            tau: (na,) torques.
        """
        problem, left = self._problem, np.empty(len(self._problem.tau_0))
        return bool(self._check(problem.J, problem.tau_0, f, tau, *self._rows, left) == KEPT)

    def certify(self, f: Vector, tau: Vector, found: tuple[str, int], start: float) -> Certificate:
        """Return the certificate for forces and torques at the last update of the problem; torques become read-only.

        Args:
            f: (size,) forces.
            tau: (na,) torques.
            found: Path and rank.
            start: When the tick began, by ``perf_counter`` [s].
        """
        problem = self._problem
        left: Vector = np.empty(len(problem.tau_0))
        violation = self._check(problem.J, problem.tau_0, f, tau, *self._rows, left)
        tau.setflags(write=False)
        certificate = Certificate(problem, f, tau, left, found)
        certificate.measured, moves = problem.measure_motion(f)
        certificate.decide(violation, moves)
        certificate.time = perf_counter() - start
        return certificate


def _pack_rows(problem: DynamicsProblem) -> tuple[Indices, Vector]:
    """Return places and limits as ``find_violation`` reads them."""
    contacts, weight = problem.contacts, problem.unit_force
    ends = np.cumsum([0, *(len(contact.cone.b) for contact in contacts)])
    starts = [0, *(contact.part.stop for contact in contacts)]
    kinds = [contact.kinds for contact in contacts]
    places = (problem.driven_v, problem.undriven_v, *kinds, starts, ends)
    limits = (
        problem.effort * (1.0 + TORQUE_TOLERANCE),
        problem.b,
        [contact.surface.friction for contact in contacts],
        [contact.surface.normal_force_limit for contact in contacts],
        [BROKEN * weight, RESIDUAL_TOLERANCE * weight],
    )
    return (
        np.concatenate([np.asarray(part, dtype=np.intp) for part in places]),
        np.concatenate([np.asarray(part, dtype=np.float64) for part in limits]),
    )


def verify(
    certificate: Certificate, tau: ArrayLike, wrenches: Mapping[str, AnyWrench], ground: AnyGround
) -> Certificate:
    """Return a certificate of torques and wrenches that shares nothing with how they were found but the robot and the question.

    The residual is that of ``pin.rnea`` with the wrenches as external forces, less torques and known forces; of each wrench only what its
    surface can carry counts.  Gears and loops make up for what they can.

    Args:
        certificate: Of the answer.
        tau: (na,) torques.
        wrenches: Wrenches by surface, or force and moment about its origin in axes of the world, (6,); none for a surface left out.
        ground: Ground that contacts are on; that of the question where None.

    Raises:
        ShapeError: If a size is wrong or a number is not finite.
        UnknownNameError: If a surface is none of those that were asked about.
    """
    start, problem, (q, v, a, force) = (
        perf_counter(),
        certificate.problem,
        certificate.question,
    )
    robot, data = problem.robot, problem.robot.data()
    names = tuple(surface.name for surface in problem.surfaces)
    for name in wrenches:
        if name not in names:
            raise UnknownNameError("contact surface", name, names)
    torques = check_vector("tau", tau, len(robot.actuated_v))
    pin.forwardKinematics(robot.model, data, q, v, a)
    pin.updateFramePlacements(robot.model, data)
    grounds = problem.grounds if ground is None else find_grounds(ground, names)
    held_directions = [contact.held for contact in problem.contacts]
    motion = ContactMotion(robot.model, data, problem.surfaces, held_directions, grounds, 0.0)
    measured = motion.bound(*_measure(problem, data, grounds))
    x, pushes = np.zeros(problem.size), pin.StdVec_Force()
    pushes.extend([pin.Force.Zero() for _ in range(robot.model.njoints)])
    for contact in problem.contacts:
        surface, held, part = contact.surface, contact.held, contact.part
        if surface.name in wrenches:
            R_WC, frame = data.oMf[surface.frame].rotation, robot.model.frames[surface.frame]
            f, m = np.split(_as_numbers(surface.name, wrenches[surface.name]), 2)
            x[part] = np.linalg.lstsq(held, np.concatenate((R_WC.T @ f, R_WC.T @ m)), rcond=None)[0]
            pushes[frame.parentJoint] += frame.placement.act(pin.Force(held @ x[part]))
    inner, torn = _inner_rows(problem, q, v, a)
    left = np.array(pin.rnea(robot.model, data, q, v, a, pushes)) - (
        0.0 if force is None else force
    )
    left[robot.actuated_v] -= torques
    if len(inner):
        x[problem.size - len(inner) :] = np.linalg.lstsq(inner.T, left, rcond=RANK)[0]
        left -= inner.T @ x[problem.size - len(inner) :]
    verified = Certificate(problem, x, torques, left, (certificate.path, certificate.rank))
    verified.keep(certificate.question, torn)
    verified.measured, verified.shares = measured, certificate.shares
    verified.takes_load = certificate.takes_load
    scale = float(np.max(np.abs(pin.rnea(robot.model, data, q, v, a)), initial=0.0))
    verified.tolerance = 2.0 * RESIDUAL_TOLERANCE * problem.unit_force + ROUNDING * scale
    verified.decide()
    verified.time = perf_counter() - start
    return verified


def _as_numbers(name: str, wrench: AnyWrench) -> Vector:
    return (
        np.concatenate((wrench.f_W, wrench.m_W))
        if isinstance(wrench, ContactWrench)
        else check_vector(name, wrench, 6)
    )


def _measure(
    problem: DynamicsProblem, data: pin.Data, grounds: Mapping[str, Ground]
) -> tuple[Vector, Vector, Vector]:
    """Return speeds and accelerations along what surfaces hold, and heights of corners above their ground."""
    model, speeds, accelerations, heights = (
        problem.robot.model,
        [np.zeros(0)],
        [np.zeros(0)],
        [np.zeros(0)],
    )
    for contact in problem.contacts:
        surface, held = contact.surface, contact.held
        speeds.append(held.T @ pin.getFrameVelocity(model, data, surface.frame, LOCAL).vector)
        accelerations.append(
            held.T @ pin.getFrameAcceleration(model, data, surface.frame, LOCAL).vector
        )
        if surface.name in grounds:
            ground = grounds[surface.name]
            corners = np.array([data.oMf[surface.frame].act(corner) for corner in surface.vertices])
            heights.append(corners @ ground.normal - ground.offset)
    return np.concatenate(speeds), np.concatenate(accelerations), np.concatenate(heights)


def _inner_rows(problem: DynamicsProblem, q: Vector, v: Vector, a: Vector) -> tuple[Matrix, str]:
    """Return the directions in which gears and loops push, and what is wrong with a motion that does not close the loops."""
    robot, gears = problem.robot, gear_rows(problem.robot)
    if not robot.loops:
        return gears, ""
    loops = LoopRows(robot)
    return np.vstack((gears, loops.update(q, v, a))), loops.torn
