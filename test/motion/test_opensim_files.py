# SPDX-License-Identifier: Apache-2.0
"""Tables of OpenSim: motions in radians and degrees, plates by its own names, and what is refused with the line."""

import numpy as np
import pytest
from clips import recorded, smooth_clip

import humanoid_dynamics as hd
from humanoid_dynamics.motion.formats.columns import angle_columns
from humanoid_dynamics.motion.formats.csv_file import read_csv, write_csv
from humanoid_dynamics.motion.formats.detect import detect_format
from humanoid_dynamics.motion.formats.mapping import build_recording
from humanoid_dynamics.motion.load import load_clip
from humanoid_dynamics.motion.measured.force_plates import load_force_plates
from humanoid_dynamics.motion.measured.series import load_measured_motion

ROBOT = hd.load_robot("human28")
LEGS = hd.load_robot("legs12")
LINK = LEGS.surfaces["left_foot"].link
PLATES = [f"ground_{part}{axis}" for part in ("force_v", "force_p", "torque_") for axis in "xyz"]
ROWS = [[t, 10.0, 700.0, -20.0, 0.3, -0.01, 0.1, 0.0, 5.0, 0.0] for t in (0.0, 0.01, 0.02)]


def write(path, names, rows, *, degrees="no", mark="\t", end="\n"):
    head = [
        "Coordinates",
        "version=1",
        f"nRows={len(rows)}",
        f"inDegrees={degrees}",
        "",
        "Angles, and other things.",
        "endheader",
    ]
    path.write_text(
        end.join(
            [*head, mark.join(names), *(mark.join(map(repr, map(float, row))) for row in rows)]
        )
        + end
    )
    return path


def columns_of(path):
    lines = [line.split(",") for line in path.read_text().splitlines()]
    return lines[0], np.array(lines[1:], dtype=float)


@pytest.mark.parametrize(
    ("mark", "end"), [("\t", "\n"), ("\t", "\r\n"), (",", "\n"), ("   ", "\n")]
)
def test_a_motion_is_read_as_it_is_from_a_table_of_commas(tmp_path, mark, end):
    clip = smooth_clip(ROBOT, n=12)
    write_csv(build_recording(clip), tmp_path / "walk.csv")
    path = write(tmp_path / "walk.sto", *columns_of(tmp_path / "walk.csv"), mark=mark, end=end)
    assert detect_format(path) == "opensim"
    assert (load_clip(path, ROBOT).q == load_clip(tmp_path / "walk.csv", ROBOT).q).all()


@pytest.mark.parametrize("name", ["human28", "biped7", "fourbar"])
def test_degrees_are_those_of_angles_alone(tmp_path, name):
    """Places and quaternions of the base are not angles, its rates of turning are; rates may be in other units than the motion."""
    robot = hd.load_robot(name)
    clip = smooth_clip(robot, n=12, rates=True)
    write_csv(build_recording(clip), tmp_path / "walk_q.csv")
    files = []
    for letter, degrees in zip("qva", ("yes", "no", "yes"), strict=True):
        names, table = columns_of(tmp_path / f"walk_{letter}.csv")
        if degrees == "yes":
            table[:, [name in angle_columns(robot) for name in names]] *= 180.0 / np.pi
        files.append(write(tmp_path / f"turned_{letter}.sto", names, table, degrees=degrees))
    found = load_measured_motion(files[0], robot, *files[1:])
    for mine, theirs in ((found.q, clip.q), (found.v, clip.v), (found.a, clip.a)):
        assert np.abs(mine - theirs).max() < 1e-12
    with pytest.raises(
        hd.ClipError, match=r"turned_v\.sto: has angles in radians, turned_q\.sto in degrees"
    ):
        read_csv(files[0])


def test_which_columns_are_angles():
    found = angle_columns(ROBOT)
    assert {"left_knee", "base_wx", "base_wz"} <= found
    assert not {"base_x", "base_qw", "base_vx", "time"} & found
    assert {"base_pitch", "base_wy"} <= angle_columns(hd.load_robot("biped7"))


@pytest.mark.parametrize("form", ["ground_{}", "L_ground_{}", "1_ground_{}"])
def test_plates_with_y_up_are_turned(tmp_path, form):
    names = [form.format(name.removeprefix("ground_")) for name in PLATES]
    plate = names[0].removesuffix("_vx")
    found = load_force_plates(
        write(tmp_path / "grf.mot", ["time", *names], ROWS, degrees="yes"), LEGS, {plate: LINK}
    )
    F, P, M = np.array([10.0, 20.0, 700.0]), np.array([0.3, -0.1, -0.01]), np.array([0.0, 0.0, 5.0])
    assert found.wrenches[1, 0] == pytest.approx(np.r_[F, np.cross(P, F) + M])
    assert found.notices == (f"plates {plate}: y is up in the file, as in OpenSim; turned to z",)
    for stem in ("moment_m", "force_m", "force_t"):
        moments = [name.replace("torque_", stem) for name in names]
        again = load_force_plates(
            write(tmp_path / "grf.sto", ["time", *moments], ROWS), LEGS, {plate: LINK}
        )
        assert (again.wrenches == found.wrenches).all()


def test_our_own_names_are_not_turned(tmp_path):
    names = [f"L_{part}{axis}" for part in "FPM" for axis in "xyz"]
    found = load_force_plates(
        write(tmp_path / "grf.mot", ["time", *names], ROWS), LEGS, {"L": LINK}
    )
    assert found.wrenches[0, 0, :3].tolist() == [10.0, 700.0, -20.0]
    assert found.notices == ()


def test_measured_plates_are_those_that_were_turned_by_hand():
    robot = hd.load_robot(str(recorded("human_id/gait2392_walk.urdf")))
    turned = load_force_plates(
        recorded("human_id/gait2392_walk_grf.csv"), robot, {"R": "calcn_r", "L": "calcn_l"}
    )
    links = {"ground_force": "calcn_r", "1_ground_force": "calcn_l"}
    raw = load_force_plates(recorded("human_id/subject01_walk1_grf.mot"), robot, links)
    assert raw.links == turned.links
    assert (
        np.abs(raw.at(turned.times) - turned.wrenches).max() < 0.05
    )  # rounded to eight digits, and straight between samples


def test_coordinates_of_another_model_are_refused():
    robot = hd.load_robot(str(recorded("human_id/gait2392_walk.urdf")))
    with pytest.raises(
        hd.ClipError,
        match=r"ik\.mot:11: lacks the columns base_x.*does not know its columns pelvis_tilt.*z up",
    ) as fault:
        load_measured_motion(recorded("human_id/subject01_walk1_ik.mot"), robot)
    assert fault.value.line == 11


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (
            lambda text: text.replace("inDegrees=no", "inDegrees=maybe"),
            r"grf\.mot:4: received 'inDegrees=maybe', expected inDegrees=yes",
        ),
        (
            lambda text: text[: text.index("endheader") + 10],
            r"grf\.mot:7: has no names of columns behind endheader",
        ),
        (
            lambda text: text.replace("700.0", "nan", 1),
            r"grf\.mot:9: row 0, column 'ground_force_vy': received nan",
        ),
        (
            lambda text: text.replace("0.01\t10", "0.0\t10"),
            r"grf\.mot:10: row 1, column 'time': 0 s comes after 0 s",
        ),
        (
            lambda text: text.replace("torque_y", "tork_y"),
            r"grf\.mot:8: lacks the column ground_torque_y; it has ground_force_vx",
        ),
        (
            lambda text: text.replace("torque_y", "torque_x"),
            r"grf\.mot:8: column 'ground_torque_x': comes twice",
        ),
        (
            lambda text: text.replace("force_v", "push_"),
            r"grf\.mot:8: lacks the column PLATE_Fx; it has ground_push_x",
        ),
        (
            lambda text: text.replace("\t0.0\n", "\n", 1),
            r"grf\.mot:9: row 0: has 9 columns, expected 10",
        ),
    ],
)
def test_hostile_tables(tmp_path, spoil, message):
    path = write(tmp_path / "grf.mot", ["time", *PLATES], ROWS)
    path.write_text(spoil(path.read_text()))
    with pytest.raises(hd.ClipError, match=message):
        load_force_plates(path, LEGS, {"ground_force": LINK})


def test_a_plate_without_a_link_is_told_by_its_column_in_the_file(tmp_path):
    path = write(tmp_path / "grf.mot", ["time", *PLATES], ROWS)
    with pytest.raises(
        hd.ClipError,
        match=r"grf\.mot:8: column 'ground_force_vx': no link was given for plate 'ground_force'",
    ):
        load_force_plates(path, LEGS, {})


def test_a_path_may_be_text(tmp_path):
    write_csv(build_recording(smooth_clip(ROBOT, n=5)), tmp_path / "walk.csv")
    path = str(tmp_path / "walk.csv")
    assert (load_clip(path, ROBOT).q == load_measured_motion(path, ROBOT).q).all()
    plates = write(tmp_path / "grf.mot", ["time", *PLATES], ROWS)
    assert load_force_plates(str(plates), LEGS, {"ground_force": LINK}).links == (LINK,)
