# SPDX-License-Identifier: Apache-2.0
"""The verb experiment as a user meets it, on a comparison small enough for a test."""

import csv
import json
import sys

import pytest

from humanoid_dynamics.cli import experiment_snake, main
from humanoid_dynamics.cli.experiments import EXPERIMENTS, Sheet, find_experiment
from humanoid_dynamics.errors import UnknownNameError
from humanoid_dynamics.papers.snake import experiment
from humanoid_dynamics.papers.snake.experiment import (
    SnakeExperiment,
    compare_operations,
    compare_precision,
    compare_times,
)

SMALL = (2, 3)


@pytest.fixture(scope="module")
def data():
    times = compare_times(SMALL, 0.01, ways=(False,)) + compare_times(
        (20,), 0.01, ("linear",), ways=(False,)
    )
    return SnakeExperiment(
        compare_operations((2, 3, 12)), times, compare_precision((3,), duration=0.02, dt=2e-3)
    )


@pytest.fixture
def call(monkeypatch, capsys, data):
    """Run the command in this process on the small comparison; return exit code, stdout and stderr."""
    monkeypatch.setattr(experiment_snake, "run_snake_experiment", lambda **_: data)

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["humanoid-dynamics", "experiment", *map(str, arguments)])
        code = 0
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        return code, *capsys.readouterr()

    return call


def test_tables_for_people_fit_a_narrow_terminal(call, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, err = call("snake")
    assert (code, err) == (0, "")
    for words in (
        "printed M",
        "1641",
        "1584",
        "Newton-Euler  ratio",
        "interpreted [us]",
        "errors [rad, J, m/s]",
        "energy 32",
        "16n-3",
        "no wheel can",
    ):
        assert words in out
    assert max(map(len, out.splitlines())) <= 80


def test_tables_for_programs(call):
    code, out, err = call("snake", "--json")
    assert (code, err) == (0, "")
    facts = json.loads(out)
    assert set(facts["sheets"]) == {"operations", "time_interpreted", "error"}
    row = next(
        row
        for row in facts["sheets"]["operations"]["rows"]
        if row["method"] == "Kane, recursion" and row["n"] == 12
    )
    assert (row["printed M"], row["printed A"], row["steps M"], row["steps A"]) == (
        1641,
        693,
        1584,
        658,
    )
    assert facts["sheets"]["time_interpreted"]["rows"][-1]["Lagrange [us]"] is None
    assert set(facts["ratios"]["lagrange over paper, interpreted"]) == {"2", "3"}
    assert facts["files"] == []


def test_files_hold_the_tables_and_the_pictures(call, tmp_path):
    pytest.importorskip("matplotlib")
    code, out, err = call("snake", "--out", tmp_path / "new")
    assert (code, err) == (0, "")
    with (tmp_path / "new" / "snake_operations.csv").open(encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    assert [int(row["here M"]) for row in table if row["method"] == "Kane, O(n)"] == [
        16 * n - 3 for n in (2, 3, 12)
    ]
    page = (tmp_path / "new" / "snake.md").read_text(encoding="utf-8")
    assert page.count("\n## ") == 3
    for name in ("snake_operations.png", "snake_time.png", "snake_error.png"):
        path = tmp_path / "new" / name
        assert path.read_bytes().startswith(b"\x89PNG")
        assert 4_000 < path.stat().st_size < 120_000
        assert f"wrote {path}" in out


def test_without_a_plotter_the_tables_are_written_and_the_extra_is_named(
    call, tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, out, err = call("snake", "--out", tmp_path)
    assert code == 0
    assert (
        "no pictures: drawing requires the package 'matplotlib': pip install 'humanoid_dynamics[plot]'"
        in err
    )
    assert (tmp_path / "snake_error.csv").exists()
    assert "png" not in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("snail",), "no experiment named 'snail'. Did you mean 'snake'"),
        (("snake", "--time-per-size", "0"), "--time-per-size"),
        (("snake", "--time-per-size", "nan"), "--time-per-size"),
        (("snake", "--out", __file__), "which is a file"),
    ],
)
def test_refusals(call, arguments, said):
    code, out, err = call(*arguments)
    assert (code, out) == (2, "")
    assert said in err


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_exists(name):
    assert callable(find_experiment(name))


def test_unknown_experiments_are_refused():
    with pytest.raises(UnknownNameError, match="Did you mean 'snake'"):
        find_experiment("snakes")


def test_cells_are_written_short():
    sheet = Sheet("s", "t", ("a", "b", "c"), (("x", 12345, 0.000123456), ("y", None, 12345.678)))
    assert sheet.texts() == [("x", "12345", "0.0001235"), ("y", "", "1.235e+04")]


def test_the_bar_moves_forward_through_all_three_comparisons(monkeypatch):
    told = []

    def work(*_, watch, **__):
        watch(0.0)
        watch(0.5)
        return ()

    monkeypatch.setattr(experiment, "compare_times", work)
    monkeypatch.setattr(experiment, "compare_precision", work)
    experiment.run_snake_experiment(watch=told.append)
    assert told == sorted(told)
    assert told[0] == 0.0
    assert 0.7 < told[-1] < 1.0
