"""The family of verbs, and what they share: one console, one way to fail."""

from __future__ import annotations

import sys

import typer
from rich.console import Console

from humanoid_dynamics.cli import demo, describe
from humanoid_dynamics.errors import HumanoidDynamicsError

REFUSED = 2

app = typer.Typer(
    name="humanoid-dynamics",
    help="Dynamics of humanoids: torques with physically right contact forces, from a URDF alone.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command("describe")(describe.describe)
app.command("demo")(demo.demo)


@app.callback()
def _family() -> None:
    """Keep the verbs a family even where there is only one."""


def run() -> None:
    """Run the command line; what is refused at the door ends with a sentence and exit code 2."""
    try:
        app()
    except HumanoidDynamicsError as refusal:
        Console(stderr=True, highlight=False, soft_wrap=True).print(f"[bold red]error:[/] {_escape(str(refusal))}")
        sys.exit(REFUSED)


def _escape(text: str) -> str:
    return text.replace("[", r"\[")
