# SPDX-License-Identifier: Apache-2.0
"""What a recorder writes down: laws of wrenches, of energy and of momentum."""

import numpy as np
import pinocchio as pin
import pytest

from humanoid_dynamics.errors import HumanoidDynamicsError
from humanoid_dynamics.simulation.recorder import ENERGY, Recorder
from humanoid_dynamics.simulation.scenes.file import load_scene
from humanoid_dynamics.simulation.scenes.run import build_world, run_scene


def run(name, seconds, every=1):
    scene = load_scene(name)
    world = build_world(scene)
    recorder = Recorder(world, every)
    run_scene(scene, world, seconds)
    return world, recorder


@pytest.mark.parametrize(
    ("name", "seconds"), [("pushed", 0.7), ("steps", 0.3), ("tipping_box", 0.3)]
)
def test_wrenches_of_contacts_sum_up_to_the_forces_on_points(name, seconds):
    world, recorder = run(name, seconds)
    record, robot, data = recorder.record(), world.robot, world.robot.data()
    pin.framesForwardKinematics(robot.model, data, world.q)
    total = np.zeros(6)
    for patch in record.patches:
        w = record.wrench(patch.name)[-1]
        frame = (
            robot.surfaces[patch.name].frame
            if patch.name in robot.surfaces
            else robot.link_frame(patch.frame)
        )
        X_WC = data.oMf[frame]
        total += X_WC.act(pin.Force(w[:3], w[3:])).vector
    forces = world.contact_forces()
    assert forces
    np.testing.assert_allclose(
        total[:3], np.sum([f.force for f in forces], axis=0), rtol=1e-12, atol=1e-9
    )
    np.testing.assert_allclose(
        total[:3],
        [record.table("balance").column(f"force_{axis}")[-1] for axis in "xyz"],
        rtol=1e-12,
        atol=1e-9,
    )
    moments = np.sum([np.cross(f.place, f.force) for f in forces], axis=0)
    # Points touch where they are in the middle of a step, wrenches are told at its end.
    np.testing.assert_allclose(total[3:], moments, atol=3e-3 * np.abs(total[:3]).max())


def test_energy_is_start_and_work_and_what_is_missing():
    world, recorder = run("pushed", 0.7)
    energy = recorder.record().table("energy")
    assert energy.columns == ENERGY
    total = energy.column("kinetic") + energy.column("potential")
    work = sum(energy.column(name) for name in ENERGY if name not in {"kinetic", "potential"})
    np.testing.assert_allclose(total, world.books.start + work, atol=1e-9)
    assert energy.column("pushes")[-1] > 0.1


def test_momentum_changes_by_gravity_and_contacts():
    world, recorder = run("standing", 0.3)
    balance, t = recorder.record().table("balance"), recorder.record().t
    p = np.column_stack([balance.column(f"momentum_{axis}") for axis in "xyz"])
    force = np.column_stack([balance.column(f"force_{axis}") for axis in "xyz"])
    gravity = world.robot.mass * np.array([0.0, 0.0, -9.81])
    np.testing.assert_allclose(
        np.diff(p, axis=0), np.diff(t)[:, None] * (force[1:] + gravity), atol=2e-4
    )
    com = np.column_stack([balance.column(f"com_{axis}") for axis in "xyz"])
    np.testing.assert_allclose(
        np.diff(com, axis=0),
        np.diff(t)[:, None] * 0.5 * (p[1:] + p[:-1]) / world.robot.mass,
        atol=1e-7,
    )


def test_drives_hold_the_posture_against_gravity():
    world, recorder = run("standing", 1.5)
    record = recorder.record()
    tau = dict(zip(record.table("tau").columns, record.table("tau").values[-1], strict=True))
    gravity = pin.computeGeneralizedGravity(world.robot.model, world.robot.data(), world.q)
    arm = world.robot.coordinates.index("left_elbow")  # nothing but gravity acts on it
    assert tau["left_elbow"] == pytest.approx(gravity[arm], abs=1e-2)
    assert abs(gravity[arm]) > 0.5


@pytest.mark.parametrize("name", ["pushed", "falling"])
def test_work_of_drives_is_torque_times_mean_velocity(name):
    _, recorder = run(name, 0.7)
    record = recorder.record()
    t, v, tau = record.t, record.table("v"), record.table("tau")
    driven = [v.columns.index(motor) for motor in tau.columns]
    power = np.einsum(
        "ij,ij->i", tau.values[1:], 0.5 * (v.values[1:, driven] + v.values[:-1, driven])
    )
    work = np.cumsum(np.diff(t) * power)
    booked = record.table("energy").column("drive")[1:]
    assert np.abs(booked).max() > 0.5
    np.testing.assert_allclose(work, booked, atol=2e-3 * np.abs(booked).max())


def test_centre_of_pressure_stays_inside_the_sole():
    _, recorder = run("standing", 0.5)
    record = recorder.record()
    for name in ("left_foot", "right_foot"):
        w = record.wrench(name)[1:]
        cop = np.column_stack((-w[:, 4], w[:, 3])) / w[:, 2:3]
        corners = next(patch.corners for patch in record.patches if patch.name == name)
        assert (cop >= corners.min(axis=0) - 1e-9).all()
        assert (cop <= corners.max(axis=0) + 1e-9).all()


def test_samples_come_every_so_many_steps():
    _, recorder = run("standing", 0.02, every=5)
    np.testing.assert_allclose(recorder.record().t, [0.0, 0.005, 0.01, 0.015, 0.02], atol=1e-12)
    assert len(recorder) == 5


def test_a_recorder_that_streams_has_nothing_in_memory():
    world = build_world(load_scene("sliding_box"))
    recorder = Recorder(world, sinks=[])
    with pytest.raises(HumanoidDynamicsError, match="streams its samples"):
        recorder.record()
    kept = Recorder(world)
    world.step(1e-3)
    assert len(recorder) == len(kept) == 2
    assert recorder.digest() == kept.digest()  # whether or not anybody keeps them


def test_a_digest_is_the_same_whoever_keeps_the_samples(monkeypatch):
    """Nothing but time, state, torques and books goes into it, so nothing is measured where nobody keeps samples."""
    digests = []
    for sinks in (None, []):
        world = build_world(load_scene("standing"))
        recorder = Recorder(world, sinks=sinks)
        if sinks is not None:
            monkeypatch.setattr(recorder, "_measure", lambda _: pytest.fail("was measured"))
        for _ in range(20):
            world.step(1e-3)
        digests.append(recorder.digest())
    assert digests[0] == digests[1]
