# SPDX-License-Identifier: Apache-2.0
"""An answer verified from what it publishes alone: torques, wrenches, and Pinocchio's recursion on a robot of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from humanoid_dynamics.contact.ground import AnyGround, Ground, find_grounds
from humanoid_dynamics.contact.wrench import ContactWrench
from humanoid_dynamics.errors import UnknownNameError
from humanoid_dynamics.resolution.constraint_rows import LoopRows
from humanoid_dynamics.resolution.contact_motion import ContactMotion
from humanoid_dynamics.resolution.evidence import RESIDUAL_TOLERANCE, Evidence
from humanoid_dynamics.resolution.problem import DynamicsProblem
from humanoid_dynamics.spatial.arrays import Matrix, Vector, check_vector

AnyWrench: TypeAlias = "ContactWrench | ArrayLike"
LOCAL = pin.ReferenceFrame.LOCAL
ROUNDING = 1e-12  # of the largest torque of free motion
RANK = 1e-10  # of the largest singular value


def verify(
    evidence: Evidence, tau: ArrayLike, wrenches: Mapping[str, AnyWrench], ground: AnyGround
) -> Evidence:
    """Return evidence for torques and wrenches that shares nothing with how they were found but the robot and the question.

    The residual is that of ``pin.rnea`` with the wrenches as external forces, less torques and known forces; of each wrench only what its
    surface can carry counts.  Gears and loops make up for what they can.

    Args:
        evidence: Of the answer.
        tau: (na,) torques.
        wrenches: Wrenches by surface, or force and moment about its origin in axes of the world, (6,); none for a surface left out.
        ground: Ground that contacts are on; that of the question where None.

    Raises:
        ShapeError: If a size is wrong or a number is not finite.
        UnknownNameError: If a surface is none of those that were asked about.
    """
    problem, (q, v, a, force) = evidence.problem, evidence.question
    robot, data = problem.robot, problem.robot.data()
    names = tuple(surface.name for surface in problem.surfaces)
    for name in wrenches:
        if name not in names:
            raise UnknownNameError("contact surface", name, names)
    torques = check_vector("tau", tau, len(robot.actuated_v))
    pin.forwardKinematics(robot.model, data, q, v, a)
    pin.updateFramePlacements(robot.model, data)
    grounds = problem.grounds if ground is None else find_grounds(ground, names)
    motion = ContactMotion(
        robot.model, data, problem.surfaces, [contact.held for contact in problem.contacts], grounds
    )
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
    verified = Evidence(problem, evidence.rows, x, left, torques)
    verified.keep(evidence.question, torn)
    verified.measured = measured
    scale = float(np.max(np.abs(pin.rnea(robot.model, data, q, v, a)), initial=0.0))
    verified.tolerance = 2.0 * RESIDUAL_TOLERANCE * problem.unit_force + ROUNDING * scale
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
    robot = problem.robot
    index = {joint.name: joint.v.start for joint in robot.joints}
    gears = np.zeros((len(robot.mimics), robot.nv))
    for row, mimic in zip(gears, robot.mimics, strict=True):
        row[index[mimic.joint]], row[index[mimic.leader]] = 1.0, -mimic.ratio
    if not robot.loops:
        return gears, ""
    loops = LoopRows(robot)
    return np.vstack((gears, loops.update(q, v, a))), loops.torn
