# SPDX-License-Identifier: Apache-2.0
"""The contact procedure of the dynamics filter [DF, sec. 4] in the world."""

from dataclasses import replace

import numpy as np
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.errors import UnknownNameError
from humanoid_dynamics.simulation.audit.setting import build_body, build_state
from humanoid_dynamics.simulation.contacts.cone_problem import ConeProblem
from humanoid_dynamics.simulation.contacts.procedure import solve_by_procedure
from humanoid_dynamics.simulation.contacts.terrain import build_plane
from humanoid_dynamics.simulation.contacts.touch_points import TouchPoint
from humanoid_dynamics.simulation.scenes.file import load_scene
from humanoid_dynamics.simulation.scenes.run import Summary, build_world, run_scene
from humanoid_dynamics.simulation.setup import Setup
from humanoid_dynamics.simulation.world import World
from humanoid_dynamics.spatial.polygon import margin_inside

CORNERS = np.array([[0.2, 0.05], [0.2, -0.05], [-0.1, -0.05], [-0.1, 0.05]])


def plate(push, height=0.1, mass=1.0):
    """A flat foot of one free body whose middle is above the sole, falling onto its four corners and pulled along x."""
    J = np.zeros((12, 6))
    for k, (x, y) in enumerate(CORNERS):
        r = np.array([x, y, -height])
        for row, axis in zip(
            (k, 4 + k, 8 + k), ([0, 0, 1.0], [1.0, 0, 0], [0, 1.0, 0]), strict=True
        ):
            J[row] = np.concatenate((axis, np.cross(r, axis)))
    M = np.diag([mass, mass, mass, 0.01, 0.01, 0.01])
    velocity = np.array([push, 0.0, -1.0, 0.0, 0.0, 0.0])
    problem = ConeProblem(J @ np.linalg.solve(M, J.T), J @ velocity, np.full(4, 0.7), 4)
    return problem, solve_by_procedure(problem, [np.arange(4)], CORNERS)


def test_df8_a_pressed_face_holds_in_one_solve():
    _, answer = plate(0.0)
    assert answer.rounds == 1
    assert answer.p[:4].sum() == pytest.approx(1.0, rel=1e-4)
    np.testing.assert_allclose(answer.u, 0.0, atol=1e-5)


def test_df8_a_face_becomes_an_edge_where_the_centre_of_pressure_leaves_it():
    problem, answer = plate(
        0.9, height=0.3
    )  # only friction far beyond its bound could keep it flat
    assert 1 < answer.rounds <= 4
    carrying = {tuple(CORNERS[k]) for k in np.flatnonzero(answer.p[:4] > 1e-9)}
    assert carrying == {(0.2, 0.05), (0.2, -0.05)}
    assert (answer.u[:4] > -1e-5).all()
    assert answer.p @ (problem.G @ answer.p + problem.b) < 1e-4


def test_df8_standing_figure_carries_half_its_weight_on_each_foot():
    human = hd.load_robot("human28")
    scene = load_scene("standing")
    world = build_world(replace(scene, setup=replace(scene.setup, contact="paper")))
    for _ in range(3000):
        report = world.step(1e-3)
        assert world.touching.answer.rounds == 1
    assert report.status == "OK"
    forces = world.contact_forces()
    left = sum(force.force[2] for force in forces if force.link == "left_foot")
    right = sum(force.force[2] for force in forces if force.link == "right_foot")
    assert left == pytest.approx(right, abs=1e-6)
    assert left + right == pytest.approx(human.mass * 9.81, rel=1e-3)


def test_df8_pushed_figure_moves_as_under_coulomb_and_no_step_takes_more_than_four_solves():
    scene = replace(load_scene("pushed"), moments=load_scene("pushed").moments[:1])
    ends = []
    for law in ("friction", "paper"):
        world = build_world(replace(scene, setup=replace(scene.setup, contact=law)))
        solves = []
        world.add_hook(
            "after_step", lambda world, solves=solves: solves.append(world.touching.answer.rounds)
        )
        summary = run_scene(scene, world, 1.5)
        ends.append(world.q.copy())
        assert world.reason == ""
        assert summary.depth < 1e-4
    assert max(solves) <= 4
    np.testing.assert_allclose(ends[1], ends[0], atol=5e-4)


def test_df8_every_foot_is_pressed_inside_its_sole():
    scene = load_scene("pushed")
    world = build_world(replace(scene, setup=replace(scene.setup, contact="paper")))
    human = world.robot
    feet = {name: human.surface(name) for name in ("left_foot", "right_foot")}
    checked = 0
    for k in range(900):
        if k == 500:
            scene.push_into(world, scene.moments[0])
        world.step(1e-3)
        for foot, surface in feet.items():
            mine = [force for force in world.contact_forces() if force.point.startswith(foot)]
            load = sum(force.force[2] for force in mine)
            assert load >= -1e-6 * human.mass * 9.81
            if load > 1.0:
                cop = sum(force.force[2] * force.place for force in mine) / load
                frame = (
                    world.mechanism.kinematics.data.oMi[
                        human.model.frames[surface.frame].parentJoint
                    ]
                    * human.model.frames[surface.frame].placement
                )
                assert margin_inside(surface.vertices[:, :2], frame.actInv(cop)[:2]) > -1e-5
                checked += 1
    assert checked > 1500


def test_df15_what_holds_beyond_friction_is_handed_to_coulomb_and_told():
    """A crate pushed harder than friction holds slides under both laws alike, and the law of the paper says why it does not hold."""
    ends, told = [], []
    for law in ("friction", "paper"):
        corners = tuple(
            TouchPoint(f"sole.{k}", "body", np.array([*p, -0.1]), 0.0, 0.3)
            for k, p in enumerate(CORNERS)
        )
        setup = Setup(terrain=(build_plane(),), points=corners, contact=law, compiled=False)
        world = World(build_body(2.0, (0.02, 0.02, 0.02)), setup, build_state(z=0.1))
        world.push("body", (9.0, 0.0, 0.0), 0.2)
        reports = [world.step(1e-3) for _ in range(150)]
        assert max(report.cone for report in reports) < 1e-9
        assert {report.status for report in reports} == {"OK"}
        ends.append(world.q)
        told.append({report.handed for report in reports})
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-5)
    assert world.v[0] == pytest.approx((9.0 / 2.0 - 0.3 * 9.81) * 0.15, rel=2e-2)
    assert told[0] == {""}
    assert any("friction" in why for why in told[1])


def test_df8_a_limp_fall_under_the_law_of_the_paper_is_exact_or_told():
    human, rng = hd.load_robot("human28"), np.random.default_rng(1)
    v = np.zeros(human.nv)
    v[:6] = rng.uniform(-1.0, 1.0, 6)
    setup = Setup(terrain=(build_plane(),), contact="paper", compiled=False)
    world = World(human, setup, hd.State(human.posture, v))
    summary = Summary()
    for _ in range(150):
        summary.enter(world.step(1e-3))
    assert summary.statuses == {"OK": 150}
    assert summary.cone < 1e-9
    assert summary.rebound < 1e-6
    assert summary.handed


def test_unknown_law_of_contact():
    with pytest.raises(UnknownNameError, match="friction, paper"):
        World(hd.load_robot("human28"), Setup(contact="glue"))
