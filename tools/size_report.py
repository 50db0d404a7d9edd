"""Name the files and functions that outgrew their budget: a report to read, never a reason to fail."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

FILE_LINES = 400
BODY_LINES = 80


def body_length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Count the lines of a function below its signature and docstring."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def overgrown(path: Path) -> Iterator[str]:
    """Yield one line for the file and for each of its functions beyond the budget."""
    text = path.read_text(encoding="utf-8")
    lines = text.count("\n")
    if lines > FILE_LINES:
        yield f"        {path}: {lines} lines"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and body_length(node) > BODY_LINES:
            yield f"        {path}:{node.lineno}: {node.name} has {body_length(node)} lines"


def main() -> None:
    """Print the report: one line where all is small."""
    found = [line for path in sorted(Path("humanoid_dynamics").rglob("*.py")) for line in overgrown(path)]
    heading = f"sizes   {len(found)} beyond {FILE_LINES} lines a file or {BODY_LINES} a function"
    sys.stdout.write("\n".join([heading, *found]) + "\n")


if __name__ == "__main__":
    main()
