# SPDX-License-Identifier: Apache-2.0
"""``humanoid-dynamics record``: topics of a running graph, into a bag."""

# No postponed annotations here: older typer, such as Ubuntu 24.04's, finds no options in them.

import json
import os
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from humanoid_dynamics.cli.options import PlanOption
from humanoid_dynamics.errors import HumanoidDynamicsError, MissingExtraError, RecordError
from humanoid_dynamics.graphs.description import GraphNode
from humanoid_dynamics.graphs.supervisor import local_environment, node_command

FILE = ".mcap"
FileArgument = Annotated[
    str,
    typer.Argument(
        help="Bag: an .mcap file, which is overwritten, or a new folder.", metavar="FILE"
    ),
]
TopicsArgument = Annotated[
    list[str],
    typer.Argument(
        help="Topics or regular expressions; the topics of this package by default.",
        metavar="[TOPIC ...]",
    ),
]
AllOption = Annotated[bool, typer.Option("--all", help="Record every topic.")]
DurationOption = Annotated[
    float | None, typer.Option("--duration", help="Duration [s]; until Ctrl-C if not given.")
]
SimTimeOption = Annotated[
    bool, typer.Option("--use-sim-time", help="Stamp messages with the time of /clock.")
]
EXAMPLES = """\b
Examples:
  humanoid-dynamics record run.mcap
  humanoid-dynamics record run --use-sim-time --duration 20
  humanoid-dynamics record run.mcap --json
  humanoid-dynamics record legs.mcap /joint_states /odom '/contact_wrenches/.*'
"""


def record(
    file: FileArgument,
    topics: TopicsArgument = [],  # noqa: B006 - typer wants a list, and nobody changes it
    *,
    everything: AllOption = False,
    duration: DurationOption = None,
    use_sim_time: SimTimeOption = False,
    as_json: PlanOption = False,
) -> None:
    """Record ROS 2 topics into a bag for Foxglove, PlotJuggler and ros2 bag, until Ctrl-C."""
    if duration is not None and not duration > 0.0:
        raise HumanoidDynamicsError(
            f"--duration: received {duration:g}, expected a time above zero"
        )
    path = Path(file)
    if path.suffix not in {FILE, ""}:
        raise RecordError(file, f"ends in {path.suffix!r}, expected an .mcap file, or a folder")
    if path.suffix == "" and path.exists():
        raise RecordError(
            file,
            "exists already; expected an .mcap file, which is replaced, or a folder that does not exist yet",
        )
    parameters: dict[str, Any] = {
        "file": file,
        "all_topics": everything,
        "use_sim_time": use_sim_time,
    }
    if topics:
        parameters["topics"] = list(topics)
    node = GraphNode(
        "recorder", "recorder", parameters | ({} if duration is None else {"seconds": duration}), {}
    )
    become(node, dict(os.environ), as_json)


def become(node: GraphNode, environment: Mapping[str, str], as_json: bool) -> None:
    """Run a node in place of this process.

    Args:
        node: The node.
        environment: Its environment.
        as_json: Whether to write its command as JSON instead.

    Raises:
        MissingExtraError: If there is no ROS, or nothing that reads bags.
    """
    if as_json:
        typer.echo(json.dumps({"commands": {node.name: node_command(node)}}, indent=2))
        return
    for package, extra in (("rclpy", "ros"), ("rosbags", "bags")):
        if find_spec(package) is None:
            raise MissingExtraError(package, extra, f"the node {node.name}")
    known = {
        name: value for name, value in local_environment().items() if name not in os.environ
    } | dict(environment)
    if "ROS_AUTOMATIC_DISCOVERY_RANGE" not in environment:
        known.pop("ROS_AUTOMATIC_DISCOVERY_RANGE", None)
    command = node_command(node)
    os.execve(command[0], command, known)  # noqa: S606 - the command is ours
