# SPDX-License-Identifier: Apache-2.0
"""Frames in bags: transforms put together are where kinematics says the links are."""

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.series.bag_writer import TRANSFORMS, WORLD
from humanoid_dynamics.series.files import load_record
from humanoid_dynamics.series.frames import find_frames
from humanoid_dynamics.series.layout import JointPlace, Layout
from humanoid_dynamics.series.transforms import TF
from humanoid_dynamics.simulation.recorder import Recorder
from humanoid_dynamics.simulation.setup import Setup
from humanoid_dynamics.simulation.world import World

HINGES = """<robot name="a"><link name="base"/><link name="arm"/><link name="tool"/><link name="slide"/><link name="finger"/>
<joint name="turn" type="revolute"><parent link="base"/><child link="arm"/><origin xyz="0.1 0.2 0.3" rpy="0.4 -0.5 0.6"/><axis xyz="0 2 0"/>
<limit lower="-9" upper="9" effort="1" velocity="1"/></joint>
<joint name="way" type="prismatic"><parent link="arm"/><child link="slide"/><origin rpy="0.3 0 1"/><axis xyz="0 0.6 0.8"/>
<limit lower="-9" upper="9" effort="1" velocity="1"/></joint>
<joint name="weld" type="fixed"><parent link="slide"/><child link="tool"/><origin xyz="0 0 1" rpy="0 1 0"/></joint>
<joint name="follows" type="revolute"><parent link="tool"/><child link="finger"/><axis xyz="0 0 1"/>
<mimic joint="turn" multiplier="-2" offset="0.1"/>
<limit lower="-9" upper="9" effort="1" velocity="1"/></joint></robot>"""


def messages(path):
    highlevel = pytest.importorskip("rosbags.highlevel", reason="rosbags is not installed")
    with highlevel.AnyReader([path]) as reader:
        chosen = [connection for connection in reader.connections if connection.topic == TRANSFORMS]
        assert [connection.msgtype for connection in chosen] == [TF]
        return [
            (stamp, reader.deserialize(raw, TF))
            for _, stamp, raw in reader.messages(connections=chosen)
        ]


def compose(message):
    """Link -> its pose in the root, from the transforms of a message."""
    poses = {}
    for moved in message.transforms:
        p, r = moved.transform.translation, moved.transform.rotation
        X = pin.SE3(pin.Quaternion(r.w, r.x, r.y, r.z).matrix(), np.array([p.x, p.y, p.z]))
        poses[moved.child_frame_id] = (moved.header.frame_id, X)

    def find(link):
        if link not in poses:
            return pin.SE3.Identity()
        parent, X = poses[link]
        return find(parent) * X

    return {link: find(link) for link in poses}


def test_links_of_a_record_are_where_kinematics_says(tmp_path):
    robot = hd.load_robot("human28")
    q = np.array(robot.posture)
    q[7:] += np.random.default_rng(1).uniform(-0.3, 0.3, robot.nq - 7)
    q[:3] += (0.4, -0.2, 0.7)
    world = World(
        robot, Setup(compiled=False), hd.State(q, np.random.default_rng(2).normal(size=robot.nv))
    )
    recorder = Recorder(world, about={"urdf": robot.urdf})
    for _ in range(50):
        world.step(1e-3)
    recorder.save(tmp_path / "run.mcap")
    found = messages(tmp_path / "run.mcap")
    assert [stamp for stamp, _ in found] == [0, 20_000_000, 40_000_000]
    record, data = load_record(tmp_path / "run.mcap"), robot.data()
    for stamp, message in found:
        assert all(
            moved.header.stamp.sec * 10**9 + moved.header.stamp.nanosec == stamp
            for moved in message.transforms
        )
        assert WORLD in {moved.header.frame_id for moved in message.transforms}
        pin.framesForwardKinematics(robot.model, data, record.table("q").values[stamp // 1_000_000])
        poses = compose(message)
        assert set(robot.links) <= set(poses)
        for link in robot.links:
            exact = data.oMf[robot.link_frame(link)]
            np.testing.assert_allclose(poses[link].homogeneous, exact.homogeneous, atol=1e-9)


def test_hinges_sliders_welds_and_joints_that_follow():
    layout = Layout({"q": ("turn", "way")}, (JointPlace("turn", 0, 0), JointPlace("way", 1, 1)))
    frames = find_frames(layout, HINGES, "odom")
    assert frames.edges == (
        ("base", "arm"),
        ("arm", "slide"),
        ("tool", "finger"),
        ("slide", "tool"),
    )
    robot = hd.load_robot(
        HINGES.replace('<mimic joint="turn" multiplier="-2" offset="0.1"/>', ""), root="fixed"
    )
    poses = frames.place(np.array([0.7, -0.3]))
    data = robot.data()
    pin.framesForwardKinematics(robot.model, data, np.array([0.7, -0.3, 0.1 - 2 * 0.7]))
    for (parent, child), pose in zip(frames.edges, poses, strict=True):
        exact = data.oMf[robot.link_frame(parent)].actInv(data.oMf[robot.link_frame(child)])
        R = pin.Quaternion(pose[6], *pose[3:6]).matrix()
        np.testing.assert_allclose(
            np.column_stack((R, pose[:3])), exact.homogeneous[:3], atol=1e-12
        )


@pytest.mark.parametrize("text", ["", "<robot", "no URDF"])
def test_what_is_no_urdf_has_no_links(text):
    assert find_frames(Layout({"q": ()}), text, "odom").edges == ()
