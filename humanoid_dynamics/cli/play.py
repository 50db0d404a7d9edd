# SPDX-License-Identifier: Apache-2.0
"""``humanoid-dynamics play``: what a bag holds, said again on topics."""

# No postponed annotations here: older typer, such as Ubuntu 24.04's, finds no options in them.

from pathlib import Path
from typing import Annotated, Any

import typer

from humanoid_dynamics.cli.choices import read_choices
from humanoid_dynamics.cli.options import PlanOption
from humanoid_dynamics.cli.record import become
from humanoid_dynamics.errors import HumanoidDynamicsError, RecordError
from humanoid_dynamics.graphs.description import GraphNode
from humanoid_dynamics.graphs.supervisor import local_environment

FileArgument = Annotated[
    str, typer.Argument(help="Bag: an .mcap file or a bag folder.", metavar="FILE")
]
NamesArgument = Annotated[
    list[str], typer.Argument(help="Topic remappings, /old:=/new.", metavar="[/OLD:=/NEW ...]")
]
SpeedOption = Annotated[float, typer.Option("--speed", help="Playback speed; 1 is real time.")]
LoopOption = Annotated[bool, typer.Option("--loop", help="Start again at the end.")]
ClockOption = Annotated[
    float,
    typer.Option(
        "--clock", help="Publish the time of the bag on /clock at this rate [Hz]; 0 publishes none."
    ),
]
StartOption = Annotated[float, typer.Option("--start", help="Start offset in the bag [s].")]
TopicOption = Annotated[
    list[str],
    typer.Option("--topic", help="Topic to play; may be repeated. All topics by default."),
]
SimTimeOption = Annotated[
    bool,
    typer.Option(
        "--use-sim-time", help="Publish each message when /clock reaches its recorded time."
    ),
]
EXAMPLES = """\b
Examples:
  humanoid-dynamics play run.mcap
  humanoid-dynamics play run.mcap --clock 100 --speed 0.5 --loop
  humanoid-dynamics play run.mcap --json
  humanoid-dynamics play run.mcap --topic /reference/joints --topic /reference/base /reference/joints:=/robot/reference/joints
"""


def play(  # noqa: PLR0913  # one for each option
    file: FileArgument,
    names: NamesArgument = [],  # noqa: B006 - typer wants a list, and nobody changes it
    *,
    rate: SpeedOption = 1.0,
    loop: LoopOption = False,
    clock: ClockOption = 0.0,
    start: StartOption = 0.0,
    topic: TopicOption = [],  # noqa: B006 - as above
    use_sim_time: SimTimeOption = False,
    as_json: PlanOption = False,
) -> None:
    """Play back a bag on ROS 2 topics, on this machine only unless ROS_AUTOMATIC_DISCOVERY_RANGE is set."""
    for option, value, least in (
        ("--speed", rate, 0.01),
        ("--clock", clock, 0.0),
        ("--start", start, 0.0),
    ):
        if not value >= least:
            raise HumanoidDynamicsError(
                f"{option}: received {value:g}, expected at least {least:g}"
            )
    if not Path(file).exists():
        raise RecordError(file, "does not exist; expected an .mcap file, or the folder of a bag")
    parameters: dict[str, Any] = {
        "file": file,
        "speed": rate,
        "loop": loop,
        "clock": clock,
        "start": start,
        "stay": False,
    }
    if topic:
        parameters["topics"] = list(topic)
    node = GraphNode(
        "bag_player", "bag_player", parameters | {"use_sim_time": use_sim_time}, read_choices(names)
    )
    become(node, local_environment(), as_json)
