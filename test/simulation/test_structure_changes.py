# SPDX-License-Identifier: Apache-2.0
"""Links that take hold of each other and let go, at random, while the world runs."""

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.model.loop import LoopClosure
from humanoid_dynamics.simulation.contacts.terrain import build_plane
from humanoid_dynamics.simulation.setup import Setup
from humanoid_dynamics.simulation.steps.joint_forces import build_drive
from humanoid_dynamics.simulation.world import World
from humanoid_dynamics.structure.events import Connect, Cut

LINKS = (
    "left_hand",
    "right_hand",
    "left_foot",
    "right_foot",
    "head",
    "left_shank",
    "right_forearm",
)
KINDS = ("fixed", "revolute", "spherical", "universal", "prismatic")


def take_hold(world, rng, name):
    """Connect a link with another one, or with the world, where they are now."""
    robot, data = world.robot, world.robot.data()
    pin.framesForwardKinematics(robot.model, data, world.q)
    first, second = rng.choice([*LINKS, "world"], size=2, replace=False)
    if first == "world":
        first, second = second, first
    X_WA = data.oMf[robot.link_frame(first)]
    X_LB = X_WA if second == "world" else data.oMf[robot.link_frame(second)].actInv(X_WA)
    kind = str(rng.choice(KINDS[:3] if second == "world" else KINDS))
    return Connect(
        LoopClosure(name, kind, str(first), pin.SE3.Identity(), str(second), pin.SE3(X_LB))
    )


def run(changes, seed):
    human, rng = hd.load_robot("human28"), np.random.default_rng(seed)
    state = hd.State(human.posture, 0.3 * rng.normal(size=human.nv))
    world = World(human, Setup(terrain=(build_plane(),), limits=False), state)
    held, worst = [], 0.0
    for k in range(changes):
        if held and (len(held) > 2 or rng.random() < 0.5):
            world.apply([Cut(held.pop(int(rng.integers(len(held)))))])
        else:
            before = world.books.energy
            change = world.apply([take_hold(world, rng, f"grip{k}")])
            assert change.impact is not None
            assert change.impact.energy_change <= 1e-9
            assert world.books.energy <= before + 1e-9
            held.append(f"grip{k}")
        for _ in range(3):
            report = world.step(1e-3)
            assert report.status in {"OK", "INEXACT"}, report.reason
            worst = max(worst, report.closure)
    assert worst < 1e-6
    assert world.mechanism.constraints.names == tuple(held)
    return world


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("kind", ["fixed", "spherical"])
def test_soles_that_rest_are_not_hit_when_a_hand_takes_hold(kind, compiled):
    if compiled:
        pytest.importorskip("numba", reason="numba is not installed")
    human = hd.load_robot("human28")
    setup = Setup(terrain=(build_plane(),), drive=build_drive(human, 300.0, 5.0), compiled=compiled)
    world = World(human, setup)
    for _ in range(30):
        world.step(1e-3)
    data = human.data()
    pin.framesForwardKinematics(world.robot.model, data, world.q)
    X_WA = data.oMf[world.robot.link_frame("left_hand")]
    for event in (
        Connect(LoopClosure("grip", kind, "left_hand", pin.SE3.Identity(), "world", pin.SE3(X_WA))),
        Cut("grip"),
    ):
        world.apply([event])
        reports = [world.step(1e-3) for _ in range(5)]
        assert [report.impacts for report in reports] == [0] * 5
        assert min(report.touching for report in reports) >= 4
    assert world.point_forces()[:, 2].sum() == pytest.approx(human.mass * 9.81, rel=0.15)


def test_a_hundred_random_changes_of_structure():
    world = run(100, 0)
    assert world.books.missing < 1.0


@pytest.mark.slow
def test_a_thousand_random_changes_of_structure():
    run(1000, 1)
