# SPDX-License-Identifier: Apache-2.0
"""``inverse`` as a user meets it: files in, torques out, residuals told, refusals in one sentence."""

import json
import sys
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.cli import main
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.formats.csv_file import write_csv
from humanoid_dynamics.motion.formats.mapping import build_recording

DATA = Path(__file__).parents[3] / "shared" / "data" / "human_id"
ROBOT = hd.load_robot("legs12")
N = 50


@pytest.fixture
def call(monkeypatch, capsys):
    """Run the command in this process; return exit code, stdout and stderr."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["humanoid-dynamics", "inverse", *map(str, arguments)])
        code = 0
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        return code, *capsys.readouterr()

    return call


@pytest.fixture
def files(tmp_path):
    """A small motion with velocities, accelerations, and a plate under the left foot."""
    times = np.arange(N) / 100.0
    d = np.random.default_rng(4).normal(scale=0.1, size=ROBOT.nv)
    q = np.array([pin.integrate(ROBOT.model, ROBOT.posture, np.sin(t) * d) for t in times])
    v, a = np.cos(times)[:, None] * d, -np.sin(times)[:, None] * d
    write_csv(build_recording(Clip(ROBOT, times, q, v, a)), tmp_path / "walk_q.csv")
    names = [f"L_{part}{axis}" for part in "FPM" for axis in "xyz"]
    rows = np.column_stack(
        (times, np.tile([10.0, -5.0, 400.0, 0.05, 0.1, 0.0, 0.0, 0.0, 2.0], (N, 1)))
    )
    (tmp_path / "grf.csv").write_text(
        "\n".join([",".join(["time", *names]), *(",".join(map(str, row)) for row in rows)])
    )
    return tmp_path, (times, q, v, a)


def arguments(folder, *more):
    given = ("--velocity", folder / "walk_v.csv", "--acceleration", folder / "walk_a.csv")
    plates = (
        "--wrenches",
        folder / "grf.csv",
        "--wrench-link",
        f"L={ROBOT.surfaces['left_foot'].link}",
    )
    return "legs12", "--motion", folder / "walk_q.csv", *given, *plates, *more


def expected_torques(times, q, v, a):
    data, found = ROBOT.data(), []
    frame = ROBOT.link_frame(ROBOT.surfaces["left_foot"].link)
    wrench = np.r_[
        10.0,
        -5.0,
        400.0,
        np.cross([0.05, 0.1, 0.0], [10.0, -5.0, 400.0]) + np.array([0.0, 0.0, 2.0]),
    ]
    for row in zip(q, v, a, strict=True):
        tau = np.array(pin.rnea(ROBOT.model, data, *row))
        J = pin.computeFrameJacobian(ROBOT.model, data, row[0], frame, pin.ReferenceFrame.WORLD)
        found.append(tau - J.T @ wrench)
    return np.array(found)


def test_torques_are_written_with_a_column_for_each_joint(call, files):
    folder, motion = files
    code, out, err = call(*arguments(folder, "--out", folder / "tau.csv"))
    assert (code, err) == (0, "")
    lines = (folder / "tau.csv").read_text().splitlines()
    assert lines[0].split(",") == ["time", *ROBOT.actuated]
    table = np.array([line.split(",") for line in lines[1:]], dtype=float)
    assert (table[:, 0] == motion[0]).all()
    expected = expected_torques(*motion)
    assert np.abs(table[:, 1:] - expected[:, 6:]).max() < 1e-9
    R = pin.Quaternion(motion[1][0][3:7]).toRotationMatrix()
    force = R @ expected[0, :3]
    assert "residual at the base" in out
    assert "N·m" in out
    assert f"weight {9.81 * ROBOT.mass:.1f} N" in out
    code, out, _ = call(*arguments(folder, "--out", folder / "tau.npz", "--json"))
    facts = json.loads(out)
    saved = np.load(folder / "tau.npz")
    assert saved["joint_names"].tolist() == list(ROBOT.actuated)
    assert (saved["tau"] == table[:, 1:]).all()
    assert saved["residual"][0, :3] == pytest.approx(force, abs=1e-9)
    assert facts["residual"]["force x"]["rms"] == pytest.approx(
        np.sqrt(np.mean(saved["residual"][:, 0] ** 2))
    )
    assert facts["residual"]["moment z"]["unit"] == "N·m"
    assert "tau" not in facts
    assert facts["notices"] == []


def test_without_a_file_torques_are_in_the_json_or_on_the_output(call, files):
    folder, motion = files
    _, out, _ = call(*arguments(folder, "--json"))
    facts = json.loads(out)
    expected = expected_torques(*motion)
    assert (
        np.abs(np.array([facts["tau"][name] for name in ROBOT.actuated]).T - expected[:, 6:]).max()
        < 1e-9
    )
    code, out, err = call(*arguments(folder, "--out", "-"))
    assert code == 0
    assert out.startswith("time,left_hip")
    assert len(out.splitlines()) == N + 1
    assert "residual at the base" in err


def test_what_was_not_given_is_told(call, files):
    """The files of rates lie beside the motion; they are not read unless they are named."""
    folder, _ = files
    _, out, _ = call("legs12", "--motion", folder / "walk_q.csv")
    out = " ".join(out.split())
    assert "velocities and accelerations were not given; configurations were differentiated" in out
    assert "contacts were not given; they were found from the motion of the soles" in out
    assert "rule transition_limited" in out
    _, out, _ = call(
        "legs12",
        "--motion",
        folder / "walk_q.csv",
        "--velocity",
        folder / "walk_v.csv",
        "--rule",
        "transition",
        "--json",
    )
    facts = json.loads(out)
    assert facts["rule"] == "transition"
    assert sum(facts["statuses"].values()) == N
    assert facts["notices"][0].startswith(
        "accelerations were not given; velocities were differentiated"
    )
    assert facts["residual"]["force z"]["rms"] < 1e-6
    pressed = json.loads(
        call(
            "legs12",
            "--motion",
            folder / "walk_q.csv",
            "--rule",
            "recommended_transition",
            "--json",
        )[1]
    )
    assert pressed["rule"] == "recommended_transition"
    assert pressed["statuses"].get("OK", 0) >= facts["statuses"].get("OK", 0)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--rule", "best"), "no rule named 'best'"),
        (("--wrench-link", "R"), "--wrench-link: received 'R', expected PLATE=LINK"),
        (("--wrench-link", "L=pelvis"), "but plate 'L' acts on"),
        (("--wrench-link", "R=pelvis"), "column 'R_Fx': no force plate named 'R'. Known: L"),
        (("--out", "nowhere/tau.csv"), "nowhere/tau.csv: cannot be written"),
        (("--out", "-", "--json"), "both write to the output"),
        (("--velocity", "absent.csv"), "absent.csv: cannot be read"),
        (("--missing", "zero"), "--missing: received 'zero', expected refuse or neutral"),
        (
            ("--cutoff", "6"),
            "has velocities or accelerations, which would contradict low-pass filtered configurations",
        ),
    ],
)
def test_refusals(call, files, more, message):
    code, out, err = call(*arguments(files[0], *more))
    assert code == 2
    assert out == ""
    assert err.startswith("error: ")
    assert message in err
    assert err.count("\n") == 1


def drop(path, names):
    """Leave columns out of a table."""
    table = [line.split(",") for line in path.read_text().splitlines()]
    kept = [index for index, name in enumerate(table[0]) if name not in names]
    path.write_text("\n".join(",".join(row[index] for index in kept) for row in table))


def test_joints_without_a_column_are_refused_or_held(call, files):
    folder, (times, q, v, a) = files
    for name in ("walk_q.csv", "walk_v.csv", "walk_a.csv"):
        drop(folder / name, ("left_knee", "right_knee"))
    code, _, err = call(*arguments(folder))
    assert code == 2
    assert (
        "walk_q.csv:1: lacks the columns left_knee, right_knee; --missing neutral holds them in the resting posture"
        in err
    )
    _, out, _ = call(*arguments(folder, "--missing", "neutral", "--json"))
    facts = json.loads(out)
    assert "joints not in the file rest: left_knee, right_knee" in facts["notices"]
    for name in ("left_knee", "right_knee"):
        joint = ROBOT.joint(name)
        q[:, joint.q], v[:, joint.v], a[:, joint.v] = ROBOT.posture[joint.q], 0.0, 0.0
    expected = expected_torques(times, q, v, a)
    assert (
        np.abs(np.array([facts["tau"][name] for name in ROBOT.actuated]).T - expected[:, 6:]).max()
        < 1e-9
    )
    drop(folder / "walk_q.csv", ("base_qw",))
    code, _, err = call(*arguments(folder, "--missing", "neutral"))
    assert (code, "lacks the columns base_qw" in err, "--missing" in err) == (2, True, False)


def test_joints_that_are_held_have_no_rates(call, files):
    """Files of rates know the knees, the motion does not: knees that rest do not turn, and that is told."""
    folder, (times, q, v, a) = files
    drop(folder / "walk_q.csv", ("left_knee", "right_knee"))
    _, out, _ = call(*arguments(folder, "--missing", "neutral", "--json"))
    facts = json.loads(out)
    for name in ("left_knee", "right_knee"):
        joint = ROBOT.joint(name)
        q[:, joint.q], v[:, joint.v], a[:, joint.v] = ROBOT.posture[joint.q], 0.0, 0.0
    expected = expected_torques(times, q, v, a)
    assert (
        np.abs(np.array([facts["tau"][name] for name in ROBOT.actuated]).T - expected[:, 6:]).max()
        < 1e-9
    )
    assert facts["notices"][:2] == [
        "joints not in the file rest: left_knee, right_knee",
        "joints that rest have zero velocities and accelerations, not those of the file: left_knee, right_knee",
    ]


def test_columns_nobody_wants_are_left_out_where_told(call, files):
    folder, motion = files
    for name in ("walk_q.csv", "walk_v.csv", "walk_a.csv"):
        head, *rows = (folder / name).read_text().splitlines()
        (folder / name).write_text("\n".join((head + ",tail", *(row + ",1" for row in rows))))
    code, _, err = call(*arguments(folder))
    assert (code, "give a mapping file (--joint-map) with ignore: [tail]" in err) == (2, True)
    (folder / "map.yaml").write_text("ignore: [tail]")
    _, out, _ = call(*arguments(folder, "--joint-map", folder / "map.yaml", "--json"))
    expected = expected_torques(*motion)
    assert (
        np.abs(
            np.array([json.loads(out)["tau"][name] for name in ROBOT.actuated]).T - expected[:, 6:]
        ).max()
        < 1e-9
    )


def test_a_mapping_with_a_joint_that_does_not_exist_is_refused_as_such(call, files):
    folder, _ = files
    path = folder / "walk_q.csv"
    path.write_text(path.read_text().replace("left_knee", "lk"))
    for told, message in (
        ("left_kneee: lk", "map.yaml: no joint named 'left_kneee'. Did you mean 'left_knee'?"),
        ("left_knee: kk", "no column"),
    ):
        (folder / "map.yaml").write_text(f"joints: {{{told}}}")
        code, _, err = call(*arguments(folder, "--joint-map", folder / "map.yaml"))
        assert (code, message in err, "--missing" in err) == (2, True, False)


@pytest.mark.parametrize("count", [1, 2])
def test_few_frames_are_enough_where_rates_are_given(call, files, count):
    folder, motion = files
    for name in ("walk_q.csv", "walk_v.csv", "walk_a.csv"):
        (folder / name).write_text("\n".join((folder / name).read_text().splitlines()[: 1 + count]))
    _, out, _ = call(*arguments(folder, "--json"))
    expected = expected_torques(*(table[:count] for table in motion))
    assert (
        np.abs(
            np.array([json.loads(out)["tau"][name] for name in ROBOT.actuated]).T - expected[:, 6:]
        ).max()
        < 1e-9
    )
    bare = arguments(folder)[:7]
    code, _, err = call(*bare)
    assert (code, "give contact labels in columns contact:NAME" in err) == (2, True)
    code, _, err = call(*bare[:5])
    assert (
        code,
        f"has {count} frame{'s' * (count > 1)}, at least 3 are needed for an acceleration" in err,
    ) == (2, True)
    head, *rows = (folder / "walk_q.csv").read_text().splitlines()
    (folder / "walk_q.csv").write_text(
        "\n".join((head + ",contact:left_foot", *(row + ",1" for row in rows)))
    )
    code, out, err = call(*bare, "--json")
    assert code == 0, err
    assert sum(json.loads(out)["statuses"].values()) == count


@pytest.mark.parametrize(
    ("option", "head", "message"),
    [
        (
            "--motion",
            "PathFileType\t4\t(X/Y/Z)\twalk.trc\nDataRate\tUnits\n150\tmm",
            "walk.trc:1: holds places of markers, no joints",
        ),
        (
            "--wrenches",
            "[Force Data]\nNumberOfForcePlates=7",
            "walk.trc:1: holds force plates in a layout of its own; write columns time",
        ),
    ],
)
def test_files_of_a_laboratory_are_named(call, files, option, head, message):
    path = files[0] / "walk.trc"
    path.write_text(head)
    code, _, err = call("legs12", "--motion", files[0] / "walk_q.csv", option, path)
    assert (code, message in err) == (2, True)


def test_tables_of_other_programs(call, files):
    """Semicolons, tabs, a byte order mark, quotation marks and ends of lines of Windows change nothing; commas in numbers are refused."""
    folder, _ = files
    text = (folder / "walk_q.csv").read_text()
    head, rows = text.split("\n", 1)
    quoted = ",".join(f'"{name}"' for name in head.split(",")) + "\n" + rows
    plates = (
        "--wrenches",
        folder / "grf.csv",
        "--wrench-link",
        f"L={ROBOT.surfaces['left_foot'].link}",
        "--json",
    )
    said = []
    for table in (
        text,
        "\ufeff" + text.replace(",", ";"),
        text.replace("\n", "\r\n").replace(",", "\t"),
        quoted,
    ):
        (folder / "other.csv").write_text(table, newline="")
        said.append(json.loads(call("legs12", "--motion", folder / "other.csv", *plates)[1])["tau"])
    assert said[1:] == said[:1] * 3
    (folder / "other.csv").write_text(text.replace(",", ";").replace(".", ","))
    assert (
        "other.csv:2: row 0, column 'time': received '0,0', expected a finite number with a point"
        in call("legs12", "--motion", folder / "other.csv")[2]
    )
    (folder / "other.csv").write_text(text.replace("time", "Time"))
    assert "rename column 'Time' to 'time'" in call("legs12", "--motion", folder / "other.csv")[2]


def test_what_was_not_measured_is_told_with_its_line(call, files):
    folder, _ = files
    lines = (folder / "grf.csv").read_text().splitlines()
    (folder / "grf.csv").write_text("\n".join(lines[:20]))
    code, _, err = call(*arguments(folder))
    assert code == 2
    assert "walk_q.csv:22: row 20, column 'time': 0.2 s was not measured" in err
    table = [line.split(",") for line in (folder / "walk_q.csv").read_text().splitlines()]
    table[1][1] = "1e200"
    (folder / "walk_q.csv").write_text("\n".join(map(",".join, table)))
    code, _, err = call("legs12", "--motion", folder / "walk_q.csv")
    assert code == 2
    assert (
        "walk_q.csv:2: row 0, column 'base_x': received 1e+200, expected at most 1e+12 in size"
        in err
    )


def test_a_hum_is_low_passed_where_asked_for(call, files):
    """Half a millimetre at 12 Hz, which a motion might be: torques of the bare motion are far off, those after a low-pass near."""
    folder, motion = files
    lines = (folder / "walk_q.csv").read_text().splitlines()
    table = np.array([line.split(",") for line in lines[1:]], dtype=float)
    table[:, 1:4] += 5e-4 * np.sin(2.0 * np.pi * 12.0 * table[:, :1] + np.arange(3.0))
    (folder / "humming.csv").write_text(
        "\n".join([lines[0], *(",".join(map(repr, row)) for row in table.tolist())])
    )
    plates = arguments(folder)[7:]
    exact = expected_torques(*motion)[10:-10, 2]
    misses = []
    for more in ((), ("--cutoff", "4")):
        _, out, _ = call(
            "legs12",
            "--motion",
            folder / "humming.csv",
            *plates,
            *more,
            "--json",
            "--out",
            folder / "tau.npz",
        )
        notices = json.loads(out)["notices"]
        misses.append(
            np.sqrt(np.mean((np.load(folder / "tau.npz")["residual"][10:-10, 2] - exact) ** 2))
        )
    assert notices[0] == "configurations were low-passed at 4 Hz, both ways"
    assert misses[1] < 0.05 * misses[0]


def test_a_link_without_plates_is_refused(call, files):
    code, _, err = call("legs12", "--motion", files[0] / "walk_q.csv", "--wrench-link", "L=pelvis")
    assert code == 2
    assert "expected --wrenches FILE too" in err


def test_the_measured_walk(call, tmp_path):
    """The walk that came with OpenSim's solution, through the command: residuals of the measurement, as published."""
    if not DATA.exists():
        pytest.skip(f"no recorded motions: {DATA} is absent")
    files = [
        item
        for letter, name in (("q", "motion"), ("v", "velocity"), ("a", "acceleration"))
        for item in (f"--{name}", DATA / f"gait2392_walk_{letter}.csv")
    ]
    plates = (
        "--wrenches",
        DATA / "gait2392_walk_grf.csv",
        "--wrench-link",
        "R=calcn_r",
        "--wrench-link",
        "L=calcn_l",
    )
    code, out, _ = call(
        DATA / "gait2392_walk.urdf", *files, *plates, "--out", tmp_path / "tau.csv", "--json"
    )
    assert code == 0
    residual = json.loads(out)["residual"]
    assert [residual[f"force {axis}"]["rms"] for axis in "xyz"] == pytest.approx(
        [20.37, 35.52, 35.03], abs=0.01
    )
    found = np.genfromtxt(tmp_path / "tau.csv", delimiter=",", names=True)[
        "ankle_r_r1__ankle_angle_r"
    ]
    reference = np.genfromtxt(DATA / "gait2392_walk_osim_id.csv", delimiter=",", names=True)[
        "ankle_angle_r_moment"
    ]
    assert np.sqrt(np.mean((found - reference) ** 2)) < 0.05


def test_unknown_ending_is_refused(call, files):
    code, out, err = call(*arguments(files[0], "--out", files[0] / "x.foo"))
    assert (code, out) == (2, "")
    assert "ends in '.foo', expected .csv, .npz or .mcap" in " ".join(err.split())
    assert not (files[0] / "x.foo").exists()


def test_archive_of_instants_t_and_configurations_q(call, files):
    folder, (times, q, _, _) = files
    bare = ("legs12", "--json", "--rule", "transition", "--motion")
    np.savez(folder / "t.npz", t=times, q=q)
    code, out, err = call(*bare, folder / "t.npz")
    assert code == 0, err
    np.testing.assert_allclose(json.loads(out)["time"], times)
    np.savez(folder / "none.npz", q=q)
    code, _, err = call(*bare, folder / "none.npz")
    assert code == 2
    assert "has no instants, expected one of the keys times, time, t, fps" in " ".join(err.split())


def test_number_that_is_none_in_an_archive_is_named_by_its_column(call, files):
    folder, (times, q, _, _) = files
    q = q.copy()
    q[3, 9] = np.nan
    np.savez(folder / "nan.npz", t=times, q=q)
    code, _, err = call("legs12", "--motion", folder / "nan.npz")
    assert code == 2
    assert "row 3, column 'q[9]': received nan" in " ".join(err.split())


def test_rates_that_contradict_the_motion_are_told(call, files):
    folder, motion = files
    times, q, v, a = motion
    v = np.hstack((v[:, :6], np.rad2deg(v[:, 6:])))
    write_csv(build_recording(Clip(ROBOT, times, q, v, a)), folder / "walk_q.csv")
    code, out, _ = call(*arguments(folder, "--json"))
    assert code == 0
    (told,) = [notice for notice in json.loads(out)["notices"] if "contradict" in notice]
    assert told.startswith("velocities contradict configurations: ")
    assert told.endswith("as in degrees; expected radians")
