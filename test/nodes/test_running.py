# SPDX-License-Identifier: Apache-2.0
"""How every node runs and ends, in processes of their own."""

import os
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path
from time import monotonic

import pytest

pytest.importorskip(
    "rclpy",
    reason="needs ROS 2: pip install 'humanoid_dynamics[ros]', or source a ROS installation",
)

from humanoid_dynamics.nodes import running
from humanoid_dynamics.nodes.running import keep_rate

ROOT = Path(__file__).parents[2]
PATIENCE = 60.0  # s
BEGIN = """
import sys
from time import monotonic
from rclpy.node import Node
from humanoid_dynamics.nodes.running import keep_rate, run
"""


@pytest.fixture
def start(tmp_path):
    """Start a program; whatever is left of it at the end is killed."""
    started = []

    def start(program):
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH")))),
            "ROS_DOMAIN_ID": str(random.SystemRandom().randint(1, 101)),
            "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
            "ROS_LOG_DIR": str(tmp_path),
        }
        command = [sys.executable, "-u", "-c", BEGIN + program]
        started.append(
            subprocess.Popen(
                command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            )
        )
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate(timeout=PATIENCE)


LOOP = """
ticks = 0
def loop(node, stop):
    def tick():
        global ticks
        ticks += 1
        if ticks == 10:
            print("ticking", flush=True)
    keep_rate(200.0, stop, tick)
"""


@pytest.mark.parametrize("executor", ["", "sys.modules['rclpy.experimental'] = None"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_ends_with_0(start, executor, number):
    """With the fast executor and, where a distribution lacks it, with the plain one."""
    process = start(executor + LOOP + "run(lambda: Node('node'), loop)")
    assert process.stdout.readline() == "ticking\n"
    process.send_signal(number)
    begin = monotonic()
    _, said = process.communicate(timeout=PATIENCE)
    assert (process.returncode, said) == (0, "")
    assert monotonic() - begin < 3.0


def test_failing_callback_ends_with_1(start):
    """A node whose callbacks are dead must not go on sending commands."""
    made = "\ndef make():\n    node = Node('node')\n    node.create_timer(0.01, lambda: 1 / 0)\n    return node\n"
    process = start(LOOP + made + "run(make, loop)")
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "ZeroDivisionError" in said


def test_failing_loop_ends_with_1(start):
    process = start(
        "def loop(node, stop):\n    keep_rate(100.0, stop, lambda: 1 / 0)\nrun(lambda: Node('node'), loop)"
    )
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "ZeroDivisionError" in said
    assert "terminate called" not in said


def test_late_ticks_are_not_made_up_for(start):
    """A tick that takes ten periods is followed by the next ones at their own pace, not by a burst."""
    process = start("""
times = []
def loop(node, stop):
    def tick():
        times.append(monotonic())
        if len(times) == 20:
            while monotonic() < times[-1] + 0.1:
                pass
        if len(times) == 40:
            stop.set()
    keep_rate(100.0, stop, tick)
    after = [b - a for a, b in zip(times[20:], times[21:])]
    burst = next((k for k, gap in enumerate(after) if gap >= 0.004), len(after))
    print(burst, min(b - a for a, b in zip(times[:19], times[1:20])) > 0.0)
run(lambda: Node('node'), loop)
""")
    out, said = process.communicate(timeout=PATIENCE)
    assert (process.returncode, said) == (0, "")
    assert int(out.split()[0]) <= 3, out


@pytest.mark.parametrize(
    ("took", "lost"), [(0.0005, 0), (0.008, 0), (0.0115, 0), (0.013, 5), (0.1, 49)]
)
def test_ticks_that_are_a_little_late_are_made_up_for(took, lost, monkeypatch):
    """At 500 Hz, by a clock that nothing disturbs, where one tick in a hundred takes longer than its period."""
    clock, stop, times = [0.0], threading.Event(), []
    monkeypatch.setattr(running, "monotonic", lambda: clock[0])
    monkeypatch.setattr(running.rclpy, "ok", lambda: True)

    def tick():
        times.append(clock[0])
        clock[0] += took if len(times) % 100 == 50 else 0.0001
        if clock[0] > 2.0:
            stop.set()

    def wait(due):
        clock[0] = max(clock[0], due)
        return False

    keep_rate(500.0, stop, tick, wait)
    due = round(500.0 * times[-1])
    assert due - len(times) == pytest.approx(lost * (len(times) // 100), abs=1.0 + lost)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_node_that_waits_awake_ends_with_0(start, number):
    process = start("""
from humanoid_dynamics.nodes.effort_guard import main
sys.argv += ["--ros-args", "-p", "busy_wait:=true", "-p", "joints:=['knee']", "-p", "effort_limits:=[1.0]", "-p", "safe_output:=zero"]
main()
""")
    said = ""
    while "WAITING" not in said:
        said = process.stderr.readline()
        assert said, "it ended before it was ready"
    process.send_signal(number)
    begin = monotonic()
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert monotonic() - begin < 3.0


def test_stopped_and_continued_it_goes_on(start):
    """A process that is suspended while it waits for its next tick gets no signal to end."""
    process = start(LOOP + "run(lambda: Node('paused'), loop)")
    assert process.stdout.readline() == "ticking\n"
    for _ in range(3):
        process.send_signal(signal.SIGSTOP)
        threading.Event().wait(0.1)
        process.send_signal(signal.SIGCONT)
        threading.Event().wait(0.1)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 0


BUSY = """
import ctypes
mutex = ctypes.create_string_buffer(64)
def compile():
    \"\"\"Never return from code outside Python, and take no notice of signals, as a compiler does for long.\"\"\"
    print("compiling", flush=True)
    for _ in range(2):
        ctypes.CDLL(None).pthread_mutex_lock(mutex)
"""
LATER = """
from rclpy.parameter import Parameter
from humanoid_dynamics.nodes.effort_guard import EffortGuardNode
EffortGuardNode.prepare = lambda node: compile()
def make():
    values = {"joints": ["a"], "effort_limits": [1.0], "autostart": False, "busy_wait": %s}
    node = EffortGuardNode(parameter_overrides=[Parameter(name, value=value) for name, value in values.items()])
    node.create_timer(0.01, node.trigger_configure)
    return node
run(make, lambda node, stop: keep_rate(200.0, stop, lambda: None, node.wait))
"""


@pytest.mark.parametrize(
    ("program", "number"),
    [
        ("run(compile, None)", signal.SIGINT),
        (LATER % False, signal.SIGINT),
        (LATER % True, signal.SIGTERM),
    ],
    ids=["at the start", "later", "later, busy wait"],
)
def test_a_signal_is_heard_while_code_is_compiled(start, program, number):
    process = start(BUSY + program)
    assert process.stdout.readline() == "compiling\n"
    threading.Event().wait(0.1)
    process.send_signal(number)
    begin = monotonic()
    assert process.wait(PATIENCE) == 0
    assert monotonic() - begin < 3.0


def test_a_signal_is_heard_while_kernels_are_compiled(tmp_path):
    """The program of a node with nothing in its cache."""
    environment = os.environ | {
        "NUMBA_CACHE_DIR": str(tmp_path),
        "ROS_DOMAIN_ID": str(random.SystemRandom().randint(1, 101)),
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
        "ROS_LOG_DIR": str(tmp_path),
    }
    command = [
        sys.executable,
        "-m",
        "humanoid_dynamics.nodes.programs",
        "inverse_dynamics",
        "--ros-args",
        "-p",
        "robot:=legs12",
    ]
    process = subprocess.Popen(
        command, env=environment, cwd=ROOT, stderr=subprocess.PIPE, text=True
    )
    try:
        assert "12 joints" in process.stderr.readline()
        threading.Event().wait(0.5)
        process.send_signal(signal.SIGINT)
        begin = monotonic()
        assert process.wait(PATIENCE) == 0
        assert monotonic() - begin < 3.0
    finally:
        process.kill()
        process.communicate()
