"""The verbs simulate and audit as a user meets them."""

import json
import sys

import numpy as np
import pytest

from humanoid_dynamics.cli import main
from humanoid_dynamics.simulation.audit.motions import Finding


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


def test_simulate_tells_what_happened_and_records_it(call, tmp_path):
    code, out, err = call("simulate", "sliding_box", "--json", "--record", tmp_path / "run.npz")
    assert (code, err) == (0, "")
    facts = json.loads(out)
    assert facts["centre_of_mass"][0] == pytest.approx(0.5097, abs=1e-4)
    assert facts["statuses"] == {"ok": 1000}
    assert facts["energy"]["work"]["contacts"] == pytest.approx(-8.0, abs=1e-3)
    assert abs(facts["energy"]["missing"]) < 1e-6
    with np.load(tmp_path / "run.npz") as record:
        assert record["q"].shape == (1001, 7)
        assert record["t"][-1] == pytest.approx(1.0)


def test_simulate_for_people(call):
    code, out, err = call("simulate", "standing", "--seconds", "0.05")
    assert (code, err) == (0, "")
    for words in ("times real time", "freedoms", "from nowhere", "weight 637.6 N", "sha256"):
        assert words in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("standin",), "Did you mean 'standing'"),
        (("standing", "--seconds", "0"), "--seconds"),
        (("standing", "--seconds", "nan"), "--seconds"),
        (("standing", "--record", "run.csv"), "ends in '.csv', expected a numpy archive (.npz), an MCAP file (.mcap)"),
    ],
)
def test_simulate_refuses_with_a_sentence(call, arguments, said):
    code, out, err = call("simulate", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert said in err


def test_scene_file_with_a_typo(call, tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("objects: {a: {mas: 2, ball: 0.1}}\n")
    code, _, err = call("simulate", path)
    assert code == 2
    assert "objects.a.mas" in err
    path.write_text("objects: [unclosed\n")
    assert call("simulate", path)[0] == 2


def test_audit_passes(call):
    code, out, err = call("audit")
    assert (code, err) == (0, "")
    assert "FAIL" not in out
    assert out.count("pass") > 20
    assert "height [m]" in out


def test_audit_fails_where_a_number_is_wrong(call, monkeypatch):
    monkeypatch.setattr(
        "humanoid_dynamics.simulation.audit.motions.run_audit", lambda watch: (Finding("x", "way [m]", np.float64(1.1), np.float64(1.0)),)
    )
    code, out, _ = call("audit", "--json")
    assert code == 1
    assert json.loads(out)["passed"] is False
