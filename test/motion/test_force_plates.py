# SPDX-License-Identifier: Apache-2.0
"""Files of force plates and of rates: what is read, and what is refused with file, line and column."""

import re

import numpy as np
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.motion.formats.series_file import read_series
from humanoid_dynamics.motion.measured.force_plates import load_force_plates
from humanoid_dynamics.motion.measured.series import load_measured_motion

ROBOT = hd.load_robot("legs12")
LINK = ROBOT.surfaces["left_foot"].link
NAMES = [f"L_{part}{axis}" for part in "FPM" for axis in "xyz"]
ROWS = [[t, 1.0, 2.0, 300.0 + t, 0.1, 0.2, 0.0, 0.0, 0.0, 5.0] for t in (0.0, 0.01, 0.02)]
MOTION = [
    "time",
    "base_x",
    "base_y",
    "base_z",
    "base_qx",
    "base_qy",
    "base_qz",
    "base_qw",
    *ROBOT.actuated,
]
RATES = ["time", *(f"base_{part}{axis}" for part in "vw" for axis in "xyz"), *ROBOT.actuated]


def write(path, names, rows):
    path.write_text("\n".join([",".join(names), *(",".join(map(str, row)) for row in rows)]) + "\n")
    return path


def plates(tmp_path, names=None, rows=None):
    return write(tmp_path / "plates.csv", names or ["time", *NAMES], rows or ROWS)


def motion(tmp_path, spoil=lambda rows: None):
    rows = [[t, 0, 0, 1, 0, 0, 0, 1, *np.zeros(12)] for t in (0.0, 0.1, 0.2)]
    spoil(rows)
    return write(tmp_path / "motion.csv", MOTION, rows)


def rates(tmp_path, name="rates.csv", rows=None):
    return write(tmp_path / name, RATES, rows or [[t, *np.arange(18.0)] for t in (0.0, 0.1, 0.2)])


def change(rows, row, column, value):
    found = [list(line) for line in rows]
    found[row][column] = value
    return found


def test_force_point_and_moment_become_a_wrench_about_the_origin(tmp_path):
    found = load_force_plates(plates(tmp_path), ROBOT, {"L": LINK})
    F, P, M = np.array([1.0, 2.0, 300.0]), np.array([0.1, 0.2, 0.0]), np.array([0.0, 0.0, 5.0])
    assert found.wrenches[0, 0] == pytest.approx(np.r_[F, np.cross(P, F) + M])
    assert found.links == (LINK,)
    assert found.covers(np.array([-0.2, -0.01, 0.0, 0.03, 0.2])).tolist() == [
        False,
        True,
        True,
        True,
        False,
    ]
    named_as_links = [name.replace("L_", f"{LINK}_") for name in NAMES]
    assert load_force_plates(plates(tmp_path, ["time", *named_as_links]), ROBOT, {}).links == (
        LINK,
    )


def test_plates_that_are_not_named_are_left_out_and_told(tmp_path):
    two = [*NAMES, *(name.replace("L_", "R_") for name in NAMES)]
    path = plates(tmp_path, ["time", *two], [[*row, *row[1:]] for row in ROWS])
    found = load_force_plates(path, ROBOT, {"L": LINK})
    assert found.links == (LINK,)
    assert found.notices == ("plates not used: R; no link was named for them",)
    assert (
        load_force_plates(path, ROBOT, {"L": LINK, "R": ROBOT.surfaces["right_foot"].link}).notices
        == ()
    )
    with pytest.raises(hd.ClipError, match="no link was given for plate 'L'"):
        load_force_plates(path, ROBOT, {})


@pytest.mark.parametrize("gap", ["nan", "NaN", ""])
def test_a_plate_that_bears_next_to_nothing_has_no_point(tmp_path, gap):
    """In flight software divides by no force: rows without a point count as nothing, as long as they may."""
    rows = [
        [0.0, *[0.0] * 3, *[gap] * 6],
        [0.01, 1.0, -2.0, 3.0, *[gap] * 3, 0.0, 0.0, 0.0],
        ROWS[2],
    ]
    found = load_force_plates(plates(tmp_path, rows=rows), ROBOT, {"L": LINK})
    assert not found.wrenches[:2].any()
    assert found.wrenches[2] == pytest.approx(
        load_force_plates(plates(tmp_path), ROBOT, {"L": LINK}).wrenches[2]
    )
    assert found.notices == (
        "plate L: 2 rows without a point, with 3.74 N at most, taken as nothing",
    )


def test_forces_too_large_to_compute_with_are_refused(tmp_path):
    with pytest.raises(
        hd.ClipError,
        match=r"plates\.csv:3: row 1, column 'L_Fz': received 1e\+200, expected at most 1e\+12 in size",
    ):
        load_force_plates(plates(tmp_path, rows=change(ROWS, 1, 3, 1e200)), ROBOT, {"L": LINK})


@pytest.mark.parametrize("kind", ["columns", "triples"])
def test_archives_say_the_same(tmp_path, kind):
    table = np.array(ROWS)
    arrays = {name: table[:, i + 1] for i, name in enumerate(NAMES)}
    if kind == "triples":
        arrays = {f"L_{part}": table[:, 1 + 3 * i : 4 + 3 * i] for i, part in enumerate("FPM")}
    np.savez(tmp_path / "plates.npz", time=table[:, 0], **arrays)
    found = load_force_plates(tmp_path / "plates.npz", ROBOT, {"L": LINK})
    assert (
        found.wrenches == load_force_plates(plates(tmp_path), ROBOT, {"L": LINK}).wrenches
    ).all()


@pytest.mark.parametrize(
    ("names", "rows", "links", "message"),
    [
        (
            None,
            change(ROWS, 1, 3, "nan"),
            {"L": LINK},
            r"plates\.csv:3: row 1, column 'L_Fz': received nan, expected a finite number$",
        ),
        (
            None,
            change(ROWS, 1, 4, "nan"),
            {"L": LINK},
            r"plates\.csv:3: row 1, column 'L_Px': received nan, expected a finite number where the plate bears 300 N",
        ),
        (
            None,
            change(ROWS, 1, 0, "nan"),
            {"L": LINK},
            r"plates\.csv:3: row 1, column 'time': received nan, expected a finite time",
        ),
        (
            None,
            change(ROWS, 1, 4, "inf"),
            {"L": LINK},
            r"plates\.csv:3: row 1, column 'L_Px': received 'inf', expected a finite number",
        ),
        (
            None,
            change(ROWS, 2, 5, "x"),
            {"L": LINK},
            r"plates\.csv:4: row 2, column 'L_Py': received 'x'",
        ),
        (
            None,
            change(ROWS, 2, 0, 0.005),
            {"L": LINK},
            r"plates\.csv:4: row 2, column 'time': 0\.005 s comes after 0\.01 s",
        ),
        (
            None,
            change(ROWS, 2, 0, 0.01),
            {"L": LINK},
            r"plates\.csv:4: row 2, column 'time': 0\.01 s comes after 0\.01 s; times must ascend",
        ),
        (
            None,
            [*ROWS[:2], ROWS[2][:-1]],
            {"L": LINK},
            r"plates\.csv:4: row 2: has 9 columns, expected 10",
        ),
        (
            ["time", *NAMES[:-1], "L_Mw"],
            ROWS,
            {"L": LINK},
            r"plates\.csv:1: lacks the column L_Mz; it has L_Fx, ",
        ),
        (
            ["t", *NAMES],
            ROWS,
            {"L": LINK},
            r"plates\.csv:1: lacks the column 'time'; it has t, L_Fx",
        ),
        (
            None,
            None,
            {"L": "left_fot"},
            r"plates\.csv:1: column 'L_Fx': plate 'L' acts on no link named 'left_fot'. Did you mean",
        ),
        (
            None,
            None,
            {"R": LINK},
            r"plates\.csv:1: column 'R_Fx': no force plate named 'R'. Known: L",
        ),
        (None, None, {}, r"column 'L_Fx': no link was given for plate 'L'"),
        (
            ["time", *(f"c{i}" for i in range(9))],
            None,
            {},
            r"plates\.csv:1: lacks the column PLATE_Fx",
        ),
    ],
)
def test_hostile_plates(tmp_path, names, rows, links, message):
    with pytest.raises(hd.ClipError, match=message):
        load_force_plates(plates(tmp_path, names, rows), ROBOT, links)


def test_rates_are_read_from_files_of_their_own(tmp_path):
    """And only from those: one that lies beside the motion is not read unless it is named."""
    path, beside = motion(tmp_path), rates(tmp_path, "motion_v.csv")
    assert load_measured_motion(path, ROBOT).v is None
    both = load_measured_motion(path, ROBOT, beside, rates(tmp_path))
    assert (both.v == np.arange(18.0)).all()
    assert (both.a == both.v).all()
    np.savez(
        tmp_path / "v.npz",
        time=[0, 0.1, 0.2],
        base_vel=both.v[:, :6],
        joint_vel=both.v[:, 6:],
        joint_names=np.array(ROBOT.actuated),
    )
    assert (load_measured_motion(path, ROBOT, tmp_path / "v.npz").v == both.v).all()
    np.savez(
        tmp_path / "columns.npz",
        **{
            name: np.array(column)
            for name, column in zip(MOTION, np.array(both_columns(path)).T, strict=True)
        },
    )
    assert (load_measured_motion(tmp_path / "columns.npz", ROBOT).q == both.q).all()
    np.savez(tmp_path / "whole.npz", time=both.times, q=both.q, v=both.v, a=both.a)
    whole = load_measured_motion(tmp_path / "whole.npz", ROBOT)
    assert (whole.q == both.q).all()
    assert (whole.a == both.a).all()


def both_columns(path):
    return [[float(cell) for cell in line.split(",")] for line in path.read_text().splitlines()[1:]]


def test_hostile_motions(tmp_path):
    def turn(rows):
        rows[1][7] = 1.1

    def late(rows):
        rows[2][0] = 0.05

    for spoil, message in (
        (
            turn,
            r"motion\.csv:3: row 1, column 'base_qx\.\.base_qw': quaternion of length 1\.1, expected 1",
        ),
        (late, r"motion\.csv:4: row 2, column 'time': 0\.05 s comes after 0\.1 s"),
    ):
        with pytest.raises(hd.ClipError, match=message):
            load_measured_motion(motion(tmp_path, spoil), ROBOT)
    without = [name for name in MOTION if name != "left_knee"]
    path = write(
        tmp_path / "short.csv",
        without,
        [[t, 0, 0, 1, 0, 0, 0, 1, *np.zeros(11)] for t in (0.0, 0.1, 0.2)],
    )
    with pytest.raises(
        hd.ClipError,
        match=r"short\.csv:1: lacks the column left_knee; --missing neutral holds them",
    ):
        load_measured_motion(path, ROBOT)
    misspelt = [name.replace("left_knee", "left_kne") for name in MOTION]
    path.write_text(re.sub("^.*", ",".join(misspelt), motion(tmp_path).read_text(), count=1))
    with pytest.raises(
        hd.ClipError,
        match=r"lacks the column left_knee; 'legs12' does not know its column left_kne; --missing neutral",
    ):
        load_measured_motion(path, ROBOT)


def test_angles_in_degrees_are_doubted(tmp_path):
    def degrees(rows):
        rows[1][8 + 3] = 57.3

    assert load_measured_motion(motion(tmp_path), ROBOT).notices == ()
    told = f"{ROBOT.actuated[3]} turns as far as 57.3 rad; if the file holds degrees, convert them"
    assert load_measured_motion(motion(tmp_path, degrees), ROBOT).notices == (told,)


def test_hostile_rates(tmp_path):
    path, rows = motion(tmp_path), [[t, *np.arange(18.0)] for t in (0.0, 0.1, 0.2)]
    for spoilt, message in (
        (rows[:2], r"rates\.csv: has 2 rows, .*motion\.csv has 3"),
        (
            change(rows, 1, 0, 0.12),
            r"rates\.csv:3: row 1, column 'time': 0\.12 s, but .*motion\.csv has 0\.1 s there",
        ),
        (change(rows, 2, 8, "inf"), rf"rates\.csv:4: row 2, column '{RATES[8]}': received 'inf'"),
    ):
        with pytest.raises(hd.ClipError, match=message):
            load_measured_motion(path, ROBOT, rates(tmp_path, rows=spoilt))
    few = write(tmp_path / "few.csv", RATES[:-1], [row[:-1] for row in rows])
    with pytest.raises(hd.ClipError, match=rf"few\.csv:1: rates lack the column {RATES[-1]}$"):
        load_measured_motion(path, ROBOT, few)


def test_hostile_archives(tmp_path):
    path = tmp_path / "series.npz"
    for arrays, message in (
        ({"time": [0.0, 0.1], "a": [1.0, 2.0, 3.0]}, r"time has shape \(2,\), expected \(3,\)"),
        ({"time": [0.0, 0.1], "a": [1.0, np.nan]}, r"row 1, column 'a': received nan"),
        (
            {"time": [0.0, 0.1], "a": [1.0, 2.0], "b": [1.0]},
            r"column 'b': has 1 row, others have 2",
        ),
        (
            {"time": [0.0, 0.1], "F": np.zeros((2, 4))},
            r"F has shape \(2, 4\), expected one row per instant, columns Fx, Fy, Fz",
        ),
        ({"a": [0.0, 0.1]}, "has no instants"),
        ({"time": [0.0, 0.1], "joint_vel": np.zeros((2, 3))}, "no list of names for joint_vel"),
    ):
        np.savez(path, **arrays)
        with pytest.raises(hd.ClipError, match=message):
            read_series(path)
    with pytest.raises(hd.ClipError, match=r"absent\.csv: cannot be read"):
        read_series(tmp_path / "absent.csv")
