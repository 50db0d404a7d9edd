# SPDX-License-Identifier: Apache-2.0
"""The biped paper on a floating base: joint by joint, from either foot, and in three dimensions."""

import numpy as np
import pinocchio as pin
import pytest
from steps import (
    BODY,
    DSP1,
    INSTANTS,
    R1,
    STEP,
    T1,
    TIMES,
    leg_coordinates,
)

import humanoid_dynamics as hd
from humanoid_dynamics.motion.walking.rolling_step import build_planar_step
from humanoid_dynamics.papers.biped.chain import order_from_rear, view_from
from humanoid_dynamics.papers.biped.ground import compute_ground_wrench
from humanoid_dynamics.papers.biped.lagrange import (
    TORQUE_MAP,
    build_terms,
    build_tip_constraint,
    solve_open_chain,
)
from humanoid_dynamics.papers.biped.recursion import FRONT_SIGN
from humanoid_dynamics.papers.biped.schedule import STEP_RULES, compute_step_torques
from humanoid_dynamics.papers.biped.step import compute_torques, find_phase, find_points
from humanoid_dynamics.papers.vdc.double_support import build_double_support, choose_minimum_torque
from humanoid_dynamics.papers.vdc.inverse import solve_subsystems

# BP-19: the second part of double support


def test_torques_are_compared_joint_by_joint():
    """Order of the front chain is minus the reverse of that of the rear chain: at t1 both chains describe the same instant."""
    motion = R1.at(T1)
    rear, front = (
        solve_open_chain(build_terms(BODY, view_from(motion, base))) for base in ("rear", "front")
    )
    total = compute_ground_wrench(BODY, view_from(motion, "rear"))
    x_heel = find_points(BODY, motion, DSP1).heel_front
    wrench = -np.append(total.force, 0.0)
    couple = total.force[1] * (x_heel - total.zmp)
    J = build_tip_constraint(BODY, view_from(motion, "rear"), "heel").J
    moved = rear + np.linalg.solve(TORQUE_MAP, J.T @ wrench[:2] + np.array([0, 0, 0, 0, 0, couple]))
    assert np.abs(order_from_rear(front, "front") - moved).max() < 1e-9
    assert np.abs(front - moved).max() > 10.0


# BP-22: floating base


@pytest.mark.parametrize("t", [0.1, 0.3, 0.59, 0.62, 0.68, 0.75, 0.77, 0.84, 0.9, 0.95, 1.1, 1.4])
def test_floating_base_agrees(t):
    """RNEA of the URDF biped less J'W, in all phases and for all rules; nothing is left at its base."""
    robot = hd.load_robot("biped7")
    phase, motion = find_phase(t, TIMES), R1.at(t)
    q, v, a = build_planar_step(robot).at(t)
    for rule in STEP_RULES:
        answer = compute_step_torques(STEP, t, rule)
        contacts = urdf_contacts(answer, motion, phase)
        tau = solve_subsystems(robot, hd.State(q, v), a, contacts).tau
        assert np.abs(tau[:3]).max() < 1e-9
        assert np.abs(tau[leg_coordinates(robot)] * FRONT_SIGN - answer.tau).max() < 1e-9
        data = robot.data()
        expected = np.array(pin.rnea(robot.model, data, q, v, a))
        pin.computeJointJacobians(robot.model, data, q)
        for name, wrench in contacts.items():
            frame = robot.surface(name).frame
            expected -= (
                pin.getFrameJacobian(
                    robot.model, data, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
                ).T
                @ wrench
            )
        assert np.abs(tau - expected).max() < 1e-10


@pytest.mark.parametrize(("phase", "t"), INSTANTS)
def test_three_dimensional_procedures_contain_the_planar_ones(phase, t):
    """The URDF biped, an internal wrench of six components, no moment about heel or toe: torques of procedures 1 and 3."""
    robot = hd.load_robot("biped7")
    q, v, a = build_planar_step(robot).at(t)
    flat, other = (
        ("left_foot", "right_foot") if phase.base == "rear" else ("right_foot", "left_foot")
    )
    support = build_double_support(solve_subsystems(robot, hd.State(q, v), a), flat, other)
    reach = -BODY.heel if phase.tip == "heel" else BODY.toe
    choice = choose_minimum_torque(support, np.array([[0.0, 0.0, reach, 0.0, 1.0, 0.0]]), split=0.4)
    tau = np.zeros(robot.nv)
    tau[np.concatenate((support.first.coordinates, support.second.coordinates))] = choice.loads
    assert (
        np.abs(
            tau[leg_coordinates(robot)] * FRONT_SIGN
            - compute_torques(BODY, R1.at(t), phase, "minimum_torque").tau
        ).max()
        < 1e-9
    )


def urdf_contacts(answer, motion, phase):
    """Forces at tip and centre of pressure as wrenches at the origins of the soles, axes of the world."""
    flat, other = (
        ("left_foot", "right_foot") if phase.base == "rear" else ("right_foot", "left_foot")
    )
    flat_force, tip_force = (
        (answer.rear_force, answer.front_force)
        if phase.base == "rear"
        else (answer.front_force, answer.rear_force)
    )
    contacts = {flat: spatial(flat_force, np.array([answer.base_cop, 0.0]))}
    if phase.tip is not None:
        angle = motion.theta[6 if phase.base == "rear" else 0]
        reach = -BODY.heel if phase.tip == "heel" else BODY.toe
        contacts[other] = spatial(tip_force, reach * np.array([np.cos(angle), np.sin(angle)]))
    return contacts


def spatial(force, arm):
    return np.array([force[0], 0.0, force[1], 0.0, arm[1] * force[0] - arm[0] * force[1], 0.0])
