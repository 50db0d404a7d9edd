# SPDX-License-Identifier: Apache-2.0
"""Every launch file, started for real where ROS 2's launch is there and the package is installed."""

import importlib.util
import os
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from humanoid_dynamics.graphs.description import load_graph

pytest.importorskip("launch.actions", reason="needs ROS 2's launch, which pip does not have")
pytest.importorskip(
    "launch_ros.actions", reason="needs ROS 2's launch_ros, which pip does not have"
)

ROOT = Path(__file__).parents[2]
PATIENCE = 30.0  # s
SCRIPT = """
import sys
from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
service = LaunchService()
arguments = [argument.split(":=") for argument in sys.argv[2:]]
source = PythonLaunchDescriptionSource(sys.argv[1])
service.include_launch_description(LaunchDescription([IncludeLaunchDescription(source, launch_arguments=arguments)]))
sys.exit(service.run())
"""


@pytest.fixture
def environment(tmp_path):
    packages = pytest.importorskip("ament_index_python.packages")
    environment = os.environ | {
        "AMENT_PREFIX_PATH": os.environ.get("AMENT_PREFIX_PATH", sys.prefix),
        "ROS_DOMAIN_ID": str(random.SystemRandom().randint(51, 101)),
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
        "ROS_LOG_DIR": str(tmp_path),
        "PYTHONUNBUFFERED": "1",
    }
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("AMENT_PREFIX_PATH", environment["AMENT_PREFIX_PATH"])
            packages.get_package_share_path("humanoid_dynamics")
    except packages.PackageNotFoundError:
        pytest.skip("needs humanoid_dynamics installed, by pip or colcon")
    return environment


def launch(environment, *arguments, until):
    """Start robot.launch.py, end it once it has said something; return exit code and output."""
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(ROOT / "launch" / "robot.launch.py"), *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    deadline = threading.Timer(PATIENCE, process.kill)
    deadline.start()
    said = ""
    for line in process.stdout:
        said += line
        if until in line:
            process.send_signal(signal.SIGINT)
    code = process.wait()
    deadline.cancel()
    process.stdout.close()
    return code, said


def test_robot_by_argument(environment):
    code, said = launch(environment, "robot:=human28", until="WAITING: no state received")
    assert "human28: 28 joints, standing on left_foot, right_foot" in said
    assert "process has finished cleanly" in said, said
    assert code == 0


@pytest.mark.parametrize(
    "path", sorted((ROOT / "launch").glob("*.launch.py")), ids=lambda path: path.name
)
def test_every_launch_file_describes_its_graph(path):
    spec = importlib.util.spec_from_file_location("described", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    declared = {
        entity.name
        for entity in module.generate_launch_description().entities
        if hasattr(entity, "default_value")
    }
    assert declared == set(load_graph(path.name.partition(".")[0]).arguments)


def test_unknown_robot_ends_the_launch(environment):
    _, said = launch(environment, "robot:=humen28", until="never")
    assert "no robot named 'humen28'" in said
    assert "exit code 2" in said
    assert "Traceback" not in said
