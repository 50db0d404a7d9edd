# SPDX-License-Identifier: Apache-2.0
"""All pages build into a site without a warning, and tell all there is to tell."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import refusals

import humanoid_dynamics as hd
from humanoid_dynamics import errors

PROJECT = Path(__file__).resolve().parents[2]
DOCS = PROJECT / "docs"


@pytest.mark.skipif(
    any(find_spec(name) is None for name in ("sphinx", "myst_parser", "furo")),
    reason="the extra docs is not installed",
)
def test_site_builds_without_a_warning(tmp_path):
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, (str(PROJECT), os.environ.get("PYTHONPATH")))),
    }
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-W",
        "--keep-going",
        "-b",
        "html",
        "-c",
        "docs",
        ".",
        str(tmp_path),
    ]
    done = subprocess.run(
        command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "inverse_dynamics" in (tmp_path / "docs" / "reference.html").read_text(encoding="utf-8")


def test_every_page_is_in_the_index():
    named = set(
        re.findall(
            r"^(?:\.\./)?([\w]+)$", (DOCS / "index.md").read_text(encoding="utf-8"), re.MULTILINE
        )
    )
    assert {path.stem for path in DOCS.glob("*.md")} - {"index"} <= named
    assert {"README", "CONTRIBUTING"} <= named


def test_reference_holds_every_public_name():
    page = (DOCS / "reference.md").read_text(encoding="utf-8")
    assert all(hasattr(hd, name) for name in hd.__all__)
    public = {name for name in hd.__all__ if not hasattr(errors, name)}
    assert {name for name in public if f"humanoid_dynamics.{name}\n" not in page} == set()


@pytest.mark.parametrize("name", list(refusals.REFUSALS))
def test_a_message_is_really_made(name):
    assert refusals.read_message(name)


def test_every_error_has_a_remedy():
    kinds = {
        name
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, errors.HumanoidDynamicsError)
    }
    assert kinds - {"HumanoidDynamicsError"} == set(refusals.REFUSALS)


def test_every_picture_is_shown_and_every_shown_picture_is_there():
    shown = set()
    for page in (*PROJECT.glob("*.md"), *DOCS.glob("*.md")):
        for target in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).is_file(), f"{page.name} shows {target}"
            shown.add(Path(target).name)
    assert {path.name for path in (DOCS / "images").glob("*.png")} - shown == set()
    assert sum(path.stat().st_size for path in (DOCS / "images").iterdir()) < 10e6
