# SPDX-License-Identifier: Apache-2.0
"""The programs a robot starts: what comes before numpy and ROS are imported."""

from __future__ import annotations

import signal
import sys
from functools import partial
from importlib import import_module
from importlib.util import find_spec

from humanoid_dynamics.errors import MissingExtraError
from humanoid_dynamics.program import ENDING, interruptible, use_one_blas_thread

REFUSED = 2  # exit code


def hold_signals() -> None:
    """Keep SIGINT and SIGTERM pending until the program asks for them, so that they never break anything half way."""
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)


def need_ros() -> None:
    """End with a sentence where there is no ROS."""
    if find_spec("rclpy") is None:
        sys.stderr.write(
            f"error: {MissingExtraError('rclpy', 'ros', 'a node')}, or source a ROS installation\n"
        )
        sys.exit(REFUSED)


def _run(name: str) -> None:
    need_ros()
    hold_signals()
    use_one_blas_thread()
    with interruptible():
        module = import_module(f"humanoid_dynamics.nodes.{name}")
    module.main()


simulator = partial(_run, "simulator")
inverse_dynamics = partial(_run, "inverse_dynamics")
state_estimator = partial(_run, "state_estimator")
effort_guard = partial(_run, "effort_guard")
motion_player = partial(_run, "motion_player")
dynamics_filter = partial(_run, "dynamics_filter")
monitor = partial(_run, "monitor")
viewer = partial(_run, "viewer")
snake_driver = partial(_run, "snake_driver")
recorder = partial(_run, "recorder")
bag_player = partial(_run, "bag_player")


if __name__ == "__main__":
    _run(sys.argv.pop(1))
