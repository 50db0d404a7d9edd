# SPDX-License-Identifier: Apache-2.0
"""Friction of joints: one switch, on by default, for the library, the subsystems and the controller."""

from dataclasses import replace

import numpy as np
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.control.balance import BalanceController
from humanoid_dynamics.control.balance_settings import BalanceSettings
from humanoid_dynamics.dynamics.joint_friction import compute_joint_friction
from humanoid_dynamics.papers.vdc.inverse import solve_subsystems
from humanoid_dynamics.resolution.inverse import InverseDynamics


@pytest.fixture(scope="module")
def rubbing():
    robot = hd.load_robot("human28")
    joints = np.arange(robot.nv) >= 6
    return replace(robot, damping=0.3 * joints, friction=0.8 * joints)


@pytest.fixture(scope="module")
def moving(rubbing):
    rng = np.random.default_rng(2)
    v = np.concatenate((np.zeros(6), rng.uniform(-1.0, 1.0, rubbing.nv - 6)))
    return hd.State(rubbing.posture, v), 0.1 * rng.normal(size=rubbing.nv)


def test_torques_overcome_friction_unless_it_is_switched_off(rubbing, moving):
    state, a = moving
    friction = compute_joint_friction(rubbing, state.v)[rubbing.actuated_v]
    assert np.abs(friction).max() > 0.8
    for rule in ("transition", "recommended_transition"):
        asked = {"contacts": rubbing.stance, "rule": rule}
        off = hd.inverse_dynamics(rubbing, state, a, joint_friction=False, **asked)
        np.testing.assert_allclose(
            hd.inverse_dynamics(rubbing, state, a, **asked).tau - off.tau, friction, atol=1e-8
        )
        prepared = InverseDynamics(rubbing, rubbing.stance, rule)
        np.testing.assert_allclose(
            prepared.solve(state.q, state.v, a).tau - off.tau, friction, atol=1e-8
        )


def test_limits_hold_for_torques_with_friction(rubbing, moving):
    state, a = moving
    answer = hd.inverse_dynamics(
        replace(rubbing, friction=1e3 * (np.arange(rubbing.nv) >= 6)),
        state,
        a,
        rule="transition_limited",
    )
    assert np.all(np.abs(answer.tau) <= rubbing.limits.effort[rubbing.actuated_v] * (1.0 + 1e-9))
    assert answer.certificate.status != "OK"


def test_subsystems_count_the_same_friction(rubbing, moving):
    state, a = moving
    on, off = (
        solve_subsystems(rubbing, state, a, joint_friction=switch).tau for switch in (True, False)
    )
    np.testing.assert_allclose(on - off, compute_joint_friction(rubbing, state.v), atol=1e-9)


def test_the_controller_has_the_switch(rubbing):
    """Its friction is that of the velocity it is asked for."""
    found = {}
    for switch in (True, False):
        controller = BalanceController(
            rubbing, BalanceSettings(joint_friction=switch, contact_source="assumed")
        )
        names = rubbing.actuated
        q = np.array([rubbing.posture[rubbing.joint(name).q.start] for name in names])
        rows = {"positions": np.array([q, q + 0.04]), "velocities": np.full((2, len(names)), 0.04)}
        for t in (0.0, 0.002, 0.004):
            controller.observe_base(rubbing.posture[:7], np.zeros(6), t, t)
            assert controller.observe_joints(names, q, np.zeros(len(names)), t, t)
            found[switch] = controller.command(t)
            if not controller.reference.begun:
                assert controller.reference.put_joints(names, [0, 10**9], rows), (
                    controller.reference.fault
                )
    way = found[True].tau - found[False].tau
    friction = compute_joint_friction(rubbing, controller.reference.at(0.004).v, 0.03)[
        rubbing.actuated_v
    ]
    assert np.abs(friction).min() > 0.5
    np.testing.assert_allclose(way, friction, atol=1e-6)
