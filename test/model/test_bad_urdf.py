# SPDX-License-Identifier: Apache-2.0
"""What is no robot is refused with one error that names the element, the file and the line, at once."""

import numpy as np
import pinocchio as pin
import pytest
from small_urdf import LIMIT, MASS, chain, joint, link, nothing_happens, quick, robot, two_links

from humanoid_dynamics.errors import HumanoidDynamicsError, SourceError, UnknownNameError, UrdfError
from humanoid_dynamics.model.load import load_robot
from humanoid_dynamics.model.reading.urdf_file import MOST_ELEMENTS

TWO = (link("base"), link("arm"))
INERTIA = '<inertial><mass value="1"/><inertia ixx="{}" ixy="0" ixz="0" iyy="{}" iyz="0" izz="{}"/></inertial>'
BOMB = '<!DOCTYPE r [<!ENTITY a "ha">' + "".join(
    f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)

REFUSED = {
    "empty": ("", "no robot named '' and no such file"),
    "blank XML": ("<", "XML: "),
    "truncated": (two_links()[:-60], "XML: .*line"),
    "not XML": ("<robot name='x'><link name=base/></robot>", "XML: AttValue"),
    "not URDF": (
        '<?xml version="1.0"?><sdf version="1.7"/>',
        "<sdf>: is the root element, expected <robot>",
    ),
    "another namespace": (
        '<u:robot xmlns:u="http://x"/>',
        "<.*robot>: is the root element, expected <robot>",
    ),
    "no link": ("<robot/>", ":1: robot: has no link"),
    "nothing but a comment": ("<!-- -->", "XML: "),
    "two roots in XML": (two_links() + two_links(), "XML: Extra content"),
    "billion laughs": (
        BOMB + f"]><r>&i;</r>{two_links()}",
        "<!ENTITY>: XML entities are not accepted in a robot description",
    ),
    "bomb in an attribute": (BOMB + ']><robot name="&i;"/>', "<!ENTITY>"),
    "quadratic bomb": (
        '<!DOCTYPE r [<!ENTITY a "' + "x" * 50_000 + '">]><r>' + "&a;" * 50_000 + "</r>",
        "<!ENTITY>",
    ),
    "external entity": (
        '<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]><r>&a;</r>',
        "<!ENTITY>",
    ),
    "parameter entity": (
        '<!DOCTYPE r [<!ENTITY % a SYSTEM "http://localhost:1/a">%a;]><r/>',
        "<!ENTITY>",
    ),
    "external DTD": (
        '<!DOCTYPE robot SYSTEM "http://localhost:1/a.dtd"><robot>&a;</robot>',
        "XML|robot",
    ),
    "undeclared entity": (
        "<robot>&nobody;</robot>",
        "XML: Entity 'nobody' not defined|has no link",
    ),
    "deep nesting": (
        "<robot>" + "<a>" * 100_000 + "</a>" * 100_000 + "</robot>",
        "XML: Excessive depth",
    ),
    "too many elements": (
        robot(*["<link/>"] * (MOST_ELEMENTS + 1)),
        f"robot: has {MOST_ELEMENTS + 1} elements, expected at most",
    ),
    "half a character": (
        "<robot name='\ud800'/>",
        r"XML: character '\\ud800' is an unpaired surrogate",
    ),
    "link without a name": ("<robot><link/></robot>", ":1: <link>: has no name"),
    "joint without a name": (robot(*TWO, '<joint type="fixed"/>'), "<joint>: has no name"),
    "joint without a child": (
        robot(*TWO, '<joint name="j" type="fixed"><parent link="base"/></joint>'),
        "joint 'j': names no child link",
    ),
    "joint without a parent": (
        robot(*TWO, '<joint name="j" type="fixed"><child link="arm"/></joint>'),
        "joint 'j': names no parent link",
    ),
    "duplicate link": (
        robot(*TWO, link("arm"), joint("j", "base", "arm")),
        "small.urdf:4: link 'arm': is defined twice, first on line 3",
    ),
    "duplicate joint": (
        robot(*TWO, link("c"), joint("j", "base", "arm"), joint("j", "base", "c")),
        "joint 'j': is defined twice, first on line 5",
    ),
    "unknown parent": (
        robot(*TWO, joint("elbow", "bas", "arm")),
        r"small.urdf:4: joint 'elbow': parent link 'bas' does not exist; did you mean 'base'\?",
    ),
    "unknown child": (
        robot(*TWO, joint("j", "base", "q")),
        "joint 'j': child link 'q' does not exist$",
    ),
    "two parents": (
        robot(*TWO, joint("a", "base", "arm"), joint("b", "base", "arm")),
        "joint 'b': carries link 'arm', which joint 'a' carries already",
    ),
    "two roots": (
        robot(*TWO, link("c"), joint("j", "base", "arm")),
        "small.urdf:4: link 'c': is a second root beside 'base': no joint carries it",
    ),
    "onto itself": (
        robot(*TWO, joint("j", "base", "base")),
        "joint 'j': is part of a cycle of links: base -> base",
    ),
    "cycle": (
        robot(*TWO, joint("j", "base", "arm"), joint("k", "arm", "base")),
        "joint '.': is part of a cycle of links: (base -> arm -> base|arm -> base -> arm)",
    ),
    "cycle beside a root": (
        robot(link("root"), *TWO, joint("j", "base", "arm"), joint("k", "arm", "base")),
        "is part of a cycle of links: ",
    ),
    "cycle with a tail": (
        robot(
            link("tail"),
            *TWO,
            joint("t", "arm", "tail"),
            joint("j", "base", "arm"),
            joint("k", "arm", "base"),
        ),
        "joint '[jk]': is part",
    ),
    "long cycle": (
        chain(30).replace("</robot>", joint("back", "l30", "l0") + "</robot>"),
        r"cycle of links: l\d+ -> l\d+ -> l\d+ -> l\d+ -> \.\.\. -> l\d+ -> l\d+$",
    ),
    "negative mass": (
        robot(link("base", mass=-2)),
        "small.urdf:2: link 'base': negative mass -2 kg",
    ),
    "mass NaN": (
        robot(link("base", mass="nan")),
        "link 'base': <mass> value='nan', expected one number up to 1e.12",
    ),
    "mass infinite": (
        robot(link("base", mass="inf")),
        "link 'base': <mass> value='inf', expected one number",
    ),
    "mass beyond reason": (
        robot(link("base", mass="1e300")),
        "link 'base': <mass> value='1e300', expected one number up to 1e.12",
    ),
    "mass in words": (
        robot(link("base", mass="heavy")),
        "link 'base': <mass> value='heavy', expected one number",
    ),
    "mass missing": (
        robot(link("base", "<inertial><origin/></inertial>")),
        "link 'base': has an inertial element without a mass",
    ),
    "mass without value": (
        robot(link("base", "<inertial><mass/></inertial>")),
        "link 'base': <mass> value=None, expected one number",
    ),
    "inertia in words": (
        robot(link("base", INERTIA.format(1, "x", 1))),
        "link 'base': <inertia> iyy='x', expected one number",
    ),
    "origin of two numbers": (
        two_links(origin="1 2"),
        "joint 'elbow': <origin> xyz='1 2', expected 3 numbers up to",
    ),
    "origin NaN": (
        two_links(origin="1 2 nan"),
        "joint 'elbow': <origin> xyz='1 2 nan', expected 3 numbers",
    ),
    "zero axis": (two_links(axis="0 0 0"), "small.urdf:4: joint 'elbow': has a zero axis"),
    "zero axis of a plane": (
        two_links(axis="0 0 0", kind="planar"),
        "joint 'elbow': has a zero axis",
    ),
    "axis of one number": (
        two_links(axis="1"),
        "joint 'elbow': <axis> xyz='1', expected 3 numbers",
    ),
    "axis without xyz": (
        robot(*TWO, joint("j", "base", "arm").replace('xyz="0 0 1"', "")),
        "joint 'j': <axis> xyz=None, expected 3 numbers",
    ),
    "limits upside down": (
        two_links('<limit lower="1" upper="-1"/>'),
        "joint 'elbow': lower limit 1 is above upper limit -1",
    ),
    "negative effort": (
        two_links('<limit effort="-5"/>'),
        "joint 'elbow': negative effort limit -5",
    ),
    "negative velocity": (
        two_links('<limit velocity="-5"/>'),
        "joint 'elbow': negative velocity limit -5",
    ),
    "limit NaN": (
        two_links('<limit upper="nan"/>'),
        "joint 'elbow': <limit> upper='nan', expected one number",
    ),
    "damping in words": (
        two_links('<dynamics damping="much"/>'),
        "joint 'elbow': <dynamics> damping='much', expected one number",
    ),
    "negative damping": (
        two_links('<dynamics damping="-1"/>'),
        "joint 'elbow': negative damping -1",
    ),
    "unknown type": (
        two_links(kind="ball"),
        "joint 'elbow': type 'ball', expected one of revolute, continuous, prismatic, floating, planar, fixed",
    ),
    "no type": (
        two_links().replace('type="revolute"', ""),
        "joint 'elbow': type '', expected one of",
    ),
    "mimics itself": (two_links('<mimic joint="elbow"/>'), "joint 'elbow': mimics itself"),
    "mimic in words": (
        two_links('<mimic joint="x" multiplier="twice"/>'),
        "joint 'elbow': <mimic> multiplier='twice', expected one number",
    ),
    "size of a box": (
        robot(link("base", '<visual><geometry><box size="1"/></geometry></visual>')),
        "link 'base': <box> size='1', expected 3 numbers",
    ),
    "name of the world's joint": (
        two_links().replace("elbow", "universe"),
        "joint 'universe': has the reserved name of the root joint or of the world",
    ),
    "name of the root's joint": (
        two_links().replace("elbow", "root_joint"),
        "joint 'root_joint': has the reserved name",
    ),
    "ten thousand links": (chain(10_000), "robot: has 20001 elements, expected at most"),
    "too many freedoms": (
        chain(300),
        "joint 'j194': exceeds the maximum of 200 degrees of freedom",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(tmp_path, case, capfd):
    text, words = REFUSED[case]
    path = tmp_path / "small.urdf"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    for source in (text, path):
        if source == "" or (case == "half a character" and source is path):
            continue
        pattern = words.replace("small.urdf", "small.urdf" if source is path else "XML text")
        if source is path and not text:
            pattern = "small.urdf:1: XML: Document is empty"
        with (
            quick(),
            nothing_happens(),
            pytest.raises(HumanoidDynamicsError, match=pattern) as caught,
        ):
            load_robot(source)
        assert isinstance(caught.value, UrdfError if text else HumanoidDynamicsError)
        assert "\n" not in str(caught.value)
        assert str(caught.value).startswith(str(path) if source is path else "XML text")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "content",
    [
        bytes(range(256)) * 100,
        b"\x7fELF\x02\x01\x01",
        b"\x89PNG\r\n\x1a\n\x00",
        b"PK\x03\x04",
        b"\xff\xfe\x00\xd8",
    ],
)
def test_binary_file(tmp_path, content):
    path = tmp_path / "robot.urdf"
    path.write_bytes(content)
    with (
        quick(),
        pytest.raises(
            HumanoidDynamicsError, match=r"robot\.urdf:? ?(is not text in utf-|.*XML: )"
        ) as caught,
    ):
        load_robot(path)
    assert isinstance(caught.value, SourceError | UrdfError)


def test_encoding_nobody_knows(tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_text(f'<?xml version="1.0" encoding="klingon"?>{two_links()}')
    with pytest.raises(SourceError, match="is not text in klingon, so not a URDF"):
        load_robot(path)


def warned(text, **options):
    robot = load_robot(text, **options)
    return robot, [
        str(notice)
        for notice in robot.notices
        if notice.severity == "warning" and notice.element != "soles"
    ]


@pytest.mark.parametrize(
    ("moments", "words"),
    [
        (
            (1, 1, 3),
            "link 'base': inertia violates the triangle inequality (principal moments 1, 1, 3 kg·m²), which is not physically possible",
        ),
        (
            (1, 1, -0.5),
            "link 'base': inertia has a negative principal moment (-0.5 kg·m²), which is not physically possible",
        ),
        (
            (-1, -1, -1),
            "link 'base': inertia has a negative principal moment (-1 kg·m²), which is not physically possible",
        ),
    ],
)
def test_inertias_no_body_has_are_warned_of(moments, words):
    robot_read, warnings = warned(robot(link("base", INERTIA.format(*moments))))
    assert words in warnings
    assert robot_read.nv == 6


@pytest.mark.parametrize(
    "moments", [(1, 1, 2), (1, 1, 1), (0, 0, 0), (1e-9, 1e-9, 2e-9), (0, 1, 1)]
)
def test_inertias_some_body_has_are_not(moments):
    assert not [
        text
        for text in warned(robot(link("base", INERTIA.format(*moments))))[1]
        if "inertia " in text
    ]


def test_an_inertial_without_an_inertia_is_a_point():
    found = load_robot(
        robot(link("base", '<inertial><origin xyz="0 0 1"/><mass value="3"/></inertial>'))
    )
    assert found.mass == 3.0
    assert found.inertialess == ("base",)


def test_mesh_that_is_not_there_is_warned_of():
    mesh = MASS.format(mass=1) + '<visual><geometry><mesh filename="{}"/></geometry></visual>'
    for name in (
        "package://nowhere/a.stl",
        "http://localhost:1/a.stl",
        "a.stl",
        "file:///nowhere/a.stl",
        "x" * 5000,
        "package://../../../etc",
    ):
        with quick(), nothing_happens():
            _, warnings = warned(robot(link("base", mesh.format(name))))
        assert warnings == [f"link 'base': mesh {name} not found; not needed"]
    _, warnings = warned(
        robot(link("base", mesh.format("a") + mesh.format("b").removeprefix(MASS.format(mass=1))))
    )
    assert warnings == [
        "link 'base': mesh a not found, nor 1 of 1 others; the robot is complete without them"
    ]


@pytest.mark.parametrize(
    "where", ["AMENT_PREFIX_PATH", "ROS_PACKAGE_PATH", "beside", "absolute", "file"]
)
def test_mesh_that_is_there_is_found(tmp_path, monkeypatch, where):
    share = tmp_path / ("share/arms" if where == "AMENT_PREFIX_PATH" else "arms")
    (share / "urdf").mkdir(parents=True)
    (share / "a.stl").touch()
    if where in {"AMENT_PREFIX_PATH", "ROS_PACKAGE_PATH"}:
        monkeypatch.setenv(where, f":{tmp_path}")
    name = {"absolute": str(share / "a.stl"), "file": f"file://{share}/a.stl"}.get(
        where, "package://arms/a.stl"
    )
    text = robot(
        link(
            "base",
            MASS.format(mass=1)
            + f'<collision><geometry><mesh filename="{name}"/></geometry></collision>',
        )
    )
    path = (share / "urdf" if where == "beside" else tmp_path) / "robot.urdf"
    path.write_text(text)
    assert warned(path)[1] == []


def test_shapes_no_urdf_has_are_left_out():
    shapes = (
        MASS.format(mass=1)
        + '<visual><geometry><ellipsoid radii="1 2 3"/></geometry></visual><visual/><visual><geometry/></visual>'
    )
    found = load_robot(robot(link("base", shapes)))
    assert "link 'base': has a shape <ellipsoid>, which is not part of URDF; ignored" in map(
        str, found.notices
    )


@pytest.mark.parametrize(
    "name",
    [
        "left arm",
        "Ellenbogen_größe",
        "右腕",
        "a&#10;b",
        "a/b",
        "world/arm",
        "-1",
        "'",
        "universe",
        "root_joint",
    ],
)
def test_odd_names_are_names(name):
    text = two_links().replace('"arm"', f'"{name}"')
    found = load_robot(text)
    read = name.replace("&#10;", "\n")
    assert found.links == ("base", read)
    assert found.model.frames[found.link_frame(read)].name == read


def test_link_and_joint_may_share_a_name():
    found = load_robot(two_links().replace("elbow", "arm"))
    assert found.joint("arm").child == "arm"
    assert found.model.frames[found.link_frame("arm")].type.name == "BODY"


def test_a_root_link_called_world_does_not_fly():
    text = two_links().replace('"base"', '"world"')
    assert load_robot(text).root == "fixed"
    assert load_robot(text, root="free_flyer").nv == 7


def test_unlimited_as_sdf_says_it():
    found = load_robot(two_links('<limit effort="-1" velocity="-1"/>'))
    assert np.isinf([found.limits.effort[-1], found.limits.velocity[-1]]).all()


def test_limits_of_a_joint_without_limits_do_not_matter():
    assert load_robot(two_links('<limit lower="1" upper="-1"/>', kind="continuous")).nv == 7


def test_infinite_limits_are_none():
    found = load_robot(two_links('<limit lower="-inf" upper="inf" effort="inf" velocity="inf"/>'))
    assert (found.limits.lower[-1], found.limits.upper[-1], found.limits.effort[-1]) == (
        -np.inf,
        np.inf,
        np.inf,
    )


def test_axis_of_another_length_is_scaled_and_told():
    found = load_robot(two_links(axis="0 3 4"))
    assert "joint 'elbow': axis of length 5 was scaled to one" in map(str, found.notices)
    q = np.array([0, 0, 0, 0, 0, 0, 1, 0.7])
    data = found.data()
    pin.forwardKinematics(found.model, data, q)
    turned = pin.AngleAxis(0.7, np.array([0, 0.6, 0.8])).toRotationMatrix()
    np.testing.assert_allclose(data.oMi[2].rotation, turned, rtol=0, atol=1e-15)


def test_many_faults_of_one_kind_are_one_notice():
    odd = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="3" ixy="0" ixz="0" iyz="0"/></inertial>'
    names = [f"l{i}" for i in range(5)]
    text = robot(
        *(link(name, odd) for name in names),
        *(joint(f"j{i}", f"l{i}", f"l{i + 1}", axis="0 0 2") for i in range(4)),
    )
    told = [str(notice) for notice in load_robot(text, root="fixed").notices]
    assert (
        "5 links: inertia violates the triangle inequality; not physically possible (l0, l1, l2, l3, l4)"
        in told
    )
    assert "4 joints: axis was scaled to one (j0, j1, j2, j3)" in told


UNKNOWN = [
    ({"root": "flying"}, "no kind of root named 'flying'. Known: free_flyer, fixed, planar"),
    ({"mimic": "copy"}, "no choice for mimic joints named 'copy'. Known: constraint, reduced"),
]


@pytest.mark.parametrize(("option", "words"), UNKNOWN)
def test_options_that_do_not_exist(option, words):
    with pytest.raises(UnknownNameError, match=words):
        load_robot(two_links(LIMIT), **option)


def test_a_single_link_and_a_bolted_one():
    assert (
        load_robot(robot(link("base"))).nv,
        load_robot(robot(link("base")), root="fixed").nv,
    ) == (6, 0)


def test_a_robot_without_any_mass_is_warned_of():
    _, warnings = warned(robot(link("base", "")))
    assert warnings == [
        "links base: move without inertia, so the mass matrix is singular; torques can be asked for, accelerations cannot"
    ]
