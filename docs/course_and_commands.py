# SPDX-License-Identifier: Apache-2.0
"""What the pages tell of the command line and of the course, read from both."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import typer

from humanoid_dynamics.cli.app import VERBS, build_app

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
Write = Callable[[Sequence[str], Iterable[Sequence[object]]], str]


def describe_commands(write_table: Write) -> str:
    """Return what each verb takes, with its examples.

    Args:
        write_table: Makes Markdown of a header and rows.
    """
    family: Any = typer.main.get_command(build_app(VERBS))
    return "\n" + "".join(
        _describe(name, command, write_table) for name, command in family.commands.items()
    )


def list_examples() -> tuple[Sequence[str], list[tuple[str, ...]]]:
    """Return header and rows of the course: what each program shows, and what to check by hand."""
    rows = []
    for path in sorted(EXAMPLES.glob("[0-9]*.py")):
        first, _, rest = (
            ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        ).partition("\n")
        by_hand = " ".join(rest.split()).removeprefix("By hand: ").replace("|", "\\|")
        rows.append((f"[{path.stem}](../examples/{path.name})", first, by_hand))
    return ("program", "what it shows", "by hand"), rows


def _describe(name: str, command: Any, write_table: Write) -> str:
    rows = []
    for parameter in command.params:
        names = (
            ", ".join(parameter.opts)
            if parameter.param_type_name == "option"
            else str(parameter.metavar or parameter.name.upper())
        )
        rows.append((f"`{names}`", (parameter.help or "").replace("|", "\\|")))
    epilog = re.sub(r" *\\\n *", " ", command.epilog or "")
    examples = "\n".join(line.strip() for line in epilog.splitlines() if line.startswith("  "))
    summary = (command.help or "").partition("\n")[0]
    return f"### {name}\n\n{summary}\n\n{write_table(('option', 'what it is'), rows)}\n```sh\n{examples}\n```\n\n"
