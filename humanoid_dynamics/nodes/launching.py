# SPDX-License-Identifier: Apache-2.0
"""A graph as a description for ``ros2 launch``: the same nodes, parameters and names as ``humanoid-dynamics up`` starts."""

from __future__ import annotations

import os
from typing import Any

from launch import LaunchContext, LaunchDescription  # type: ignore[attr-defined]  # a folder of ours has the same name
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from humanoid_dynamics.graphs.description import Graph, load_graph
from humanoid_dynamics.graphs.supervisor import with_short_lease


def describe_graph(name: str) -> LaunchDescription:
    """Return the description of a graph.

    Args:
        name: Its name.
    """
    graph = load_graph(name)
    arguments = [
        DeclareLaunchArgument(key, default_value=argument.default, description=argument.description)
        for key, argument in graph.arguments.items()
    ]
    return LaunchDescription([*arguments, OpaqueFunction(function=start_nodes, args=[graph])])


def start_nodes(context: LaunchContext, graph: Graph) -> list[Any]:
    """Return the nodes with the arguments that were given.

    Args:
        context: Where the arguments are.
        graph: The graph.
    """
    profile = with_short_lease(dict(os.environ))
    given = {key: LaunchConfiguration(key).perform(context) for key in graph.arguments}
    return [
        Node(
            package="humanoid_dynamics",
            executable=node.node,
            name=node.name,
            namespace=node.namespace or None,
            output="screen",
            parameters=[dict(node.parameters)],
            remappings=list(node.remappings.items()),
            additional_env={
                name: value for name, value in profile.items() if name not in os.environ
            },
        )
        for node in graph.resolve(given)
    ]
