# SPDX-License-Identifier: Apache-2.0
"""Sweeps over a tree find what Pinocchio finds; energy is that of the inertia; a step in one go is that of its phases."""

import numpy as np
import pinocchio as pin
import pytest
from scenes import list_numbers

import humanoid_dynamics as hd
from humanoid_dynamics.simulation.books import find_forgotten_rotors, measure_energy
from humanoid_dynamics.simulation.scenes.file import load_scene
from humanoid_dynamics.simulation.scenes.run import build_world
from humanoid_dynamics.simulation.steps.body_kernel import sweep_bodies
from humanoid_dynamics.simulation.steps.body_table import KINDS, list_bodies
from humanoid_dynamics.simulation.steps.joint_kernel import find_turns
from humanoid_dynamics.simulation.steps.motion_kernel import find_offsets, move_configuration
from humanoid_dynamics.simulation.steps.motion_kernel import measure_energy as sweep_energy
from humanoid_dynamics.simulation.steps.tables import list_parents

TILT = np.array([1.0, -2.0, 3.0]) / np.sqrt(14.0)


def build_zoo(seed):
    """Return a tree of every kind of joint that the sweeps know, with rotors, in random order."""
    rng, model, above = np.random.default_rng(seed), pin.Model(), 0
    joints = [pin.JointModelRevoluteUnaligned(*TILT), pin.JointModelPrismaticUnaligned(*TILT)]
    joints += [getattr(pin, name)() for name in KINDS if not name.endswith("Unaligned")]
    for k in rng.permutation(len(joints)):
        above = model.addJoint(
            above if rng.random() < 0.7 else int(model.parents[above]),
            joints[k],
            pin.exp6(rng.normal(size=6)),
            f"j{k}",
        )
        body = pin.Inertia.FromEllipsoid(rng.uniform(0.5, 2.0), *rng.uniform(0.1, 0.4, 3))
        model.appendBodyToJoint(above, body, pin.exp6(rng.normal(size=6)))
    model.armature = rng.uniform(0.1, 1.0, model.nv)
    return model


def build_robot(name):
    return build_zoo(int(name)) if name.isdigit() else hd.load_robot(name).model


def draw(model, seed):
    rng = np.random.default_rng(seed)
    return pin.integrate(model, pin.neutral(model), rng.normal(size=model.nv)), rng.normal(
        size=model.nv
    )


def sweep(model, q, v):
    table = list_bodies(model, list_parents(model))
    poses, JT = np.zeros((model.njoints, 12)), np.zeros((model.nv, 6))
    poses[0, [0, 4, 8]] = 1.0
    M, h = np.zeros((model.nv, model.nv)), np.zeros(model.nv)
    sweep_bodies(table, (q, v), (poses, JT), (M, h))
    return table, poses, JT, M, h


@pytest.mark.parametrize("name", ["0", "1", "2", "human28", "human16", "swing"])
def test_sweeps_find_what_pinocchio_finds(name):
    model = build_robot(name)
    q, v = draw(model, 3)
    _, poses, JT, M, h = sweep(model, q, v)
    data = model.createData()
    np.testing.assert_allclose(h, pin.nonLinearEffects(model, data, q, v), rtol=1e-12, atol=1e-11)
    inertia = pin.crba(model, data, q, pin.Convention.WORLD).reshape(model.nv, model.nv)
    np.testing.assert_allclose(M, np.triu(inertia).T, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        JT.T, pin.computeJointJacobians(model, data, q).reshape(6, -1), atol=1e-13
    )
    for row, pose in zip(poses, data.oMi, strict=True):
        np.testing.assert_allclose(
            row, [*pose.rotation.ravel(order="F"), *pose.translation], atol=1e-13
        )


@pytest.mark.parametrize("name", ["0", "1", "2", "human28"])
def test_energy_is_that_of_the_inertia_rotors_included(name):
    model = build_robot(name)
    q, v = draw(model, 4)
    table, _, _, M, _ = sweep(model, q, v)
    kinetic = 0.5 * v @ (np.tril(M) + np.tril(M, -1).T) @ v
    expected = kinetic + pin.computePotentialEnergy(model, model.createData(), q)
    assert sweep_energy(table, q, v) == pytest.approx(expected, rel=1e-12)
    assert measure_energy(
        model, model.createData(), q, v, find_forgotten_rotors(model)
    ) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("size", [0.0, 1e-9, 1e-5, 1e-2, 1.0])
def test_configurations_move_as_those_of_pinocchio(size):
    model = build_zoo(5)
    q, v = draw(model, 5)
    joints, moved = list_bodies(model, list_parents(model)).joints, np.zeros(model.nq)
    move_configuration(joints, q, (v, size), moved)
    np.testing.assert_allclose(moved, pin.integrate(model, q, size * v), atol=1e-14)


def test_offsets_of_single_coordinates_are_differences():
    model = build_zoo(6)
    (q, _), (q_ref, _) = draw(model, 6), draw(model, 7)
    joints, offset = list_bodies(model, list_parents(model)).joints, np.full(model.nv, np.nan)
    find_offsets(joints, q, q_ref, offset)
    alone = np.array([joint.nv == 1 for joint in list(model.joints)[1:] for _ in range(joint.nv)])
    np.testing.assert_allclose(offset[alone], pin.difference(model, q, q_ref)[alone], atol=1e-14)
    np.testing.assert_array_equal(offset[~alone], 0.0)


def test_cosine_and_sine_are_those_of_the_library():
    angles = np.concatenate(
        (np.random.default_rng(8).uniform(-50.0, 50.0, 400), np.arange(-8, 9) * np.pi / 4)
    )
    joints, turns = np.zeros((len(angles) + 1, 6), dtype=np.intp), np.zeros((len(angles) + 1, 2))
    joints[1:, 2] = np.arange(len(angles))
    find_turns(joints, angles, turns)
    np.testing.assert_allclose(
        turns[1:], np.column_stack((np.cos(angles), np.sin(angles))), atol=3e-16
    )


def test_a_joint_nobody_knows_leaves_the_sweeps_to_pinocchio():
    model = pin.Model()
    model.addJoint(0, pin.JointModelPlanar(), pin.SE3.Identity(), "floor")
    assert list_bodies(model, list_parents(model)) is None


@pytest.mark.parametrize(
    ("name", "steps"), [("pushed", 500), ("falling", 300), ("sliding_box", 300)]
)
def test_a_step_in_one_go_is_that_of_its_phases(name, steps):
    pytest.importorskip("numba", reason="numba is not installed")
    at_once, watched = (build_world(load_scene(name)) for _ in range(2))
    watched.add_hook("after_detect", lambda _: None)
    for _ in range(steps):
        reports = at_once.step(1e-3), watched.step(1e-3)
        np.testing.assert_allclose(*map(list_numbers, reports), atol=1e-8)
        assert reports[0][:5] == reports[1][:5]
    np.testing.assert_allclose(at_once.q, watched.q, atol=1e-9)
    np.testing.assert_allclose(at_once.v, watched.v, atol=1e-9)
    for entry, work in at_once.books.work.items():
        assert work == pytest.approx(watched.books.work[entry], abs=1e-8)
