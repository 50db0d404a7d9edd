# SPDX-License-Identifier: Apache-2.0
"""Torques of a bag into a bag: what goes in comes out again, and the forces in it are those the motion needs."""

import numpy as np
import pytest

pytest.importorskip(
    "rosbags", reason="needs what reads bags: pip install 'humanoid_dynamics[bags]'"
)

from humanoid_dynamics.errors import ClipError, RecordError
from humanoid_dynamics.model.load import load_robot
from humanoid_dynamics.motion.measured.series import load_measured_motion
from humanoid_dynamics.motion.measured.torque_file import write_torques
from humanoid_dynamics.motion.motion_torques import PROOF, solve_motion
from humanoid_dynamics.series.bag_file import BagFile
from humanoid_dynamics.series.bag_reader import read_bag
from humanoid_dynamics.series.messages import (
    ARRAY,
    NANO,
    build_template,
    joint_state_form,
    load_types,
    odometry_form,
)

ROBOT = load_robot("human28")
RATE, COUNT = 200, 60


def write_states(path, joints="/robot/joint_states", base="/robot/odometry"):
    """Write what a driver would: a robot that sways in its hips, with two arrays besides, one of several dimensions."""
    bag, store = BagFile(path), load_types()
    names = list(ROBOT.actuated)
    at = [ROBOT.joint(name).q.start for name in names]
    forms = {joints: joint_state_form(names), base: odometry_form("odom", ROBOT.links[0])}
    layout, dimension = (
        store.types["std_msgs/msg/MultiArrayLayout"],
        store.types["std_msgs/msg/MultiArrayDimension"],
    )
    arrays = {
        "/plain": layout([], 0),
        "/grid": layout([dimension("y", 2, 4), dimension("x", 2, 2)], 0),
    }
    for k in range(COUNT):
        stamp = 1_700_000_000 * NANO + k * NANO // RATE
        q = ROBOT.posture.copy()
        q[2] += 0.002 * np.sin(2 * np.pi * k / RATE)
        v = np.array([0.0, 0.0, 0.004 * np.pi * np.cos(2 * np.pi * k / RATE), 0.0, 0.0, 0.0])
        values = {
            joints: (q[at], np.zeros(len(at)), np.zeros(len(at))),
            base: (q[:7], np.zeros(36), v, np.zeros(36)),
        }
        for topic, form in forms.items():
            bag.write(
                bag.connect(topic, form.kind),
                stamp,
                build_template(form).encode(stamp, values[topic]),
            )
        for topic, head in arrays.items():
            bag.write(
                bag.connect(topic, ARRAY),
                stamp,
                bytes(store.serialize_cdr(store.types[ARRAY](head, np.arange(4.0)), ARRAY)),
            )
    bag.close()


@pytest.fixture(scope="module")
def torques(tmp_path_factory):
    path = tmp_path_factory.mktemp("bag") / "driver.mcap"
    write_states(path)
    names = {"/robot/joint_states": "/joint_states", "/robot/odometry": "/odom"}
    return solve_motion(load_measured_motion(path, ROBOT, names=names), rule="minimum_torque")


@pytest.fixture(scope="module")
def answer(torques, tmp_path_factory):
    path = tmp_path_factory.mktemp("bag") / "torques.mcap"
    write_torques(torques, path)
    return read_bag(path)


def only(bag, topic):
    (series,) = bag.series[topic]
    return series


def test_the_same_torques_are_in_the_bag(torques, answer):
    commands = only(answer, "/unguarded/joint_torque_commands")
    assert commands.form.names == torques.columns
    np.testing.assert_array_equal(commands.fields[2], torques.tau)
    assert (
        np.abs(commands.stamps - (1_700_000_000 * NANO + np.arange(COUNT) * (NANO // RATE))).max()
        < 1000
    )  # as far as seconds tell


def test_feet_bear_the_weight_and_the_certificate_says_so(torques, answer):
    lift = sum(only(answer, f"/planned_wrenches/{name}").fields[0][:, 2] for name in ROBOT.stance)
    g = float(np.linalg.norm(ROBOT.model.gravity.linear))
    rise = torques.clip.a[:, 2]  # of a base that stays upright while no joint moves
    np.testing.assert_allclose(lift, ROBOT.mass * (g + rise), rtol=1e-9)
    certificate = only(answer, "/certificate")
    assert certificate.form.names == (*PROOF, "age")
    assert certificate.fields[0][:, 0].max() < 1e-8


def test_states_come_out_as_they_went_in(answer, tmp_path):
    write_states(tmp_path / "in.mcap")
    given = read_bag(tmp_path / "in.mcap")
    states = only(answer, "/joint_states")
    source = only(given, "/robot/joint_states")
    order = [states.form.names.index(name) for name in source.form.names]
    np.testing.assert_array_equal(states.fields[0][:, order], source.fields[0])
    np.testing.assert_allclose(
        only(answer, "/odom").fields[0], only(given, "/robot/odometry").fields[0], atol=1e-15
    )


def test_an_array_is_read_whether_it_tells_its_dimension_or_not(tmp_path):
    write_states(tmp_path / "in.mcap")
    bag = read_bag(tmp_path / "in.mcap")
    np.testing.assert_array_equal(only(bag, "/plain").fields[0][0], np.arange(4.0))
    assert not bag.series["/grid"]


def test_a_topic_that_is_not_there_is_refused(tmp_path):
    write_states(tmp_path / "in.mcap")
    with pytest.raises(
        ClipError, match=r"has no topic /nowhere; its topics are /robot/joint_states"
    ):
        load_measured_motion(tmp_path / "in.mcap", ROBOT, names={"/nowhere": "/joint_states"})
    with pytest.raises(RecordError, match=r"/odom is a folder|cannot be written"):
        BagFile(tmp_path)
    (tmp_path / "motion.csv").write_text("time,x\n0,0\n1,0\n")
    with pytest.raises(ClipError, match="is not a bag"):
        load_measured_motion(tmp_path / "motion.csv", ROBOT, names={"/a": "/b"})
