# SPDX-License-Identifier: Apache-2.0
"""The world: laws while it steps, what it refuses, and that equal runs are equal."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.errors import HumanoidDynamicsError, ShapeError, UnknownNameError
from humanoid_dynamics.model.loop import LoopClosure
from humanoid_dynamics.simulation.audit.motions import build_body
from humanoid_dynamics.simulation.books import measure_momentum
from humanoid_dynamics.simulation.contacts.terrain import build_plane
from humanoid_dynamics.simulation.contacts.touch_points import TouchPoint
from humanoid_dynamics.simulation.recorder import Recorder
from humanoid_dynamics.simulation.setup import HOOKS, Setup, SimulationStatus
from humanoid_dynamics.simulation.steps.joint_forces import build_drive
from humanoid_dynamics.simulation.world import World
from humanoid_dynamics.structure.events import Break, Connect, Cut

ROOT = Path(__file__).parents[2]
HERE = pin.SE3.Identity()


@pytest.fixture(scope="module")
def human():
    return hd.load_robot("human28")


def standing(human, **options):
    return World(
        human,
        Setup(
            terrain=(build_plane(),),
            drive=build_drive(human, 3000.0, 60.0),
            compiled=False,
            **options,
        ),
    )


def momentum(world):
    return measure_momentum(world.robot.model, world.robot.data(), world.q, world.v)


def test_flying_human_keeps_momentum_and_the_work_of_its_motors(human):
    rng = np.random.default_rng(3)
    state = hd.State(human.posture, 0.5 * rng.normal(size=human.nv))
    world = World(human, Setup(gravity=(0.0, 0.0, 0.0), limits=False), state)
    before = momentum(world)
    tau = 0.02 * rng.normal(size=len(world.actuated))
    for _ in range(200):
        world.step(1e-3, tau)
    np.testing.assert_allclose(momentum(world), before, atol=2e-4 * np.abs(before).max())
    assert world.books.work["motors"] != 0.0
    assert abs(world.books.missing) < 1e-3 * abs(world.books.work["motors"])


def test_standing_human_is_carried_by_its_soles(human):
    world = standing(human)
    for _ in range(600):
        report = world.step(1e-3)
    assert report.status == "OK"
    assert report.depth < 1e-6
    total = sum(force.force for force in world.contact_forces())
    assert total[2] == pytest.approx(human.mass * 9.81, rel=0.02)
    assert world.q[2] == pytest.approx(human.posture[2], abs=0.01)
    assert {force.link for force in world.contact_forces()} == {"left_foot", "right_foot"}


def test_contacts_change_linear_momentum_by_their_impulse(human):
    world = standing(human)
    for _ in range(50):
        before = momentum(world)[:3]
        world.step(1e-3)
        received = 1e-3 * (
            world.point_forces().sum(axis=0) + human.mass * world.robot.model.gravity.linear
        )
        np.testing.assert_allclose(momentum(world)[:3] - before, received, atol=2e-5)


def test_push_gives_its_impulse_whatever_the_step():
    for dt in (1e-3, 7e-3):
        world = World(build_body(2.0, (0.1, 0.1, 0.1)), Setup(gravity=(0.0, 0.0, 0.0)))
        world.push("body", (3.0, 0.0, 0.0), 0.05)
        for _ in range(int(0.1 / dt)):
            world.step(dt)
        assert world.v[0] == pytest.approx(3.0 * 0.05 / 2.0, rel=1e-12)
        assert world.books.missing == pytest.approx(0.0, abs=1e-12)


def test_stiff_drive_of_a_light_wrist_does_not_explode(human):
    drive = build_drive(human, 1e6, 1e3)
    world = World(human, Setup(terrain=(build_plane(),), drive=drive))
    for _ in range(300):
        report = world.step(1e-3)
    assert report.status == "OK"
    assert np.abs(world.v).max() < 0.05


def test_joints_stop_at_their_limits(human):
    world = World(human, Setup(gravity=(0.0, 0.0, 0.0)))
    knee = human.joint("left_knee")
    tau = {"left_knee": 30.0}
    deepest = 0.0
    for _ in range(1500):
        report = world.step(1e-3, tau)
        deepest = max(deepest, world.q[knee.q.start] - human.limits.upper[knee.q.start])
        assert report.status == "OK"
    assert -0.01 < world.q[knee.q.start] - human.limits.upper[knee.q.start] < 2e-4
    assert deepest < np.deg2rad(1.0)


def test_dry_friction_holds_a_joint_and_brakes_it():
    text = """<robot name="a"><link name="base"/><link name="arm"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="j" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
    <limit lower="-9" upper="9" effort="10" velocity="9"/><dynamics friction="0.5"/></joint></robot>"""
    robot = hd.load_robot(text, root="fixed")
    held = World(robot, Setup())
    for _ in range(500):
        held.step(1e-3, [0.4])
    assert abs(held.q[0]) < 1e-4
    moving = World(robot, Setup(), hd.State([0.0], [1.0]))
    for _ in range(3000):
        moving.step(1e-3)
    assert moving.q[0] == pytest.approx(1.0 / (2 * 0.5), rel=2e-3)  # v^2 I / 2 f
    assert moving.books.work["losses"] == pytest.approx(-0.5, rel=2e-3)


class TestWhatItRefuses:
    def test_torque_that_is_no_number_counts_as_zero(self, human):
        world, twin = standing(human), standing(human)
        tau = np.ones(len(world.actuated))
        tau[3] = np.nan
        report = world.step(1e-3, tau)
        assert report.status == "INVALID_INPUT"
        assert repr(world.actuated[3]) in report.reason
        tau[3] = 0.0
        twin.step(1e-3, tau)
        np.testing.assert_array_equal(world.v, twin.v)

    def test_torque_beyond_the_motor_is_cut(self, human):
        world = standing(human)
        report = world.step(1e-3, {"left_knee": 1e6})
        assert report.status == "SATURATED"
        assert "left_knee" in report.reason
        assert world.tau.max() == human.limits.effort[human.joint("left_knee").v.start]

    @pytest.mark.parametrize("dt", [0.0, 1e-300, -1e-3, 1.0, np.nan, np.inf])
    def test_time_step_that_makes_no_sense(self, human, dt):
        world = standing(human)
        q = world.q.copy()
        report = world.step(dt)
        assert report.status == "INVALID_INPUT"
        assert "time step" in report.reason
        np.testing.assert_array_equal(world.q, q)
        assert world.t == 0.0

    def test_names_and_sizes(self, human):
        world = standing(human)
        with pytest.raises(UnknownNameError, match="left_kne"):
            world.step(1e-3, {"left_kne": 1.0})
        with pytest.raises(ShapeError, match="tau"):
            world.step(1e-3, np.zeros(3))
        with pytest.raises(ShapeError, match="real numbers"):
            world.step(1e-3, np.zeros(len(world.actuated), dtype=complex))
        with pytest.raises(ShapeError, match="real numbers"):
            world.step(1e-3, {"left_knee": np.complex128(1j)})
        with pytest.raises(UnknownNameError, match="after_lunch"):
            world.add_hook("after_lunch", lambda _: None)
        with pytest.raises(UnknownNameError, match="hat"):
            world.push("hat", (1, 0, 0), 0.1)
        with pytest.raises(ShapeError, match="force"):
            world.push("torso", (np.nan, 0, 0), 0.1)
        with pytest.raises(ShapeError, match=r"duration: received -0[.]1 s, expected zero or more"):
            world.push("torso", (1.0, 0, 0), -0.1)
        with pytest.raises(UnknownNameError, match="skin"):
            World(human, Setup(points="skin"))
        with pytest.raises(UnknownNameError, match="wing"):
            World(human, Setup(passive=("wing",)))

    def test_connection_that_cannot_close(self, human):
        world = World(human, Setup())
        far = pin.SE3(np.eye(3), np.array([0.0, 0.0, 5.0]))
        with pytest.raises(HumanoidDynamicsError, match="'grip' cannot close"):
            world.apply(
                [Connect(LoopClosure("grip", "spherical", "left_hand", HERE, "world", far))]
            )
        assert "grip" not in world.mechanism.constraints

    def test_motion_that_runs_away_stops_the_world_in_its_last_good_state(self, human):
        world = World(human, Setup(limits=False))
        world.push("head", (1e9, 0.0, 0.0), 1.0)
        for _ in range(50):
            q, report = world.q.copy(), world.step(1e-3)
            if report.status == "STOPPED":
                break
        assert report.status == "STOPPED"
        assert re.search(
            r"body '\w+', coordinate '\w+', push on 'head' with 1e\+09 N and 0 N·m, at t =",
            report.reason,
        )
        np.testing.assert_array_equal(world.q, q)
        assert np.isfinite(world.v).all()
        assert world.step(1e-3).status == "STOPPED"

    def test_every_status_is_explained(self):
        assert set(SimulationStatus) == {
            "OK",
            "SATURATED",
            "INVALID_INPUT",
            "INEXACT",
            "UNBALANCED",
            "STOPPED",
        }


def test_hooks_come_in_their_order(human):
    world, seen = standing(human), []
    for name in HOOKS:
        world.add_hook(name, lambda _world, name=name: seen.append(name))
    world.step(1e-3)
    assert seen == [name for name in HOOKS if name != "after_impact"]


def test_impact_calls_its_hook():
    ball = TouchPoint("ball", "body", np.zeros(3), 0.1, 0.5, 0.5)
    state = hd.State([0, 0, 0.1005, 0, 0, 0, 1.0], [0, 0, -1.0, 0, 0, 0])
    world, seen = (
        World(build_body(1.0, (0.01,) * 3), Setup(terrain=(build_plane(),), points=(ball,)), state),
        [],
    )
    world.add_hook("after_impact", lambda world: seen.append(world.v[2]))
    report = world.step(1e-3)
    assert report.impacts == 1
    assert seen == [pytest.approx(0.5, rel=0.01)]


def test_cut_and_break_let_go_without_a_jump(human):
    world = World(human, Setup(drive=build_drive(human, 500.0, 20.0)))
    X_WL = world.mechanism.kinematics
    X_WL.place(world.q)
    frame = human.model.frames[human.link_frame("left_hand")]
    grip = X_WL.data.oMi[frame.parentJoint] * frame.placement
    world.apply([Connect(LoopClosure("grip", "spherical", "left_hand", HERE, "world", grip))])
    freedoms = world.count_freedoms()
    for _ in range(100):
        report = world.step(1e-3)
    assert report.closure < 1e-9
    v = world.v.copy()
    change = world.apply([Cut("grip")])
    assert change.impact is None
    np.testing.assert_array_equal(world.v, v)
    assert world.count_freedoms() == freedoms + 3
    world.apply([Break("left_elbow")])
    assert world.robot.nv == human.nv + 5
    for _ in range(50):
        assert world.step(1e-3).status == "OK"
    assert abs(world.books.missing) < 1e-2


RUN = """
import humanoid_dynamics as hd
from humanoid_dynamics.simulation.recorder import Recorder
from humanoid_dynamics.simulation.scenes.run import build_world, run_scene
from humanoid_dynamics.simulation.scenes.file import load_scene
scene = load_scene("falling")
world = build_world(scene)
recorder = Recorder(world, 5)
run_scene(scene, world, 0.6)
print(recorder.digest())
"""


def test_equal_runs_in_different_processes_have_equal_records():
    digests = {
        subprocess.run(
            [sys.executable, "-c", RUN],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=300,
            check=True,
        ).stdout
        for _ in range(2)
    }
    assert len(digests) == 1
    assert len(digests.pop().strip()) == 64


def test_record_tells_runs_apart_and_comes_back_from_disk(human, tmp_path):
    world = standing(human)
    recorder = Recorder(world)
    for _ in range(10):
        world.step(1e-3, {"left_elbow": 0.1})
    other = standing(human)
    record = Recorder(other)
    for _ in range(10):
        other.step(1e-3, {"left_elbow": 0.1000001})
    assert record.digest() != recorder.digest()
    recorder.save(tmp_path / "deep" / "run.npz")
    with np.load(tmp_path / "deep" / "run.npz") as stored:
        np.testing.assert_array_equal(stored["q"][-1], world.q)
        assert stored["t"].shape == (11,)
        assert list(stored["tau_columns"]) == list(world.actuated)
