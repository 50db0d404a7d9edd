# SPDX-License-Identifier: Apache-2.0
"""Modules and prose that the house checks read."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PACKAGE = "humanoid_dynamics"
CODE = re.compile(r"```.*?```|^ {4,}.*$|<!--.*?-->|^\|.*$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Source:
    """A module: its path, dotted name, room, text and tree."""

    path: Path
    name: str
    room: str
    text: str
    tree: ast.Module


def read_sources() -> list[Source]:
    """Return all modules of package, benchmarks and tools."""
    paths = [
        path
        for root in (PACKAGE, "benchmarks", "tools")
        for path in sorted(Path(root).rglob("*.py"))
    ]
    sources = []
    for path in paths:
        if not any(part.is_symlink() for part in (path, *path.parents)):
            text, parts = path.read_text(encoding="utf-8"), path.with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            room = parts[1] if parts[0] == PACKAGE and len(parts) > 2 else parts[0]
            sources.append(Source(path, name, room, text, ast.parse(text)))
    return sources


def walk(sources: Sequence[Source], *kinds: type[ast.AST]) -> Iterator[tuple[str, Any]]:
    """Yield place and node of every node of some kinds."""
    for source in sources:
        yield from (
            (f"{source.path}:{getattr(n, 'lineno', 0)}", n)
            for n in ast.walk(source.tree)
            if isinstance(n, kinds)
        )


def find_docstring(node: ast.AST) -> ast.stmt | None:
    """Return the statement that is the docstring of a node, or None."""
    body = getattr(node, "body", None)
    first = body[0] if isinstance(body, list) and body else None
    holds = isinstance(
        node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    ) and isinstance(first, ast.Expr)
    return (
        first
        if holds and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
        else None
    )


def list_documents() -> list[Path]:
    """Return the documents users read."""
    return [Path("README.md"), Path("CONTRIBUTING.md"), *sorted(Path("docs").glob("*.md"))]


def read_prose(sources: Sequence[Source]) -> Iterator[tuple[str, str]]:
    """Yield place and text of every document, docstring and help text."""
    for path in list_documents():
        yield str(path), CODE.sub("\n", path.read_text(encoding="utf-8"))
    for place, node in walk(sources, ast.AST):
        if find_docstring(node) is not None:
            yield place, ast.get_docstring(node) or ""
        elif (
            isinstance(node, ast.keyword)
            and node.arg == "help"
            and isinstance(node.value, ast.Constant)
        ):
            yield place, str(node.value.value)
