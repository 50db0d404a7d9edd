# SPDX-License-Identifier: Apache-2.0
"""The bar: seen on a terminal after two seconds, and nowhere else."""

import io
import re

import pytest
from rich.console import Console

from humanoid_dynamics.cli import progress


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(progress, "monotonic", lambda: now[0])
    return now


def run(clock, console, seconds):
    """Tell the bar of work that takes so long, ten times a second."""
    bar = progress.ProgressBar("timing", console)
    start = clock[0]
    for step in range(int(10 * seconds) + 1):
        clock[0] = start + 0.1 * step
        bar.tell(0.1 * step / seconds)
    bar.stop()
    return console.file.getvalue()


def terminal(**options):
    return Console(file=io.StringIO(), force_terminal=True, width=80, **options)


def test_long_work_on_a_terminal(clock):
    said = run(clock, terminal(), 10.0)
    assert "timing" in said
    assert re.search(r"(49|50|51)%", said)
    assert "0:00:0" in said  # the expected end


def test_short_work_says_nothing(clock):
    assert run(clock, terminal(), 1.9) == ""


def test_no_terminal_no_bar(clock):
    assert run(clock, Console(file=io.StringIO(), force_terminal=False), 10.0) == ""


def test_no_color(clock):
    assert "\x1b[3" not in run(clock, terminal(no_color=True), 10.0)


def test_silent_work_is_shown_too(monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    monkeypatch.setattr(progress, "BETWEEN", 0.01)
    bar = progress.ProgressBar("compiling", terminal())
    bar.start()
    bar._waiting.join(10.0)
    bar.stop()
    assert "compiling" in bar._console.file.getvalue()


def test_loading_counts_as_waiting(clock):
    bar = progress.ProgressBar("timing", terminal(), clock[0] - 1.9)
    clock[0] += 0.3
    bar.tell(0.5)
    bar.stop()
    assert "50%" in bar._console.file.getvalue()


def test_bar_goes_away_when_the_work_fails(clock, monkeypatch):
    consoles = []

    def make(**options):
        assert options.pop("stderr")
        consoles.append(terminal(**options))
        return consoles[-1]

    monkeypatch.setattr(progress, "Console", make)
    monkeypatch.setattr(progress, "BEGAN", clock[0])

    def fail():
        with progress.show_progress("timing") as bar:
            clock[0] += 5.0
            bar.tell(0.5)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert consoles[0].file.getvalue().endswith(("\x1b[2K", "\x1b[?25h", "\x1b[1A\x1b[2K"))
