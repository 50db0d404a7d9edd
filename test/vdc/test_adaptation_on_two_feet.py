# SPDX-License-Identifier: Apache-2.0
"""Adaptive control of a robot that stands on both feet and does not know how heavy its trunk is."""

from functools import cache

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.papers.vdc.adaptation import ParameterBounds, scale_gains
from humanoid_dynamics.papers.vdc.controller import AdaptiveController, AdaptiveGains, Desired
from humanoid_dynamics.papers.vdc.decomposition import decompose
from humanoid_dynamics.papers.vdc.double_support import build_double_support, choose_contact_wrench
from humanoid_dynamics.papers.vdc.inverse import solve_subsystems

FEET = ("left_foot", "right_foot")
PERIOD, STEP = 1.0, 2e-3
TICKS = round(PERIOD / STEP)
CYCLES = 3


def feet(robot, data, q, v):
    """Jacobian of both feet, their accelerations at a = 0, and where they are, axes of the world."""
    model = robot.model
    pin.computeJointJacobians(model, data, q)
    pin.forwardKinematics(model, data, q, v, np.zeros(model.nv))
    frames = [robot.surface(name).frame for name in FEET]
    J = np.vstack(
        [
            pin.getFrameJacobian(model, data, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
            for frame in frames
        ]
    )
    drift = [
        pin.getFrameClassicalAcceleration(
            model, data, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        ).vector
        for frame in frames
    ]
    placed = [pin.updateFramePlacement(model, data, frame) for frame in frames]
    return J, np.concatenate(drift), [pin.SE3(X.rotation, X.translation) for X in placed]


def moved(home, now):
    """How far feet have left their places, axes of the world."""
    return np.concatenate(
        [
            np.concatenate((X.translation - X_0.translation, pin.log3(X.rotation @ X_0.rotation.T)))
            for X_0, X in zip(home, now, strict=True)
        ]
    )


def pelvis(t, home):
    """Pose, velocity and acceleration of a pelvis that bends its knees, sways and turns about one axis; periodic."""
    w, phase = 2 * np.pi / PERIOD, np.array([0.5, 0.0, 1.0])
    swing, axis, angle = np.array([0.02, 0.03, 0.04]), np.array([0.5, 0.7, 0.5]), 0.08
    R = home.rotation @ pin.exp3(axis * angle * np.sin(w * t))
    turning, turned = axis * angle * w * np.cos(w * t), -axis * angle * w**2 * np.sin(w * t)
    velocity, acceleration = (
        R.T @ (swing * w * np.cos(w * t + phase)),
        R.T @ (-swing * w**2 * np.sin(w * t + phase)),
    )
    pose = pin.SE3(R, home.translation - [0.0, 0.0, 0.07] + swing * np.sin(w * t + phase))
    return (
        pin.SE3ToXYZQUAT(pose),
        np.r_[velocity, turning],
        np.r_[acceleration - np.cross(turning, velocity), turned],
    )


@cache
def squats():
    """Motions over flat feet: joints follow the pelvis, because each leg has six; they are integrated back to the feet at every tick."""
    robot = hd.load_robot("legs12")
    data, q = robot.data(), robot.posture.copy()
    home, motion = pin.XYZQUATToSE3(q[:7]), []
    places = feet(robot, data, q, np.zeros(robot.nv))[2]
    for k in range(CYCLES * TICKS):
        q[:7], base_v, base_a = pelvis(k * STEP, home)
        for _ in range(20 if k == 0 else 2):
            J, _, now = feet(robot, data, q, np.zeros(robot.nv))
            q[7:] -= np.linalg.solve(J[:, 6:], moved(places, now))
        J, _, _ = feet(robot, data, q, np.zeros(robot.nv))
        v = np.concatenate((base_v, -np.linalg.solve(J[:, 6:], J[:, :6] @ base_v)))
        J, drift, _ = feet(robot, data, q, v)
        motion.append(
            Desired(
                q.copy(),
                v,
                np.concatenate((base_a, -np.linalg.solve(J[:, 6:], J[:, :6] @ base_a + drift))),
            )
        )
        q[7:] += v[6:] * STEP
    return robot, motion


def share_between_feet(required):
    """Both feet carry half of what the required motion needs: procedure 3 on required quantities."""
    support = build_double_support(required, *FEET)
    free = choose_contact_wrench(support, np.zeros(6))
    R_WC = required.frames.R_WB[required.decomposition.link("right_foot")]
    half = np.zeros(6)
    half[:3] = 0.5 * free.first_wrench[:3]
    choice = choose_contact_wrench(support, half)
    R_WL = required.frames.R_WB[required.decomposition.link("left_foot")]
    turn = [np.kron(np.eye(2), R) for R in (R_WL, R_WC)]
    return {
        "left_foot": turn[0] @ choice.first_wrench,
        "right_foot": turn[1] @ choice.second_wrench,
    }


def stand(trunk, learning, cycles):
    """Return RMS errors of each cycle and what is thought of the trunk's mass, for a trunk some times as heavy as known."""
    robot, motion = squats()
    body, model = decompose(robot), robot.model
    plant = model.copy()
    plant.inertias[1] = pin.Inertia(
        plant.inertias[1].mass * trunk, plant.inertias[1].lever, plant.inertias[1].inertia * trunk
    )
    bounds = ParameterBounds.around(body.link_parameters(), 0.05)
    lower, upper = np.array(bounds.lower), np.array(bounds.upper)
    wide = ParameterBounds.around(body.link_parameters()[0], 0.5)
    lower[0], upper[0] = wide.lower, wide.upper
    bounds = ParameterBounds(lower, upper)
    gains = AdaptiveGains(
        np.full(robot.nv, 8.0),
        np.array([60.0] * 3 + [3.0] * 3),
        np.r_[np.zeros(6), np.full(12, 4.0)],
        0.0,
    )
    if learning:
        gains = AdaptiveGains(
            gains.tracking, gains.link, gains.joint, scale_gains(bounds, time=0.5, power=20.0)
        )
    controller = AdaptiveController(body, gains, bounds)
    data, q, v = plant.createData(), motion[0].q, motion[0].v
    home = feet(robot, data, q, v)[2]
    errors, masses = [], []
    for cycle in range(cycles):
        squares = 0.0
        for wanted in motion[cycle * TICKS : (cycle + 1) * TICKS]:
            answer = controller.tick(q, v, wanted, STEP, share_between_feet)
            squares += float(np.sum(pin.difference(model, q, wanted.q) ** 2))
            J, drift, now = feet(robot, data, q, v)
            M = pin.crba(plant, data, q)
            M = np.triu(M) + np.triu(M, 1).T
            force = np.concatenate((np.zeros(6), answer.tau[6:])) - pin.nonLinearEffects(
                plant, data, q, v
            )
            K = np.block([[M, J.T], [J, np.zeros((12, 12))]])
            held = -drift - 100.0 * J @ v - 2500.0 * moved(home, now)
            v = v + np.linalg.solve(K, np.concatenate((force, held)))[: model.nv] * STEP
            q = pin.integrate(model, q, v * STEP)
        errors.append(np.sqrt(squares / TICKS))
        masses.append(controller.link_parameters[0, 0])
    return np.array(errors), np.array(masses), plant.inertias[1].mass


# BP-23: adaptation in double support


def test_the_required_contacts_leave_nothing_to_the_base():
    robot, motion = squats()
    wanted = motion[37]
    known = decompose(robot).link_parameters()
    gains = AdaptiveGains(np.ones(robot.nv), np.ones(6), np.ones(robot.nv), 0.0)
    answer = AdaptiveController(decompose(robot), gains, ParameterBounds(known, known)).tick(
        wanted.q, wanted.v, wanted, STEP, share_between_feet
    )
    assert np.abs(answer.tau[:6]).max() < 1e-9
    contacts = share_between_feet(solve_subsystems(robot, hd.State(wanted.q, wanted.v), wanted.a))
    expected = solve_subsystems(robot, hd.State(wanted.q, wanted.v), wanted.a, contacts).tau
    assert np.abs(answer.tau - expected).max() < 1e-9
    assert contacts["left_foot"][2] == pytest.approx(contacts["right_foot"][2], rel=0.05)


@pytest.mark.parametrize("trunk", [0.7, pytest.param(1.3, marks=pytest.mark.slow)])
def test_an_unknown_trunk_is_found_on_two_feet(trunk):
    """Masses off by 30 percent: the error falls in every cycle and the estimate goes to the truth, within its bounds."""
    errors, masses, truth = stand(trunk, learning=True, cycles=3)
    assert (np.diff(errors) < 0.0).all()
    assert errors[-1] < 0.5 * errors[0]
    assert abs(masses[-1] - truth) < 0.05 * abs(truth - truth / trunk)


@pytest.mark.slow
def test_without_learning_the_error_stays():
    errors, masses, _ = stand(1.3, learning=False, cycles=2)
    learnt, _, _ = stand(1.3, learning=True, cycles=2)
    assert errors[1] > 0.8 * errors[0]
    assert learnt[1] < 0.7 * errors[1]
    assert masses[0] == masses[1]
