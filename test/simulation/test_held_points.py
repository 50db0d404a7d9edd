# SPDX-License-Identifier: Apache-2.0
"""Points that touch, or are in the ground, while bilateral rows hold them: they are neither pushed out nor pressed on."""

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.model.loop import LoopClosure
from humanoid_dynamics.simulation.contacts.held_rows import FARTHEST, leave_free
from humanoid_dynamics.simulation.contacts.terrain import build_plane
from humanoid_dynamics.simulation.scenes.judge import judge_run
from humanoid_dynamics.simulation.scenes.run import Summary
from humanoid_dynamics.simulation.setup import Setup
from humanoid_dynamics.simulation.world import World
from humanoid_dynamics.structure.events import Connect

DEPTH = 1e-3


def stand_deep(links, compiled=False, speed=0.0):
    """Return a person whose soles are in the ground and whose links are held where they are."""
    human = hd.load_robot("human28")
    q, v = np.array(human.posture), speed * np.random.default_rng(0).normal(size=human.nv)
    q[2] -= DEPTH
    world = World(human, Setup(terrain=(build_plane(),), compiled=compiled), hd.State(q, v))
    robot, data = world.robot, world.robot.data()
    pin.framesForwardKinematics(robot.model, data, q)
    places = {link: pin.SE3(data.oMf[robot.link_frame(link)]) for link in links}
    world.apply(
        [
            Connect(LoopClosure(f"weld_{link}", "fixed", link, pin.SE3.Identity(), "world", X))
            for link, X in places.items()
        ]
    )
    return world


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    ("links", "speed"),
    [(("left_foot",), 0.0), (("left_foot", "right_foot"), 0.2), (("pelvis", "left_foot"), 0.2)],
)
def test_a_held_foot_in_the_ground_stays_there_and_moves_nothing(links, speed, compiled):
    if compiled:
        pytest.importorskip("numba", reason="numba is not installed")
    world = stand_deep(links, compiled, speed)
    weight = 9.81 * pin.computeTotalMass(world.robot.model)
    for _ in range(30):
        q, v = world.q.copy(), world.v.copy()
        report = world.step(1e-3)
        assert report.status == "OK", report.reason
        beyond = pin.difference(world.robot.model, q, world.q) - 0.5e-3 * (v + world.v)
        assert np.abs(beyond).max() < 10.0 * FARTHEST * DEPTH
        assert abs(sum(force.force[2] for force in world.contact_forces())) < 10.0 * weight
    assert 0.0 <= world.books.work["corrections"] < weight * DEPTH
    assert abs(world.books.missing) < 0.1


def test_a_row_that_is_held_leaves_exactly_nothing():
    world = stand_deep(("left_foot",))
    world.step(1e-3)
    terms, rng = world._stepper.engine.terms, np.random.default_rng(0)
    terms.evaluate(world.q)
    terms.hold(world.q)
    rows = leave_free(
        terms,
        np.column_stack(
            (terms.Q.dot(rng.normal(size=terms.Q.shape[1])), rng.normal(size=len(terms.h)))
        ),
    )
    assert not rows[:, 0].any()
    assert rows[:, 1].any()
    assert np.abs(terms.Q.T.dot(rows)).max() < 1e-12


def test_a_push_out_that_does_too_much_work_is_told():
    world, summary = stand_deep(()), Summary()
    summary.enter(world.step(1e-3))
    assert summary.statuses == {"OK": 1}
    engine, lift = world._stepper.engine, np.zeros(world.robot.nv)
    lift[2] = 100.0 * DEPTH
    engine.contacts.push_out = lambda: (engine.terms.momentum(lift), DEPTH)
    report = world.step(1e-3)
    summary.enter(report)
    assert report.status == "INEXACT"
    assert "pushing out" in report.reason
    assert "energy made by pushing out" in {
        check.name for check in judge_run(summary, world) if not check.passed
    }
