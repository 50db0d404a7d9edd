"""The node ``standing_torques`` in a process of its own, over the real middleware."""

import contextlib
import os
import random
import re
import signal
import subprocess
import sys
import threading
from collections import deque
from pathlib import Path
from time import monotonic

import numpy as np
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.control.holding import HoldingTorques

rclpy = pytest.importorskip("rclpy", reason="needs ROS 2: pip install 'humanoid_dynamics[ros]', or source a ROS installation")

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus  # noqa: E402
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue  # noqa: E402
from rcl_interfaces.srv import DescribeParameters, SetParameters  # noqa: E402
from rclpy.executors import ExternalShutdownException  # noqa: E402
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy  # noqa: E402
from rclpy.task import Future  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import Float64MultiArray, String  # noqa: E402

ROOT = Path(__file__).parents[2]
PROGRAM = "from humanoid_dynamics.nodes.programs import standing_torques; standing_torques()"
INSTALLED = Path(sys.prefix) / "bin" / "standing_torques"
PATIENCE = 15.0  # s; a machine under load starts a process in several
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
TIMEOUT, DECAY = 0.5, 0.6  # s; a busy machine keeps joint states coming that often


class Running:
    """A node in a process of its own; what it says is kept."""

    def __init__(self, *arguments, parameters=None, command=None):
        settings = [word for name, value in (parameters or {}).items() for word in ("-p", f"{name}:={value}")]
        self.said = ""
        self._news = threading.Condition()
        self.process = subprocess.Popen(
            [*(command or [sys.executable, "-c", PROGRAM]), "--ros-args", *arguments, *settings],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.process.stdout:
            with self._news:
                self.said += line
                self._news.notify_all()

    def wait_to_say(self, text):
        with self._news:
            assert self._news.wait_for(lambda: text in self.said, PATIENCE), f"never said {text!r} but:\n{self.said}"

    def end(self, *signals):
        """Send signals; return exit code and how long it took."""
        start = monotonic()
        for number in signals:
            self.process.send_signal(number)
        code = self.process.wait(PATIENCE)
        took = monotonic() - start
        self._reader.join(PATIENCE)
        return code, took

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.process.kill()
        self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        self.process.stdout.close()


class Watcher:
    """A node in this process that publishes joint states and keeps what comes back."""

    def __init__(self, context):
        self.node = rclpy.create_node("watcher", context=context)
        self.named, self.plain, self.diagnoses = deque(maxlen=3000), deque(maxlen=3000), deque(maxlen=100)
        self._news = threading.Condition()
        deep = QoSProfile(depth=1000)
        self.node.create_subscription(JointState, "joint_torque_commands", self._keep(self.named), deep)
        self.node.create_subscription(Float64MultiArray, "effort_commands", self._keep(self.plain), deep)
        self.node.create_subscription(DiagnosticArray, "/diagnostics", self._keep(self.diagnoses), 100)
        self.states = self.node.create_publisher(JointState, "joint_states", 10)
        self._streaming = None
        self._stop_stream = threading.Event()

    def _keep(self, box):
        def callback(message):
            with self._news:
                box.append(message)
                self._news.notify_all()

        return callback

    def wait_for(self, question, what, patience=PATIENCE):
        with self._news:
            assert self._news.wait_for(question, patience), f"never came: {what}"

    def forget(self):
        with self._news:
            for box in (self.named, self.plain, self.diagnoses):
                box.clear()

    def stream(self, names, positions):
        """Publish this joint state 100 times a second until something else is asked for."""
        self.hush()
        message = JointState(name=list(names), position=np.asarray(positions, dtype=float).tolist())
        self._stop_stream = stop = threading.Event()

        def publish():
            while not stop.wait(0.01):
                self.states.publish(message)

        self._streaming = threading.Thread(target=publish, daemon=True)
        self._streaming.start()

    def hush(self):
        self._stop_stream.set()
        if self._streaming:
            self._streaming.join(PATIENCE)
            self._streaming = None

    def say(self, names, positions):
        self.states.publish(JointState(name=list(names), position=list(positions)))

    def wait_for_status(self, status, reason=""):
        """Return the first diagnosis of that status and reason from now on."""
        found = []

        def come():
            found.extend(s for m in self.diagnoses for s in m.status if s.message == status and reason in dict_of(s)["reason"])
            return found

        self.wait_for(come, f"status {status} {reason!r}")
        return found[0]

    def wait_for_torques(self, expected, what):
        self.wait_for(lambda: self.named and np.allclose(self.named[-1].effort, expected, rtol=0.0, atol=1e-9), what)

    def ask(self, kind, name, request):
        client = self.node.create_client(kind, name)
        assert client.wait_for_service(PATIENCE)
        answered = threading.Event()
        future = client.call_async(request)
        future.add_done_callback(lambda _: answered.set())
        assert answered.wait(PATIENCE)
        return future.result()


def dict_of(status):
    return {pair.key: pair.value for pair in status.values}


@pytest.fixture(scope="module", autouse=True)
def surroundings(tmp_path_factory):
    """A private domain on this machine alone, for this process and those it starts."""
    patch = pytest.MonkeyPatch()
    patch.setenv("ROS_DOMAIN_ID", str(random.SystemRandom().randint(1, 50)))
    patch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    patch.setenv("ROS_LOG_DIR", str(tmp_path_factory.mktemp("ros_log")))
    patch.setenv("ROS_PYTHON_CHECK_FIELDS", "1")
    patch.setenv("RCUTILS_COLORIZED_OUTPUT", "0")
    patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH")))))
    yield
    patch.undo()


@pytest.fixture(scope="module")
def watcher(surroundings):
    context = rclpy.Context()
    rclpy.init(context=context, signal_handler_options=rclpy.SignalHandlerOptions.NO)
    watcher = Watcher(context)
    try:
        from rclpy.experimental import EventsExecutor as Executor
    except ImportError:
        from rclpy.executors import SingleThreadedExecutor as Executor
    executor = Executor(context=context)
    executor.add_node(watcher.node)

    def spin():
        with contextlib.suppress(ExternalShutdownException):
            executor.spin_until_future_complete(Future(), 1e5)

    spinner = threading.Thread(target=spin, daemon=True)
    spinner.start()
    yield watcher
    watcher.hush()
    rclpy.try_shutdown(context=context)
    spinner.join(PATIENCE)


@pytest.fixture(scope="module")
def human28():
    return hd.load_robot("human28")


@pytest.fixture(scope="module")
def posture(human28):
    return np.array([human28.posture[human28.joint(name).q][0] for name in human28.actuated])


def torques(robot, positions):
    """What the library sends for these positions."""
    holding = HoldingTorques(robot)
    assert holding.observe(robot.actuated, positions)
    assert holding.command(0.0).status == "holding"
    return holding.command(0.0).tau


@pytest.fixture(scope="class")
def node(watcher):
    watcher.forget()
    with Running(
        "--params-file",
        str(ROOT / "config/nodes/standing_torques.yaml"),
        parameters={"robot": "human28", "timeout": TIMEOUT, "decay": DECAY},
    ) as node:
        node.wait_to_say("human28: 28 joints, standing on left_foot, right_foot")
        yield node
        assert "Traceback" not in node.said


# An absolute-time loop of 500 Hz that does nothing but keep time; prints the rate it reached.
BARE_LOOP = """
from threading import Event
from time import monotonic
start = due = monotonic()
for _ in range(250):
    due = max(due + 0.002, monotonic() - 0.002)
    Event().wait(max(0.0, due - monotonic()))
print(250 / (monotonic() - start))
"""


class TestHuman28:
    """One process, asked one thing after the other."""

    @pytest.fixture(autouse=True)
    def quiet(self, watcher, node):
        yield
        watcher.hush()
        assert node.process.poll() is None, node.said

    def test_waits_with_zero_torques(self, watcher, node, human28):
        watcher.wait_for(lambda: watcher.named, "torque commands")
        assert tuple(watcher.named[-1].name) == human28.actuated
        np.testing.assert_array_equal(watcher.named[-1].effort, np.zeros(28))
        diagnosis = watcher.wait_for_status("waiting", "no joint state has come")
        assert diagnosis.level == DiagnosticStatus.WARN
        assert diagnosis.name == "/standing_torques: holding torques"

    def test_some_joints_are_not_enough(self, watcher, node, human28, posture):
        watcher.stream(human28.actuated[:27], posture[:27])
        watcher.wait_for_status("waiting", f"no position yet of 1 joints: {human28.actuated[27]}")
        np.testing.assert_array_equal(watcher.named[-1].effort, np.zeros(28))

    def test_torques_are_the_librarys(self, watcher, node, human28, posture):
        rng = np.random.default_rng(1)
        for positions in (posture, posture + 0.01 * rng.standard_normal(28)):
            expected = torques(human28, positions)
            watcher.stream(human28.actuated, positions)
            watcher.wait_for_torques(expected, "the library's torques")
        assert watcher.wait_for_status("holding").level == DiagnosticStatus.OK

    def test_both_forms_agree(self, watcher, node, human28, posture):
        watcher.stream(human28.actuated, posture)
        watcher.wait_for_torques(torques(human28, posture), "the torques of the posture")
        watcher.forget()
        watcher.wait_for(lambda: len(watcher.named) > 3 and len(watcher.plain) > 3, "both forms")
        named = watcher.named[-1]
        assert list(named.effort) == list(watcher.plain[-1].data)
        assert (len(named.position), len(named.velocity), named.header.frame_id) == (0, 0, "")
        assert len(watcher.plain[-1].layout.dim) == 0

    def test_order_of_joints_is_free(self, watcher, node, human28, posture):
        shift = posture.copy()
        shift[3] += 0.02
        watcher.stream(["gripper", *reversed(human28.actuated)], [np.nan, *shift[::-1]])
        watcher.wait_for_torques(torques(human28, shift), "the same torques for another order")
        assert tuple(watcher.named[-1].name) == human28.actuated

    def test_rate(self, watcher, node, human28, posture):
        """As fast as a bare loop that does nothing, timed beside it: the machine may be busy, the node may not be slow; never faster."""
        watcher.stream(human28.actuated, posture)
        rates = []
        for _ in range(8):
            bare = subprocess.Popen([sys.executable, "-c", BARE_LOOP], stdout=subprocess.PIPE, text=True)
            watcher.forget()
            watcher.wait_for(lambda: len(watcher.named) >= 251, "251 commands")
            stamps = np.array([m.header.stamp.sec + 1e-9 * m.header.stamp.nanosec for m in list(watcher.named)[:251]])
            rates.append((250.0 / (stamps[-1] - stamps[0]), float(bare.communicate(timeout=20.0)[0])))
            assert rates[-1][0] < 510.0
            if rates[-1][0] > 0.98 * rates[-1][1]:
                return
        pytest.fail(f"rates of node and bare loop {rates}")

    @pytest.mark.parametrize(
        ("names", "positions", "reason"),
        [
            (["left_knee"], [float("nan")], "a position that is not finite: left_knee"),
            (["left_knee", "right_knee"], [0.1], "2 names but 1 positions"),
            ([], [], "names no joint of human28"),
        ],
    )
    def test_bad_state_keeps_the_last_good_torques(self, watcher, node, human28, posture, names, positions, reason):
        expected = torques(human28, posture)
        watcher.forget()
        watcher.stream(human28.actuated, posture)
        watcher.wait_for_status("holding")
        watcher.wait_for_torques(expected, "the torques of the posture")
        watcher.hush()
        watcher.forget()
        watcher.say(names, positions)
        watcher.wait_for_status("invalid_input", reason)
        np.testing.assert_allclose(watcher.named[-1].effort, expected, atol=1e-9)
        node.wait_to_say(f"invalid_input: joint state has {reason}" if "has " in reason else reason)

    def test_stale_state_fades_to_zero_and_says_so(self, watcher, node, human28, posture):
        full = torques(human28, posture)
        watcher.stream(human28.actuated, posture)
        watcher.wait_for_torques(full, "the torques of the posture")
        watcher.hush()
        watcher.forget()
        watcher.wait_for(lambda: watcher.named and not np.any(watcher.named[-1].effort), "zero torques")
        diagnosis = watcher.wait_for_status("stale", f"no good joint state for {TIMEOUT:g} s")
        assert diagnosis.level == DiagnosticStatus.ERROR
        largest = np.argmax(np.abs(full))
        commands = [(m.header.stamp.sec + 1e-9 * m.header.stamp.nanosec, m.effort[largest] / full[largest]) for m in list(watcher.named)]
        t, share = np.array(commands).T
        fading = (share > 1e-6) & (share < 1 - 1e-6)
        assert np.all(np.diff(share) <= 1e-12)
        assert np.polyfit(t[fading], share[fading], 1)[0] == pytest.approx(-1.0 / DECAY, rel=0.05)
        watcher.stream(human28.actuated, posture)
        watcher.wait_for_torques(full, "the torques again, once states come again")

    def test_bad_states_do_not_keep_torques_alive(self, watcher, node, human28, posture):
        watcher.stream(human28.actuated, posture)
        watcher.wait_for_torques(torques(human28, posture), "the torques of the posture")
        watcher.forget()
        watcher.stream(human28.actuated, posture * np.nan)
        watcher.wait_for(lambda: watcher.named and not np.any(watcher.named[-1].effort), "zero torques")
        assert "not finite" in dict_of(watcher.wait_for_status("stale"))["reason"]

    def test_parameters_are_described(self, watcher, node):
        names = ["robot", "config", "rule", "rate", "timeout", "decay"]
        answer = watcher.ask(DescribeParameters, "/standing_torques/describe_parameters", DescribeParameters.Request(names=names))
        told = {descriptor.name: descriptor for descriptor in answer.descriptors}
        assert all(descriptor.read_only and descriptor.description for descriptor in told.values())
        assert told["rate"].description.endswith("[Hz]")
        assert (told["rate"].floating_point_range[0].from_value, told["rate"].floating_point_range[0].to_value) == (1.0, 2000.0)
        assert told["timeout"].description.endswith("[s]")
        assert told["rule"].type == ParameterType.PARAMETER_STRING

    def test_parameters_cannot_be_changed(self, watcher, node):
        wish = Parameter(name="rate", value=ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=100.0))
        answer = watcher.ask(SetParameters, "/standing_torques/set_parameters", SetParameters.Request(parameters=[wish]))
        assert not answer.results[0].successful
        assert "read-only" in answer.results[0].reason

    def test_quality_of_service(self, watcher, node):
        def one(infos):
            (info,) = [info for info in infos if info.node_name == "standing_torques"]
            return info.qos_profile

        for topic in ("/joint_torque_commands", "/effort_commands"):
            assert one(watcher.node.get_publishers_info_by_topic(topic)).reliability == ReliabilityPolicy.RELIABLE
        assert one(watcher.node.get_subscriptions_info_by_topic("/joint_states")).reliability == ReliabilityPolicy.BEST_EFFORT
        assert not watcher.node.get_subscriptions_info_by_topic("/robot_description")


class TestRobotDescription:
    @pytest.fixture
    def announcer(self, watcher):
        made = []

        def announce(text):
            for old in made:
                watcher.node.destroy_publisher(old)
            made[:] = [watcher.node.create_publisher(String, "robot_description", LATCHED)]
            made[0].publish(String(data=text))

        yield announce
        for old in made:
            watcher.node.destroy_publisher(old)

    def test_announced_before_the_node_starts(self, watcher, announcer, human28, posture):
        announcer(human28.urdf)
        watcher.forget()
        with Running(parameters={"config": "human28", "timeout": TIMEOUT}) as node:
            watcher.stream(human28.actuated, posture)
            watcher.wait_for_torques(torques(human28, posture), "torques")
            watcher.hush()
            (info,) = watcher.node.get_subscriptions_info_by_topic("/robot_description")
            assert info.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL
            assert info.qos_profile.reliability == ReliabilityPolicy.RELIABLE
            assert node.end(signal.SIGTERM)[0] == 0, node.said

    def test_announced_late_wrong_and_right(self, watcher, announcer, human28, posture):
        watcher.forget()
        with Running(parameters={"config": "human28", "timeout": TIMEOUT}) as node:
            assert watcher.wait_for_status("no_robot", "robot_description").level == DiagnosticStatus.WARN
            assert not watcher.named
            announcer("<robot name='half'><link")
            node.wait_to_say("[ERROR]")
            assert re.search(r"robot description refused: \S+", node.said)
            announcer("hello")
            node.wait_to_say("no robot named 'hello'")
            announcer(hd.load_robot("biped7").urdf)
            node.wait_to_say("surfaces.")
            assert node.process.poll() is None
            assert not watcher.named
            announcer(human28.urdf)
            watcher.stream(human28.actuated, posture)
            watcher.wait_for_torques(torques(human28, posture), "torques")
            announcer("<robot/>")
            node.wait_to_say("XML text")
            watcher.forget()
            watcher.wait_for_torques(torques(human28, posture), "torques of the robot it knows")
            announcer(human28.urdf)
            watcher.forget()
            watcher.wait_for(lambda: len(watcher.named) > 250, "more commands")
            assert all(np.any(message.effort) for message in list(watcher.named)), "the same robot announced again is no new robot"
            watcher.hush()
            assert "Traceback" not in node.said
            assert node.end(signal.SIGINT)[0] == 0, node.said


class TestEnding:
    @pytest.mark.parametrize("signals", [(signal.SIGINT,), (signal.SIGTERM,), (signal.SIGINT, signal.SIGINT, signal.SIGTERM)])
    def test_signal_while_running(self, signals):
        command = [str(INSTALLED)] if INSTALLED.exists() else None
        with Running(parameters={"robot": "human28"}, command=command) as node:
            node.wait_to_say("waiting: no joint state has come")
            code, took = node.end(*signals)
            assert code == 0, node.said
            assert took < 3.0
            assert len(node.said.splitlines()) == 2, node.said

    def test_signal_while_starting(self):
        """It comes while numpy, pinocchio and ROS are still being imported."""
        begin = "from humanoid_dynamics.nodes import programs; programs.hold_signals(); print('held', flush=True); "
        with Running(parameters={"robot": "human28"}, command=[sys.executable, "-c", begin + "programs.standing_torques()"]) as node:
            node.wait_to_say("held")
            code, _ = node.end(signal.SIGINT)
            assert code == 0, node.said
            assert "Traceback" not in node.said


REFUSALS = {
    "robot": ({"robot": "humen28"}, "no robot named 'humen28'", "human28"),
    "config": ({"config": "humen28"}, "no robot configuration or YAML file named 'humen28'. Did you mean 'human28'?", "legs12"),
    "rule": ({"rule": "best"}, "no rule named 'best'", "minimum_torque, pseudo_inverse"),
    "type": ({"rate": 500}, "'rate'", "INTEGER"),
}


def test_what_cannot_start_says_why_in_a_sentence():
    """All at once: each is a start and an end."""
    nodes = {name: Running(parameters=parameters) for name, (parameters, _, _) in REFUSALS.items()}
    try:
        for name, (_, *texts) in REFUSALS.items():
            node = nodes[name]
            code, _ = node.end()
            assert code == 2, (name, node.said)
            (line,) = node.said.splitlines()
            assert "[FATAL]" in line
            assert "cannot start: " in line
            assert all(text in line for text in texts), (name, line)
    finally:
        for node in nodes.values():
            node.__exit__()
