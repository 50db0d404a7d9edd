# SPDX-License-Identifier: Apache-2.0
"""A process that was killed is soon forgotten, so that the guard can be armed again."""

import os
import random
import signal
import subprocess
import sys
from time import monotonic

import pytest

rclpy = pytest.importorskip(
    "rclpy",
    reason="needs ROS 2: pip install 'humanoid_dynamics[ros]', or source a ROS installation",
)

from humanoid_dynamics.graphs.supervisor import PROFILES, local_environment, with_short_lease  # noqa: E402

SPEAK = """
import sys, threading
import rclpy
from rclpy.node import Node
from std_msgs.msg import String
rclpy.init()
node = Node("speaker")
node.create_publisher(String, "said", 1)
print("ready", flush=True)
threading.Event().wait()
"""
COUNT = """
import sys, threading
import rclpy
from rclpy.node import Node
rclpy.init()
node, pause = Node("listener"), threading.Event()
for wanted in (1, 0):
    while node.count_publishers("/said") != wanted:
        pause.wait(0.02)
    print(wanted, flush=True)
"""


@pytest.mark.slow
def test_a_killed_sender_is_forgotten_within_seven_seconds(tmp_path):
    domain = {
        "ROS_DOMAIN_ID": str(random.SystemRandom().randint(1, 101)),
        "ROS_LOG_DIR": str(tmp_path),
    }
    environment = local_environment() | domain
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True
        )
        for code in (SPEAK, COUNT)
    ]
    speaker, listener = processes
    try:
        assert listener.stdout.readline() == "1\n"
        speaker.send_signal(signal.SIGKILL)
        begin = monotonic()
        assert listener.stdout.readline() == "0\n"
        assert monotonic() - begin < 7.0
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def test_a_profile_of_the_user_stays():
    own = dict.fromkeys(PROFILES[:1], "mine.xml")
    assert with_short_lease(dict(own)) == own
    assert all(os.path.isfile(path) for path in with_short_lease({}).values())
