# SPDX-License-Identifier: Apache-2.0
"""Three hinges with links without mass between them, which lose their inertia where the first and the third stand along one line."""

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.simulation import world as world_module
from humanoid_dynamics.simulation.recorder import Recorder
from humanoid_dynamics.simulation.setup import Setup
from humanoid_dynamics.simulation.steps.rotors import SHARE
from humanoid_dynamics.simulation.world import World

BODY = '<origin xyz="0.02 0 0.1"/><mass value="5"/><inertia ixx="0.03" iyy="0.027" izz="0.017" ixy="0" ixz="0" iyz="0"/>'


def build_neck(limit):
    chain = (("z", "base", "a", "0 0 1"), ("x", "a", "b", "1 0 0"), ("y", "b", "head", "0 1 0"))
    joints = "".join(
        f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/><axis xyz="{axis}"/>'
        f'<limit lower="-{limit}" upper="{limit}" effort="1" velocity="99"/></joint>'
        for name, parent, child, axis in chain
    )
    links = '<link name="base"/><link name="a"/><link name="b"/>'
    return hd.load_robot(
        f'<robot name="neck">{links}<link name="head"><inertial>{BODY}</inertial></link>{joints}</robot>',
        root="fixed",
    )


def run(robot, v):
    world = World(robot, Setup(compiled=False), hd.State(np.array([0.1, 0.9, 0.2]), np.array(v)))
    highest = world.books.energy
    for _ in range(600):
        report = world.step(1e-3)
        if report.status == "STOPPED":
            break
        highest = max(highest, world.books.energy)
    return world, report, highest


@pytest.mark.parametrize(
    ("limit", "v"),
    [(np.pi / 2, (2.0, 8.0, -3.0)), (np.pi / 2, (0.3, 6.0, -0.2)), (9.0, (2.0, 8.0, -3.0))],
)
def test_head_passes_where_its_hinges_cross(limit, v):
    world, report, highest = run(build_neck(limit), v)
    assert report.status == "OK"
    assert highest < 1.03 * world.books.start


def test_without_rotors_it_stops(monkeypatch):
    monkeypatch.setattr(world_module, "add_rotors", lambda _model: None)
    _, report, _ = run(build_neck(np.pi / 2), (2.0, 8.0, -3.0))
    assert report.status == "STOPPED"


def test_rotors_are_small_and_only_where_links_have_no_mass():
    robot = build_neck(np.pi / 2)
    model = World(robot, Setup()).robot.model
    moved = np.diagonal(pin.crba(robot.model, robot.data(), pin.neutral(robot.model)))
    np.testing.assert_allclose(model.armature[:2], SHARE * moved[:2], rtol=1e-9)
    assert model.armature[2] == 0.0
    assert not robot.model.armature.any()
    assert not World(hd.load_robot("human28"), Setup()).robot.model.armature.any()


@pytest.mark.parametrize("coordinate", [1, 2])
def test_a_world_without_inertia_says_along_which_coordinate(coordinate):
    world = World(
        build_neck(9.0), Setup(compiled=False), hd.State(np.array([0.1, 0.4, 0.2]), np.zeros(3))
    )
    world.robot.model.armature[coordinate] = -50.0
    report = world.step(1e-3)
    assert report.status == "STOPPED"
    assert "the inertia is not positive definite" in report.reason
    assert f"coordinate {world.robot.coordinates[coordinate]!r}" in report.reason


def test_the_record_and_the_books_tell_the_same_energy():
    """A hinge about a tilted axis has a rotor that Pinocchio's kinetic energy leaves out."""
    axis, link = (
        '<axis xyz="0.6 0 0.8"/>',
        f'<link name="base"/><link name="head"><inertial>{BODY}</inertial></link>',
    )
    hinge = (
        f'<joint name="z" type="continuous"><parent link="base"/><child link="head"/>{axis}</joint>'
    )
    robot = hd.load_robot(f'<robot name="tilted">{link}{hinge}</robot>', root="fixed")
    robot.model.armature[0] = 0.7
    world = World(robot, Setup(compiled=False), hd.State(np.array([1.0, 0.0]), np.array([3.0])))
    energy = Recorder(world).record().table("energy")
    assert energy.column("kinetic")[0] + energy.column("potential")[0] == pytest.approx(
        world.books.energy, rel=1e-12
    )
    assert energy.column("kinetic")[0] > 0.5 * 0.7 * 9.0
