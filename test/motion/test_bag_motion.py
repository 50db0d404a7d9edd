# SPDX-License-Identifier: Apache-2.0
"""Motions in bags: of this package, of ROS nodes with clocks of their own, and trajectories."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from humanoid_dynamics.errors import ClipError
from humanoid_dynamics.model.load import load_robot
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.formats.bag_motion_file import write_bag_motion
from humanoid_dynamics.motion.formats.columns import entry_names, velocity_columns
from humanoid_dynamics.motion.formats.detect import detect_format, read_motion
from humanoid_dynamics.motion.formats.mapping import build_recording
from humanoid_dynamics.motion.load import load_clip
from humanoid_dynamics.series.messages import (
    build_template,
    joint_state_form,
    load_types,
    odometry_form,
)
from humanoid_dynamics.simulation.recorder import Recorder
from humanoid_dynamics.simulation.scenes.file import load_scene
from humanoid_dynamics.simulation.scenes.run import build_world, run_scene
from humanoid_dynamics.structure.events import Break

rosbag2 = pytest.importorskip("rosbags.rosbag2", reason="the extra bags is not installed")
NANO = 1_000_000_000


class Writing:
    """Writes messages into a bag as a recorder of ROS would."""

    def __init__(self, path, plugin="MCAP"):
        self.writer = rosbag2.Writer(path, version=9, storage_plugin=rosbag2.StoragePlugin[plugin])
        self.connections = {}

    def __enter__(self):
        self.writer.open()
        return self

    def __exit__(self, *_):
        self.writer.close()

    def raw(self, topic, kind, stamp, raw):
        if topic not in self.connections:
            self.connections[topic] = self.writer.add_connection(
                topic, kind, typestore=load_types()
            )
        self.writer.write(self.connections[topic], stamp, raw)

    def send(self, topic, stamp, form, *values):
        self.raw(
            topic,
            form.kind,
            stamp + 1234,
            build_template(form).encode(stamp, [np.asarray(v, dtype=float) for v in values]),
        )

    def joints(self, stamp, names, positions, velocities=(), topic="/joint_states"):
        self.send(
            topic,
            stamp,
            joint_state_form(names, (len(positions), len(velocities), 0)),
            positions,
            velocities,
            [],
        )

    def base(self, stamp, pose, twist, topic="/odom"):
        self.send(
            topic, stamp, odometry_form("odom", "pelvis"), pose, np.zeros(36), twist, np.zeros(36)
        )

    def whole(self, topic, kind, stamp, message):
        self.raw(topic, kind, stamp, bytes(load_types().serialize_cdr(message, kind)))


def poses(t):
    """A base that goes forwards and turns."""
    half = 0.25 * t
    zero = np.zeros_like(t)
    return np.column_stack(
        (t, zero, 0.9 + zero, zero, zero, np.sin(half), np.cos(half))
    ), np.column_stack((1 + zero, *[zero] * 5))


def record(name, path, seconds=0.05):
    scene = load_scene(name)
    world = build_world(scene)
    recorder = Recorder(world)
    run_scene(scene, world, seconds)
    recorder.save(path)
    return scene, world, recorder


@pytest.mark.parametrize("ending", [".mcap", ""])
def test_a_run_of_the_world_is_a_clip(tmp_path, ending):
    scene, _, recorder = record("standing", tmp_path / f"run{ending}")
    clip = load_clip(tmp_path / f"run{ending}", load_robot("human28"))
    np.testing.assert_allclose(clip.q, recorder.record().table("q").values, atol=1e-15)
    np.testing.assert_array_equal(clip.v, recorder.record().table("v").values)
    np.testing.assert_array_equal(clip.times, recorder.record().t)
    assert set(clip.contacts) == set(scene.robot.surfaces)
    assert clip.contacts["left_foot"][1:].all()
    assert not clip.contacts["left_palm"].any()


def test_continuous_and_spherical_joints_come_back_by_name(tmp_path):
    scene, _, recorder = record("swing", tmp_path / "swing.mcap")
    recording = read_motion(tmp_path / "swing.mcap")
    assert recording.columns == entry_names(scene.robot)
    assert recording.rates == velocity_columns(scene.robot)
    scene, _, recorder = record("ropes", tmp_path / "ropes.mcap")
    recording = read_motion(tmp_path / "ropes.mcap")
    turning = [joint for joint in scene.robot.joints if joint.kind == "continuous"]
    q = recorder.record().table("q").values
    for joint in turning:
        angle = recording.values[:, recording.columns.index(joint.name)]
        np.testing.assert_allclose(
            np.column_stack((np.cos(angle), np.sin(angle))), q[:, joint.q], atol=1e-14
        )
    assert turning


def test_bodies_that_come_apart_are_no_motion(tmp_path):
    _, world, recorder = record("standing", tmp_path / "run.mcap")
    world.apply([Break("left_elbow")])
    world.step(1e-3)
    recorder.save(tmp_path / "broken.mcap")
    with pytest.raises(ClipError, match=r"changes at 0\.051 s"):
        read_motion(tmp_path / "broken.mcap")


@pytest.mark.parametrize("plugin", ["MCAP", "SQLITE3"])
def test_joint_states_and_odometry_of_one_clock(tmp_path, plugin):
    t = np.arange(20) / 100.0
    pose, twist = poses(t)
    with Writing(tmp_path / "bag", plugin) as bag:
        for k, stamp in enumerate((t * NANO).round().astype(int).tolist()):
            bag.base(stamp, pose[k], twist[k])
            bag.joints(stamp, ["left_knee", "right_knee"], [0.3 + t[k], 0.3], [1.0, 0.0])
    assert detect_format(tmp_path / "bag") == "mcap"
    recording = read_motion(tmp_path / "bag")
    assert recording.columns[:7] == (
        "base_x",
        "base_y",
        "base_z",
        "base_qx",
        "base_qy",
        "base_qz",
        "base_qw",
    )
    np.testing.assert_allclose(recording.values[:, :7], pose, atol=1e-15)
    np.testing.assert_array_equal(recording.values[:, 7], 0.3 + t)
    np.testing.assert_array_equal(
        recording.velocities, np.hstack((twist, np.tile([1.0, 0.0], (20, 1))))
    )
    np.testing.assert_allclose(recording.times, t, atol=1e-12)
    assert recording.notices == ()
    clip = load_clip(tmp_path / "bag", load_robot("human28"))
    assert len(clip) == 20


def test_odometry_of_another_clock_is_interpolated_and_told(tmp_path):
    instants = np.arange(3, 40) / 73.0
    pose, twist = poses(instants)
    pose[10:, 3:] *= -1.0  # the same orientation, written the other way
    with Writing(tmp_path / "bag") as bag:
        for k, instant in enumerate(instants):
            bag.base(round(instant * NANO), pose[k], twist[k])
        for k in range(100):
            bag.joints(k * 10_000_000, ["left_knee"], [0.1])
    recording = read_motion(tmp_path / "bag")
    assert "interpolated" in recording.notices[0]
    assert (recording.times >= instants[0] - 1e-9).all()
    assert (recording.times <= instants[-1]).all()
    exact, _ = poses(recording.times)
    signs = np.sign(np.einsum("ij,ij->i", recording.values[:, 3:7], exact[:, 3:]))[:, None]
    np.testing.assert_allclose(recording.values[:, 3:7] * signs, exact[:, 3:], atol=1e-5)
    np.testing.assert_allclose(recording.values[:, 0], recording.times, atol=1e-9)
    assert recording.velocities is None  # of the joints nobody knows them


def test_publishers_that_know_other_joints(tmp_path):
    with Writing(tmp_path / "bag") as bag:
        for k in range(40):
            bag.joints(k * 10_000_000, ["left_knee"], [0.01 * k], [1.0])
            if k % 4 == 1:
                bag.joints(k * 10_000_000 + 3, ["left_elbow"], [-0.01 * k], [-1.0])
    recording = read_motion(tmp_path / "bag")
    assert recording.columns == ("left_knee", "left_elbow")
    inner = slice(2, 37)
    np.testing.assert_allclose(recording.values[inner, 1], -recording.values[inner, 0], atol=1e-8)
    assert "left_elbow" in recording.notices[0]


def test_joints_come_in_any_order_and_with_velocities_or_without(tmp_path):
    with Writing(tmp_path / "bag") as bag:
        for k in range(1, 20):
            forth = [0.01 * k, -0.02 * k, 0.5]
            order = [[0, 1, 2], [2, 0, 1], [1, 2, 0]][k % 3]
            names = [["left_knee", "right_knee", "left_elbow"][i] for i in order]
            bag.joints(
                k * 10_000_000, names, [forth[i] for i in order], [1.0, -2.0, 0.0] if k < 5 else ()
            )
    recording = read_motion(tmp_path / "bag")
    k = np.arange(1, 20)
    found = [
        recording.values[:, recording.columns.index(name)]
        for name in ("left_knee", "right_knee", "left_elbow")
    ]
    np.testing.assert_allclose(found, (0.01 * k, -0.02 * k, 0.5 + 0.0 * k), atol=1e-15)
    np.testing.assert_allclose(recording.times, 0.01 * k, atol=1e-12)
    assert (recording.velocities, recording.notices) == (None, ())


def test_odometry_of_another_time_or_without_a_rotation_is_refused(tmp_path):
    pose, twist = poses(np.arange(20) / 100.0)
    for name, late, spoilt in (("late", NANO, False), ("lying", 3, True)):
        with Writing(tmp_path / name) as bag:
            for k in range(20):
                there = np.where(np.arange(7) < 3, pose[k], 0.0) if spoilt and k == 7 else pose[k]
                bag.base(k * 10_000_000 + late, there, twist[k])
                bag.joints(k * 10_000_000, ["left_knee"], [0.1])
    with pytest.raises(
        ClipError,
        match=r"late: has odometry from 1 s to 1\.19 s and joints from 0 s to 0\.19 s, at no instant both",
    ):
        read_motion(tmp_path / "late")
    with pytest.raises(
        ClipError, match=r"lying: row 7, column 'base_qx\.\.base_qw': quaternion of length 0"
    ):
        read_motion(tmp_path / "lying")


def test_a_folder_that_is_no_bag_is_told(tmp_path):
    with pytest.raises(ClipError, match=r"is a folder without metadata\.yaml"):
        read_motion(tmp_path)


def test_commands_without_positions_are_not_taken(tmp_path):
    with Writing(tmp_path / "bag") as bag:
        for k in range(5):
            bag.send(
                "/joint_torque_commands",
                k * NANO,
                joint_state_form(["a"], (0, 0, 1)),
                [],
                [],
                [3.0],
            )
            bag.joints(k * NANO, ["a"], [1.0 * k])
    np.testing.assert_array_equal(read_motion(tmp_path / "bag").values[:, 0], np.arange(5.0))


def test_several_candidates_are_told(tmp_path):
    with Writing(tmp_path / "bag") as bag:
        for k in range(5):
            bag.joints(k, ["a"], [0.0], topic="/left/state")
            bag.joints(k, ["a"], [0.0], topic="/right/state")
    with pytest.raises(
        ClipError,
        match=r"several topics .*/left/state, /right/state; expected one, or /joint_states",
    ):
        read_motion(tmp_path / "bag")


def trajectory(times, positions, start=0):
    types = load_types().types
    stamp = types["builtin_interfaces/msg/Time"]
    duration = types["builtin_interfaces/msg/Duration"]
    point, empty = types["trajectory_msgs/msg/JointTrajectoryPoint"], np.zeros(0)
    points = [
        point(np.array([q]), empty, empty, empty, duration(*divmod(round(t * NANO), NANO)))
        for t, q in zip(times, positions, strict=True)
    ]
    header = types["std_msgs/msg/Header"](stamp(*divmod(start, NANO)), "")
    return types["trajectory_msgs/msg/JointTrajectory"](header, ["left_knee"], points)


KIND = "trajectory_msgs/msg/JointTrajectory"


def test_one_trajectory_and_a_stream_of_points_are_the_same_motion(tmp_path):
    times, positions = np.arange(10) / 50.0, np.linspace(0.1, 0.9, 10)
    with Writing(tmp_path / "one") as bag:
        bag.whole("/reference", KIND, 7, trajectory(times, positions, start=NANO))
    with Writing(tmp_path / "stream") as bag:
        for t, q in zip(times, positions, strict=True):
            bag.whole(
                "/reference", KIND, round(t * NANO), trajectory([0.0], [q], start=round(t * NANO))
            )
    for name in ("one", "stream"):
        recording = read_motion(tmp_path / name)
        np.testing.assert_array_equal(recording.values[:, 0], positions)
        np.testing.assert_allclose(recording.times, times, atol=1e-9)


def test_several_trajectories_are_refused(tmp_path):
    with Writing(tmp_path / "bag") as bag:
        for k in range(2):
            bag.whole("/reference", KIND, k, trajectory([0.0, 0.1, 0.2], [0.0, 0.1, 0.2]))
    with pytest.raises(ClipError, match="holds 2 trajectories"):
        read_motion(tmp_path / "bag")


def test_a_bag_of_something_else_lists_its_topics(tmp_path):
    types = load_types().types
    with Writing(tmp_path / "bag") as bag:
        bag.whole("/chatter", "std_msgs/msg/String", 3, types["std_msgs/msg/String"]("hello"))
    with pytest.raises(
        ClipError, match=r"neither a JointState .*; its topics are /chatter \(std_msgs/msg/String\)"
    ):
        read_motion(tmp_path / "bag")


@pytest.mark.parametrize("ending", [".mcap", ""])
def test_a_motion_that_is_written_as_a_bag_comes_back(tmp_path, ending):
    robot = load_robot("human28")
    t = np.arange(20) / 60.0
    rng = np.random.default_rng(0)
    v = rng.normal(size=(20, robot.nv))
    q = np.array([pin.integrate(robot.model, robot.posture, 0.1 * row) for row in v])
    for clip in (Clip(robot, t, q, v, v), Clip(robot, t, q)):
        path = tmp_path / f"{'rates' if clip.v is not None else 'bare'}{ending}"
        write_bag_motion(build_recording(clip), path)
        back = load_clip(path, robot)
        np.testing.assert_allclose(back.q, clip.q, atol=1e-15)
        np.testing.assert_allclose(back.times, clip.times, atol=1e-9)
        assert (back.v is None) == (clip.v is None)
        assert (back.a, back.notices) == (None, ())
        if clip.v is not None:
            np.testing.assert_array_equal(back.v, clip.v)
    fixed = load_robot("biped7")
    write_bag_motion(
        build_recording(Clip(fixed, t, np.tile(fixed.posture, (20, 1)))),
        tmp_path / f"planar{ending}",
    )
    np.testing.assert_allclose(
        load_clip(tmp_path / f"planar{ending}", fixed).q[0], fixed.posture, atol=1e-15
    )


def test_a_base_whose_velocity_is_unknown_is_not_written_as_one_that_rests(tmp_path):
    robot = load_robot("human28")
    t = np.arange(5) / 60.0
    q = np.tile(robot.posture, (5, 1))
    q[:, 0] += t
    whole = build_recording(Clip(robot, t, q, np.tile(np.eye(robot.nv)[0], (5, 1))))
    write_bag_motion(
        replace(whole, rates=whole.rates[6:], velocities=whole.velocities[:, 6:]),
        tmp_path / "joints.mcap",
    )
    back = read_motion(tmp_path / "joints.mcap")
    assert back.velocities is None
    np.testing.assert_allclose(back.values[:, 0], q[:, 0], atol=1e-15)


def test_joints_of_several_freedoms_are_not_written_as_a_bag(tmp_path):
    robot = load_robot("human16")
    clip = Clip(robot, np.arange(5) / 60.0, np.tile(robot.posture, (5, 1)))
    with pytest.raises(
        ClipError, match="a JointState cannot hold joints of several degrees of freedom: "
    ):
        write_bag_motion(build_recording(clip), tmp_path / "clip.mcap")
    assert not (tmp_path / "clip.mcap").exists()


def test_a_broken_bag_is_a_broken_clip(tmp_path):
    path = tmp_path / "walk.mcap"
    path.write_bytes(b"\x89MCAP0\r\n" + bytes(100))
    with pytest.raises(ClipError, match="cannot be read as a bag") as refusal:
        load_clip(path, load_robot("human28"))
    assert refusal.value.origin == str(path)
