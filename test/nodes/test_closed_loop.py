# SPDX-License-Identifier: Apache-2.0
"""Simulator, controller and guard over topics: in this process bit for bit, and as processes of their own from the graph."""

import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from time import monotonic

import numpy as np
import pytest

rclpy = pytest.importorskip(
    "rclpy",
    reason="needs ROS 2: pip install 'humanoid_dynamics[ros]', or source a ROS installation",
)

from geometry_msgs.msg import WrenchStamped  # noqa: E402
from rclpy.node import Node  # noqa: E402
from rosgraph_msgs.msg import Clock  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from wires import Wires  # noqa: E402

from humanoid_dynamics.model.load import load_robot  # noqa: E402
from humanoid_dynamics.nodes.adapter import make_qos  # noqa: E402
from humanoid_dynamics.nodes.interfaces import Topic  # noqa: E402
from humanoid_dynamics.nodes.messages import seconds  # noqa: E402
from humanoid_dynamics.nodes.simulator import SimulatorNode  # noqa: E402
from humanoid_dynamics.nodes.together import run_in_lock_step  # noqa: E402

LATE = make_qos(Topic("", "in", "", "clock", ""))
ROOT = Path(__file__).parents[2]


pytestmark = pytest.mark.usefixtures("ros")


def test_twice_the_same_is_the_same_to_the_last_bit():
    runs = [run_in_lock_step("human28", 0.2, rate=500.0) for _ in range(2)]
    assert runs[0].digest == runs[1].digest
    assert runs[0].statuses == {
        "simulator": "RUNNING",
        "inverse_dynamics": "STANDING",
        "effort_guard": "PASSING",
    }
    assert runs[0].seen == {"STANDING": 100}
    assert abs(runs[0].height) < 1e-4


def test_by_call_it_is_the_same_as_over_topics():
    runs = [run_in_lock_step("human28", 0.2, rate=500.0, link=link) for link in ("topics", "call")]
    assert runs[0].digest == runs[1].digest
    assert runs[1].statuses == {"simulator": "RUNNING", "inverse_dynamics": "STANDING"}


def test_a_motion_begins_at_its_time_however_late_it_comes():
    """The world waits for the motion, and the motion for the clock: what happens hangs on simulated time alone."""
    runs = [
        run_in_lock_step("human28", 0.8, rate=500.0, motion="squat", link=link)
        for link in ("topics", "call", "call")
    ]
    assert len({run.digest for run in runs}) == 1
    assert all(run.seen == {"FOLLOWING": 400} for run in runs)
    assert -0.03 < runs[0].height < -0.003
    assert runs[0].digest != run_in_lock_step("human28", 0.8, rate=500.0, link="call").digest


@pytest.mark.slow
@pytest.mark.parametrize(
    ("robot", "rate"),
    [
        ("human28", 500.0),
        ("human28", 1000.0),
        ("g1", 500.0),
        ("g1", 1000.0),
        ("talos_reduced", 500.0),
        ("talos_reduced", 1000.0),
        ("talos", 500.0),
        ("talos", 1000.0),
    ],
)
def test_it_stands_and_steps_on_topics(robot, rate):
    run = run_in_lock_step(robot, 8.5, rate=rate, motion="step", patience=250.0)
    assert run.statuses["inverse_dynamics"] == "REFERENCE_ENDED"
    assert run.statuses["effort_guard"] == "PASSING"
    assert "FALLEN" not in run.seen
    assert abs(run.height) < 5e-3


class Pusher(Node):
    """Pushes the root link once, by the clock of the simulator."""

    def __init__(self, robot, at, force):
        super().__init__("pusher")
        self.at, self.force, self.link = at, force, load_robot(robot).links[0]
        self.out = self.create_publisher(WrenchStamped, "/together/push", 10)
        self.create_subscription(Clock, "/together/clock", self.look, LATE)

    def look(self, clock):
        if seconds(clock.clock) >= self.at:
            self.at = np.inf
            message = WrenchStamped()
            message.header.frame_id = self.link
            message.wrench.force.x, message.wrench.force.y, message.wrench.force.z = self.force
            self.out.publish(message)


@pytest.mark.slow
@pytest.mark.parametrize("force", [(120.0, 0.0, 0.0), (-120.0, 0.0, 0.0), (0.0, 120.0, 0.0)])
@pytest.mark.parametrize("robot", ["talos", "talos_reduced"])
def test_it_is_pushed_while_it_squats(robot, force):
    """A push of 12 N·s, which gives the body more than 0.1 m/s."""
    pusher = Pusher(robot, 1.5, force)
    run = run_in_lock_step(robot, 6.0, rate=500.0, motion="squat", patience=250.0, others=[pusher])
    pusher.destroy_node()
    assert pusher.at == np.inf
    assert run.statuses["inverse_dynamics"] == "REFERENCE_ENDED"
    assert run.statuses["effort_guard"] == "PASSING"
    assert "FALLEN" not in run.seen
    assert abs(run.height) < 5e-3


@pytest.mark.slow
def test_ten_minutes_of_standing():
    run = run_in_lock_step("human28", 600.0, rate=200.0, patience=3000.0)
    assert run.statuses["inverse_dynamics"] == "STANDING"
    assert abs(run.height) < 1e-3


def up(*arguments):
    program = "import sys; from humanoid_dynamics.cli import main; main()"
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    }
    command = [sys.executable, "-c", program, "up", *arguments]
    return subprocess.Popen(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def test_the_graph_comes_up_as_processes_and_ends_cleanly(tmp_path):
    process = up(
        "demo",
        "real_time_factor:=0.0",
        "motion:=stand",
        "repeat:=false",
        "viewer:=false",
        "--duration",
        "150",
        "--headless",
        "--logs",
        str(tmp_path),
    )
    end = monotonic() + 100.0
    pause = threading.Event()
    awaited = {
        "effort_guard": "PASSING",
        "simulator": "RUNNING",
    }  # the one tells it before the other has taken its first command
    while monotonic() < end and not all(
        word in read_logs(tmp_path).get(node, "") for node, word in awaited.items()
    ):
        pause.wait(0.1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    logs = read_logs(tmp_path)
    said = [
        line for line in err.splitlines() if not line.startswith("getting ready: ")
    ]  # told where that takes long
    assert (process.returncode, out, said) == (0, "", []), logs
    assert set(logs) == {"simulator", "effort_guard", "inverse_dynamics", "motion_player"}
    assert "RUNNING" in logs["simulator"], logs
    assert re.search("standing|following", logs["inverse_dynamics"]), logs
    assert not [name for name, log in logs.items() if "Traceback" in log], logs


def read_logs(folder):
    return {path.stem: path.read_text() for path in folder.glob("*.log")}


def test_a_node_that_cannot_start_ends_the_graph_with_its_code(tmp_path):
    process = up("scene", "scene:=nowhere", "--headless", "--logs", str(tmp_path))
    _, err = process.communicate(timeout=50)
    assert process.returncode == 2
    assert "ended with 2" in err
    assert "nowhere" in read_logs(tmp_path)["simulator"]


@pytest.fixture(scope="module")
def wires():
    wires = Wires(
        SimulatorNode, robot="human28", rate=50.0, command_timeout=0.3, pose_rate=5.0
    ).begin()
    wires.names = list(wires.node.robot.actuated)
    yield wires
    wires.end()


def command(wires, effort=None, names=None):
    names = wires.names if names is None else names
    message = JointState(
        name=list(names),
        effort=[float(x) for x in (np.full(len(names), 1.0) if effort is None else effort)],
    )
    message.header.stamp = wires.now()
    return message


def step(wires):
    """Let the node take a period, and return the state it shows."""
    before = wires.counts["joint_states"]
    wires.node.tick()
    wires.wait(lambda: wires.counts["joint_states"] > before, "a state is shown")
    return wires.heard["joint_states"]


def restart(wires):
    assert wires.call("reset").success
    wires.expect("WAITING")
    wires.out["joint_torque_commands"].publish(command(wires))
    wires.wait(lambda: wires.node._live.begun, "the command has come")
    command_until_running(wires)


def command_until_running(wires):
    """Steps with a fresh command each: on a machine that stalls, one alone may be too old when it is looked at."""

    def command_and_step():
        wires.out["joint_torque_commands"].publish(command(wires))
        return step(wires)

    wires.wait(lambda: command_and_step() and wires.status == "RUNNING", "it runs")


def test_before_a_command_it_shows_where_it_is(wires):
    wires.call("reset")
    state = step(wires)
    assert not np.any(state.velocity)
    wires.wait(lambda: "robot_description" in wires.heard, "the robot is described")
    assert "<robot" in wires.heard["robot_description"].data
    assert wires.status == "WAITING"


COMMANDS = {
    "not a number": {"effort": np.full(28, np.nan)},
    "one infinite": {"effort": np.array([np.inf, *np.zeros(27)])},
    "too few": {"effort": np.ones(3)},
    "unknown motor": {"names": ["wing"]},
    "nothing": {"names": []},
}


@pytest.mark.parametrize("fault", COMMANDS)
def test_bad_command(wires, fault):
    restart(wires)
    before = wires.node._live._tau.copy()
    wires.out["joint_torque_commands"].publish(command(wires, **COMMANDS[fault]))
    wires.wait(lambda: wires.node._live.fault, "it is refused")
    np.testing.assert_array_equal(wires.node._live._tau, before)
    step(wires)
    wires.expect("REFUSED")
    wires.out["joint_torque_commands"].publish(command(wires))
    wires.wait(lambda: not wires.node._live.fault, "a good one is taken")
    command_until_running(wires)


def test_commands_that_stop_switch_the_motors_off(wires):
    restart(wires)
    wires.wait(lambda: step(wires) and wires.status == "NO_COMMAND", "the command is too old")
    assert not wires.node._live._tau.any()
    command_until_running(wires)


@pytest.mark.parametrize(("force", "frame"), [(np.nan, "torso"), (np.inf, "torso"), (10.0, "wing")])
def test_a_push_that_makes_no_sense_is_passed_over(wires, force, frame):
    restart(wires)
    message = WrenchStamped()
    message.header.frame_id, message.wrench.force.x = frame, force
    wires.out["push"].publish(message)
    assert np.isfinite(step(wires).velocity).all()
    assert wires.node._live.world._stepper.pushes == []


def test_pause_step_and_go_on(wires):
    restart(wires)
    assert wires.call("pause", data=True).success
    t = wires.node._live.world.t
    state = step(wires)
    wires.expect("PAUSED")
    assert not np.any(state.velocity)
    assert wires.node._live.world.t == t
    assert wires.call("step").success
    assert wires.node._live.world.t == pytest.approx(t + 0.02)
    assert wires.call("pause", data=False).success
    assert not wires.call("step").success
