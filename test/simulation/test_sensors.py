"""Sensors of a simulated robot: an IMU agrees with kinematics, with finite differences of positions, and with MuJoCo's."""

import copy
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.model.imu import EXACT, Imu, ImuErrors
from humanoid_dynamics.series.bag_reader import read_bag
from humanoid_dynamics.series.files import load_record
from humanoid_dynamics.simulation.recorder import Recorder
from humanoid_dynamics.simulation.sensors import SimulatedImu

G = 9.81
DT = 1e-3
TILTED = pin.SE3(pin.rpy.rpyToMatrix(0.4, -1.1, 2.0), np.array((0.02, -0.05, 0.11)))


def with_imu(robot, link, errors=EXACT):
    return replace(robot, imus={"base": Imu("base", link, TILTED, errors)})


def moving(nv, seed=2):
    """A posture that swings at every joint and turns and moves at its base: smooth functions of time."""
    rng = np.random.default_rng(seed)
    size = np.concatenate((np.full(3, 0.2), np.full(3, 0.6), np.full(nv - 6, 0.4)))
    speed, phase = rng.uniform(2.0, 6.0, nv), rng.uniform(0.0, 6.0, nv)
    return lambda t: size * np.sin(speed * t + phase)


@pytest.fixture(scope="module")
def g1():
    return hd.load_robot("g1")


def test_an_accelerometer_at_rest_shows_gravity_upwards(g1):
    for errors, tolerance in (
        (EXACT, 1e-9),
        (ImuErrors(acc_noise=0.02, gyro_noise=0.02), 0.2),
    ):
        robot = with_imu(g1, "torso_link", errors)
        simulation = hd.Simulation(robot, hd.simulation.Setup(gravity=(0.0, 0.0, -G)))
        sensors = hd.Sensors(simulation)
        X = pose_of(robot, simulation.q, "torso_link")
        np.testing.assert_allclose(
            sensors.imus["base"].acc, X.rotation.T @ (0.0, 0.0, G), atol=tolerance
        )
        np.testing.assert_allclose(sensors.imus["base"].gyro, 0.0, atol=tolerance)
        simulation.step(DT)  # nothing holds it: it falls, and feels nothing
        sensors.sample()
        assert np.linalg.norm(sensors.imus["base"].acc) < G * 0.05 + tolerance


def pose_of(robot, q, link):
    data = robot.data()
    pin.framesForwardKinematics(robot.model, data, q)
    return data.oMf[robot.link_frame(link)] * TILTED


@pytest.mark.parametrize("link", ["pelvis", "torso_link", "left_ankle_roll_link"])
def test_specific_force_and_rate_agree_with_differences_of_a_moving_body(g1, link):
    robot, h = with_imu(g1, link), 1e-4
    wave, sensor = (
        moving(robot.nv),
        SimulatedImu(Imu("imu", link, TILTED), np.random.default_rng(0)),
    )
    gravity, worst_acc, worst_gyro, largest = np.array((0.0, 0.0, -G)), 0.0, 0.0, 0.0

    def q_at(t):
        return pin.integrate(robot.model, robot.posture, wave(t))

    def pose(t):
        return pose_of(robot, q_at(t), link)

    for t in np.arange(0.0, 0.5, 0.05):
        for instant in (t - DT / 2, t + DT / 2):
            v = pin.difference(robot.model, q_at(instant - h), q_at(instant + h)) / (2 * h)
            data = robot.data()
            pin.forwardKinematics(robot.model, data, q_at(instant), v)
            frame = robot.model.frames[robot.link_frame(link)]
            X_JI = frame.placement * TILTED
            sample = sensor.sample(
                instant,
                data.oMi[frame.parentJoint] * X_JI,
                X_JI.actInv(data.v[frame.parentJoint]),
                gravity,
            )
        before, now, after = pose(t - h), pose(t), pose(t + h)
        a = (before.translation - 2 * now.translation + after.translation) / h**2
        f = now.rotation.T @ (a - gravity)
        omega = pin.log3(before.rotation.T @ after.rotation) / (2 * h)
        worst_acc = max(worst_acc, np.abs(sample.acc - f).max())
        worst_gyro = max(worst_gyro, np.abs(sample.gyro - omega).max())
        largest = max(largest, np.linalg.norm(f - now.rotation.T @ -gravity))
    assert largest > 3.0  # the motion is felt
    assert worst_acc < 2e-4 * largest
    assert worst_gyro < 2e-5 * 10


def test_an_imu_agrees_with_that_of_mujoco(g1):
    mujoco = pytest.importorskip("mujoco")
    urdf = """<mujoco><option timestep="1e-4" gravity="0 0 -9.81"/><worldbody>
      <body pos="0 0 3"><freejoint/><inertial pos="0.1 0 0" mass="3" diaginertia="0.1 0.2 0.3"/>
        <body pos="0.2 0.1 0"><joint name="j" axis="0 1 0"/>
          <inertial pos="0 0 0.2" mass="2" diaginertia="0.05 0.06 0.02"/>
          <site name="imu" pos="0.02 -0.05 0.11" quat="0.8 0.2 -0.4 0.4"/></body></body>
      </worldbody><sensor><gyro site="imu"/><accelerometer site="imu"/></sensor></mujoco>"""
    model = mujoco.MjModel.from_xml_string(urdf)
    data = mujoco.MjData(model)
    data.qvel[:] = (0.3, -0.2, 0.5, 1.0, -2.0, 3.0, 4.0)
    sensor = SimulatedImu(Imu("imu", "x", TILTED), np.random.default_rng(0))
    twist, errors = np.zeros(6), []
    for _ in range(200):
        mujoco.mj_forward(model, data)
        R = data.site_xmat[0].reshape(3, 3).copy()
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_SITE, 0, twist, 1)
        sample = sensor.sample(
            data.time,
            pin.SE3(R, data.site_xpos[0]),
            pin.Motion(twist[3:], twist[:3]),
            model.opt.gravity,
        )
        errors.append(np.abs(np.concatenate((sample.gyro, sample.acc)) - data.sensordata))
        mujoco.mj_step(model, data)
    worst = np.max(errors[1:], axis=0)
    assert np.linalg.norm(data.sensordata[3:]) > 0.5
    assert worst[:3].max() < 2e-3
    assert worst[3:].max() < 2e-2


def test_noise_biases_and_delay_are_seeded_and_off_by_default(g1):
    clean = hd.Sensors(hd.Simulation(g1))
    np.testing.assert_array_equal(clean.joints.position, clean.world.q[7:])
    assert not clean.biases()["base"][0].any()
    errors = ImuErrors(0.01, 0.1, 0.02, 0.2, 0.003)
    simulation = hd.Simulation(with_imu(g1, "pelvis", errors))
    settings = hd.SensorSettings(encoder_noise=1e-3, velocity_noise=0.05, effort_noise=0.3, seed=4)
    first, second = hd.Sensors(simulation, settings), hd.Sensors(simulation, settings)
    other = hd.Sensors(simulation, replace(settings, seed=5))
    assert np.array_equal(first.imus["base"].acc, second.imus["base"].acc)
    assert np.array_equal(first.joints.velocity, second.joints.velocity)
    assert not np.array_equal(first.imus["base"].acc, other.imus["base"].acc)
    moved = first.joints.position - simulation.q[7:]
    assert 0.5e-3 < moved.std() < 2e-3
    assert [first.deliver("base", simulation.t + delay) for delay in (0.0, 0.002)] == [[], []]
    assert first.deliver("base", simulation.t + 0.003) == [first.imus["base"]]
    with pytest.raises(hd.UnknownNameError, match=r"IMU.*head.*base"):
        first.deliver("head")


def test_efforts_are_those_of_the_motors(g1):
    simulation = hd.Simulation(g1)
    sensors = hd.Sensors(simulation)
    simulation.step(DT, {"left_knee_joint": 3.0})
    sensors.sample()
    found = dict(zip(sensors.names, sensors.joints.effort, strict=True))
    assert found.pop("left_knee_joint") == 3.0
    assert not any(found.values())


def test_a_copy_of_a_simulation_records_its_own_sensors(g1, tmp_path):
    simulation = hd.Simulation(g1)
    hd.Sensors(simulation).record()
    other = copy.deepcopy(simulation)
    recorder = Recorder(other)
    for _ in range(5):
        other.step(DT, {"left_knee_joint": 20.0})
    record = recorder.record()
    assert set(record.tables) >= {"imu_base", "imu_torso", "encoders"}
    np.testing.assert_allclose(
        record.table("encoders").values[:, : g1.nv - 6], record.table("q").values[:, 7:]
    )
    assert record.table("encoders").column("left_knee_joint.tau")[-1] == 20.0
    for file in ("run.npz", "run.mcap"):
        recorder.save(tmp_path / file)
        saved = load_record(tmp_path / file).table("imu_base").values
        np.testing.assert_array_equal(saved, record.table("imu_base").values)
    assert np.abs(saved[-1, 3:]).max() > 0.0
    assert read_bag(tmp_path / "run.mcap").topics["/imu/base"] == "sensor_msgs/msg/Imu"
