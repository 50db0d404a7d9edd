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

FileArgument = Annotated[str, typer.Argument(help="The bag: an .mcap file, or the folder of a bag.", metavar="FILE")]
NamesArgument = Annotated[list[str], typer.Argument(help="Other names for topics, as /old:=/new.", metavar="[/OLD:=/NEW ...]")]
SpeedOption = Annotated[float, typer.Option("--rate", help="Seconds of the bag in a second.")]
LoopOption = Annotated[bool, typer.Option("--loop", help="Begin again at the end.")]
ClockOption = Annotated[float, typer.Option("--clock", help="Publish the time of the bag on /clock, at this rate [Hz].")]
StartOption = Annotated[float, typer.Option("--start", help="Where in the bag it begins [s].")]
TopicOption = Annotated[list[str], typer.Option("--topic", help="Play this topic alone; once for each.")]
SimTimeOption = Annotated[bool, typer.Option("--use-sim-time", help="Go by /clock: each message when its time in the bag has come there.")]
EXAMPLES = """\b
Examples:
  humanoid-dynamics play run.mcap
  humanoid-dynamics play run.mcap --clock 100 --rate 0.5 --loop
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
    """Say again what a bag holds, on this machine alone unless ROS_AUTOMATIC_DISCOVERY_RANGE says otherwise."""
    for option, value, least in (("--rate", rate, 0.01), ("--clock", clock, 0.0), ("--start", start, 0.0)):
        if not value >= least:
            raise HumanoidDynamicsError(f"{option}: received {value:g}, expected at least {least:g}")
    if not Path(file).exists():
        raise RecordError(file, "does not exist; expected an .mcap file, or the folder of a bag")
    parameters: dict[str, Any] = {"file": file, "speed": rate, "loop": loop, "clock": clock, "start": start, "stay": False}
    if topic:
        parameters["topics"] = list(topic)
    node = GraphNode("bag_player", "bag_player", parameters | {"use_sim_time": use_sim_time}, read_choices(names))
    become(node, local_environment(), as_json)
