# SPDX-License-Identifier: Apache-2.0
"""What the documents tell a reader to type works, and what they say it prints is what it prints."""

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest
import typer

from humanoid_dynamics.cli.app import VERBS, build_app
from humanoid_dynamics.graphs.description import load_graph

PROJECT = Path(__file__).resolve().parents[2]
PAGES = sorted((*PROJECT.glob("*.md"), *(PROJECT / "docs").glob("*.md")))
README = PROJECT / "README.md"
FIRST_SCREEN = 35


def read(path):
    return path.read_text(encoding="utf-8")


def blocks(path, language):
    """Return the fenced blocks of a language; those in lists are indented."""
    return re.findall(rf"^ *```{language}\n(.*?)^ *```$", read(path), re.DOTALL | re.MULTILINE)


def code(path):
    """Return everything a page shows as code."""
    text = read(path)
    fenced = re.findall(r"^ *```[a-z]*\n(.*?)^ *```$", text, re.DOTALL | re.MULTILINE)
    plain = re.sub(r"^ *```[a-z]*\n.*?^ *```$", "", text, flags=re.DOTALL | re.MULTILINE)
    return [
        *(line for block in fenced for line in block.splitlines()),
        *re.findall(r"`([^`\n]+)`", plain),
    ]


def run_python(block):
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(block, str(README), "exec"), {})
    return output.getvalue().splitlines()


def anchor(heading):
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def anchors(path):
    text = re.sub(r"^ *```.*?^ *```$", "", read(path), flags=re.DOTALL | re.MULTILINE)
    return {anchor(heading) for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}


def test_python_of_the_readme_prints_what_it_says():
    block = blocks(README, "python")[0]
    said = [line.partition("# ")[2] for line in block.splitlines() if line.startswith("print(")]
    assert len([line for line in block.splitlines() if line]) == 5
    assert len(said) == 2
    assert run_python(block) == said


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_python_of_every_page_runs(path):
    for block in blocks(path, "python"):
        run_python(block)


def test_first_screen_holds_what_one_needs_first():
    lines = read(README).splitlines()[:FIRST_SCREEN]
    text = "\n".join(lines)
    for needed in (
        "make demo",
        "make test",
        "import humanoid_dynamics as hd",
        "ros2 launch humanoid_dynamics",
    ):
        assert needed in text, f"{needed!r} is not in the first {FIRST_SCREEN} lines"
    assert lines[0] == "# humanoid_dynamics"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_relative_links_lead_somewhere(path):
    text = re.sub(r"^ *```.*?^ *```$|`[^`\n]*`", "", read(path), flags=re.DOTALL | re.MULTILINE)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in target:
            continue
        file, _, fragment = target.partition("#")
        page = (path.parent / file).resolve() if file else path
        assert page.exists(), f"{path.name} links to {target}"
        assert not fragment or fragment in anchors(page), (
            f"{path.name} links to {target}; headings: {sorted(anchors(page))}"
        )


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_modules_that_pages_name_are_there(path):
    """As `shapes.py` or with rooms before it; `<name>.py` and the like stand for any."""
    files = [
        file
        for folder in (
            "humanoid_dynamics",
            "benchmarks",
            "docs",
            "test",
            "tools",
            "examples",
            "urdf",
            "launch",
        )
        for file in (PROJECT / folder).rglob("*.py")
    ]
    known = {f"/{file.relative_to(PROJECT).as_posix()}" for file in (*files, PROJECT / "setup.py")}
    for name in re.findall(r"`(?:\.\./)?(\w[\w/]*(?:\.launch)?\.py)`", read(path)):
        assert any(file.endswith(f"/{name}") for file in known) or name == "GRAPH.launch.py", (
            f"{path.name} names {name}"
        )


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_commands_parse(path):
    family = typer.main.get_command(build_app(VERBS))
    for line in code(path):
        for words in re.findall(r"humanoid-dynamics ([a-z][^#|]*)", line):
            verb, *arguments = shlex.split(words)
            assert verb in family.commands, f"{path.name}: humanoid-dynamics has no verb {verb!r}"
            if arguments:
                family.commands[verb].make_context(verb, arguments)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_make_targets_exist(path):
    known = set(re.findall(r"^([a-z-]+):.*## ", read(PROJECT / "Makefile"), re.MULTILINE))
    named = {target for line in code(path) for target in re.findall(r"^make ([a-z-]+)", line)}
    assert named <= known


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_launch_files_and_their_arguments_exist(path):
    for line in code(path):
        for file, arguments in re.findall(r"ros2 launch humanoid_dynamics (\S+)(.*)", line):
            assert (PROJECT / "launch" / file).is_file() or file == "GRAPH.launch.py"
            declared = load_graph(
                "demo" if file == "GRAPH.launch.py" else file.partition(".")[0]
            ).arguments
            assert set(re.findall(r"(\w+):=", arguments)) <= set(declared)


def test_extras_of_the_readme_are_those_of_the_package():
    setup = read(PROJECT / "setup.py")
    declared = {
        *re.findall(r'^    "(\w+)": \[', setup, re.MULTILINE),
        *re.findall(r'^EXTRAS\["(\w+)"\]', setup, re.MULTILINE),
    }
    sentence = re.search(r"Extras: (.*?)\.\n", read(README), re.DOTALL)[1]
    assert set(re.findall(r"`(\w+)`", sentence)) == declared
