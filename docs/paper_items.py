# SPDX-License-Identifier: Apache-2.0
"""Which code and which tests belong to an item of a paper, found in docstrings, names of tests and comments."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TypeAlias

import yaml

PROJECT = Path(__file__).resolve().parents[1]
ITEMS = PROJECT / "docs" / "papers.yaml"
PAPERS = ("CK", "SV", "SN", "BP", "DF")
ROMANS = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X")
CITATION = re.compile(r"\[((?:CK|SV|SN|BP|DF), [^\]]+)\]")
PLACES = re.compile(
    r"(eqs?|secs?|tabs?|figs?|remarks?|assumptions?|propert(?:y|ies))\.? ((?:[\dIVXa-z.]+(?:\s*-\s*[\dIVX.]+)?(?:, (?=[\dIVX]))?)+)"
)
NAMED = re.compile(r"(?<![a-z])(ck|sv|sn|bp|df)(\d+)(?![0-9a-z])")
HEADED = re.compile(r"(CK|SV|SN|BP|DF)-(\d+)")

Item: TypeAlias = tuple[str, int]
Place: TypeAlias = tuple[str, str]


def read_items() -> dict[str, dict[int, dict[str, str]]]:
    """Return what every item says and where, by paper and number."""
    content: dict[str, dict[int, dict[str, str]]] = yaml.safe_load(
        ITEMS.read_text(encoding="utf-8")
    )
    return content


def read_places(text: str) -> set[Place]:
    """Return the places a citation names, such as ("eq", "13"), ranges written out."""
    places = set()
    for kind, numbers in PLACES.findall(text):
        for part in re.split(r", ", numbers.strip(", ")):
            places |= {
                (kind.rstrip("s").replace("propertie", "property"), number)
                for number in _span(part)
            }
    return places


@cache
def find_code() -> dict[str, dict[str, set[Place]]]:
    """Return, for each paper, the places every module, class and function of package and benchmarks cites."""
    found: dict[str, dict[str, set[Place]]] = {paper: {} for paper in PAPERS}
    package = PROJECT / "humanoid_dynamics"
    for path in sorted((*package.rglob("*.py"), *(PROJECT / "benchmarks").rglob("*.py"))):
        home = package if path.is_relative_to(package) else PROJECT
        module = ".".join(path.relative_to(home).with_suffix("").parts).removesuffix(".__init__")
        for name, docstring in _docstrings(ast.parse(path.read_text(encoding="utf-8")), module):
            for citation in CITATION.findall(docstring):
                for part in citation.split("; "):
                    paper, _, places = part.partition(", ")
                    found[paper].setdefault(_public(name), set()).update(read_places(places))
    return found


def _public(name: str) -> str:
    """Return the name of what a reader may call: of a private function, that of its module or class."""
    owner, _, last = name.rpartition(".")
    return owner if last.startswith("_") else name


@cache
def find_tests() -> dict[Item, list[str]]:
    """Return the tests of every item: ``file::name``."""
    found: dict[Item, list[str]] = {}
    for path in sorted((PROJECT / "test").rglob("test_*.py")):
        source = path.read_text(encoding="utf-8")
        headings = _find_headings(source.splitlines())
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                above = max((line for line in headings if line < node.lineno), default=0)
                ids = NAMED.findall(node.name.replace("_", " ")) or headings.get(above, [])
                for paper, number in ids:
                    found.setdefault((paper.upper(), int(number)), []).append(
                        f"{path.relative_to(PROJECT / 'test')}::{node.name}"
                    )
    return found


def _find_headings(lines: list[str]) -> dict[int, list[tuple[str, str]]]:
    """Return the items of every heading: a comment that stands alone; one that names no item ends the section of the one before."""
    found = {}
    for number, line in enumerate(lines, 1):
        alone = (
            line.startswith("# ")
            and not "".join(lines[number - 2 : number - 1] + lines[number : number + 1]).strip()
        )
        if alone or re.match(r"# (?:CK|SV|SN|BP|DF)-\d", line):
            found[number] = HEADED.findall(line)
    return found


def write_rows(paper: str) -> list[tuple[str, ...]]:
    """Return the rows of the table of one paper."""
    code, tests = find_code()[paper], find_tests()
    rows = []
    for number, item in read_items()[paper].items():
        homes = match_code(item["where"], code)
        proofs = tests.get((paper, number), [])
        rows.append(
            (
                f"{paper}-{number}",
                item["what"],
                item["where"],
                _lines(homes),
                _lines(_by_file(proofs)),
            )
        )
    return rows


def match_code(where: str, code: Mapping[str, set[Place]]) -> list[str]:
    """Return the names whose citations share a place with an item; a module only where nothing in it does."""
    places = read_places(where)
    names = [name for name, cited in code.items() if cited & places]
    return [name for name in names if not any(other.startswith(f"{name}.") for other in names)]


def _by_file(tests: list[str]) -> list[str]:
    files: dict[str, list[str]] = {}
    for test in tests:
        path, _, name = test.partition("::")
        files.setdefault(path, []).append(name)
    return [entry for path, names in files.items() for entry in (path, *names)]


def _lines(names: list[str]) -> str:
    return "<br>".join(f"`{name}`" for name in names)


def _span(part: str) -> list[str]:
    first, _, last = part.partition("-")
    if not last:
        return [part]
    if first.isdigit() and last.isdigit():
        return [str(number) for number in range(int(first), int(last) + 1)]
    if first in ROMANS and last in ROMANS:
        return list(ROMANS[ROMANS.index(first) : ROMANS.index(last) + 1])
    return [first, last]


def _docstrings(tree: ast.Module, name: str) -> Iterator[tuple[str, str]]:
    """Yield the name and docstring of a module, its classes and functions, and their methods."""
    yield name, ast.get_docstring(tree) or ""
    nodes: list[tuple[str, ast.AST]] = [(name, node) for node in tree.body]
    while nodes:
        owner, node = nodes.pop(0)
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            inner = f"{owner}.{node.name}" if not node.name.startswith("__") else owner
            yield inner, ast.get_docstring(node) or ""
            if isinstance(node, ast.ClassDef):
                nodes = [(inner, child) for child in node.body] + nodes
