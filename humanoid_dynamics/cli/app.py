# SPDX-License-Identifier: Apache-2.0
"""The family of verbs, and what they share: one console, one way to fail."""

# No postponed annotations here: older typer, such as Ubuntu 24.04's, finds no options in them.

import ast
import os
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated

import typer

from humanoid_dynamics.cli.interrupt import end_after_interrupt
from humanoid_dynamics.errors import HumanoidDynamicsError

PROGRAM = "humanoid-dynamics"
REFUSED = 2  # exit code; 0 after an answer, whatever its certificate says

EXAMPLES = """\b
Examples:
  humanoid-dynamics demo
  humanoid-dynamics describe human28
  humanoid-dynamics describe my_robot.urdf --json
"""

# A verb is a module of its name with a function of its name; only the verb that is called is imported.
VERBS = (
    "describe", "demo", "mobility", "inverse", "filter", "simulate", "plot", "audit", "up", "record", "play", "view", "experiment",
    "gait", "walk", "check", "clean", "teleop", "estimate", "warm-up",
)  # fmt: skip


def _tell_version(wanted: bool) -> None:
    if wanted:
        try:
            typer.echo(f"{PROGRAM} {version('humanoid_dynamics')}")
        except PackageNotFoundError:
            typer.echo(f"{PROGRAM}, run from its sources")
        raise typer.Exit


VersionOption = Annotated[
    bool,
    typer.Option(
        "--version", callback=_tell_version, is_eager=True, help="Show the version and exit."
    ),
]


def _family(version: VersionOption = False) -> None:
    """Compute joint torques and contact forces of humanoids, filter motion, simulate, and run the ROS 2 nodes."""


def build_app(verbs: Iterable[str] = VERBS) -> typer.Typer:
    """Put the family together.

    Args:
        verbs: Those to import; of the others only name and summary are read, from their files, which takes no time.

    Returns:
        The command line.
    """
    app = typer.Typer(
        no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False, epilog=EXAMPLES
    )
    app.callback()(_family)
    wanted = set(verbs)
    for verb in VERBS:
        if verb in wanted:
            module = import_module(f"humanoid_dynamics.cli.{as_name(verb)}")
            app.command(verb, epilog=module.EXAMPLES)(getattr(module, as_name(verb)))
        else:
            app.command(verb)(_summarise(verb))
    return app


def as_name(verb: str) -> str:
    """Return the name of the module and function of a verb."""
    return verb.replace("-", "_")


def _summarise(verb: str) -> Callable[[], None]:
    """Return what stands for a verb that nobody has called: nothing but its summary."""

    def stand_in() -> None:
        raise NotImplementedError

    tree = ast.parse(Path(__file__).with_name(f"{as_name(verb)}.py").read_text(encoding="utf-8"))
    stand_in.__doc__ = next(
        ast.get_docstring(node)
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name == as_name(verb)
    )
    return stand_in


def find_verb(arguments: list[str]) -> tuple[str, ...]:
    """Return the verb that is called, or whose options a shell wants to complete; none for the family itself.

    Args:
        arguments: Words after the name of the program.
    """
    typed = os.environ.get("_TYPER_COMPLETE_ARGS", "") or os.environ.get("COMP_WORDS", "")
    words = typed.split()[1:] or arguments
    return tuple(word for word in words[:1] if word in VERBS)


def run() -> None:
    """Run the command line; what is refused at the door ends with a sentence and exit code 2."""
    end_after_interrupt()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(
                errors="replace"
            )  # a terminal without N·m shows a question mark, not a traceback
    run_app(build_app(find_verb(sys.argv[1:])), PROGRAM)


def run_command(command: Callable[..., None], name: str, examples: str) -> None:
    """Run a program of one command.

    Args:
        command: The command; its parameters are the options.
        name: What the user types.
        examples: Epilog of the help text.
    """
    end_after_interrupt()
    app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
    app.command(epilog=examples)(command)
    run_app(app, name)


def run_app(app: typer.Typer, name: str) -> None:
    """Run an application; an input that is rejected ends with one sentence and exit status 2."""
    try:
        app(prog_name=name)
    except HumanoidDynamicsError as refusal:
        typer.echo(f"error: {refusal}", err=True)
        sys.exit(REFUSED)
