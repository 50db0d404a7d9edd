# SPDX-License-Identifier: Apache-2.0
"""``humanoid-dynamics view``: a page in the browser where a robot can be seen and touched."""

# No postponed annotations here: older typer, such as Ubuntu 24.04's, finds no options in them.

import json
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from humanoid_dynamics.cli.options import OriginOption
from humanoid_dynamics.cli.progress import PATIENCE
from humanoid_dynamics.cli.tables import make_console
from humanoid_dynamics.errors import HumanoidDynamicsError, UnknownNameError
from humanoid_dynamics.simulation.scenes.names import scene_names

if TYPE_CHECKING:
    from humanoid_dynamics.viewer.session import Session

MISSING = "the page needs viser; install it with: pip install 'humanoid_dynamics[viewer]'"
WHAT = f"A scene ({', '.join(scene_names())}, or a YAML file), the record of a run, or with --robot the file of a motion."
WhatArgument = Annotated[str, typer.Argument(help=WHAT, metavar="WHAT")]
RobotOption = Annotated[
    str,
    typer.Option(
        "--robot", help="Robot of a motion file: catalogue name, or path of a URDF or xacro file."
    ),
]
HostOption = Annotated[
    str,
    typer.Option("--host", help="Address to listen on; other machines need the token to interact."),
]
PortOption = Annotated[
    int, typer.Option("--port", help="Port; the next free one if it is in use.", min=1, max=65535)
]
TokenOption = Annotated[
    str,
    typer.Option("--token", help="Access token of at least 16 characters; generated if needed."),
]
FpsOption = Annotated[float, typer.Option("--fps", help="Frames per second.", min=0.1, max=120.0)]
DurationOption = Annotated[
    float | None, typer.Option("--duration", help="Duration [s]; until Ctrl-C if not given.")
]
SimpleOption = Annotated[
    bool, typer.Option("--simple", help="Draw capsules instead of meshes, for a slow browser.")
]
ClipFpsOption = Annotated[
    float,
    typer.Option(
        "--clip-fps", min=0.0, help="Frames per second of a motion that has no times and no rate."
    ),
]
AddressOption = Annotated[
    bool, typer.Option("--json", help="Print address and token as JSON, then serve the page.")
]
EXAMPLES = """\b
Examples:
  humanoid-dynamics view
  humanoid-dynamics view swing
  humanoid-dynamics view g1_drop --simple --port 8090
  humanoid-dynamics view run.mcap
  humanoid-dynamics view walk.npz --robot g1
  humanoid-dynamics view standing --duration 10 --json
"""


def view(  # noqa: PLR0913  # one for each option
    what: WhatArgument = "standing",
    robot: RobotOption = "",
    host: HostOption = "127.0.0.1",
    port: PortOption = 8080,
    token: TokenOption = "",
    origin: OriginOption = [],  # noqa: B006 - typer expects a list
    fps: FpsOption = 30.0,
    duration: DurationOption = None,
    simple: SimpleOption = False,
    clip_fps: ClipFpsOption = 0.0,
    as_json: AddressOption = False,
) -> None:
    """Serve a browser page to watch, pull, pause and release a simulated robot. Time runs while the page is open.

    Example: humanoid-dynamics view swing
    """
    if what not in scene_names() and not Path(what).expanduser().exists():
        raise UnknownNameError("scene or file", what, scene_names())
    try:
        from humanoid_dynamics.viewer.page import Page
    except ImportError as cause:
        raise HumanoidDynamicsError(MISSING) from cause
    from humanoid_dynamics.viewer.opening import show

    session = open_session(what, robot, simple, clip_fps or None)
    console = make_console(error=as_json)
    waiting = threading.Timer(
        PATIENCE,
        console.print,
        ["getting ready: code is compiled once on a machine, which takes half a minute"],
    )
    waiting.start()
    try:
        session.prepare()
    finally:
        waiting.cancel()
    page = Page(session, host=host, port=port, token=token, origins=origin)
    if as_json:
        typer.echo(
            json.dumps(
                {"address": page.address, "token": None if page.access.open else page.access.token}
            )
        )
        sys.stdout.flush()
    console.print(f"open {page.address} in a browser; Ctrl-C ends it", highlight=False)
    if not page.access.open:
        console.print(f"token to touch: {page.access.token}", highlight=False, markup=False)
    try:
        show(page, session, rate=fps, seconds=duration)
    except KeyboardInterrupt:
        pass
    finally:
        page.close()


def open_session(what: str, robot: str, simple: bool, fps: float | None = None) -> "Session":
    """Return what is to be seen.

    Args:
        what: A scene, a record or a motion.
        robot: Robot of a motion; empty for the others.
        simple: Whether to leave out meshes.
        fps: Frames per second of a motion that does not say so itself [Hz].

    Returns:
        The session.
    """
    from humanoid_dynamics.model.load import load_robot
    from humanoid_dynamics.motion.load import load_clip
    from humanoid_dynamics.viewer.playback import play_clip, play_record
    from humanoid_dynamics.viewer.world_session import WorldSession

    path = Path(what).expanduser()
    if robot:
        return play_clip(load_clip(path, load_robot(robot), fps=fps), simple=simple)
    if what not in scene_names() and path.exists() and path.suffix not in {".yaml", ".yml"}:
        return play_record(path, simple=simple)
    return WorldSession(what, simple=simple)
