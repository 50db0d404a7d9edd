# SPDX-License-Identifier: Apache-2.0
"""``humanoid-dynamics up``: a graph of nodes as separate processes, looked after until Ctrl-C."""

# No postponed annotations here: older typer, such as Ubuntu 24.04's, finds no options in them.

import json
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from humanoid_dynamics.cli.choices import read_choices
from humanoid_dynamics.cli.options import OriginOption, PlanOption
from humanoid_dynamics.cli.progress import show_progress
from humanoid_dynamics.errors import HumanoidDynamicsError, MissingExtraError
from humanoid_dynamics.graphs.description import Graph, graph_names, load_graph
from humanoid_dynamics.graphs.kernels import compile_jobs, find_stale_jobs
from humanoid_dynamics.graphs.supervisor import Supervisor, node_command
from humanoid_dynamics.simulation.scenes.names import scene_names
from humanoid_dynamics.viewer.origins import parse_origin

GraphArgument = Annotated[
    str,
    typer.Argument(
        help=f"One of {', '.join(graph_names())}, a graph file, or a scene.",
        metavar="FILE-OR-SCENE",
    ),
]
ChoiceArgument = Annotated[
    list[str], typer.Argument(help="Graph arguments, name:=value.", metavar="[NAME:=VALUE ...]")
]
DurationOption = Annotated[
    float | None, typer.Option("--duration", help="Duration [s]; until Ctrl-C if not given.")
]
HeadlessOption = Annotated[bool, typer.Option("--headless", help="Print errors only.")]
LogsOption = Annotated[str, typer.Option("--logs", help="Folder for logs; a new one if not given.")]
EXAMPLES = """\b
Examples:
  humanoid-dynamics up demo
  humanoid-dynamics up demo robot:=g1 motion:=squat --duration 20
  humanoid-dynamics up robot --json
"""


def up(
    graph: GraphArgument,
    choices: ChoiceArgument = [],  # noqa: B006 - typer wants a list, and nobody changes it
    *,
    duration: DurationOption = None,
    headless: HeadlessOption = False,
    logs: LogsOption = "",
    origin: OriginOption = [],  # noqa: B006 - typer expects a list
    as_json: PlanOption = False,
) -> None:
    """Launch a graph of ROS 2 nodes as processes on this machine, until Ctrl-C."""
    given = read_choices(choices)
    loaded, given = _find(graph, given)
    if headless and "headless" in loaded.arguments:
        given["headless"] = "true"
    if origin and "origins" not in loaded.arguments:
        raise HumanoidDynamicsError(
            f"--origin: received {', '.join(origin)}, but graph {loaded.name} has no page"
        )
    if origin:
        given["origins"] = json.dumps([str(parse_origin(text)) for text in origin])
    nodes = loaded.resolve(given)
    if as_json:
        typer.echo(
            json.dumps(
                {
                    "graph": loaded.name,
                    "title": loaded.title,
                    "commands": {n.name: node_command(n) for n in nodes},
                },
                indent=2,
            )
        )
        return
    if find_spec("rclpy") is None:
        raise MissingExtraError("rclpy", "ros", "a graph of nodes")
    if duration is not None and not duration > 0.0:
        raise HumanoidDynamicsError(
            f"--duration: received {duration:g}, expected a time above zero"
        )
    folder = Path(logs or tempfile.mkdtemp(prefix="humanoid_dynamics_"))
    if not headless:
        typer.echo(f"{loaded.name}: {', '.join(node.name for node in nodes)}; logs in {folder}")
        if any(node.name == "viewer" for node in nodes):
            typer.echo(
                f"page: http://127.0.0.1:{given.get('port', loaded.arguments['port'].default)} (the next free port where it is taken)"
            )
    stale = find_stale_jobs([node.node for node in nodes])
    if stale:
        typer.echo("compiling kernels, once per machine: " + ", ".join(job.name for job in stale))
        with show_progress("compiling kernels") as bar:
            compile_jobs(stale, progress=lambda progress: bar.tell(progress.share))
    code = Supervisor(nodes, folder, lambda said: typer.echo(said, err=True)).run(
        float("inf") if duration is None else duration
    )
    sys.exit(code)


def _find(name: str, given: dict[str, str]) -> tuple[Graph, dict[str, str]]:
    """Return the graph of that name; a scene that is no graph is the simulator alone, with that scene."""
    if name in scene_names() and name not in graph_names():
        return load_graph("scene"), {"scene": name, **given}
    return load_graph(name), given
