# SPDX-License-Identifier: Apache-2.0
"""Connections that cannot close, that close by a little, and that make no sense."""

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.constraints.loop import build_loop
from humanoid_dynamics.errors import HumanoidDynamicsError, ShapeError
from humanoid_dynamics.model.loop import LoopClosure
from humanoid_dynamics.simulation.audit.setting import build_crate, build_state
from humanoid_dynamics.simulation.contacts.moving_shapes import MovingShape
from humanoid_dynamics.simulation.contacts.shapes import Box, Capsule, Plane
from humanoid_dynamics.simulation.setup import Setup
from humanoid_dynamics.simulation.world import World
from humanoid_dynamics.structure.events import Connect, Cut

HERE = pin.SE3.Identity()


def at(x=0.0, z=0.0):
    return pin.SE3(np.eye(3), np.array([x, 0.0, z]))


def weld(name, z, kind="fixed", x=0.0, beside=0.0):
    return LoopClosure(name, kind, "body", at(x), "world", at(x + beside, z))


def float_crate(connections=()):
    return World(
        build_crate(5.0, (0.3,) * 3), Setup(compiled=False), build_state(z=1.0), connections
    )


BALLS = (weld("a", 1.0, "spherical", 0.1), weld("b", 1.0, "spherical", -0.1, -0.003))


@pytest.mark.parametrize(
    ("loops", "row"), [((weld("a", 1.0), weld("b", 1.004)), "b.z"), (BALLS, "b.x")]
)
@pytest.mark.parametrize("together", [False, True])
def test_connections_that_cannot_close_together_are_refused(loops, row, together):
    world = float_crate()
    batches = [loops] if together else [loops[:1], loops[1:]]
    for batch in batches[:-1]:
        world.apply([Connect(loop) for loop in batch])
    q, names = world.q.copy(), world.mechanism.constraints.names
    with pytest.raises(
        HumanoidDynamicsError, match=rf"connections cannot close: row '{row}' is open by 0\.00[34]"
    ):
        world.apply([Connect(loop) for loop in batches[-1]])
    np.testing.assert_array_equal(world.q, q)
    assert world.mechanism.constraints.names == names
    with pytest.raises(ShapeError, match=f"row '{row}'"):
        float_crate([build_loop(build_crate(5.0, (0.3,) * 3), loop) for loop in loops])


def test_a_weld_that_is_a_little_open_closes_and_its_work_is_in_the_books():
    world = float_crate()
    world.apply([Connect(weld("a", 1.004))])
    assert world.books.work["loops"] == pytest.approx(5.0 * 9.81 * 0.004)
    reports = [world.step(1e-3) for _ in range(5)]
    assert {report.status for report in reports} == {"OK"}
    assert world.q[2] == pytest.approx(1.004, abs=1e-12)
    assert abs(world.books.missing) < 1e-9
    assert max(report.closure for report in reports) < 1e-11


def test_a_start_that_is_a_little_open_closes_before_its_energy_counts():
    world = float_crate([build_loop(build_crate(5.0, (0.3,) * 3), weld("a", 1.004))])
    assert world.q[2] == pytest.approx(1.004, abs=1e-12)
    assert world.step(1e-3).status == "OK"
    assert abs(world.books.missing) < 1e-9


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("later", [True, False])
def test_a_velocity_that_opens_loops_gives_way_before_its_energy_counts(later, compiled):
    robot = hd.load_robot("fivebar")
    v = np.array([1.0, 2.0, -3.0, 0.5])
    q, setup = np.array(robot.posture), Setup(compiled=compiled)
    world = World(robot, setup) if later else World(robot, setup, hd.State(q, v))
    if later:
        world.set_state(hd.State(q, v))
    taken = np.array(world.v)
    world.mechanism.place(q)
    assert np.abs(world.mechanism.J @ v).max() > 0.1
    assert np.abs(world.mechanism.J @ taken).max() < 1e-12
    M = world.mechanism.inertia()
    assert (v - taken) @ (M @ taken) == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_array_equal(World(robot, setup, hd.State(q, taken)).v, taken)
    assert world.step(1e-3).status == "OK"
    assert np.abs(world.v - taken).max() < 0.1
    assert abs(world.books.missing) < 1e-5 * world.books.start


@pytest.mark.parametrize("gap", [4e-3, 1e-8])
def test_a_step_that_leaves_a_loop_open_says_which(gap):
    world = float_crate()
    world.apply([Connect(weld("a", 1.0))])
    world.mechanism.constraints.add(build_loop(world.robot, weld("b", 1.0 + gap)))
    report = world.step(1e-3)
    assert report.status == "INEXACT"
    assert "row '" in report.reason
    assert "stays open" in report.reason


@pytest.mark.parametrize("link", ["body", "world"])
def test_a_body_is_connected_with_itself_only_where_nothing_is_apart(link):
    apart = LoopClosure("self", "spherical", link, HERE, link, at(1e-3))
    world = float_crate()
    with pytest.raises(
        HumanoidDynamicsError, match=r"'self.x' is 0\.001 .* expected at most 1e-06"
    ):
        world.apply([Connect(apart)])
    with pytest.raises(ShapeError, match=r"row 'self.x' is open by 0\.001"):
        float_crate([build_loop(world.robot, apart)])


@pytest.mark.parametrize(
    ("X", "said"),
    [
        (at(np.nan, 1.0), "translation of X_LB of connection 'grip': received nan at index 0"),
        (at(np.inf, 1.0), "translation of X_LB of connection 'grip': received inf"),
        (
            pin.SE3(2.0 * np.eye(3), np.array([0.0, 0.0, 1.0])),
            "rotation of X_LB of connection 'grip': .* right-handed axes",
        ),
        (
            pin.SE3(np.full((3, 3), np.nan), np.array([0.0, 0.0, 1.0])),
            "rotation of X_LB of connection 'grip'",
        ),
        (
            pin.SE3(np.diag([1.0, 1.0, -1.0]), np.array([0.0, 0.0, 1.0])),
            "rotation of X_LB of connection 'grip'",
        ),
        (3, "X_LB of connection 'grip': received int 3, expected a pin.SE3"),
    ],
)
def test_connections_with_frames_that_are_none_are_refused(X, said):
    world, grip = float_crate(), LoopClosure("grip", "fixed", "body", HERE, "world", X)
    with pytest.raises(ShapeError, match=said):
        world.apply([Connect(grip)])
    with pytest.raises(ShapeError, match=said):
        build_loop(world.robot, grip)
    assert world.mechanism.constraints.names == ()


NAN = np.full(3, np.nan)


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        (Plane("p", NAN, 0.0), "normal of terrain 'p'"),
        (Plane("p", np.array([0.0, 0.0, 2.0]), 0.0), "normal of terrain 'p': .* length 1"),
        (Plane("p", np.array([0.0, 0.0, 1.0]), np.nan), "offset of terrain 'p'"),
        (Box("b", pin.SE3(np.eye(3), NAN), np.ones(3)), "translation of X_WB of terrain 'b'"),
        (Box("b", HERE, np.array([1.0, 0.0, 1.0])), "half of terrain 'b'"),
        (Capsule("c", HERE, np.nan), "half of terrain 'c'"),
        (Capsule("c", HERE, 0.1, friction=-1.0), "friction of terrain 'c'"),
    ],
)
def test_shapes_that_are_none_in_numbers_are_refused(shape, said):
    crate = build_crate(5.0, (0.3,) * 3)
    with pytest.raises(ShapeError, match=said):
        World(crate, Setup(compiled=False, terrain=(shape,)))
    if not isinstance(shape, Plane):
        with pytest.raises(
            ShapeError, match=said.partition(" of terrain")[0] + " of the shape on link 'body'"
        ):
            World(crate, Setup(compiled=False, shapes=(MovingShape("body", shape),)))


def test_a_world_tells_which_connections_no_joint_can_move():
    world = World(hd.load_robot("human28"), Setup(compiled=False))
    before = world.notices
    world.apply([Connect(LoopClosure("itself", "spherical", "torso", HERE, "torso", HERE))])
    assert world.notices[:-1] == before
    assert "'itself'" in str(world.notices[-1])
    world.apply([Cut("itself")])
    assert world.notices == before
