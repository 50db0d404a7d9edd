# SPDX-License-Identifier: Apache-2.0
"""One robot, every way of saying it: the same model comes out."""

import os
import shutil
import sys
import types
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from small_urdf import LIMIT, joint, link, nothing_happens, quick, robot, two_links

from humanoid_dynamics.errors import DescriptionError, MissingExtraError, SourceError, UrdfError
from humanoid_dynamics.model.load import load_robot
from humanoid_dynamics.model.reading import catalogue, source

MESH = '<visual><geometry><mesh filename="package://nowhere/arm.stl"/></geometry></visual>'
TEXT = robot(
    link("pelvis"),
    link("thigh", '<inertial><origin xyz="0 0.01 -0.2" rpy="0.1 0.2 0.3"/><mass value="7.5"/>'
         '<inertia ixx="0.12" ixy="0.001" ixz="0.002" iyy="0.11" iyz="0.003" izz="0.02"/></inertial>' + MESH),
    link("shin"),
    link("tool"),
    link("wheel"),
    joint("hip", "pelvis", "thigh", axis="0 1 0", inside=LIMIT + '<dynamics damping="0.5" friction="0.25"/>'),
    joint("knee", "thigh", "shin", axis="0 0.6 0.8"),
    joint("slide", "pelvis", "tool", "prismatic", axis="1 0 0", inside=LIMIT + '<mimic joint="knee" multiplier="0.5" offset="0.1"/>'),
    joint("spin", "tool", "wheel", "continuous", inside=""),
    name="leg",
)  # fmt: skip


@pytest.fixture
def reference():
    return load_robot(TEXT)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "leg.urdf"
    path.write_text(TEXT)
    return path


def assert_same(a, b, tolerance=0.0):
    assert (a.nq, a.nv, a.actuated, a.coordinates, a.links, a.root) == (
        b.nq,
        b.nv,
        b.actuated,
        b.coordinates,
        b.links,
        b.root,
    )
    for name in ("lower", "upper", "velocity", "effort"):
        np.testing.assert_array_equal(getattr(a.limits, name), getattr(b.limits, name))
    np.testing.assert_array_equal(a.damping, b.damping)
    np.testing.assert_array_equal(a.friction, b.friction)
    assert a.mimics == b.mimics
    assert a.mass == pytest.approx(b.mass, abs=tolerance)
    for one, other in zip(a.model.inertias, b.model.inertias, strict=True):
        np.testing.assert_allclose(
            one.toDynamicParameters(), other.toDynamicParameters(), rtol=0, atol=tolerance
        )
    for one, other in zip(a.model.jointPlacements, b.model.jointPlacements, strict=True):
        np.testing.assert_allclose(one.homogeneous, other.homogeneous, rtol=0, atol=tolerance)


@pytest.mark.parametrize("kind", [str, Path])
def test_path(reference, file, kind):
    found = load_robot(kind(file))
    assert_same(found, reference)
    assert found.origin == str(file)


def test_path_in_the_home_folder(reference, file, monkeypatch):
    monkeypatch.setenv("HOME", str(file.parent))
    assert_same(load_robot("~/leg.urdf"), reference)


BEFORE = (
    "",
    "\ufeff",
    " \n\t",
    '<?xml version="1.0"?>\n',
    '\ufeff<?xml version="1.0" encoding="utf-8"?>\n',
    '<?xml version="1.0" encoding="latin-1"?>',
    '\n <?xml version="1.0"?>',
    "<!-- said by a person -->\n",
)


@pytest.mark.parametrize("before", BEFORE)
def test_text(reference, before):
    assert_same(load_robot(before + TEXT), reference)


def test_declaration_does_not_move_the_lines():
    text = '<?xml version="1.0"?>\n' + two_links(axis="0 0 0")
    with pytest.raises(UrdfError) as caught:
        load_robot(text)
    assert caught.value.line == 5


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1", "utf-16-be"])
@pytest.mark.parametrize("declared", [True, False])
def test_encodings(tmp_path, encoding, declared):
    if encoding == "latin-1" and not declared:
        pytest.skip("nobody could know")
    if encoding == "utf-16-be":
        encoding, mark = "utf-16-be", b"\xfe\xff"
    else:
        mark = b""
    text = two_links().replace("base", "Hüfte")
    head = (
        f'<?xml version="1.0" encoding="{"utf-8" if encoding == "utf-8-sig" else encoding}"?>\n'
        if declared
        else ""
    )
    path = tmp_path / "robot.urdf"
    path.write_bytes(mark + (head + text).encode(encoding))
    assert load_robot(path).links == ("Hüfte", "arm")


def test_default_namespace_is_ignored_as_urdf_tools_do(reference):
    assert_same(
        load_robot(TEXT.replace('name="leg"', 'name="leg" xmlns="http://drake.mit.edu"')), reference
    )


def test_yourdfpy_object(reference, file):
    yourdfpy = pytest.importorskip("yourdfpy")
    for read in (
        yourdfpy.URDF.load(str(file), build_scene_graph=False, load_meshes=False),
        yourdfpy.URDF.load(str(file), load_meshes=False),
    ):
        with nothing_happens():
            found = load_robot(read)
        assert_same(found, reference, 1e-15)
        assert found.origin == "yourdfpy object"


def test_urchin_object(reference, file):
    urchin = pytest.importorskip("urchin")
    with nothing_happens():
        found = load_robot(urchin.URDF.load(str(file), lazy_load_meshes=True))
    assert_same(found, reference, 1e-15)


def test_object_with_the_attributes_of_urdfpy(reference):
    """The package itself cannot be imported any more; this has its attributes and nothing else."""
    new = types.SimpleNamespace
    geometry = new(
        box=None,
        sphere=None,
        cylinder=None,
        mesh=new(filename="package://nowhere/arm.stl", scale=None, meshes=None),
    )

    def pose(xyz, rpy=(0, 0, 0)):
        return pin.SE3(
            pin.rpy.rpyToMatrix(*map(float, rpy)), np.array(xyz, dtype=float)
        ).homogeneous

    def urdfpy_link(name, mass=1.0, inertia=None, origin=None, visuals=()):
        origin = pose((0, 0, 0)) if origin is None else origin
        inertia = np.diag([0.02, 0.03, 0.04]) if inertia is None else inertia
        return new(
            name=name,
            inertial=new(mass=mass, inertia=inertia, origin=origin),
            visuals=list(visuals),
            collisions=[],
        )

    def urdfpy_joint(name, parent, child, axis, kind="revolute", mimic=None, dynamics=None):
        limit = (
            None if kind == "continuous" else new(lower=-1.0, upper=2.0, velocity=3.0, effort=4.0)
        )
        return new(name=name, joint_type=kind, parent=parent, child=child, axis=np.array(axis, dtype=float), origin=pose((0.1, 0.2, 0.3)),
                   limit=limit, dynamics=dynamics, mimic=mimic)  # fmt: skip

    thigh = np.array([[0.12, 0.001, 0.002], [0.001, 0.11, 0.003], [0.002, 0.003, 0.02]])
    drawn = [new(origin=np.eye(4), geometry=geometry)]
    links = [
        *(urdfpy_link(name) for name in ("pelvis", "shin", "tool", "wheel")),
        urdfpy_link("thigh", 7.5, thigh, pose((0, 0.01, -0.2), (0.1, 0.2, 0.3)), drawn),
    ]
    joints = [
        urdfpy_joint("hip", "pelvis", "thigh", (0, 1, 0), dynamics=new(damping=0.5, friction=0.25)),
        urdfpy_joint("knee", "thigh", "shin", (0, 0.6, 0.8)),
        urdfpy_joint(
            "slide",
            "pelvis",
            "tool",
            (1, 0, 0),
            "prismatic",
            mimic=new(joint="knee", multiplier=0.5, offset=0.1),
        ),
        urdfpy_joint("spin", "tool", "wheel", (0, 0, 1), "continuous"),
    ]
    assert_same(
        load_robot(new(name="leg", links=links, joints=joints, base_link=links[0])),
        reference,
        1e-15,
    )


def test_object_that_lacks_something_is_one_error():
    broken = types.SimpleNamespace(
        name="x", links=[types.SimpleNamespace(name="a")], joints=[], base_link=None
    )
    with pytest.raises(SourceError, match=r"types object: cannot be written as URDF: .*inertial"):
        load_robot(broken)


@pytest.mark.parametrize("nonsense", [None, 3, 2.5, b"<robot/>", [], {}, object()])
def test_what_is_no_source(nonsense):
    with pytest.raises(
        SourceError,
        match=f"a robot cannot be read from {type(nonsense).__name__}; expected a catalogue name, a path",
    ):
        load_robot(nonsense)


def test_missing_file():
    with quick(), pytest.raises(SourceError, match=r"no file robots/nobody.urdf"):
        load_robot("robots/nobody.urdf")


@pytest.mark.parametrize("odd", ["a" * 5000, "nul\0byte", "~nobody_of_that_name", "", ".", "x\ny"])
def test_odd_names_are_errors_too(odd):
    with quick(), pytest.raises(SourceError):
        load_robot(odd)


def test_folder(tmp_path):
    with pytest.raises(SourceError, match="is a folder; expected a URDF or xacro file"):
        load_robot(tmp_path)


def test_unreadable_file(file):
    if os.getuid() == 0:
        pytest.skip("nothing is unreadable for root")
    file.chmod(0)
    with pytest.raises(SourceError, match="cannot be read: Permission denied"):
        load_robot(file)


@pytest.fixture
def catalogued(monkeypatch, tmp_path):
    (tmp_path / "config" / "robots").mkdir(parents=True)
    (tmp_path / "urdf").mkdir()
    (tmp_path / "urdf" / "leg.urdf").write_text(TEXT)
    (tmp_path / "config" / "robots" / "longleg.yaml").write_text("urdf: leg.urdf\nroot: fixed\n")
    monkeypatch.setattr(catalogue, "_shipped", lambda folder: tmp_path / folder)
    return tmp_path


def test_catalogue_name(catalogued):
    found = load_robot("longleg")
    assert (found.origin, found.root, found.nv) == ("longleg", "fixed", 4)


def test_misspelt_catalogue_name(catalogued):
    with (
        quick(),
        pytest.raises(
            SourceError,
            match=r"no robot named 'longlag' and no such file\. Did you mean 'longleg'\? Catalogue: longleg",
        ),
    ):
        load_robot("longlag")


def test_catalogue_robot_of_a_package_that_is_missing(catalogued):
    (catalogued / "config" / "robots" / "other.yaml").write_text(
        "urdf: x.urdf\npackage: no-such-robots\n"
    )
    with pytest.raises(
        MissingExtraError,
        match=r"robot 'other' requires the package 'no-such-robots': pip install 'humanoid_dynamics\[robots\]'",
    ):
        load_robot("other")


def test_catalogue_robot_whose_package_has_no_such_file(catalogued, monkeypatch):
    (catalogued / "cmeel.prefix" / "share" / "some-robots").mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [*sys.path, str(catalogued)])
    (catalogued / "config" / "robots" / "other.yaml").write_text(
        "urdf: x.urdf\npackage: some-robots\n"
    )
    with pytest.raises(
        SourceError, match=r"robot 'other': package 'some-robots' has no file 'x.urdf'"
    ):
        load_robot("other")


@pytest.mark.parametrize("entry", ["root: fixed\n", "urdf: ../../secret.urdf\n"])
def test_catalogue_robot_without_a_file(catalogued, entry):
    (catalogued / "config" / "robots" / "other.yaml").write_text(entry)
    with pytest.raises(SourceError, match="robot 'other'"):
        load_robot("other")


def test_yaml_beside_the_urdf(file):
    file.with_suffix(".yaml").write_text("root: fixed\n")
    assert load_robot(file).root == "fixed"


def test_yaml_beside_the_urdf_that_is_about_something_else(file, reference):
    file.with_suffix(".yaml").write_text(
        "controller_manager: {ros__parameters: {update_rate: 100}}\n"
    )
    found = load_robot(file)
    assert_same(found, reference)
    assert any(
        "has no key of a robot description; left out" in str(notice) for notice in found.notices
    )


def test_yaml_given_by_hand(file, tmp_path):
    file.with_suffix(".yaml").write_text("root: fixed\n")
    (tmp_path / "mine.yaml").write_text("root: planar\n")
    assert load_robot(file, description=tmp_path / "mine.yaml").root == "planar"
    assert (
        load_robot(file, description=str(tmp_path / "mine.yaml"), root="free_flyer").root
        == "free_flyer"
    )
    with pytest.raises(
        SourceError,
        match="a robot description cannot be read from dict; expected a path or a Description",
    ):
        load_robot(file, description={})
    with pytest.raises(SourceError, match=r"no robot description file .*nobody\.yaml"):
        load_robot(file, description=tmp_path / "nobody.yaml")


def test_yaml_of_a_folder_is_an_error(file, tmp_path):
    (tmp_path / "mine.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DescriptionError, match=r"mine\.yaml: file: cannot be read"):
        load_robot(file, description=tmp_path / "mine.yaml")


def test_nothing_is_read_or_written_but_the_file_itself(file):
    with nothing_happens():
        load_robot(file)


def test_nothing_is_printed(file, capfd):
    load_robot(file)
    load_robot(TEXT.replace('type="revolute"', 'type="floating"'))
    assert capfd.readouterr() == ("", "")


def test_largest_size_is_told(file, monkeypatch):
    monkeypatch.setattr(source, "LARGEST_URDF", 1000)
    for given in (file, TEXT):
        with pytest.raises(
            SourceError, match=r"has 0 MB, expected a robot description of at most 0 MB"
        ):
            load_robot(given)


def test_hundred_megabytes(tmp_path):
    path = tmp_path / "big.urdf"
    with path.open("wb") as stream:
        stream.truncate(100_000_000)
    with (
        quick(),
        pytest.raises(
            SourceError, match=r"big.urdf: has 100 MB, expected a robot description of at most 5 MB"
        ),
    ):
        load_robot(path)
    shutil.rmtree(tmp_path)


def test_arguments_without_xacro(file):
    for given in (file, TEXT):
        with pytest.raises(
            SourceError, match=r"xacro_arguments were given, but the source is no .xacro file"
        ):
            load_robot(given, xacro_arguments={"a": "b"})
