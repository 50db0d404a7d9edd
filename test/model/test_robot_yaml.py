# SPDX-License-Identifier: Apache-2.0
"""Robot YAML files: every key does what the schema says, every mistake is one error that names key and file."""

import numpy as np
import pytest
from small_urdf import chain, described, joint, link, nothing_happens, quick, robot, two_links

from humanoid_dynamics.errors import DescriptionError
from humanoid_dynamics.model.imu import ImuErrors
from humanoid_dynamics.model.load import load_robot
from humanoid_dynamics.model.reading.description_file import (
    LARGEST_YAML,
    load_description,
    read_description,
)
from humanoid_dynamics.model.standing.corners import order_corners

SQUARE = [[1, 1], [-1, 1], [-1, -1], [1, -1]]
WHOLE = """
root: fixed
surfaces:
  hand: {link: arm, xyz: [0, 0, -0.1], rpy: [3.141592653589793, 0, 0], polygon: [[1, 1], [-1, 1], [-1, -1], [1, -1]], friction: 0.5}
  tip: {link: arm, points: [[0, 0, -0.1]], normal_force_limit: 200}
  edge: {link: base, polygon: [[0, 0], [0.1, 0]]}
control_points: {tool: {link: arm, xyz: [0, 0, 1e-1]}}
posture: {elbow: 0.4}
passive: [elbow]
loops: {rod: {kind: spherical, a: {link: base, xyz: [0, 0, 1]}, b: {link: arm}}}
wheels: {w: {link: arm}}
imus: {eye: {link: arm, xyz: [0, 0, 1], noise: {gyro: 0.01, acc: 0.2}, bias: {acc: 0.3}, delay: 0.004}}
aliases: {l_wrist: arm}
armature: {elbow: 1e-3}
friction: {elbow: 2}
damping: {elbow: 3.5}
effort: {elbow: 7}
"""


@pytest.fixture
def write(tmp_path):
    def write(content):
        path = tmp_path / "robot.yaml"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def test_the_whole_schema(write):
    found = load_robot(two_links(), description=write(WHOLE))
    assert found.root == "fixed"
    hand, tip, edge = (found.surface(name) for name in ("hand", "tip", "edge"))
    assert (hand.kind, tip.kind, edge.kind) == ("face", "point", "edge")
    assert (hand.friction, hand.normal_force_limit, tip.friction, tip.normal_force_limit) == (
        0.5,
        np.inf,
        0.7,
        200.0,
    )
    assert (hand.link, hand.size, hand.assumed) == ("arm", (2.0, 2.0), "")
    frame = found.model.frames[hand.frame]
    assert frame.parentJoint == found.joint("elbow").index
    np.testing.assert_allclose(frame.placement.rotation, np.diag([1, -1, -1]), atol=1e-15)
    np.testing.assert_allclose(hand.X_LC.translation, [0, 0, -0.1])
    assert found.imus["eye"].errors == ImuErrors(0.01, 0.2, 0.0, 0.3, 0.004)
    assert (found.imus["eye"].link, found.imus["eye"].X_LI.translation[2]) == ("arm", 1.0)
    assert found.control_points["tool"].X_LP.translation[2] == 0.1
    assert (found.actuated, found.model.armature[0], found.friction[0], found.damping[0]) == (
        (),
        1e-3,
        2.0,
        3.5,
    )
    rod = found.loops[0]
    assert (rod.name, rod.kind, rod.link_a, rod.link_b, rod.X_LA.translation[2]) == (
        "rod",
        "spherical",
        "base",
        "arm",
        1.0,
    )
    assert (found.wheels[0].name, found.wheels[0].link) == ("w", "arm")
    assert found.link_frame("l_wrist") == found.link_frame("arm")


@pytest.mark.parametrize("empty", ["", "\n# nothing\n", "---\n", "{}", "\ufeff"])
def test_an_empty_file_says_nothing(write, empty):
    assert load_description(write(empty)).root == ""


def test_anchors_are_fine(write):
    text = "surfaces: {a: &a {link: base, points: [[0, 0]]}, b: {<<: *a, friction: 0.2}}"
    assert [spec.friction for spec in load_description(write(text)).surfaces.values()] == [0.7, 0.2]


BOMB = "a: &a [ha]\n" + "".join(
    f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)
BROKEN = {
    "list": ("[a, b]", r"file: holds \['a', 'b'\], expected a mapping"),
    "text": ("robot", "file: holds 'robot', expected a mapping"),
    "tabs": (
        "root:\n\tfixed",
        "YAML: while scanning .* found character '.t'|YAML: .*cannot start any token",
    ),
    "two documents": ("root: fixed\n---\nroot: fixed", "YAML: expected a single document"),
    "unknown key": (
        "surfacs: {}",
        r"surfacs: is not a key; did you mean 'surfaces'\? Known: urdf, package, root, surfaces",
    ),
    "unlike any key": ("xyzzy: {}", r"xyzzy: is not a key\. Known: urdf, package"),
    "unknown key inside": (
        "control_points: {a: {lnk: b}}",
        r"control_points\.a\.lnk: is not a key; did you mean 'link'\? Known: link, xyz, rpy",
    ),
    "unknown sensor of an IMU": (
        "imus: {a: {link: b, noise: {gyr: 1}}}",
        r"imus\.a\.noise\.gyr: is not a key; did you mean 'gyro'\? Known: gyro, acc",
    ),
    "negative bias of an IMU": (
        "imus: {a: {link: b, bias: {acc: -1}}}",
        r"imus\.a\.bias\.acc: holds -1, expected a number that is not negative",
    ),
    "key that is a number": ("1: 2", "file: holds 1, expected a name as key"),
    "key that is a number inside": ("posture: {1: 2}", "posture: holds 1, expected a name as key"),
    "key that is a truth": ("posture: {on: 2}", "posture: holds True, expected a name as key"),
    "key that is a list": ("? [a]\n: 1", "YAML: .*unhashable|file: holds"),
    "key twice": ("root: fixed\nroot: planar", "YAML: key 'root' comes twice"),
    "key twice inside": ("posture: {a: 1, a: 2}", "YAML: key 'a' comes twice"),
    "tag of Python": (
        "root: !!python/object/apply:os.system ['touch x']",
        "YAML: could not determine a constructor",
    ),
    "no integer": ("root: !!int x", "YAML: invalid literal"),
    "no date": ("root: 2001-99-99", "YAML: month must be|YAML: .*month"),
    "a date": (
        "root: 2001-01-01",
        r"root: holds datetime.date\(2001, 1, 1\), expected one of free_flyer, fixed, planar",
    ),
    "NUL": ("root: \0", "YAML: .*(special characters|control characters)"),
    "half a bracket": ("posture: {a: 1", "YAML: .*expected ',' or '}'"),
    "unknown alias": ("root: *nobody", "YAML: .*found undefined alias"),
    "alias of itself": ("posture: &a {b: *a}", r"posture\.b: holds .*, expected a finite number"),
    "alias bomb": (BOMB + "posture: *i", "is not a key|posture: holds"),
    "alias bomb in a key": (BOMB.replace("a: &a", "posture: &a", 1), "b: is not a key"),
    "alias bomb in a list": (
        f"passive: [{BOMB.splitlines()[0][3:]}]",
        r"passive\[0\]: holds \['ha'\], expected a name",
    ),
    "deep": ("posture: " + "[" * 50_000, "YAML: nested deeper than 20 on line 1"),
    "deep and closed": ("posture: " + "[" * 50_000 + "]" * 50_000, "YAML: |posture: "),
    "deep mapping": ("posture: " + "{a: " * 20_000 + "1" + "}" * 20_000, "YAML: |posture"),
    "latin": ("root: é".encode("latin-1"), "file: cannot be read: .*utf-8"),
    "root": ("root: flying", "root: holds 'flying', expected one of free_flyer, fixed, planar"),
    "root list": ("root: [fixed]", r"root: holds \['fixed'\], expected one of"),
    "urdf": ("urdf: 3", "urdf: holds 3, expected a name"),
    "posture": ("posture: [1]", r"posture: holds \[1\], expected a mapping"),
    "posture text": ("posture: {a: much}", r"posture\.a: holds 'much', expected a finite number"),
    "posture truth": ("posture: {a: yes}", r"posture\.a: holds True, expected a finite number"),
    "posture nothing": ("posture: {a: }", r"posture\.a: holds None, expected a finite number"),
    "NaN": ("posture: {a: .nan}", r"posture\.a: holds nan, expected a finite number"),
    "infinity": ("armature: {a: .inf}", r"armature\.a: holds inf, expected a finite number"),
    "beyond floats": (
        "armature: {a: " + "9" * 400 + "}",
        r"armature\.a: holds 99.*99, expected a finite number",
    ),
    "negative": (
        "friction: {a: -1}",
        r"friction\.a: holds -1, expected a number that is not negative",
    ),
    "passive": ("passive: a", "passive: holds 'a', expected a list of names"),
    "passive number": ("passive: [a, 2]", r"passive\[1\]: holds 2, expected a name"),
    "spherical": (
        "spherical: {a: [b, c]}",
        r"spherical\.a: holds \['b', 'c'\], expected the names of three revolute joints",
    ),
    "surface without link": (
        "surfaces: {a: {points: [[0, 0]]}}",
        r"surfaces\.a\.link: holds None, expected a name",
    ),
    "surface without corners": (
        "surfaces: {a: {link: b}}",
        r"surfaces\.a: needs a polygon or points, and not both",
    ),
    "surface with both": (
        "surfaces: {a: {link: b, points: [[0, 0]], polygon: [[0, 0]]}}",
        "needs a polygon or points, and not both",
    ),
    "no points": (
        "surfaces: {a: {link: b, points: []}}",
        r"surfaces\.a\.points: holds \[\], expected a list of points",
    ),
    "points of one number": (
        "surfaces: {a: {link: b, points: [[1]]}}",
        r"surfaces\.a\.points\[0\]: holds \[1\], expected 2 or 3 numbers",
    ),
    "points of words": (
        "surfaces: {a: {link: b, points: [[x, y]]}}",
        r"surfaces\.a\.points\[0\]\[0\]: holds 'x', expected a finite number",
    ),
    "the same point twice": (
        "surfaces: {a: {link: b, points: [[1, 2], [1, 2]]}}",
        r"surfaces\.a\.points: .*expected two different points",
    ),
    "xyz": (
        "surfaces: {a: {link: b, xyz: 3, points: [[0, 0]]}}",
        r"surfaces\.a\.xyz: holds 3, expected 3 numbers",
    ),
    "loop kind": (
        "loops: {a: {kind: glued, a: {link: b}, b: {link: c}}}",
        r"loops\.a\.kind: holds 'glued', expected one of fixed, revolute",
    ),
    "loop end": (
        "loops: {a: {kind: fixed, a: {link: b}}}",
        r"loops\.a\.b: holds None, expected a mapping",
    ),
    "closed_loop": ("closed_loop: 3", "closed_loop: holds 3, expected a list"),
    "closed_loop of three": (
        "closed_loop: [[a, b, c]]\ntype: ['6d']",
        r"closed_loop\[0\]: holds \['a', 'b', 'c'\], expected the names of two frames",
    ),
    "closed_loop without type": ("closed_loop: [[a, b]]", "type: holds None, expected a list"),
    "closed_loop of other types": (
        "closed_loop: [[a, b]]\ntype: ['6d', '6d']",
        r"type: holds \['6d', '6d'\], expected 1 kinds for 1 pairs of frames",
    ),
    "type": (
        "closed_loop: [[a, b]]\ntype: ['7d']",
        r"type\[0\]: holds '7d', expected one of 6d, 3d",
    ),
    "joint_type": (
        "joint_name: [a]\njoint_type: [BALL]",
        r"joint_type\[0\]: holds 'BALL', expected one of SPHERICAL, UJOINT_XY",
    ),
    "joint_type count": (
        "joint_name: [a]\njoint_type: []",
        r"joint_type: holds \[\], expected 1 kinds for 1 joints",
    ),
    "effort of zero": (
        "effort: {elbow: 0}",
        r"effort\.elbow: holds 0, expected a positive number; .*without a motor is named under `passive`",
    ),
    "effort below zero": (
        "effort: {elbow: -2}",
        r"effort\.elbow: holds -2, expected a positive number",
    ),
    "two ways to name motors": (
        "motors: [a]\nname_mot: [b]",
        "motors: is given twice, also by the keys of example-parallel-robots",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken(write, case):
    content, words = BROKEN[case]
    path = write(content)
    with quick(), nothing_happens(), pytest.raises(DescriptionError, match=words) as caught:
        load_description(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600


def test_five_megabytes(write):
    with (
        quick(),
        pytest.raises(
            DescriptionError, match=f"file: has 5000000 bytes, expected at most {LARGEST_YAML}"
        ),
    ):
        load_description(write(b"#" * 5_000_000))


def test_the_largest_file_is_read_in_time(write):
    text = "posture:\n" + "".join(f"  joint_{i}: 0.1\n" for i in range(10_000))
    with quick():
        assert len(load_description(write(text[:LARGEST_YAML].rpartition("\n")[0])).posture) > 9000


def test_what_is_no_mapping_at_all():
    with pytest.raises(DescriptionError, match=r"x: file: holds 3, expected a mapping"):
        read_description(3, "x")


FOOT = {"left_foot": {"link": "arm", "xyz": [0, 0, -0.1], "points": [[0, 0]]}}
NAMES = {
    "surfaces.f.link": {"surfaces": {"f": {"link": "arn", "points": [[0, 0]]}}},
    "control_points.p.link": {"control_points": {"p": {"link": "arn"}}},
    "wheels.w.link": {"wheels": {"w": {"link": "arn"}}},
    "imus.i.link": {"imus": {"i": {"link": "arn"}}},
    "loops.l.b.link": {
        "loops": {"l": {"kind": "fixed", "a": {"link": "arm"}, "b": {"link": "arn"}}}
    },
    "loops.loop1.a.link": {"closed_loop": [["arn", "arm"]], "type": ["6d"]},
}


@pytest.mark.parametrize("key", NAMES)
def test_links_that_do_not_exist(key):
    with pytest.raises(
        DescriptionError,
        match=rf"test.yaml: {key}: no link named 'arn'\. Did you mean 'arm'\? Known: base, arm",
    ):
        load_robot(two_links(), description=described(**NAMES[key]))


JOINTS = {
    "posture.elbo": {"posture": {"elbo": 1}},
    "armature.elbo": {"armature": {"elbo": 1}},
    "friction.elbo": {"friction": {"elbo": 1}},
    "damping.elbo": {"damping": {"elbo": 1}},
    "effort.elbo": {"effort": {"elbo": 1}},
    r"passive\[0\]": {"passive": ["elbo"]},
    r"motors\[0\]": {"motors": ["elbo"]},
    r"spherical.s\[1\]": {"spherical": {"s": ["elbow", "elbo", "elbow"]}},
    "substitutions.elbo": {"joint_name": ["elbo"], "joint_type": ["SPHERICAL"]},
}


@pytest.mark.parametrize("key", JOINTS)
def test_joints_that_do_not_exist(key):
    with pytest.raises(
        DescriptionError,
        match=rf"test.yaml: {key}: no joint named 'elbo'\. Did you mean 'elbow'\? Known: elbow",
    ):
        load_robot(two_links(), description=described(**JOINTS[key]))


def test_an_alias_stands_for_something_that_exists():
    with pytest.raises(DescriptionError) as caught:
        load_robot(
            two_links(), description=described(aliases={"l_sole": "surface:left"}, surfaces=FOOT)
        )
    assert str(caught.value) == (
        "test.yaml: aliases.l_sole: no link, surface or control point named 'surface:left'. Did you mean 'surface:left_foot'? "
        "Known: base, arm, surface:left_foot"
    )


def test_an_alias_may_name_a_surface_or_a_control_point():
    content = {
        "aliases": {"l_toe": "surface:left_foot", "gaze": "point:eye"},
        "surfaces": FOOT,
        "control_points": {"eye": {"link": "arm"}},
    }
    found = load_robot(two_links(), description=described(**content))
    assert found.link_frame("l_toe") == found.surface("left_foot").frame
    assert found.link_frame("gaze") == found.control_points["eye"].frame


def test_the_root_and_the_soles_have_their_names_unasked():
    found = load_robot(two_links(), root="free_flyer", description=described(surfaces=FOOT))
    assert found.aliases == {"base_link": "base", "l_sole": "surface:left_foot"}
    assert found.link_frame("l_sole") == found.surface("left_foot").frame
    assert load_robot(two_links(), root="fixed", description=described()).aliases == {}
    told = load_robot(
        two_links(),
        root="free_flyer",
        description=described(surfaces=FOOT, aliases={"base_link": "arm", "l_sole": "arm"}),
    )
    assert told.aliases == {"base_link": "arm", "l_sole": "arm"}


def test_links_of_these_names_need_no_alias():
    text = robot(link("base_link"), link("l_sole"), joint("j", "base_link", "l_sole"))
    content = {"surfaces": {"left_foot": {"link": "l_sole", "points": [[0, 0]]}}}
    assert load_robot(text, root="free_flyer", description=described(**content)).aliases == {}


def test_an_alias_must_not_hide_a_link():
    with pytest.raises(
        DescriptionError,
        match=r"aliases\.base: is a link of the robot already, it cannot stand for 'arm'",
    ):
        load_robot(two_links(), description=described(aliases={"base": "arm"}))
    assert (
        load_robot(two_links(), description=described(aliases={"base": "base"})).link_frame("base")
        > 0
    )


# Corners of contact surfaces


@pytest.mark.parametrize(
    "corners",
    [SQUARE, SQUARE[::-1], [[0, 0], [2, 0], [0, 1]], [[0, 0, 0.1], [0, 1, 0.1], [2, 0, 0.1]]],
)
def test_polygons_end_counter_clockwise(corners):
    spec = described(surfaces={"a": {"link": "b", "polygon": corners}}).surfaces["a"]
    given = np.array([(*corner, 0)[:3] for corner in corners], dtype=float)
    np.testing.assert_array_equal(spec.vertices[0], given[0])
    assert sorted(map(tuple, spec.vertices)) == sorted(map(tuple, given))
    x, y = spec.vertices[:, 0], spec.vertices[:, 1]
    assert np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)) > 0


@pytest.mark.parametrize("seed", range(5))
def test_points_may_come_in_any_order(seed):
    rng = np.random.default_rng(seed)
    angles = np.sort(rng.uniform(0, 2 * np.pi, 7))
    circle = np.column_stack((np.cos(angles), np.sin(angles)))
    spec = described(
        surfaces={"a": {"link": "b", "points": rng.permutation(circle).tolist()}}
    ).surfaces["a"]
    start = int(np.argmin(np.linalg.norm(spec.vertices[:, :2] - circle[0], axis=1)))
    np.testing.assert_allclose(np.roll(spec.vertices[:, :2], -start, axis=0), circle)


@pytest.mark.parametrize(
    ("corners", "words"),
    [
        ([[1, 2], [1, 2]], r"received the point \(1, 2\) twice, expected two different points"),
        (
            [[0, 0], [1, 0], [2, 0]],
            r"received corner \(0, 0\) with a turn of -3.14 rad, expected a convex polygon, every corner turning",
        ),
        ([[0, 0], [1, 0], [2, 0], [1, 1]], r"corner \(1, 0\) with a turn of 0 rad"),
        ([[0, 0], [2, 0], [2, 2], [1.5, 0.5]], r"corner \(1.5, 0.5\) with a turn of -"),
        ([[0, 0], [1, 0], [0, 1], [1, 1]], "expected a convex polygon"),
        ([[0, 0], [1, 0], [1, 0], [0, 1]], "expected a convex polygon"),
        ([[0, 0], [0, 0], [0, 0]], "expected a convex polygon"),
        (
            [[np.cos(4 * np.pi * k / 5), np.sin(4 * np.pi * k / 5)] for k in range(5)],
            "expected a convex polygon",
        ),
        (
            [[0, 0, 0], [1, 0, 0], [0, 1, 0.1]],
            "received heights from 0 to 0.1 m, expected corners of one height z",
        ),
    ],
)
def test_what_is_no_convex_polygon(corners, words):
    with pytest.raises(DescriptionError, match=rf"test.yaml: surfaces\.a\.polygon: .*{words}"):
        described(
            surfaces={
                "a": {"link": "b", "polygon": [[float(x) for x in corner] for corner in corners]}
            }
        )


def test_points_inside_others_are_refused():
    with pytest.raises(DescriptionError, match=r"surfaces\.a\.points: .*expected a convex polygon"):
        described(surfaces={"a": {"link": "b", "points": [*SQUARE, [0.1, 0]]}})


def test_size_does_not_matter():
    for scale in (1e-6, 1e6):
        np.testing.assert_allclose(
            order_corners(scale * np.column_stack((SQUARE, np.zeros(4))), "x")[:, :2],
            scale * np.array(SQUARE),
        )


def test_a_long_chain_with_a_yaml_is_quick():
    content = {"posture": {f"j{i}": 0.1 for i in range(100)}}
    with quick():
        assert load_robot(chain(100), description=described(**content)).nv == 106


def test_surfaces_on_links_behind_fixed_joints():
    text = robot(
        link("base"),
        link("foot"),
        link("toe"),
        joint("f", "base", "foot", "fixed", ""),
        joint("t", "foot", "toe"),
    )
    found = load_robot(
        text,
        description=described(
            surfaces={"sole": {"link": "foot", "xyz": [1, 0, 0], "points": [[0, 0]]}}
        ),
    )
    frame = found.model.frames[found.surface("sole").frame]
    assert found.model.frames[frame.parentFrame].name == "foot"
    np.testing.assert_allclose(frame.placement.translation, [1.1, 0.2, 0.3])


def test_ends_of_loops_may_be_named_by_joints_and_kinds_written_large(tmp_path):
    """The frame of a joint is that of the link behind it."""
    robot = load_robot("fourbar")
    (tmp_path / "bar.urdf").write_text(robot.urdf)
    (tmp_path / "bar.yaml").write_text("closed_loop: [[coupler_joint, rocker_joint]]\ntype: [3D]\n")
    loop = load_robot(tmp_path / "bar.urdf").loops[0]
    assert (loop.kind, loop.link_a, loop.link_b) == (
        "spherical",
        robot.joint("coupler_joint").child,
        robot.joint("rocker_joint").child,
    )
    (tmp_path / "bar.yaml").write_text("closed_loop: [[coupler_joint, rocker_joynt]]\ntype: [3d]\n")
    with pytest.raises(DescriptionError, match="rocker_joynt"):
        load_robot(tmp_path / "bar.urdf")


@pytest.mark.parametrize(
    "content", [{"fixed": ["elbow"]}, {"joint_name": ["elbow"], "joint_type": ["FIXED"]}]
)
def test_a_fixed_joint_does_not_move_and_its_mass_stays(content):
    free = load_robot(two_links())
    locked = load_robot(two_links(), description=read_description(content, "here"))
    assert (locked.nv, locked.actuated) == (free.nv - 1, ())
    assert locked.mass == pytest.approx(free.mass, abs=1e-12)
    assert "arm" in locked.links


def test_a_fixed_joint_must_exist():
    with pytest.raises(
        DescriptionError, match=r"fixed\[0\]: no joint named 'elbo'.* Did you mean 'elbow'"
    ):
        load_robot(two_links(), description=read_description({"fixed": ["elbo"]}, "here"))
