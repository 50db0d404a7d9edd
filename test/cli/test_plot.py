# SPDX-License-Identifier: Apache-2.0
"""The verb plot, and simulate --record, as a user meets them."""

import json
import sys

import pytest

from humanoid_dynamics.cli import main
from humanoid_dynamics.series.files import load_record


@pytest.fixture
def call(monkeypatch, capsys):
    """Run the command in this process; return exit code, stdout and stderr."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["humanoid-dynamics", *map(str, arguments)])
        code = 0
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        return code, *capsys.readouterr()

    return call


@pytest.fixture
def record(call, tmp_path):
    assert (
        call("simulate", "standing", "--duration", "0.1", "--record", tmp_path / "run.npz")[0] == 0
    )
    return tmp_path / "run.npz"


@pytest.mark.parametrize("name", ["run.npz", "run.mcap", "bag"])
def test_simulate_streams_what_plot_reads(call, tmp_path, name):
    if name != "run.npz":
        pytest.importorskip("rosbags", reason="the extra bags is not installed")
    code, out, err = call(
        "simulate", "pushed", "--duration", "0.05", "--record", tmp_path / name, "--json"
    )
    assert (code, err) == (0, "")
    loaded = load_record(tmp_path / name)
    assert loaded.about["scene"] == "pushed"
    assert "<robot" in loaded.about["urdf"]
    assert len(loaded) == 51
    code, out, err = call("plot", tmp_path / name, "--json")
    assert (code, err) == (0, "")
    facts = json.loads(out)
    assert facts["samples"] == 51
    assert facts["files"] == []
    assert set(facts["figures"]) == {"joints", "torques", "forces", "cop", "energy"}
    knee = facts["figures"]["joints"]["knee"]["left_knee"]
    assert knee["min"] <= knee["final"] <= knee["max"]
    assert knee["final"] == loaded.table("q").column("left_knee")[-1]


def test_an_interrupted_run_keeps_what_it_has(call, tmp_path, monkeypatch):
    from humanoid_dynamics.simulation.scenes import run as run_scene

    def stop(scene, world, length, watch):
        for _ in range(5):
            world.step(1e-3)
        raise KeyboardInterrupt

    monkeypatch.setattr(run_scene, "run_scene", stop)
    assert call("simulate", "standing", "--record", tmp_path / "run.npz")[0] not in {0, 2}
    assert len(load_record(tmp_path / "run.npz")) == 6


def test_pictures_for_people(call, record, tmp_path):
    pytest.importorskip("matplotlib", reason="the extra plot is not installed")
    code, out, err = call("plot", record)
    assert (code, err) == (0, "")
    assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG")
    for words in ("101 samples in 0.100 s", "left_knee", "kinetic", "drawn:"):
        assert words in out
    code, out, err = call(
        "plot", record, "--what", "cop, energy", "--dir", tmp_path / "deep" / "figures", "--json"
    )
    assert code == 0
    assert json.loads(out)["files"] == [
        str(tmp_path / "deep" / "figures" / f"{name}.png") for name in ("cop", "energy")
    ]
    assert sorted(path.name for path in (tmp_path / "deep" / "figures").iterdir()) == [
        "cop.png",
        "energy.png",
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--what", "forse"), "Did you mean 'forces'"),
        (("--out", "run.jpg"), "expected the path of a png file"),
        (("--out", "a.png", "--dir", "b"), "received both"),
    ],
)
def test_plot_refuses_with_a_sentence(call, record, arguments, said):
    code, out, err = call("plot", record, *arguments)
    assert (code, out) == (2, "")
    assert said in err


def test_plot_of_no_record(call, tmp_path):
    code, _, err = call("plot", tmp_path / "gone.npz")
    assert code == 2
    assert (
        "does not exist; expected a numpy archive (.npz), an MCAP file (.mcap), or the folder of a bag"
        in err
    )


def test_plot_without_matplotlib(call, record, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, _, err = call("plot", record)
    assert code == 2
    assert "pip install 'humanoid_dynamics[plot]'" in err
    assert call("plot", record, "--json")[0] == 0
