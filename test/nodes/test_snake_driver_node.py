# SPDX-License-Identifier: Apache-2.0
"""The node ``snake_driver`` in a process of its own, over the real middleware: a heading on a topic turns into torques."""

import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic

import numpy as np
import pytest

import humanoid_dynamics as hd

rclpy = pytest.importorskip(
    "rclpy",
    reason="needs ROS 2: pip install 'humanoid_dynamics[ros]', or source a ROS installation",
)

from diagnostic_msgs.msg import DiagnosticArray  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import Float64  # noqa: E402

ROOT = Path(__file__).parents[2]
PROGRAM = "from humanoid_dynamics.nodes.programs import snake_driver; snake_driver()"
PATIENCE = 60.0  # s; a machine under load starts a process in several
TIMEOUT, DECAY = 0.5, 0.6  # s; a busy machine keeps joint states coming that often
BENT = {"heading": 0.0, "joint1": 0.6, "joint2": -0.5, "joint3": 0.4, "joint4": -0.7}


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    """The node, and one beside it that talks to it, on a private domain on this machine alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROS_DOMAIN_ID", str(random.SystemRandom().randint(1, 50)))
        patch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
        patch.setenv("ROS_LOG_DIR", str(tmp_path_factory.mktemp("ros_log")))
        patch.setenv(
            "PYTHONPATH", os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
        )
        settings = (
            "--params-file",
            str(ROOT / "config/nodes/snake_driver.yaml"),
            "-p",
            "robot:=snake5",
            "-p",
            f"timeout:={TIMEOUT}",
            "-p",
            f"fade_out_duration:={DECAY}",
        )
        command = [sys.executable, "-c", PROGRAM, "--ros-args", *settings]
        process = subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        bench = Bench(process)
        yield bench
        bench.close()


class Bench:
    """Speaks to the node at an even rate and hears what it says; all in one thread."""

    def __init__(self, process):
        self.process, self.robot = process, hd.load_robot("snake5")
        self.context = rclpy.Context()
        rclpy.init(context=self.context, signal_handler_options=rclpy.SignalHandlerOptions.NO)
        self.node = rclpy.create_node("bench", context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.commands, self.diagnoses = [], []
        self.node.create_subscription(
            JointState, "unguarded/joint_torque_commands", self.commands.append, 100
        )
        self.node.create_subscription(DiagnosticArray, "/diagnostics", self.diagnoses.append, 100)
        self.states = self.node.create_publisher(JointState, "joint_states", 10)
        self.headings = self.node.create_publisher(Float64, "heading", 10)
        self.names = [joint.name for joint in self.robot.joints]
        self.state = None

    def wait_for(self, question, what):
        end, due = monotonic() + PATIENCE, 0.0
        while not question():
            assert monotonic() < end, (
                f"never came: {what}; the node says {self.process.poll()}, {self.reasons()[-3:]}"
            )
            if self.state is not None and monotonic() >= due:
                self.states.publish(self.state)
                due = monotonic() + 0.01
            self.executor.spin_once(timeout_sec=0.005)

    def wait_for_status(self, status, reason=""):
        self.diagnoses.clear()
        self.wait_for(
            lambda: any(s == status and reason in r for s, r in self.reasons()),
            f"{status} {reason}",
        )
        self.commands.clear()
        self.wait_for(lambda: len(self.commands) > 2, "commands")
        return np.array(self.commands[-1].effort)

    def reasons(self):
        return [
            (s.message, {pair.key: pair.value for pair in s.values}["reason"])
            for m in self.diagnoses
            for s in m.status
        ]

    def put(self, **positions):
        self.state = JointState(
            name=self.names, position=[float(positions.get(name, 0.0)) for name in self.names]
        )
        self.state.velocity = [0.0] * len(self.names)

    def close(self):
        self.process.kill()
        self.process.wait(PATIENCE)
        self.process.stdout.close()
        self.executor.shutdown()
        self.node.destroy_node()
        rclpy.try_shutdown(context=self.context)


MOVING = ("DRIVING", "SINGULAR", "GRIPPING")


def test_a_heading_on_a_topic_drives_and_faults_do_not(bench):
    """One process, asked one thing after the other."""
    bench.wait_for(lambda: bench.commands, "torque commands")
    assert tuple(bench.commands[-1].name) == bench.robot.actuated
    assert not bench.wait_for_status("WAITING", "no joint state yet of").any()

    bench.put(**BENT)
    assert not bench.wait_for_status("WAITING", "no heading has come").any()

    bench.headings.publish(Float64(data=1.2))
    bench.diagnoses.clear()
    bench.wait_for(lambda: any(s in MOVING for s, _ in bench.reasons()), "driving")
    bench.commands.clear()
    bench.wait_for(
        lambda: any(np.abs(c.effort).max() > 1e-3 for c in bench.commands), "torques that drive"
    )
    assert np.isfinite([c.effort for c in bench.commands]).all()
    aims = []

    def aim_arrives():
        aims.extend(
            float(p.value)
            for m in bench.diagnoses
            for s in m.status
            for p in s.values
            if p.key == "aim"
        )
        return bool(aims) and abs(aims[-1] - 1.2) < 0.01

    bench.wait_for(aim_arrives, "the aim at the heading")

    bench.headings.publish(Float64(data=float("nan")))
    bench.wait_for_status("INVALID_INPUT", "the heading is nan; the last good one is kept")
    bench.headings.publish(Float64(data=1.2))
    bench.diagnoses.clear()
    bench.wait_for(lambda: any(s in MOVING for s, _ in bench.reasons()), "driving again")

    bench.put(**{**BENT, "joint2": float("nan")})
    bench.wait_for_status("STALE", "not finite, or much too large")
    bench.put(**BENT)
    bench.diagnoses.clear()
    bench.wait_for(lambda: any(s in MOVING for s, _ in bench.reasons()), "driving with good states")

    bench.state = None
    bench.wait_for_status("STALE")
    bench.wait_for(
        lambda: bench.commands and not np.any(bench.commands[-1].effort), "torques faded to zero"
    )

    bench.process.send_signal(signal.SIGINT)
    assert bench.process.wait(PATIENCE) == 0
