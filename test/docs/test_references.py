# SPDX-License-Identifier: Apache-2.0
"""Every citation leads to a reference, and every reference is cited."""

import ast
import io
import re
import tokenize
from functools import cache
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
REFERENCES = PROJECT / "docs" / "references.md"
PAPERS = {"CK", "DF", "SV", "SN", "BP"}
UNITS = {"Hz", "Nm", "Pa", "MB"}
KEY = r"[A-Z][A-Za-z0-9]+(?:-[A-Za-z0-9]+)*"
PLACE = r"(?:eqs?\.|secs?\.|tabs?\.|table|figs?\.|figure|app\.|ch\.|p\.|pp\.|step|def\.|issue|remark|property)"
WITH_PLACE = re.compile(rf"\[({KEY}), {PLACE}")
ALONE = re.compile(rf"(?<![\w\]])\[({KEY})\](?![\[(])")


def defined_keys():
    return re.findall(rf"^### \[({KEY})\]$", REFERENCES.read_text(encoding="utf-8"), re.MULTILINE)


def find_in_prose(text):
    return {*WITH_PLACE.findall(text), *(key for key in ALONE.findall(text) if key not in UNITS)}


def find_in_python(source):
    """Citations with a place in any string or comment; those without one only in docstrings and comments, where brackets are prose."""
    found: set[str] = set()
    if not (WITH_PLACE.search(source) or ALONE.search(source)):
        return found
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            found |= find_in_prose(token.string)
        elif "STRING" in tokenize.tok_name[token.type]:
            found |= set(WITH_PLACE.findall(token.string))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            found |= find_in_prose(ast.get_docstring(node) or "")
    return found


def read_page(path):
    """Return a page without its code, whose brackets are not citations, and without the headings that define keys."""
    text = re.sub(
        r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE
    )
    return re.sub(rf"`[^`\n]*`|^### \[{KEY}\]$", "", text, flags=re.MULTILINE)


@cache
def citations():
    """Return every citation of the project with the file it stands in."""
    return tuple(_find_citations())


def _find_citations():
    scripts = [
        path
        for folder in ("humanoid_dynamics", "urdf", "launch", "docs", "test")
        for path in (PROJECT / folder).rglob("*.py")
    ]
    for path in scripts:
        yield from ((key, path) for key in find_in_python(path.read_text(encoding="utf-8")))
    for path in (*PROJECT.glob("*.md"), *(PROJECT / "docs").glob("*.md")):
        yield from ((key, path) for key in find_in_prose(read_page(path)))
    for path in (PROJECT / "config").rglob("*.yaml"):
        comments = "\n".join(
            line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("#")
        )
        yield from ((key, path) for key in WITH_PLACE.findall(comments))


def test_every_citation_is_defined():
    known = set(defined_keys())
    unknown = sorted(
        f"{path.relative_to(PROJECT)}: [{key}]" for key, path in citations() if key not in known
    )
    assert not unknown, f"not in docs/references.md: {unknown}"


def test_every_reference_is_cited_outside_its_own_page():
    cited = {key for key, path in citations() if path != REFERENCES}
    assert set(defined_keys()) >= PAPERS
    assert set(defined_keys()) - cited - PAPERS == set()


def test_no_key_is_defined_twice():
    keys = defined_keys()
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize("paper", sorted(PAPERS))
def test_every_paper_has_errata_with_a_reason(paper):
    section = re.split(
        r"^###? ",
        REFERENCES.read_text(encoding="utf-8").partition(f"### [{paper}]\n")[2],
        flags=re.MULTILINE,
    )[0]
    rows = [
        re.split(r"(?<!\\)\|", line)[1:-1] for line in section.splitlines() if line.startswith("|")
    ]
    assert [cell.strip() for cell in rows[0]] == ["where", "printed", "right", "how one sees it"]
    assert len(rows) > 3
    assert all(len(row) == 4 and all(cell.strip() for cell in row) for row in rows)


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("M_u u' + h_u = tau [CK, eq. 23].", {"CK"}),
        ("the table [DeLeva], not [N·m], [N], [Hz] or [rad/s]", {"DeLeva"}),
        ("the reflection [[C, S], [S, -C]] and [J_1, -J_2]", set()),
        ("a link [SN](there) and `Mapping[Key]`", set()),
        ("[REP-120] and [SV, eqs. 25-29]", {"REP-120", "SV"}),
    ],
)
def test_what_counts_as_a_citation(text, keys):
    assert find_in_prose(text) == keys


def test_brackets_in_code_are_no_citations():
    source = 'def f(x: list[Foo]) -> None:\n    """Do [SV, eq. 1]."""\n    y = ["[AB]", Foo]  # as [CK]\n    z = "[BP, eq. 2]"\n'
    assert find_in_python(source) == {"SV", "CK", "BP"}
