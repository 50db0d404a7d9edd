# SPDX-License-Identifier: Apache-2.0
"""Damping, dry friction and drives of joints: of second order where they are soft, without ringing where they are stiff."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.simulation.audit.setting import run_world, write_link
from humanoid_dynamics.simulation.setup import Setup
from humanoid_dynamics.simulation.steps.joint_forces import build_drive, find_inertia, find_shares
from humanoid_dynamics.simulation.steps.rows import PULL, SAG
from humanoid_dynamics.simulation.steps.tree_kernels import find_share
from humanoid_dynamics.simulation.world import World

STILL = (0.0, 0.0, 0.0)
INERTIA = 0.3


@pytest.fixture(params=[False, True], ids=["arrays", "compiled"])
def compiled(request):
    if request.param:
        pytest.importorskip("numba", reason="numba is not installed")
    return request.param


def build_hinge(damping=0.0, friction=0.0):
    """A wheel on a fixed hinge."""
    limit = '<limit lower="-900" upper="900" effort="1e9" velocity="1e9"/>'
    dynamics = f'<dynamics damping="{damping}" friction="{friction}"/>'
    hinge = f'<joint name="hinge" type="revolute"><parent link="base"/><child link="wheel"/><axis xyz="0 0 1"/>{limit}{dynamics}</joint>'
    return hd.load_robot(
        f'<robot name="w"><link name="base"/>{write_link("wheel", 2.0, (INERTIA,) * 3)}{hinge}</robot>',
        root="fixed",
    )


def turn(robot, dt, q, v, seconds, compiled, kp=0.0, kd=0.0):
    drive = build_drive(robot, kp, kd) if kp or kd else None
    world = World(
        robot,
        Setup(gravity=STILL, limits=False, drive=drive, compiled=compiled),
        hd.State(np.array([q]), np.array([v])),
    )
    run_world(world, seconds, dt)
    return world


def check_order(errors, order=2.0):
    for coarse, fine in pairwise(errors):
        assert np.log2(coarse / fine) == pytest.approx(order, abs=0.2)


def test_a_damped_hinge_turns_as_far_as_it_should(compiled):
    errors, rate, seconds = [], 8.0, 0.4
    for dt in (8e-3, 4e-3, 2e-3, 1e-3):
        world = turn(build_hinge(rate * INERTIA), dt, 0.0, 3.0, seconds, compiled)
        errors.append(abs(float(world.v[0]) / (3.0 * np.exp(-rate * seconds)) - 1.0))
        assert world.books.work["losses"] == pytest.approx(
            0.5 * INERTIA * (world.v[0] ** 2 - 9.0), abs=1e-12
        )
    assert errors[-1] < 3e-5
    check_order(errors)


def test_a_damped_spring_swings_as_it_should(compiled):
    errors, stiffness, damping, seconds = [], 90.0, 1.2, 0.5
    decay = damping / (2.0 * INERTIA)
    rate = np.sqrt(stiffness / INERTIA - decay**2)
    exact = (
        0.4
        * np.exp(-decay * seconds)
        * (np.cos(rate * seconds) + decay / rate * np.sin(rate * seconds))
    )
    for dt in (4e-3, 2e-3, 1e-3):
        errors.append(
            abs(
                float(turn(build_hinge(), dt, 0.4, 0.0, seconds, compiled, stiffness, damping).q[0])
                - exact
            )
        )
    assert errors[-1] < 1e-4
    check_order(errors)


def test_a_spring_keeps_its_energy(compiled):
    world = turn(build_hinge(), 1e-3, 0.4, 0.0, 2.0, compiled, 90.0)
    energy = 0.5 * INERTIA * world.v[0] ** 2 + 45.0 * world.q[0] ** 2
    assert energy == pytest.approx(45.0 * 0.4**2, rel=1e-9)
    assert world.books.work["drive"] == pytest.approx(45.0 * (0.4**2 - world.q[0] ** 2), abs=1e-9)
    assert world.books.missing == pytest.approx(0.0, abs=1e-9)


def test_dry_friction_stops_a_hinge_where_it_should(compiled):
    errors, friction, speed = [], 0.9, 2.0
    exact = 0.5 * INERTIA * speed**2 / friction
    for dt in (4e-3, 2e-3, 1e-3):
        world = turn(
            build_hinge(friction=friction),
            dt,
            0.0,
            speed,
            1.5 * INERTIA * speed / friction,
            compiled,
        )
        assert abs(world.v[0]) < 1e-6
        errors.append(abs(float(world.q[0]) / exact - 1.0))
    assert errors[-1] < 1e-5
    assert errors[-1] < 0.3 * errors[0]


@pytest.mark.parametrize(("kp", "kd"), [(1e6, 0.0), (1e6, 2e3), (0.0, 1e6), (3e3, 60.0)])
def test_a_stiff_figure_neither_explodes_nor_rings(kp, kd, compiled):
    robot = hd.load_robot("human28")
    strong = replace(robot, limits=replace(robot.limits, effort=np.full(robot.nv, 1e9)))
    q, v = np.array(robot.posture), np.zeros(robot.nv)
    v[6:] = np.random.default_rng(4).uniform(-1.0, 1.0, robot.nv - 6)
    world = World(
        strong,
        Setup(gravity=STILL, limits=False, drive=build_drive(strong, kp, kd), compiled=compiled),
        hd.State(q, v),
    )
    start, turned, before = world.books.energy, 0, world.v[6:].copy()
    for k in range(200):
        assert world.step(1e-3).status == "OK"
        assert world.books.energy < 1.001 * start
        turned += int(k > 20 and (before * world.v[6:] < -1e-6).sum())
        before = world.v[6:].copy()
    assert np.abs(world.v[6:]).max() < 1.5 if not kd else np.abs(world.v[6:]).max() < 0.2
    assert turned < 30 or not kd


def test_shares_of_arrays_are_those_of_compiled_steps():
    drag, inertia = (
        np.array([0.0, 0.0, 0.1, 0.5, 0.6, 8.0, 1e9, 1e-9]),
        np.array([0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1e-9, 0.0]),
    )
    shares = find_shares(drag, inertia)
    np.testing.assert_array_equal(
        shares, [find_share(*pair) for pair in zip(drag, inertia, strict=True)]
    )
    assert (shares[:4] == 0.5).all()
    assert 0.5 < shares[4] < shares[5] < shares[6] <= shares[7] == 1.0


def test_the_inertia_of_a_coordinate_is_that_where_all_others_give_way():
    robot = hd.load_robot("human28")
    inertia = find_inertia(robot)
    assert (inertia[:3] < robot.mass).all()
    assert (inertia > 0.0).all()
    assert find_inertia(build_hinge())[0] == pytest.approx(INERTIA)


def test_motors_that_are_switched_off_give_nothing_with_a_drive_either():
    human = hd.load_robot("human28")
    drive, knee = build_drive(human, 3000.0, 60.0), human.actuated.index("left_knee")
    start = hd.State(human.posture, 0.3 * np.random.default_rng(0).normal(size=human.nv))
    free = World(human, Setup(compiled=False), start)
    off = World(human, Setup(compiled=False, drive=drive, passive=human.actuated), start)
    driven, one_off = (
        World(human, Setup(compiled=False, drive=drive, passive=names), start)
        for names in ((), ("left_knee",))
    )
    for world in (free, off, driven, one_off):
        for _ in range(3):
            world.step(1e-3)
    np.testing.assert_array_equal(off.q, free.q)
    dof = human.coordinates.index("left_knee")
    torques = [
        world.tables.dofs[PULL, dof] - world.tables.dofs[SAG, dof] * world.v[dof]
        for world in (driven, one_off)
    ]
    assert abs(torques[0]) > 1.0
    assert torques[1] == 0.0
    assert driven.drive_torques[knee] == pytest.approx(torques[0])
    assert "left_knee" not in one_off.actuated
