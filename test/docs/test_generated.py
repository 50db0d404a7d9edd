# SPDX-License-Identifier: Apache-2.0
"""The tables in the documents are what the code says."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def generate():
    spec = importlib.util.spec_from_file_location("docs_generate", PROJECT / "docs" / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_tables_are_up_to_date():
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, (str(PROJECT), os.environ.get("PYTHONPATH")))),
    }
    command = [sys.executable, PROJECT / "docs" / "generate.py", "--check"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_check_finds_a_changed_table(generate):
    page = "<!-- table rules -->\n| rule |\n<!-- end -->\n"
    after = generate.regenerate(page)
    assert after != page
    assert generate.regenerate(after) == after


def test_every_table_is_used(generate):
    used = {
        match[2]
        for page in generate.PAGES
        for match in generate.TABLE.finditer((PROJECT / page).read_text(encoding="utf-8"))
    }
    assert used == set(generate.TABLES)


def test_row_of_a_robot_that_is_not_installed_is_kept(generate, monkeypatch):
    def absent(name):
        raise generate.MissingExtraError("some-package", "robots", f"robot {name!r}")

    monkeypatch.setattr(generate, "_robot_line", absent)
    current = "| `human28` | as it was |\n| `forgotten` | not in the catalogue |\n"
    assert generate.build_robots(current).endswith("| --- |\n| `human28` | as it was |\n")


def test_table_of_nodes_holds_every_name(generate):
    table = generate.build_nodes("")
    for node, interface in generate.INTERFACES.items():
        names = [
            *(t.name for t in interface.topics),
            *interface.statuses,
            *(e.name for e in generate.fields(generate.CONFIGS[node])),
        ]
        assert [name for name in names if f"`{name}`" not in table] == []
        assert [s.name for s in interface.services if f"`~/{s.name}`" not in table] == []


def test_every_robot_says_what_it_is(generate):
    assert all(generate.summarise(name) for name in generate.catalogue_names())


def test_pages_name_no_file_of_the_project_that_is_not_there(generate):
    """Paths of configuration, models and tools; those of code are for the reader to create."""
    for page in generate.PAGES:
        text = (PROJECT / page).read_text(encoding="utf-8")
        for path in re.findall(r"`((?:config|urdf|docs|launch|tools)/[\w./-]+)`", text):
            assert (PROJECT / path).exists(), f"{page} names {path}"
