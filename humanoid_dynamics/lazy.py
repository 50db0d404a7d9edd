# SPDX-License-Identifier: Apache-2.0
"""Public names of a package that are imported when they are first used.

A package states its names once, in the stub ``__init__.pyi`` beside its ``__init__.py``: type checkers and editors read the stub, and
``attach_stub`` reads it at import.  Importing a package therefore loads none of its modules.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

Attached = tuple[Callable[[str], object], Callable[[], list[str]], list[str]]


def attach_stub(package: str, file: str) -> Attached:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package.

    Args:
        package: Its ``__name__``.
        file: Its ``__file__``.
    """
    homes = {
        alias.asname or alias.name: (".".join(filter(None, (package, node.module))), alias.name)
        for node in ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom) and node.level == 1
        for alias in node.names
    }
    names = sorted(homes)

    def get(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, original = homes[name]
        if module == package:  # a package inside this one
            return import_module(f"{package}.{original}")
        return getattr(import_module(module), original)

    return get, lambda: names, names
