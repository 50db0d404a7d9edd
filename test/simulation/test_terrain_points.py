# SPDX-License-Identifier: Apache-2.0
"""Boxes lie across the edges of the terrain, run against them, and slide over them."""

from dataclasses import replace

import numpy as np
import pytest

from humanoid_dynamics.simulation.contacts import shapes
from humanoid_dynamics.simulation.recorder import Recorder
from humanoid_dynamics.simulation.scenes.file import read_scene
from humanoid_dynamics.simulation.scenes.run import build_world

PEDESTAL = {"box": {"size": [0.2, 0.2, 0.5], "xyz": [0, 0, 0.25]}}
LEDGE = {"box": {"size": [2, 0.5, 0.5], "xyz": [-1, 0, 0.25]}}
CRATE = {"mass": 5, "box": [0.6, 0.6, 0.2], "xyz": [0, 0, 0.6]}
PLANK = {"mass": 5, "box": [1, 0.2, 0.05], "xyz": [-0.2, 0, 0.525]}


def build(crate, *boxes, compiled=False, contact="friction"):
    scene = read_scene(
        {"contact": contact, "objects": {"crate": crate}, "terrain": [{"plane": {}}, *boxes]}
    )
    return build_world(replace(scene, setup=replace(scene.setup, compiled=compiled)))


def go(world, steps):
    reports = [world.step(2e-3) for _ in range(steps)]
    assert {report.status for report in reports} == {"OK"}
    assert max(report.depth for report in reports) < 1e-4
    return reports


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(("crate", "box"), [(CRATE, PEDESTAL), (PLANK, LEDGE)])
def test_what_lies_across_an_edge_stays(crate, box, compiled):
    world = build(crate, box, compiled=compiled)
    go(world, 60)
    np.testing.assert_allclose(world.q[:3], crate["xyz"], atol=1e-6)
    np.testing.assert_allclose(world.ground_force(), [0, 0, 5 * 9.81], atol=1e-6)


@pytest.mark.parametrize("contact", ["friction", "paper"])
def test_a_crate_falls_onto_a_pedestal_and_stays(contact):
    world = build({**CRATE, "xyz": [0, 0, 0.62]}, PEDESTAL, contact=contact)
    assert sum(report.impacts for report in go(world, 60)) > 0
    assert world.q[2] == pytest.approx(0.6, abs=1e-4)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    "pose",
    [
        (0, 0, 0.6, 0),
        (1e-9, 0, 0.6, 0),
        (0, 0, 0.6 - 1e-7, 0),
        (0, 0, 0.62, 0),
        (0, 0, 0.6, np.pi / 2),
    ],
    ids=str,
)
def test_a_crate_stands_on_a_pedestal_of_its_own_size(pose, compiled):
    x, y, z, yaw = pose
    crate = {"mass": 5, "box": [0.4, 0.4, 0.2], "xyz": [x, y, z], "rpy": [0, 0, yaw]}
    world = build(crate, {"box": {"size": [0.4, 0.4, 0.5], "xyz": [0, 0, 0.25]}}, compiled=compiled)
    go(world, 60)
    assert world.q[2] == pytest.approx(0.6, abs=2e-5)
    np.testing.assert_allclose(world.ground_force(), [0, 0, 5 * 9.81], atol=1e-5)
    assert max(np.abs(force.force[:2]).max() for force in world.contact_forces()) < 1e-3


@pytest.mark.parametrize("compiled", [False, True])
def test_only_what_is_near_is_measured(compiled, monkeypatch):
    """Points along the edges of a long terrain cost what those next to the crate do."""
    steps = [
        {"box": {"size": [0.5, 0.5, 0.1 * k], "xyz": [0.6 * k, 0, 0.05 * k]}} for k in range(1, 12)
    ]
    world = build({**CRATE, "xyz": [0.6, 0, 0.2]}, *steps, compiled=compiled)
    assert len(world.tables.points) > 500
    if not compiled:
        counts, probe = [], shapes.Box.probe
        monkeypatch.setattr(
            shapes.Box,
            "probe",
            lambda box, points, looks=None: counts.append(len(points)) or probe(box, points, looks),
        )
        go(world, 3)
        assert 0 < max(counts) < 250
    go(world, 20)
    assert world.q[2] == pytest.approx(0.2, abs=1e-5)


def test_a_crate_does_not_go_through_a_pillar():
    pillar = {"box": {"size": [0.1, 0.1, 1], "xyz": [0, 0, 0.5]}}
    world = build(
        {
            "mass": 5,
            "box": [0.3, 0.3, 0.2],
            "xyz": [-0.3, 0, 0.1],
            "friction": 0,
            "velocity": [1, 0, 0, 0, 0, 0],
        },
        pillar,
    )
    go(world, 80)
    assert world.q[0] == pytest.approx(-0.2, abs=1e-4)


@pytest.mark.parametrize(("x", "velocity"), [(-0.2, [1, 0, 0]), (-0.05, [0, 1, 0])])
def test_what_slides_over_an_edge_does_not_run_against_it(x, velocity):
    crate = {
        "mass": 5,
        "box": [0.3, 0.2, 0.1],
        "xyz": [x, 0, 0.55],
        "friction": 0,
        "velocity": [*velocity, 0, 0, 0],
    }
    world = build(crate, LEDGE)
    go(world, 70)
    np.testing.assert_allclose(world.v[:3], velocity, atol=1e-6)


def test_forces_of_edges_are_told_and_recorded():
    world = build(CRATE, PEDESTAL)
    recorder = Recorder(world)
    go(world, 2)
    assert len(world.point_names) == len(world.point_forces()) == 8 < len(world.tables.points)
    forces = world.contact_forces()
    assert {force.link for force in forces} == {"body"}
    np.testing.assert_allclose(
        sum(force.force for force in forces), world.ground_force(), atol=1e-9
    )
    np.testing.assert_allclose(
        recorder.record().wrench("body")[-1][:3], world.ground_force(), atol=1e-9
    )


@pytest.mark.parametrize(("length", "warned"), [(2.0, False), (40.0, True)])
def test_edges_too_long_for_points_are_told(length, warned):
    world = build(PLANK, {"box": {"size": [length, 0.5, 0.5], "xyz": [-length / 2, 0, 0.25]}})
    assert any("edge between" in warning for warning in world.robot.warnings) == warned


def test_edges_that_others_hide_and_balls_need_no_points():
    assert len(build({"ball": 0.1, "xyz": [0, 0, 1]}, PEDESTAL).tables.points) == 1
    alone = len(build(CRATE, PEDESTAL).tables.points)
    neighbour = {"box": {"size": [0.2, 0.2, 0.5], "xyz": [0.2, 0, 0.25]}}
    assert len(build(CRATE, PEDESTAL, neighbour).tables.points) < 2 * alone - 8
