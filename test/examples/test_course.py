# SPDX-License-Identifier: Apache-2.0
"""Each example runs by itself and prints a number that can be checked by hand."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("[0-9]*.py"))
EXPECTED = {
    "01_stand": (637.65, 1e-3),
    "02_two_feet": (0.8, 1e-6),
    "03_rules_compared": (1.0, 1e-6),
    "04_transition": (0.5, 0.5),
    "05_closed_loop": (0.0, 1e-9),
    "06_swing": (0.0, 1e-4),
    "07_connect_and_cut": (0.124, 0.005),
    "08_filter_a_kick": (637.65, 1.0),
    "09_teleoperate": (0.1, 0.002),
    "10_snake": (0.0, 1e-9),
    "11_your_own_robot": (117.72, 1e-6),
    "12_your_own_rule": (0.012, 0.005),
    "13_from_a_bag": (637.65, 0.1),
    "14_walk_by_command": (1.75, 0.2),
    "15_tasks": (0.05, 1e-3),
}
NUMBER = r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?"


def test_the_course_has_no_gap_in_its_expectations() -> None:
    assert {path.stem for path in EXAMPLES} == set(EXPECTED)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) < 60
    assert "By hand:" in text
    done = subprocess.run(
        [sys.executable, str(path)],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    number = float(re.findall(NUMBER, done.stdout.splitlines()[-1])[0])
    expected, tolerance = EXPECTED[path.stem]
    assert number == pytest.approx(expected, abs=tolerance)
