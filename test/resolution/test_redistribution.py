# SPDX-License-Identifier: Apache-2.0
"""Torque redistribution: the same acceleration by an independent rigid solve, inside limits, never more loss, safe on bad input."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.resolution import RedistributionStatus, TorqueRedistribution

DT = 0.01
FEET = ("left_foot", "right_foot")


def solve_rigid(robot: hd.RobotModel, q, v, tau, surfaces=FEET):
    """Return acceleration and contact wrenches of torques with all surfaces held, by one dense system."""
    model, data = robot.model, robot.data()
    pin.forwardKinematics(model, data, q, v, np.zeros(robot.nv))
    frames = [robot.surface(name).frame for name in surfaces]
    J = np.vstack([pin.computeFrameJacobian(model, data, q, f, pin.LOCAL) for f in frames])
    pin.forwardKinematics(model, data, q, v, np.zeros(robot.nv))
    drift = np.concatenate(
        [pin.getFrameAcceleration(model, data, f, pin.LOCAL).vector for f in frames]
    )
    upper = np.triu(pin.crba(model, data, q))
    M = upper + np.triu(upper, 1).T
    push = -pin.nonLinearEffects(model, data, q, v)
    push[robot.actuated_v] += tau
    size = len(J)
    matrix = np.block([[M, -J.T], [J, np.zeros((size, size))]])
    found = np.linalg.lstsq(matrix, np.concatenate((push, -drift)), rcond=None)[0]
    return found[: robot.nv], found[robot.nv :].reshape(-1, 6)


@pytest.fixture(scope="module")
def robot() -> hd.RobotModel:
    return hd.load_robot("g1")


def standing(robot: hd.RobotModel, seed: int = 0, waste: float = 15.0):
    """Return a state near the standing posture and torques that squeeze the legs against each other."""
    rng = np.random.default_rng(seed)
    q, v = np.array(robot.posture), np.zeros(robot.nv)
    tau = hd.InverseDynamics(robot).solve(q, v, np.zeros(robot.nv)).tau
    J = np.vstack(
        [
            pin.computeFrameJacobian(
                robot.model, robot.data(), q, robot.surface(n).frame, pin.LOCAL
            )
            for n in FEET
        ]
    )
    base = np.linalg.svd(J[:, :6].T)[2][6:].T
    internal = -J[:, robot.actuated_v].T @ base @ rng.normal(size=6)
    return q, v, tau + waste * internal / np.linalg.norm(internal)


def settle(redistribution, q, v, tau, ticks=80, **options):
    for _ in range(ticks):
        answer = redistribution.solve(q, v, tau, DT, **options)
    return answer


@pytest.mark.parametrize("seed", range(4))
def test_the_acceleration_stays_and_loss_falls(robot: hd.RobotModel, seed: int) -> None:
    q, v, tau = standing(robot, seed)
    answer = settle(TorqueRedistribution(robot), q, v, tau)
    before, _ = solve_rigid(robot, q, v, tau)
    after, wrenches = solve_rigid(robot, q, v, answer.tau)
    assert answer.status in (RedistributionStatus.ACTIVE, RedistributionStatus.FADED)
    assert np.abs(after - before).max() < 1e-9
    assert answer.saving > 0.1
    assert answer.residual < 1e-12
    np.testing.assert_allclose(answer.wrenches, wrenches, atol=1e-4)
    assert (np.abs(answer.tau) <= robot.limits.effort[robot.actuated_v] + 1e-9).all()


def test_full_authority_reaches_the_optimum_of_a_dense_program(robot: hd.RobotModel) -> None:
    settings = hd.resolution.RedistributionSettings(authority=1.0, largest=10.0)
    redistribution = TorqueRedistribution(robot, settings=settings)
    q, v, tau = standing(robot, waste=5.0)
    answer = settle(redistribution, q, v, tau)
    J = np.vstack(
        [
            pin.computeFrameJacobian(
                robot.model, robot.data(), q, robot.surface(n).frame, pin.LOCAL
            )
            for n in FEET
        ]
    )
    N = np.linalg.svd(J[:, :6].T)[2][6:].T
    B = -J[:, robot.actuated_v].T @ N
    root = np.sqrt(redistribution.weights)
    z = np.linalg.lstsq(root[:, None] * B, -root * tau, rcond=None)[0]
    best = float(redistribution.weights @ (tau + B @ z) ** 2)
    assert float(redistribution.weights @ answer.tau**2) <= 1.001 * best or answer.margin < 1e-3


def test_one_foot_leaves_no_choice(robot: hd.RobotModel) -> None:
    q, v, tau = standing(robot)
    answer = settle(TorqueRedistribution(robot), q, v, tau, loads=(330.0, 0.0))
    assert answer.status is RedistributionStatus.NO_INTERNAL_FORCES
    np.testing.assert_array_equal(answer.tau, tau)


def test_torques_change_continuously_as_a_foot_unloads(robot: hd.RobotModel) -> None:
    q, v, tau = standing(robot)
    redistribution = TorqueRedistribution(robot)
    settle(redistribution, q, v, tau, loads=(165.0, 165.0))
    limits = robot.limits.effort[robot.actuated_v]
    before, worst = redistribution.state.delta.copy(), 0.0
    for load in np.linspace(165.0, 0.0, 30):  # 0.3 s
        answer = redistribution.solve(q, v, tau, DT, loads=(330.0 - load, load))
        worst = max(worst, float(np.max(np.abs(answer.delta - before) / limits)))
        before = answer.delta
    assert not before.any()
    assert worst <= redistribution.settings.rate * DT + 1e-9


def test_a_contact_of_low_probability_does_not_count(robot: hd.RobotModel) -> None:
    q, v, tau = standing(robot)
    answer = settle(TorqueRedistribution(robot), q, v, tau, probabilities=(1.0, 0.3))
    assert answer.status is RedistributionStatus.NO_INTERNAL_FORCES


def test_faults_fade_out_within_a_tenth_of_a_second_and_torques_return(
    robot: hd.RobotModel,
) -> None:
    q, v, tau = standing(robot)
    redistribution = TorqueRedistribution(robot)
    settle(redistribution, q, v, tau)
    moving = v.copy()
    moving[0] = 0.5
    answer = settle(redistribution, q, moving, tau, ticks=12)
    assert answer.status is RedistributionStatus.SLIPPING
    assert np.abs(answer.delta).max() < 1e-6
    answer = settle(redistribution, q, v, tau, ticks=320)
    assert answer.status in (RedistributionStatus.ACTIVE, RedistributionStatus.FADED)


def test_a_controller_that_squeezes_harder_and_harder_is_left_alone(robot: hd.RobotModel) -> None:
    q, v, tau = standing(robot, waste=0.0)
    _, _, wasteful = standing(robot, waste=60.0)
    redistribution = TorqueRedistribution(robot)
    settle(redistribution, q, v, tau)
    answer = settle(redistribution, q, v, wasteful, ticks=120)
    assert answer.status is RedistributionStatus.OPPOSED
    assert np.abs(answer.delta).max() < 1e-6


def test_three_contacts_share_as_well(robot: hd.RobotModel) -> None:
    q, v, tau = standing(robot)
    hand = hd.ContactSurface(
        "rail",
        "left_rubber_hand",
        robot.model.getFrameId("left_rubber_hand"),
        pin.SE3.Identity(),
        np.zeros((1, 3)),
    )
    surfaces = [*(robot.surface(name) for name in FEET), hand]
    answer = settle(TorqueRedistribution(robot, surfaces), q, v, tau, loads=(130.0, 130.0, 110.0))
    assert answer.wrenches.shape == (3, 6)
    assert answer.residual < 1e-12
    assert answer.saving >= 0.0


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e300])
@pytest.mark.parametrize("where", ["q", "v", "tau"])
def test_bad_numbers_give_limited_torques_and_a_status(
    robot: hd.RobotModel, bad: float, where: str
) -> None:
    state = dict(zip(("q", "v", "tau"), standing(robot), strict=True))
    redistribution = TorqueRedistribution(robot)
    settle(redistribution, state["q"], state["v"], state["tau"], ticks=5)
    state[where] = state[where].copy()
    state[where][3] = bad
    answer = redistribution.solve(state["q"], state["v"], state["tau"], DT)
    limits = robot.limits.effort[robot.actuated_v]
    assert np.isfinite(answer.tau).all()
    assert (np.abs(answer.tau) <= limits).all()
    if not (where == "tau" and np.isfinite(bad)):
        assert answer.status is RedistributionStatus.INVALID_STATE


@pytest.mark.parametrize("size", [0, 5])
def test_wrong_sizes_do_not_raise(robot: hd.RobotModel, size: int) -> None:
    q, v, tau = standing(robot)
    redistribution = TorqueRedistribution(robot)
    for asked in ((np.zeros(size), v, tau), (q, np.zeros(size), tau), (q, v, np.zeros(size))):
        assert redistribution.solve(*asked, DT).status is RedistributionStatus.INVALID_STATE
    for dt in (0.0, -1.0, np.nan, np.inf):
        assert redistribution.solve(q, v, tau, dt).status is RedistributionStatus.INVALID_STATE
    answer = redistribution.solve(
        q, v, tau, DT, loads=(np.nan, 100.0), temperatures=np.full(29, np.nan)
    )
    assert np.isfinite(answer.tau).all()


def test_hot_motors_carry_less(robot: hd.RobotModel) -> None:
    q, v, tau = standing(robot)
    cool = settle(TorqueRedistribution(robot, objective="temperature"), q, v, tau)
    hottest = int(np.argmax(np.abs(cool.tau[:12]) / robot.limits.effort[robot.actuated_v][:12]))
    warm = np.zeros(len(tau))
    warm[hottest] = 0.95
    hot = settle(TorqueRedistribution(robot, objective="temperature"), q, v, tau, temperatures=warm)
    assert abs(hot.tau[hottest]) < abs(cool.tau[hottest])


def test_least_peak_lowers_the_largest_share_of_a_limit(robot: hd.RobotModel) -> None:
    q, v, tau = standing(robot)
    limits = robot.limits.effort[robot.actuated_v]
    answer = settle(TorqueRedistribution(robot, objective="least_peak"), q, v, tau)
    assert np.max(np.abs(answer.tau) / limits) < np.max(np.abs(tau) / limits)


def test_unknown_objective_is_refused(robot: hd.RobotModel) -> None:
    with pytest.raises(hd.UnknownNameError, match="copper_loss"):
        TorqueRedistribution(robot, objective="speed")
