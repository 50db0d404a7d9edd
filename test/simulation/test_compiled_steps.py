# SPDX-License-Identifier: Apache-2.0
"""Compiled kernels and arrays do the same, step for step; and the pieces of the kernels keep their laws."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.dynamics.placements import Placements
from humanoid_dynamics.errors import MissingExtraError
from humanoid_dynamics.simulation.contacts import cone_kernel, cone_newton, yielding_kernel
from humanoid_dynamics.simulation.contacts.cone_problem import ConeProblem
from humanoid_dynamics.simulation.contacts.cones import solve_cones
from humanoid_dynamics.simulation.scenes.file import load_scene
from humanoid_dynamics.simulation.scenes.run import build_world
from humanoid_dynamics.simulation.steps import branches
from humanoid_dynamics.simulation.steps.tables import list_parents

pytest.importorskip("numba", reason="numba is not installed")


TOGETHER = 100  # steps between two moments at which both go on from one state: a fall makes a thousandfold of rounding


def run_both(name, steps, contact):
    scene = load_scene(name)
    worlds = [
        build_world(replace(scene, setup=replace(scene.setup, compiled=flag, contact=contact)))
        for flag in (False, True)
    ]
    pending, traces = list(scene.moments), ([], [])
    for step in range(1, steps + 1):
        moments = []
        while pending and pending[0].at <= worlds[0].t + 5e-4:
            moments.append(pending.pop(0))
        for world, trace in zip(worlds, traces, strict=True):
            for moment in moments:
                scene.push_into(world, moment)
                if moment.events:
                    world.apply(moment.events)
            report = world.step(scene.dt)
            trace.append(
                [
                    *world.q,
                    *world.v,
                    report.touching,
                    report.impacts,
                    report.depth,
                    world.books.missing,
                    world.books.work["contacts"],
                ]
            )
        if step % TOGETHER == 0 and step < steps:
            for world in reversed(worlds):
                world.set_state(worlds[0].state)
    return [
        (np.array(trace), world.point_forces()) for trace, world in zip(traces, worlds, strict=True)
    ]


@pytest.mark.parametrize(
    ("name", "steps", "contact"),
    [
        ("pushed", 700, "friction"),
        ("pushed", 620, "paper"),
        ("falling", 400, "friction"),
        ("steps", 900, "friction"),
        ("sliding_box", 700, "friction"),
        ("swing", 200, "friction"),
        ("collisions", 300, "friction"),
        ("g1_drop", 300, "friction"),
    ],
)
def test_compiled_steps_are_those_of_arrays(name, steps, contact):
    try:
        load_scene(name)
    except MissingExtraError as missing:
        pytest.skip(str(missing))
    (arrays, forces), (compiled, kernel_forces) = run_both(name, steps, contact)
    shown = (
        slice(None) if contact == "friction" else slice(70)
    )  # the law of the paper shares forces out in several ways
    within = 1e-9 if contact == "friction" else 1e-6
    np.testing.assert_allclose(compiled[:, shown], arrays[:, shown], atol=within, rtol=within)
    np.testing.assert_allclose(kernel_forces.sum(axis=0), forces.sum(axis=0), atol=1e-3)


@pytest.mark.parametrize("name", ["human28", "human16", "swing", "biped7"])
def test_factor_along_branches_is_the_inertia(name):
    robot, rng = hd.load_robot(name), np.random.default_rng(4)
    q = pin.integrate(robot.model, robot.posture, 0.5 * rng.normal(size=robot.nv))
    M = np.array(pin.crba(robot.model, robot.data(), q, pin.Convention.WORLD)).reshape(
        robot.nv, robot.nv
    )
    whole = np.triu(M) + np.triu(M, 1).T
    extra, parents, L = (
        rng.uniform(0.0, 0.1, robot.nv),
        list_parents(robot.model),
        np.zeros((robot.nv, robot.nv)),
    )
    assert branches.factor(M.T, extra, parents, L)
    np.testing.assert_allclose(L.T @ L, whole + np.diag(extra), atol=1e-12)
    v, z, back, force = (
        rng.normal(size=robot.nv),
        np.zeros(robot.nv),
        np.zeros(robot.nv),
        rng.normal(size=robot.nv),
    )
    branches.find_momentum(L, parents, v, z)
    branches.find_velocity(L, parents, z, back)
    np.testing.assert_allclose(back, v, atol=1e-10)
    assert z @ z == pytest.approx(v @ (whole + np.diag(extra)) @ v)
    white = force.copy()
    branches.whiten_all(L, parents, white)
    np.testing.assert_allclose(L.T @ white, force, atol=1e-9)


def test_factor_refuses_what_is_not_positive_definite():
    assert not branches.factor(
        np.diag([1.0, -1.0]), np.zeros(2), np.array([-1, 0]), np.zeros((2, 2))
    )
    assert not branches.factor(
        np.diag([1.0, np.nan]), np.zeros(2), np.array([-1, 0]), np.zeros((2, 2))
    )


@pytest.mark.parametrize("seed", range(12))
def test_cone_kernel_finds_the_solution_of_the_arrays(seed):
    rng = np.random.default_rng(seed)
    m, limits = int(rng.integers(1, 7)), int(rng.integers(0, 3))
    size = m + limits + 2 * m
    B = rng.normal(size=(size, 30))
    G, b, mu = B @ B.T, rng.normal(size=size), rng.uniform(0.0, 1.0, m)
    expected = solve_cones(ConeProblem(G, b, mu, m + limits))
    p, u = np.empty(size), np.empty(size)
    problem = cone_newton.Cones(G.copy(), b.copy(), mu, np.empty(size), m + limits)
    yielding_kernel.soften(problem, np.zeros(size), np.arange(m))
    residual, rounds = cone_kernel.settle(problem, np.zeros(size), p, u)
    assert residual < 1e-8
    assert rounds >= 1
    np.testing.assert_allclose(p, expected.p, atol=1e-8)
    np.testing.assert_allclose(u, expected.u, atol=1e-8)


def test_poses_are_read_from_the_memory_of_pinocchio():
    robot, rng = hd.load_robot("human28"), np.random.default_rng(0)
    data = robot.data()
    placements = Placements(robot.model, data)
    for _ in range(3):
        pin.forwardKinematics(
            robot.model, data, pin.integrate(robot.model, robot.posture, rng.normal(size=robot.nv))
        )
        placements.refresh()
        for row, pose in zip(placements.poses, data.oMi, strict=True):
            np.testing.assert_array_equal(row[:9].reshape(3, 3).T, pose.rotation)
            np.testing.assert_array_equal(row[9:], pose.translation)
