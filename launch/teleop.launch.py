# SPDX-License-Identifier: Apache-2.0
"""``ros2 launch humanoid_dynamics teleop.launch.py``: the graph ``teleop`` of config/graphs."""

from launch import LaunchDescription

from humanoid_dynamics.nodes.launching import describe_graph


def generate_launch_description() -> LaunchDescription:
    """Describe the graph; its arguments are those of the file."""
    return describe_graph("teleop")
