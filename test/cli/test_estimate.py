# SPDX-License-Identifier: Apache-2.0
"""The verb estimate: recorded sensor data of every kind, errors against the true motion, and refusals."""

import json
import sys

import numpy as np
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.cli import main
from humanoid_dynamics.simulation.recorder import Recorder

DT, DURATION = 0.002, 1.0


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A robot that stands under position control and is pushed, as a record, a bag and a plain archive."""
    folder = tmp_path_factory.mktemp("runs")
    robot = hd.load_robot("g1")
    simulation = hd.Simulation(
        robot, terrain=hd.Plane(), controller=hd.PdController(1500.0, 30.0, robot.posture)
    )
    hd.Sensors(simulation, hd.SensorSettings(encoder_noise=1e-4, effort_noise=0.2)).record()
    recorder = Recorder(simulation)
    for k in range(round(DURATION / DT)):
        if k == round(0.6 / DT):
            simulation.push("torso_link", (40.0, 0.0, 0.0), 0.1)
        simulation.step(DT)
    for name in ("run.npz", "run.mcap"):
        recorder.save(folder / name)
    record = recorder.record()
    imu, joints = record.table("imu_base").values, record.table("encoders").values
    q, v, tau = np.hsplit(joints, 3)
    pose = record.table("q").values[:, :7]
    np.savez(
        folder / "plain.npz",
        t=record.t,
        gyro=imu[:, :3],
        acc=imu[:, 3:],
        q=q,
        dq=v,
        tau=tau,
        base=pose[:, [0, 1, 2, 6, 3, 4, 5]],
        imu_link=np.array("imu_in_pelvis"),
    )
    return folder


@pytest.fixture
def call(monkeypatch, capsys):
    """Run the command in this process; return exit code, stdout and stderr."""

    def call(*arguments):
        monkeypatch.setattr(
            sys, "argv", ["humanoid-dynamics", "estimate", *map(str, arguments), "--robot", "g1"]
        )
        code = 0
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        return code, *capsys.readouterr()

    return call


@pytest.mark.parametrize("name", ["run.npz", "run.mcap", "plain.npz"])
def test_each_kind_of_file_gives_the_same_accurate_estimate(call, runs, name):
    code, out, err = call(runs / name, "--json")
    assert (code, err) == (0, "")
    facts = json.loads(out)
    errors = facts["errors"]
    assert facts["imu"]["link"] == "imu_in_pelvis"
    assert facts["joint_samples"] == round(DURATION / DT) + 1
    assert facts["estimates"] > 300
    assert facts["faults"] == {}
    assert min(facts["contact_share"].values()) > 0.99
    assert errors["drift"] < 5e-3
    assert errors["tilt_rms_deg"] < 0.2
    assert errors["height_rms"] < 2e-3
    if name != "plain.npz":
        assert errors["velocity_rms"] < 0.02
        assert min(facts["right_contacts"].values()) > 0.99
    else:  # it has no true velocity
        assert errors["velocity_rms"] is None


def test_tables_plot_and_archive(call, runs, tmp_path):
    out, plot = tmp_path / "estimate.npz", tmp_path / "estimate.png"
    code, text, _ = call(runs / "run.npz", "--out", out, "--plot", plot)
    assert code == 0
    assert "roll and pitch, RMS" in text
    assert plot.read_bytes().startswith(b"\x89PNG")
    with np.load(out) as saved:
        assert saved["pose"].shape == (len(saved["t"]), 7)
        assert np.isfinite(saved["deviation"]).all()


def change(runs, tmp_path, **others):
    with np.load(runs / "plain.npz") as saved:
        arrays = {name: saved[name] for name in saved.files} | others
    path = tmp_path / "changed.npz"
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})
    return path


def test_without_truth_no_errors_are_reported(call, runs, tmp_path):
    code, out, _ = call(change(runs, tmp_path, base=None), "--json")
    assert code == 0
    assert json.loads(out)["errors"] is None


@pytest.mark.parametrize(
    ("others", "said"),
    [
        ({"gyro": None}, r"has no gyro; its keys are t, acc, q"),
        ({"q": np.zeros((501, 3))}, r"q has shape (501, 3), expected (501, 29)"),
        ({"imu_link": np.array("head")}, r"no link named 'head'"),
        ({"fl": np.zeros(7)}, r"fl has shape (7,), expected (501,)"),
        ({"t": np.array(0.0)}, r"t has shape (), expected (1,)"),
        ({"t": np.full(501, np.nan)}, r"has IMU samples with NaN or infinity as time"),
        ({"q": np.full((501, 29), "a")}, r"q holds no numbers"),
        ({"imu_site_quat_wxyz": np.zeros(4)}, r"imu_site_pos and imu_site_quat_wxyz are no pose"),
        ({"gyro": np.full((501, 3), np.nan)}, r"no estimate is valid: no IMU sample has come"),
    ],
)
def test_unusable_archives_are_refused(call, runs, tmp_path, others, said):
    code, _, err = call(change(runs, tmp_path, **others))
    assert code == 2
    assert said in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nowhere.npz",), "nowhere.npz: does not exist; expected a bag or a numpy archive"),
        (("run.npz", "--imu", "head"), "no IMU named 'head'"),
        (("plain.npz", "--imu", "torso"), "its IMU is on imu_in_pelvis; torso is on imu_in_torso"),
        (("plain.npz", "--imu", "head"), "no IMU named 'head'"),
        (("run.npz", "--floor", "nan"), "floor_height: received nan, expected a finite height"),
        (("run.npz", "--start", "now"), "--start: received 'now', expected still or truth"),
        (
            ("run.npz", "--out", "x.csv"),
            "--out: received 'x.csv', expected a path that ends in .npz",
        ),
        (("broken.npz",), "cannot be read as a bag or numpy archive"),
    ],
)
def test_refusals(call, runs, arguments, said):
    (runs / "broken.npz").write_bytes(b"PK\x03\x04 nothing")
    file = arguments[0] if arguments[0].startswith("nowhere") else runs / arguments[0]
    code, _, err = call(file, *arguments[1:])
    assert code == 2
    assert said in err


def test_the_robot_must_be_known(monkeypatch, capsys, runs):
    monkeypatch.setattr(sys, "argv", ["humanoid-dynamics", "estimate", str(runs / "plain.npz")])
    with pytest.raises(SystemExit):
        main()
    assert "holds no robot description; name the robot with --robot" in capsys.readouterr().err
