# SPDX-License-Identifier: Apache-2.0
"""One job of kernels, compiled in this process: python -m humanoid_dynamics.graphs.kernel_jobs JOB ROBOT prints what it did as JSON."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict

import numpy as np

from humanoid_dynamics.control.balance import BalanceController
from humanoid_dynamics.errors import HumanoidDynamicsError
from humanoid_dynamics.estimation.base import BaseEstimator
from humanoid_dynamics.filtering.filter import DynamicsFilter
from humanoid_dynamics.filtering.poses.teleoperation import Teleoperation
from humanoid_dynamics.filtering.walking import WalkingFilter
from humanoid_dynamics.model.load import load_robot
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.resolution.inverse import InverseDynamics
from humanoid_dynamics.resolution.rules import RULES
from humanoid_dynamics.simulation.live import LiveWorld
from humanoid_dynamics.solvers.qp import QpWorkspace
from humanoid_dynamics.spatial.compiling import count_compilations

LOOK = 0.5  # s; how often a job looks whether its parent lives
SAMPLES, SAMPLE_TIME = 400, 0.005  # of a robot at rest, for the estimator


def build_solver(_: RobotModel) -> None:
    """Make the solver of quadratic programs."""
    QpWorkspace(1, 0, 0)


def build_controller(robot: RobotModel) -> None:
    """Make inverse dynamics by every rule, and the balance controller."""
    for rule in RULES:
        InverseDynamics(robot, rule=rule)
    BalanceController(robot)


def build_filter(robot: RobotModel) -> None:
    """Make the filters of clips, poses and velocity commands."""
    DynamicsFilter(robot)
    Teleoperation(robot, robot.stance[:1])
    WalkingFilter(robot)


def build_simulation(robot: RobotModel) -> None:
    """Make a simulation."""
    LiveWorld.of_robot(robot, compiled=True).warm_up()


def build_estimator(robot: RobotModel) -> None:
    """Make an estimator and let it see a robot at rest."""
    estimator, joints = BaseEstimator(robot), robot.posture[7:]
    still = np.zeros(robot.nv - 6)
    for k in range(SAMPLES):
        estimator.add_imu(SAMPLE_TIME * k, np.zeros(3), -robot.model.gravity.linear)
        estimator.add_joints(SAMPLE_TIME * k, joints, still, still)
        estimator.estimate()


BUILDERS: Mapping[str, Callable[[RobotModel], None]] = {
    "solver": build_solver,
    "controller": build_controller,
    "filter": build_filter,
    "simulation": build_simulation,
    "estimator": build_estimator,
}


def main(arguments: list[str]) -> int:
    """Compile what a job needs and is not in the cache.

    Args:
        arguments: Name of the job and source of the robot.

    Returns:
        Exit status: 0, or 1 where the robot cannot do this job.
    """
    name, source = arguments
    _end_with_parent(os.getppid())
    try:
        BUILDERS[name](load_robot(source))
    except HumanoidDynamicsError as refusal:
        sys.stdout.write(json.dumps({"reason": " ".join(str(refusal).split())}) + "\n")
        return 1
    sys.stdout.write(json.dumps(asdict(count_compilations())) + "\n")
    return 0


def _end_with_parent(parent: int) -> None:
    """End this process when its parent has ended, however that ended."""
    done = threading.Event()

    def watch() -> None:
        while not done.wait(LOOK):
            if os.getppid() != parent:
                os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
