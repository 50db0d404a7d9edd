# SPDX-License-Identifier: Apache-2.0
"""What is said on topics goes into a bag and out of it, byte by byte; the same bag twice makes the same run."""

import threading
from time import monotonic

import numpy as np
import pytest

rclpy = pytest.importorskip(
    "rclpy",
    reason="needs ROS 2: pip install 'humanoid_dynamics[ros]', or source a ROS installation",
)
pytest.importorskip(
    "rosbags", reason="needs what reads bags: pip install 'humanoid_dynamics[bags]'"
)

from rclpy.node import Node  # noqa: E402
from rclpy.qos import DurabilityPolicy, QoSProfile  # noqa: E402
from rclpy.serialization import deserialize_message, serialize_message  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import Float64MultiArray, String  # noqa: E402
from std_srvs.srv import SetBool  # noqa: E402

from humanoid_dynamics.nodes.bag_player import BagPlayerNode  # noqa: E402
from humanoid_dynamics.nodes.messages import to_stamp  # noqa: E402
from humanoid_dynamics.nodes.recorder import RecorderNode  # noqa: E402
from humanoid_dynamics.nodes.running import make_executor  # noqa: E402
from humanoid_dynamics.nodes.statuses import BagStatus  # noqa: E402
from humanoid_dynamics.nodes.together import BY_OTHERS, run_in_lock_step, spin  # noqa: E402
from humanoid_dynamics.series.bag_file import BagFile, BagPlay  # noqa: E402
from humanoid_dynamics.series.bag_reader import read_bag  # noqa: E402

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
REFERENCES = [f"reference/{part}" for part in ("joints", "base", "contacts")]


pytestmark = pytest.mark.usefixtures("ros")


def make(kind, *arguments, namespace="/together", **parameters):
    settings = [word for name, value in parameters.items() for word in ("-p", f"{name}:={value}")]
    names = ["-r", f"__ns:={namespace}", "-r", f"/clock:={namespace}/clock"]
    return kind(cli_args=["--ros-args", *names, *arguments, *settings], use_global_arguments=False)


class Turning:
    """Nodes that run until the end of a block."""

    def __init__(self, *nodes):
        self.nodes = nodes
        self.executor = make_executor()
        for node in nodes:
            self.executor.add_node(node)
        self.thread = threading.Thread(target=spin, args=(self.executor,), daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def until(self, condition, tick=lambda: None):
        end = monotonic() + 20.0
        pause = threading.Event()
        while not condition():
            assert monotonic() < end
            tick()
            pause.wait(0.01)

    def __exit__(self, *_):
        self.executor.shutdown()
        self.thread.join(2.0)
        for node in self.nodes:
            node.destroy_node()


def record_some(path, count=20):
    """Record joint states of the namespace, a latched text, and a topic that nobody asked for."""
    speaker, recorder = (
        Node("speaker", namespace="/said"),
        make(RecorderNode, namespace="/said", file=path),
    )
    recorder.start()
    said = [
        speaker.create_publisher(JointState, "joint_states", 10),
        speaker.create_publisher(Float64MultiArray, "private", 10),
    ]
    text = speaker.create_publisher(String, "robot_description", LATCHED)
    text.publish(String(data="<robot/>"))
    with Turning(speaker, recorder) as turning:
        turning.until(said[0].get_subscription_count, recorder.tick)
        for k in range(count):
            state = JointState(name=["knee"], position=[0.1 * k], velocity=[0.0], effort=[])
            state.header.stamp = to_stamp(10.0 + k)
            said[0].publish(state)
            said[1].publish(Float64MultiArray(data=[1.0]))
        turning.until(
            lambda: (
                recorder.counts["/said/joint_states"] == count
                and recorder.counts["/said/robot_description"] == 1
            ),
            recorder.tick,
        )
        recorder.release()
    return recorder


def test_a_status_in_a_message_and_in_a_bag_is_its_value(tmp_path):
    raw = serialize_message(String(data=BagStatus.PLAYING))
    assert deserialize_message(raw, String).data == "PLAYING"
    bag = BagFile(tmp_path / "status.mcap")
    bag.write(bag.connect("/status", "std_msgs/msg/String"), 10**9, raw)
    bag.close()
    assert [
        message.data for _, message in read_bag(tmp_path / "status.mcap").messages["/status"]
    ] == ["PLAYING"]


def test_what_was_said_is_in_the_bag(tmp_path):
    record_some(tmp_path / "run.mcap")
    bag = read_bag(tmp_path / "run.mcap")
    (states,) = bag.series["/said/joint_states"]
    np.testing.assert_array_equal(states.stamps, [(10 + k) * 10**9 for k in range(20)])
    np.testing.assert_array_equal(states.fields[0][:, 0], [0.1 * k for k in range(20)])
    assert [message.data for _, message in bag.messages["/said/robot_description"]] == ["<robot/>"]
    assert "/said/private" not in bag.topics
    play = BagPlay(tmp_path / "run.mcap")
    assert play.latched >= {"/said/robot_description"}
    play.close()


def test_what_is_played_is_what_was_said(tmp_path):
    record_some(tmp_path / "run")
    assert (tmp_path / "run" / "metadata.yaml").is_file()
    names = [
        "-r",
        "/said/joint_states:=/again/joint_states",
        "-r",
        "/said/robot_description:=/again/robot_description",
    ]
    player = make(BagPlayerNode, *names, namespace="/again", file=tmp_path / "run", speed=50.0)
    heard, texts = [], []
    listener = Node("listener", namespace="/again")
    listener.create_subscription(JointState, "joint_states", heard.append, 100)
    listener.create_subscription(String, "robot_description", texts.append, LATCHED)
    asked = listener.create_client(SetBool, "bag_player/pause")
    player.start()
    with Turning(player, listener) as turning:
        turning.until(asked.service_is_ready)
        pausing = asked.call_async(SetBool.Request(data=True))
        turning.until(pausing.done)
        assert pausing.result().success
        turning.until(lambda: player.status == "PAUSED", player.tick)
        turning.until(
            lambda: listener.count_publishers("/again/joint_states") and player._publishers_of_bag,
            player.tick,
        )
        turning.until(
            lambda: player._publishers_of_bag["/said/joint_states"].get_subscription_count()
        )
        assert heard == []
        player._pause(SetBool.Request(data=False))
        turning.until(lambda: len(heard) == 20 and texts, player.tick)
        assert [state.position[0] for state in heard] == [0.1 * k for k in range(20)]
        turning.until(lambda: player.status == "ENDED", player.tick)
        player.release()


def test_a_bag_that_is_none_is_refused(tmp_path):
    for player in (make(BagPlayerNode, file=tmp_path / "nowhere.mcap"), make(RecorderNode)):
        with pytest.raises(Exception, match=r"nowhere.mcap: does not exist|received an empty path"):
            player.start()
        player.destroy_node()


def test_a_file_that_cannot_be_written_stops_the_recorder_and_not_the_process(
    tmp_path, monkeypatch
):
    def full(*_):
        raise OSError("no space left on device")

    monkeypatch.setattr(BagFile, "write", full)
    speaker, recorder = (
        Node("speaker", namespace="/said"),
        make(RecorderNode, namespace="/said", file=tmp_path / "run.mcap"),
    )
    recorder.start()
    out = speaker.create_publisher(JointState, "joint_states", 10)
    with Turning(speaker, recorder) as turning:
        turning.until(
            lambda: out.publish(JointState()) or recorder.status == "FAILED", recorder.tick
        )
    assert recorder.reason == "no space left on device"


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """A bag of what a player said to a simulated robot."""
    path = tmp_path_factory.mktemp("bag") / "reference.mcap"
    recorder = make(
        RecorderNode, file=path, use_sim_time="true", topics=f"[{', '.join(REFERENCES)}]"
    )
    recorder.start()
    run_in_lock_step("human28", 0.8, rate=500.0, motion="squat", others=[recorder])
    recorder.release()
    recorder.destroy_node()
    return path


def test_the_same_bag_twice_is_the_same_run_to_the_last_bit(reference):
    digests = []
    for _ in range(2):
        player = make(BagPlayerNode, file=reference, use_sim_time="true")
        player.start()
        run = run_in_lock_step("human28", 0.7, rate=500.0, others=[player], motion=BY_OTHERS)
        player.release()
        player.destroy_node()
        digests.append(run.digest)
        assert run.seen["FOLLOWING"] > 20, run.seen
    assert digests[0] == digests[1]
    assert digests[0] != run_in_lock_step("human28", 0.7, rate=500.0).digest
