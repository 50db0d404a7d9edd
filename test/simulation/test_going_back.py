# SPDX-License-Identifier: Apache-2.0
"""A world that goes back: what acted then acts again, and fast motion is guarded whether or not anybody measures energy."""

import numpy as np
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.simulation.contacts.terrain import build_plane
from humanoid_dynamics.simulation.scenes.file import load_scene
from humanoid_dynamics.simulation.scenes.run import build_world
from humanoid_dynamics.simulation.setup import Setup
from humanoid_dynamics.simulation.steps.joint_forces import build_drive
from humanoid_dynamics.simulation.world import World


def stand(compiled):
    if compiled:
        pytest.importorskip("numba", reason="numba is not installed")
    human = hd.load_robot("human28")
    return World(
        human,
        Setup(terrain=(build_plane(),), drive=build_drive(human, 3000.0, 60.0), compiled=compiled),
    )


def read(world):
    touching = world.touching
    felt = np.zeros((len(world.point_names), 6))
    world.sum_wrenches(np.arange(len(felt)), felt)
    return [
        world.ground_force(),
        world.point_forces(),
        felt,
        touching.point,
        touching.place,
        touching.impulse,
        touching.depth,
        world.lam,
    ]


@pytest.mark.parametrize("compiled", [False, True])
def test_forces_are_those_of_the_step_it_went_back_to(compiled):
    world = stand(compiled)
    for _ in range(50):
        world.step(1e-3)
    kept, before = world.keep(), [np.array(values) for values in read(world)]
    world.push("torso", (0.0, 0.0, -300.0), 0.05)
    for _ in range(10):
        world.step(1e-3)
    pushed = [world.step(1e-3), world.q.copy(), world.ground_force()]
    assert abs(pushed[2][2] - before[0][2]) > 10.0
    world.restore(kept)
    for now, then in zip(read(world), before, strict=True):
        np.testing.assert_allclose(now, then, rtol=1e-12, atol=1e-12)
    world.push("torso", (0.0, 0.0, -300.0), 0.05)
    for _ in range(11):
        report = world.step(1e-3)
    assert report == pushed[0]
    np.testing.assert_array_equal(world.q, pushed[1])


def test_closure_is_that_of_the_step_it_went_back_to():
    world = build_world(load_scene("swing"))
    for _ in range(5):
        report = world.step(1e-3)
    kept, now = world.keep(), report.closure
    world.push("swing/bar", (0.0, 2000.0, 0.0), 1.0)
    assert world.step(1e-3).closure != now
    world.restore(kept)
    assert world._stepper.closure == now


@pytest.mark.parametrize("compiled", [False, True])
def test_fast_motion_is_guarded_without_an_audit(compiled):
    """A tumbling figure whose joints turn by 20 rad/s keeps its energy, and moves as it does with an audit."""
    if compiled:
        pytest.importorskip("numba", reason="numba is not installed")
    human, ways = hd.load_robot("human28"), []
    q = np.array(human.posture)
    q[2] += 1.0
    v = np.random.default_rng(4).normal(size=human.nv) * 20.0
    for audit in (True, False):
        world = World(
            human,
            Setup(terrain=(build_plane(),), points="body", audit=audit, compiled=compiled),
            hd.State(q, v),
        )
        for _ in range(40):
            report = world.step(1e-3)
        assert report.status in {"OK", "INEXACT"}
        ways.append(world.q.copy())
    np.testing.assert_array_equal(ways[0], ways[1])
    assert report.missing == 0.0
    assert set(world.books.work.values()) - {0.0} <= {
        world.books.work[name] for name in ("impacts", "corrections")
    }
