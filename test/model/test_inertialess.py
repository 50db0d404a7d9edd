# SPDX-License-Identifier: Apache-2.0
"""Links that move without inertia are named, and no healthy link ever is."""

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from small_urdf import MASS, described, joint, link, robot

from humanoid_dynamics.model.description import Description
from humanoid_dynamics.model.load import load_robot

CMEEL = Path(pin.__file__).resolve().parents[4] / "share/example-robot-data/robots"
HEALTHY = (
    "talos_data/robots/talos_full_v2.urdf",
    "talos_data/robots/talos_reduced.urdf",
    "g1_description/urdf/g1_29dof_rev_1_0.urdf",
    "romeo_description/urdf/romeo_small.urdf",
    "icub_description/robots/icub_reduced.urdf",
    "bolt_description/robots/bolt.urdf",
    "alex_description/urdf/alex_psyonic_hands.urdf",
    "simple_humanoid_description/urdf/simple_humanoid.urdf",
    "human_description/robots/human.urdf",
)


def load(name):
    if not (CMEEL / name).is_file():
        pytest.skip(f"no {CMEEL / name}")
    return load_robot(CMEEL / name, root="free_flyer", description=Description())


@pytest.mark.parametrize("name", HEALTHY)
def test_healthy_robots(name):
    found = load(name)
    assert found.inertialess == ()
    assert not [text for text in found.warnings if "inertia, so" in text]


def test_the_fingers_of_romeo():
    found = load("romeo_description/urdf/romeo.urdf")
    assert len(found.inertialess) == 24
    assert all("Finger" in name or "Thumb" in name for name in found.inertialess)
    assert any(
        text.startswith("links LFinger21Link, ") and "the mass matrix is singular" in text
        for text in found.warnings
    )


def test_the_neck_of_icub():
    found = load("icub_description/robots/icub.urdf")
    assert "head" in found.inertialess
    assert len(found.inertialess) <= 3


def limb(length, mass, kind="revolute", last=MASS):
    """Three links in a row, the last one as given, with inertias of rods of that length and mass."""
    moment = mass * length**2 / 12
    body = f'<inertial><mass value="{mass}"/><inertia ixx="{moment}" ixy="0" ixz="0" iyy="{moment}" iyz="0" izz="{moment}"/></inertial>'
    origin = f"0 0 {length}"
    joints = [
        joint("a", "base", "one", axis="1 0 0", origin=origin),
        joint("b", "one", "two", kind, axis="0 1 0", origin=origin),
    ]
    return robot(
        link("base", body), link("one", body), link("two", body if last is MASS else last), *joints
    )


@pytest.mark.parametrize("length", [1e-3, 1e-2, 1.0, 1e3])
@pytest.mark.parametrize("mass", [1e-3, 1.0, 1e6])
@pytest.mark.parametrize("root", ["fixed", "free_flyer"])
def test_units_do_not_matter(length, mass, root):
    """The same robot in millimetres or grams is as healthy, and its massless end as guilty, as long as numbers are."""
    assert load_robot(limb(length, mass), root=root).inertialess == ()
    assert load_robot(limb(length, mass, last=""), root=root).inertialess == ("two",)
    assert load_robot(limb(length, mass, "prismatic", ""), root=root).inertialess == ("two",)


def test_armature_is_an_inertia():
    text = limb(0.1, 1.0, last="")
    assert load_robot(text, description=described(armature={"b": 0.01})).inertialess == ()


def test_a_point_mass_on_its_axis_turns_without_inertia():
    point = '<inertial><mass value="1"/><inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/></inertial>'
    assert load_robot(limb(0.1, 1.0, last=point)).inertialess == ("two",)


def test_motions_that_cancel_are_found():
    """Two parallel axes through one point: only the sum of the angles moves a mass."""
    text = robot(
        link("base"),
        link("one", ""),
        link("two"),
        joint("a", "base", "one", origin="0 0 0"),
        joint("b", "one", "two", origin="0 0 0"),
    )
    assert load_robot(text).inertialess == ("one", "two")


def test_many_small_parts_of_one_motion_are_all_named():
    """A motion spread over many coordinates has only small components, none of which may hide it."""
    count = 30
    links = [link("l0"), *(link(f"l{i}", "") for i in range(1, count)), link(f"l{count}")]
    found = load_robot(
        robot(*links, *(joint(f"j{i}", f"l{i}", f"l{i + 1}", origin="0 0 0") for i in range(count)))
    )
    assert len(found.inertialess) > 1


def test_negative_inertia_is_no_inertia():
    bad = '<inertial><mass value="0"/><inertia ixx="-1" ixy="0" ixz="0" iyy="-1" iyz="0" izz="-1"/></inertial>'
    assert "two" in load_robot(limb(0.1, 1.0, last=bad)).inertialess


def test_three_hinges_with_nothing_between_are_regular():
    """Massless links between hinges are no fault: the last link carries the inertia of all three."""
    rows = [("x", "base", "m1", "1 0 0"), ("y", "m1", "m2", "0 1 0"), ("z", "m2", "arm", "0 0 1")]
    joints = [joint(name, up, down, axis=axis, origin="0 0 0") for name, up, down, axis in rows]
    assert (
        load_robot(
            robot(link("base"), link("m1", ""), link("m2", ""), link("arm"), *joints)
        ).inertialess
        == ()
    )
    assert np.isfinite(
        load_robot(robot(link("base"), link("m1", ""), link("m2", ""), link("arm"), *joints)).mass
    )
