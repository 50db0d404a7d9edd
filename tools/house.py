# SPDX-License-Identifier: Apache-2.0
"""Measure the shape of the code and of its prose; exit with status 1 where a figure is beyond its budget.

    python tools/house.py [--list RULE]

Budgets only go down.  ``--list`` prints every place a rule counts.  All figures are over package, benchmarks and tools together, so that
moving code changes nothing.
"""

from __future__ import annotations

import argparse
import ast
import doctest
import importlib
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

from house_prose import list_banned_words, list_deep_imports, list_long_lines, measure_sentences
from house_sources import Source, find_docstring, read_sources, walk

BUDGETS: Mapping[str, int] = {
    "statements": 55936,
    "files": 775,
    "longest chain": 22,
    "words, 90th percentile": 28,
    "long files": 11,
    "single-use modules": 16,
    "repeated class names": 33,
    "late imports": 29,
    "private imports": 18,
    "scattered numbers": 612,
    "complex functions": 84,
    "deep imports": 0,
    "banned words": 566,
    "long lines": 117,
    "loose statuses": 0,
    "failing examples": 0,
}
PRINTED_ONLY = ("late attributes",)
LONG_FILE, SMALL_MODULE = 400, 60  # lines
COMPLEX, COMPLEX_KERNEL = 12, 15
REGISTRIES = {"shapes", "formats", "rules", "scenes", "cli", "nodes", "kinds"}
TUNED_ROOMS = {"filtering", "filter", "control", "estimation", "nodes"}
PRIVATE = ("numba.core", "numba.np", "llvmlite", "ctypes")


def find_imports(sources: Sequence[Source]) -> dict[str, set[str]]:
    """Return the modules of ours that each module imports, types-only imports left out."""
    names = {source.name for source in sources}
    found: dict[str, set[str]] = {name: set() for name in names}
    for source in sources:
        typing = {
            id(n)
            for b in ast.walk(source.tree)
            if isinstance(b, ast.If) and "TYPE_CHECKING" in ast.dump(b.test)
            for n in ast.walk(b)
        }
        for node in ast.walk(source.tree):
            if id(node) in typing or not isinstance(node, ast.Import | ast.ImportFrom):
                continue
            base = (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
            )
            deeper = (
                [f"{base[0]}.{alias.name}" for alias in node.names]
                if isinstance(node, ast.ImportFrom)
                else []
            )
            found[source.name] |= (
                {name for name in deeper if name in names}
                or {name for name in base if name in names}
            ) - {source.name}
    return found


def list_single_use(sources: Sequence[Source]) -> Iterator[str]:
    """Yield modules of fewer than 60 lines that exactly one other imports, registry folders left out."""
    users = Counter(name for imported in find_imports(sources).values() for name in imported)
    for source in sources:
        small = source.text.count("\n") < SMALL_MODULE and source.path.name != "__init__.py"
        if small and users[source.name] == 1 and not REGISTRIES & set(source.path.parts):
            yield str(source.path)


def list_repeated_names(sources: Sequence[Source]) -> Iterator[str]:
    """Yield public class names that occur more than once."""
    places: dict[str, list[str]] = defaultdict(list)
    for source in sources:
        for node in source.tree.body:
            places[getattr(node, "name", "_") if isinstance(node, ast.ClassDef) else "_"].append(
                str(source.path)
            )
    yield from (
        f"{name}: {', '.join(paths)}"
        for name, paths in places.items()
        if len(paths) > 1 and not name.startswith("_")
    )


def measure_chain(sources: Sequence[Source]) -> tuple[int, list[str]]:
    """Return the length of the longest import chain inside one room, and its modules; a cycle counts as 99."""
    imports, rooms = find_imports(sources), {source.name: source.room for source in sources}
    known: dict[str, list[str]] = {}

    def follow(name: str, above: tuple[str, ...]) -> list[str]:
        if name in above:
            return [*above, name] * 99
        if name not in known:
            inside = [
                each
                for each in imports[name]
                if rooms[each] == rooms[name] and not each.endswith("__init__")
            ]
            known[name] = [
                name,
                *max((follow(each, (*above, name)) for each in inside), key=len, default=[]),
            ]
        return known[name]

    longest = max((follow(name, ()) for name in imports), key=len)
    return min(len(longest), 99), longest


def list_late_imports(sources: Sequence[Source]) -> Iterator[str]:
    """Yield imports inside functions, outside ``cli`` and ``__init__`` files."""
    judged = [
        s
        for s in sources
        if s.room not in {"cli", "tools", "benchmarks"} and s.path.name != "__init__.py"
    ]
    for place, function in walk(judged, ast.FunctionDef, ast.AsyncFunctionDef):
        yield from (place for n in ast.walk(function) if isinstance(n, ast.Import | ast.ImportFrom))


def list_private_imports(sources: Sequence[Source]) -> Iterator[str]:
    """Yield imports of private parts of numba, of llvmlite and of ctypes, by statement or by name."""
    for place, node in walk(
        [s for s in sources if s.room != "tools"], ast.Import, ast.ImportFrom, ast.Constant
    ):
        names = (
            [node.value] if isinstance(node, ast.Constant) else [alias.name for alias in node.names]
        )
        names += (
            [node.module or "", *(f"{node.module}.{name}" for name in names)]
            if isinstance(node, ast.ImportFrom)
            else []
        )
        if any(
            name == each or str(name).startswith(each + ".") for name in names for each in PRIVATE
        ):
            yield place


def list_scattered_numbers(sources: Sequence[Source]) -> Iterator[str]:
    """Yield float literals in comparisons, defaults and constants of rooms that are tuned, outside their settings."""
    judged = [s for s in sources if s.room in TUNED_ROOMS and "settings" not in s.path.stem]
    for place, node in walk(judged, ast.Compare, ast.arguments, ast.Assign, ast.AnnAssign):
        parts = (
            [node.left, *node.comparators]
            if isinstance(node, ast.Compare)
            else [getattr(node, "value", None)]
        )
        parts = [*node.defaults, *node.kw_defaults] if isinstance(node, ast.arguments) else parts
        literals = [
            getattr(n, "value", None) for part in parts for n in (part, *getattr(part, "elts", ()))
        ]
        yield from (
            f"{place} {value}"
            for value in literals
            if isinstance(value, float) and value not in {0.0, 1.0}
        )


def list_complex(sources: Sequence[Source]) -> Iterator[str]:
    """Yield functions with more than 12 decisions, kernels with more than 15."""
    kinds = (
        ast.If,
        ast.For,
        ast.While,
        ast.ExceptHandler,
        ast.IfExp,
        ast.BoolOp,
        ast.comprehension,
        ast.match_case,
    )
    for place, node in walk(sources, ast.FunctionDef, ast.AsyncFunctionDef):
        size = 1 + sum(
            len(n.values) - 1 if isinstance(n, ast.BoolOp) else 1
            for n in ast.walk(node)
            if isinstance(n, kinds)
        )
        if size > (
            COMPLEX_KERNEL if any("jit" in ast.dump(d) for d in node.decorator_list) else COMPLEX
        ):
            yield f"{place} {node.name} {size}"


def list_long(sources: Sequence[Source]) -> Iterator[str]:
    """Yield files of more than 400 lines."""
    yield from (
        f"{s.path}: {s.text.count(chr(10))} lines"
        for s in sources
        if s.text.count("\n") > LONG_FILE
    )


def list_loose_statuses(sources: Sequence[Source]) -> Iterator[str]:
    """Yield words that are given to or compared with a status instead of a member of an enum."""
    for place, node in walk(sources, ast.Compare, ast.keyword):
        name = (
            node.arg
            if isinstance(node, ast.keyword)
            else getattr(node.left, "attr", getattr(node.left, "id", ""))
        )
        values = [node.value] if isinstance(node, ast.keyword) else node.comparators
        yield from (
            f"{place} {v.value}"
            for v in values
            if name == "status" and isinstance(getattr(v, "value", None), str)
        )


def list_failing_examples(sources: Sequence[Source]) -> Iterator[str]:
    """Yield modules whose docstring examples fail."""
    for source in sources:
        if ">>> " in source.text and source.room != "tools":
            failed = doctest.testmod(importlib.import_module(source.name)).failed
            if failed:
                yield f"{source.path}: {failed}"


def list_late_attributes(sources: Sequence[Source]) -> Iterator[str]:
    """Yield attributes that are first set outside ``__init__``."""
    for place, holder in walk(sources, ast.ClassDef):
        declared = {
            n.target.id
            for n in holder.body
            if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)
        }
        methods = [n for n in holder.body if isinstance(n, ast.FunctionDef)]
        stored = {
            m.name: {
                n.attr
                for n in ast.walk(m)
                if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)
            }
            for m in methods
        }
        late = set().union(*stored.values()) - stored.get("__init__", set()) - declared
        yield from (f"{place} {holder.name}.{name}" for name in sorted(late))


LISTS: Mapping[str, Callable[[Sequence[Source]], Iterator[str]]] = {
    "long files": list_long,
    "single-use modules": list_single_use,
    "repeated class names": list_repeated_names,
    "late imports": list_late_imports,
    "private imports": list_private_imports,
    "scattered numbers": list_scattered_numbers,
    "complex functions": list_complex,
    "deep imports": list_deep_imports,
    "banned words": list_banned_words,
    "long lines": list_long_lines,
    "loose statuses": list_loose_statuses,
    "failing examples": list_failing_examples,
    "late attributes": list_late_attributes,
}
FIGURES = ("statements", "files", "longest chain", "words, 90th percentile")


def measure(sources: Sequence[Source]) -> dict[str, tuple[int, list[str]]]:
    """Return the figure and the places of every rule; statements are counted without docstrings."""
    rooms: Counter[str] = Counter()
    for source in sources:
        nodes = list(ast.walk(source.tree))
        rooms[source.room] += sum(isinstance(n, ast.stmt) for n in nodes) - sum(
            find_docstring(n) is not None for n in nodes
        )
    statements = (rooms.total(), [f"{room}: {count}" for room, count in rooms.most_common()])
    files = (len(sources), [str(source.path) for source in sources])
    found = {name: list(find(sources)) for name, find in LISTS.items()}
    figures = (statements, files, measure_chain(sources), (measure_sentences(sources), []))
    return dict(zip(FIGURES, figures, strict=True)) | {
        name: (len(places), places) for name, places in found.items()
    }


def main() -> int:
    """Print the table; return the exit status."""
    parser = argparse.ArgumentParser(description="Compare the shape of the code with its budgets.")
    parser.add_argument(
        "--list", default="", metavar="RULE", help="print every place that a rule counts"
    )
    asked = parser.parse_args().list
    figures = measure(read_sources())
    if asked:
        sys.stdout.write(
            "\n".join(figures[asked][1]) + "\n"
            if asked in figures
            else f"rules: {', '.join(figures)}\n"
        )
        return 0 if asked in figures else 2
    beyond = [
        name
        for name, (figure, _) in figures.items()
        if name not in PRINTED_ONLY and figure > BUDGETS.get(name, 0)
    ]
    for name, (figure, _) in figures.items():
        slack = "" if figure >= BUDGETS.get(name, 0) else ": lower it"
        budget = (
            "printed only"
            if name in PRINTED_ONLY
            else f"budget {BUDGETS.get(name, 0)}, goes down{slack}"
        )
        sys.stdout.write(
            f"{'FAILED' if name in beyond else 'ok':7} {name:24} {figure:6}  {budget}\n"
        )
    return 1 if beyond else 0


if __name__ == "__main__":
    sys.exit(main())
