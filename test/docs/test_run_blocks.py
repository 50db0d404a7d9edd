# SPDX-License-Identifier: Apache-2.0
"""Every command of every page runs, or says why it does not."""

import re

import pytest
import run_blocks

COMMANDS = [command for page in run_blocks.PAGES for command in run_blocks.read_commands(page)]
RUN = list(dict.fromkeys(command.runs for command in COMMANDS if command.runs))


def test_pages_have_commands():
    assert len(COMMANDS) > 80
    assert {command.page for command in COMMANDS} >= {
        "README.md",
        "commands.md",
        "ros.md",
        "page.md",
        "snake.md",
        "batches.md",
    }


def test_what_is_changed_or_left_out_says_why():
    for command in COMMANDS:
        assert command.reason or command.runs == command.line, command.line
    every = [command.line for command in COMMANDS]
    for pattern, *_ in (*run_blocks.CHANGED, *run_blocks.LEFT_OUT):
        assert any(re.match(pattern, line) for line in every), f"no page has {pattern!r} any more"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    run_blocks.build_folder(folder)
    return folder


@pytest.mark.slow
def test_every_command_runs(folder):
    """In order, since later ones read what earlier ones wrote."""
    failed = []
    for command in RUN:
        done = run_blocks.execute(command, folder)
        if done.returncode:
            failed.append(f"{command}\n{done.stdout[-500:]}{done.stderr[-1500:]}")
    assert not failed, "\n".join(failed)
