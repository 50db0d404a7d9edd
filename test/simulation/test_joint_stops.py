# SPDX-License-Identifier: Apache-2.0
"""A joint that comes to its limit fast hits it: an impact with a time and a law of its own, not something a smooth step does."""

import numpy as np
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.simulation.setup import Setup
from humanoid_dynamics.simulation.world import World

LIMIT = 0.5
INERTIA = '<inertia ixx="0.04" iyy="0.05" izz="0.06" ixy="0" ixz="0" iyz="0"/>'
BODY = (
    '<link name="{0}"><inertial><origin xyz="{2} 0 {3}"/><mass value="{1}"/>'
    + INERTIA
    + "</inertial></link>"
)
JOINT = (
    '<joint name="hinge" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>'
    f'<limit lower="-{LIMIT}" upper="{LIMIT}" effort="9" velocity="9"/></joint>'
)


def throw(offset, speed, angle=0.0, compiled=None, audit=True):
    """Two bodies on a hinge fly without weight; the second turns against the first."""
    if compiled:
        pytest.importorskip("numba", reason="numba is not installed")
    text = BODY.format("base", 5.0, 0.0, 0.0) + BODY.format("arm", 2.0, offset, 0.5 * offset)
    robot = hd.load_robot(f'<robot name="pair">{text}{JOINT}</robot>', root="free_flyer")
    q, v = np.array(robot.posture), np.zeros(robot.nv)
    q[-1], v[-1], v[3:5] = angle, speed, (3.0, -2.0)
    return World(
        robot, Setup(gravity=(0.0, 0.0, 0.0), compiled=compiled, audit=audit), hd.State(q, v)
    )


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("speed", [12.0, -40.0, 2.0])
def test_a_joint_stops_at_its_limit_when_it_is_there_and_momentum_and_energy_are_kept(
    speed, compiled
):
    world = throw(0.3, speed, compiled=compiled)
    impacts, worst = 0, 0.0
    for _ in range(int(1.2 * LIMIT / abs(speed) / 1e-3)):
        report = world.step(1e-3)
        impacts += report.impacts
        worst = max(worst, report.rebound, report.created)
        assert abs(world.q[-1]) < LIMIT + 1e-4
        assert report.status == "OK"
    assert impacts == 1
    assert worst < 1e-7
    kinetic = world.books.start
    assert np.linalg.norm(world.books.leaked) < 2e-4 * np.sqrt(2.0 * 7.0 * kinetic)
    assert abs(world.books.missing) < 1e-4 * kinetic
    assert world.books.work["impacts"] < -1e-2 * kinetic


@pytest.mark.parametrize("compiled", [False, True])
def test_two_discs_on_one_axis_go_on_together_from_the_very_moment(compiled):
    world = throw(0.0, 12.0, compiled=compiled)
    world.set_velocity(np.array([0.0, 0.0, 0.0, 0.0, 0.0, -4.0, 12.0]))
    when = LIMIT / 12.0
    for _ in range(45):
        world.step(1e-3)
    assert world.q[-1] == pytest.approx(LIMIT, abs=1e-8)
    np.testing.assert_allclose(world.v[5:], [2.0, 0.0], atol=1e-9)  # both discs are alike
    turned = -4.0 * when + 2.0 * (0.045 - when)
    assert 2.0 * np.arctan2(world.q[5], world.q[6]) == pytest.approx(turned, abs=1e-6)


@pytest.mark.parametrize("compiled", [False, True])
def test_what_leans_on_its_limit_does_not_hit_it(compiled):
    world = throw(0.3, 0.0, angle=LIMIT, compiled=compiled)
    world.set_velocity(np.zeros(7))
    for _ in range(20):
        assert world.step(1e-3, [5.0]).impacts == 0
        assert world.q[-1] < LIMIT + 1e-6


def test_a_wild_step_is_the_same_with_and_without_an_audit():
    worlds = [throw(0.3, 60.0, audit=audit) for audit in (True, False)]
    for _ in range(40):
        for world in worlds:
            world.step(1e-3)
    np.testing.assert_array_equal(worlds[0].q, worlds[1].q)
