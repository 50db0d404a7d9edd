# SPDX-License-Identifier: Apache-2.0
"""Bags as others read them: two libraries that are not the writer's, and what ros2 bag wants to find."""

import struct

import numpy as np
import pytest
from runs import made_up, run

from humanoid_dynamics.series.bag_reader import read_bag
from humanoid_dynamics.series.bag_writer import clean
from humanoid_dynamics.series.files import save_record
from humanoid_dynamics.series.messages import (
    ARRAY,
    JOINT_STATE,
    array_form,
    build_template,
    joint_state_form,
    load_types,
    odometry_form,
    wrench_form,
)

pytest.importorskip("rosbags", reason="the extra bags is not installed")
FORMS = [
    joint_state_form(["a", "a_long_name", "knie_ß"]),
    joint_state_form(["a"], (1, 0, 0)),
    joint_state_form([]),
    odometry_form("odom", "pelvis"),
    wrench_form("l_sole"),
    array_form(["one"]),
    array_form([f"column_{k}" for k in range(30)]),
]


def by_topic(path):
    """Every message of a bag, decoded by the mcap library."""
    reader = pytest.importorskip("mcap.reader", reason="the mcap library is not installed")
    decoder = pytest.importorskip("mcap_ros2.decoder", reason="mcap-ros2-support is not installed")
    found = {}
    with path.open("rb") as file:
        opened = reader.make_reader(
            file, decoder_factories=[decoder.DecoderFactory()], validate_crcs=True
        )
        for schema, channel, message, decoded in opened.iter_decoded_messages():
            assert channel.message_encoding == "cdr"
            assert schema.encoding == "ros2msg"
            found.setdefault(channel.topic, []).append((schema.name, message.log_time, decoded))
    return found


def test_the_mcap_library_reads_the_same_numbers(tmp_path):
    record = made_up()
    save_record(record, tmp_path / "run.mcap")
    found = by_topic(tmp_path / "run.mcap")
    q, v, tau = (record.table(name).values for name in ("q", "v", "tau"))
    for k, t in enumerate(record.t):
        kind, stamp, message = found["/joint_states"][k]
        assert kind == "sensor_msgs/msg/JointState"
        assert abs(stamp - 1e9 * t) <= 0.5 + 1e-6
        assert message.header.stamp.sec * 10**9 + message.header.stamp.nanosec == stamp
        assert list(message.name) == ["joint_0", "joint_1", "joint_2"]
        assert list(message.position) == q[k, 7:].tolist()
        assert list(message.velocity) == v[k, 6:].tolist()
        assert list(message.effort) == [0.0, *tau[k].tolist()]
        odometry = found["/odom"][k][2]
        place, turn = odometry.pose.pose.position, odometry.pose.pose.orientation
        assert [place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w] == q[k, :7].tolist()
        twist = odometry.twist.twist
        assert [
            twist.linear.x,
            twist.linear.y,
            twist.linear.z,
            twist.angular.x,
            twist.angular.y,
            twist.angular.z,
        ] == v[k, :6].tolist()
        assert (odometry.header.frame_id, odometry.child_frame_id) == ("odom", "pelvis")
        wrench = found["/contacts/left_foot/wrench"][k][2]
        assert wrench.header.frame_id == "l_sole"
        force, moment = wrench.wrench.force, wrench.wrench.torque
        assert [force.x, force.y, force.z, moment.x, moment.y, moment.z] == record.table(
            "wrench"
        ).values[k].tolist()
        energy = found["/energy"][k][2]
        assert energy.layout.dim[0].label == "kinetic,potential,missing"
        assert list(energy.data) == record.table("energy").values[k].tolist()
        assert found["/audit"][k][2].data[0] == t


def test_messages_go_to_rclpy_and_come_back(tmp_path):
    pytest.importorskip("rclpy", reason="rclpy is not installed")
    from geometry_msgs.msg import WrenchStamped
    from nav_msgs.msg import Odometry
    from rclpy.serialization import deserialize_message, serialize_message
    from rosbags.rosbag2 import StoragePlugin, Writer
    from sensor_msgs.msg import JointState
    from std_msgs.msg import Float64MultiArray

    kinds = {
        "JointState": JointState,
        "Odometry": Odometry,
        "WrenchStamped": WrenchStamped,
        "Float64MultiArray": Float64MultiArray,
    }
    rng, sent = np.random.default_rng(3), []
    with Writer(tmp_path / "bag", version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        for k, form in enumerate(FORMS):
            values = [rng.standard_normal(size) for size in form.sizes]
            message = deserialize_message(
                build_template(form).encode(1_234_567_890_123, values),
                kinds[form.kind.rpartition("/")[2]],
            )
            if form.kind == JOINT_STATE:
                assert (message.header.stamp.sec, message.header.stamp.nanosec) == (
                    1234,
                    567_890_123,
                )
                assert list(message.name) == list(form.names)
                assert list(message.position) == values[0].tolist()
            writer.write(
                writer.add_connection(f"/t{k}", form.kind, typestore=load_types()),
                5,
                bytes(serialize_message(message)),
            )
            sent.append(values)
    bag = read_bag(tmp_path / "bag")
    for k, (form, values) in enumerate(zip(FORMS, sent, strict=True)):
        (series,) = bag.series[f"/t{k}"]
        assert series.form == form
        assert series.stamps.tolist() == [5 if form.kind == ARRAY else 1_234_567_890_123]
        for one, other in zip(series.fields, values, strict=True):
            np.testing.assert_array_equal(one[0], other)


@pytest.mark.parametrize(
    "form", FORMS, ids=lambda form: f"{form.kind.rpartition('/')[2]}-{len(form.names)}"
)
def test_templates_write_what_the_encoder_writes_and_read_it_back(form):
    rng = np.random.default_rng(7)
    template = build_template(form)
    values = [rng.standard_normal(size) for size in form.sizes]
    raw = template.encode(17_000_000_042, values)
    store = load_types()
    assert bytes(store.serialize_cdr(store.deserialize_cdr(raw, form.kind), form.kind)) == raw
    stamp, read = template.decode(raw)
    assert stamp == (0 if form.kind == ARRAY else 17_000_000_042)
    for one, other in zip(read, values, strict=True):
        assert one.tobytes() == other.tobytes()


def test_a_template_refuses_other_forms():
    template = build_template(joint_state_form(["a", "b"]))
    other = build_template(joint_state_form(["a", "c"])).encode(0, [np.zeros(2)] * 3)
    assert template.decode(other) is None
    assert template.decode(other[:-1]) is None


def test_folder_of_a_bag_has_what_ros2_bag_opens(tmp_path):
    import yaml

    save_record(made_up(), tmp_path / "bag")
    assert sorted(path.name for path in (tmp_path / "bag").iterdir()) == [
        "bag.mcap",
        "metadata.yaml",
    ]
    told = yaml.safe_load((tmp_path / "bag" / "metadata.yaml").read_text())[
        "rosbag2_bagfile_information"
    ]
    assert told["storage_identifier"] == "mcap"
    assert told["relative_file_paths"] == ["bag.mcap"]
    assert told["message_count"] == 20 * 6 + 1 + 2  # two of /tf
    topics = {
        entry["topic_metadata"]["name"]: entry["topic_metadata"]
        for entry in told["topics_with_message_count"]
    }
    assert topics["/joint_states"]["type_description_hash"].startswith(
        "RIHS01_a13ee3a3"
    )  # as rosidl computes it
    assert topics["/record"]["offered_qos_profiles"][0]["durability"] == "transient_local"
    assert list(tmp_path.iterdir()) == [tmp_path / "bag"]


def test_a_single_file_leaves_nothing_beside_it_and_replaces_an_older_one(tmp_path):
    for n in (20, 10):
        save_record(made_up(n), tmp_path / "run.mcap")
        assert list(tmp_path.iterdir()) == [tmp_path / "run.mcap"]
    assert len(read_bag(tmp_path / "run.mcap").series["/odom"][0].stamps) == 10


def test_description_and_topics_of_a_scene(tmp_path):
    _, world, recorder = run("steps")
    recorder.save(tmp_path / "run.mcap")
    bag = read_bag(tmp_path / "run.mcap")
    assert {
        "/ball/body/odom",
        "/crate/body/odom",
        "/contacts/ball/body/wrench",
        "/energy",
        "/balance",
        "/audit",
    } <= set(bag.topics)
    _, world, recorder = run("standing")
    recorder.save(tmp_path / "stand.mcap")
    bag = read_bag(tmp_path / "stand.mcap")
    assert bag.messages["/robot_description"][0][1].data == world.robot.urdf
    assert bag.series["/contacts/left_foot/wrench"][0].form.frame == "l_sole"


def test_bytes_of_unfinished_bags_can_be_recovered(tmp_path):
    stream = pytest.importorskip("mcap.stream_reader", reason="the mcap library is not installed")
    from mcap.exceptions import McapError
    from mcap.records import Message

    save_record(made_up(3000), tmp_path / "run.mcap")
    whole = (tmp_path / "run.mcap").read_bytes()
    (tmp_path / "cut.mcap").write_bytes(whole[: len(whole) // 2])
    count = 0
    with (tmp_path / "cut.mcap").open("rb") as file:
        try:
            for record in stream.StreamReader(file).records:
                count += isinstance(record, Message)
        except (McapError, EOFError, ValueError, struct.error):
            pass
    assert count > 3000


@pytest.mark.parametrize(
    ("name", "topic"),
    [("a b", "a_b"), ("left-foot.1", "left_foot_1"), ("1st/2nd", "_1st/_2nd"), ("fuß", "fu_")],
)
def test_names_of_topics(name, topic):
    assert clean(name) == topic
