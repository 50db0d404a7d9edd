# SPDX-License-Identifier: Apache-2.0
"""A robot in another simulator, behind the topics of a robot: it is held up through noise, delay and loss that nobody announced."""

import threading

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="needs ROS 2")
pytest.importorskip("mujoco", reason="needs MuJoCo")

import rclpy
from other_robot import BEGIN, Line, OtherRobotNode
from rclpy.parameter import Parameter

import humanoid_dynamics as hd
from humanoid_dynamics.errors import MissingExtraError
from humanoid_dynamics.nodes.inverse_dynamics import InverseDynamicsNode
from humanoid_dynamics.nodes.motion_player import MotionPlayerNode
from humanoid_dynamics.nodes.running import make_executor
from humanoid_dynamics.nodes.together import spin

UNGUARDED = ["-r", "unguarded/joint_torque_commands:=joint_torque_commands"]
ARGUMENTS = [
    "--ros-args",
    *UNGUARDED,
    "-r",
    "__ns:=/other",
    "-r",
    "/clock:=/other/clock",
    "-p",
    "use_sim_time:=true",
]


@pytest.fixture(autouse=True)
def ros(monkeypatch, tmp_path):
    monkeypatch.setenv("ROS_LOG_DIR", str(tmp_path))
    rclpy.init(domain_id=int(np.random.default_rng().integers(1, 101)))
    yield
    rclpy.try_shutdown()


class Loop:
    """The robot, its controller, and a player where there is a motion, in one executor."""

    def __init__(self, name, line=None, seed=0, rate=500.0, motion="", **settings):
        try:
            robot = hd.load_robot(name)
        except MissingExtraError as missing:
            pytest.skip(str(missing))
        self.robot = OtherRobotNode(robot, line or Line(), seed, rate)
        common = ["-p", f"robot:={name}"]
        more = [word for key, value in settings.items() for word in ("-p", f"{key}:={value}")]
        self.controller = self._make(InverseDynamicsNode, [*common, *more])
        self.nodes = [self.controller]
        if motion:
            self.nodes.append(
                self._make(
                    MotionPlayerNode, [*common, "-p", f"motion:={motion}", "-p", "play:=true"]
                )
            )
        self.seen, self.executor = {}, make_executor()

    def _make(self, kind, arguments):
        return kind(cli_args=[*ARGUMENTS, *arguments], use_global_arguments=False)

    def __enter__(self):
        for node in self.nodes:
            node.start()
        for node in (*self.nodes, self.robot):
            self.executor.add_node(node)
        self.thread = threading.Thread(target=spin, args=(self.executor,), daemon=True)
        self.thread.start()
        return self

    def run(self, seconds):
        body = self.robot.robot
        end = body.t + seconds
        while body.t < end:
            self.robot.advance()
            for node in self.nodes:
                node.tick()
            self.seen.setdefault(
                self.controller.status, (round(body.t - BEGIN, 3), self.controller.reason)
            )
            assert body.upright, (body.t - BEGIN, self.seen)
        return body

    def __exit__(self, *_):
        for node in self.nodes:
            node.silence()
        self.executor.shutdown()
        for node in (*self.nodes, self.robot):
            node.destroy_node()


@pytest.mark.parametrize("name", ["human28", "g1"])
def test_it_stands(name):
    with Loop(name) as loop:
        body = loop.run(0.5)
        before = body.com
        loop.run(1.5)
        assert np.abs(body.com - before).max() < 5e-3
        assert set(loop.seen) <= {"WAITING", "STANDING"}, loop.seen


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "seed"), [("human28", 1), ("g1", 2), ("talos_reduced", 3), ("sr1", 4)]
)
def test_it_stands_for_half_a_minute(name, seed):
    with Loop(name, seed=seed) as loop:
        body = loop.run(0.5)
        before = body.com
        loop.run(30.0)
        assert np.abs(body.com - before).max() < 0.01


@pytest.mark.slow
@pytest.mark.parametrize("name", ["human28", "g1", "talos_reduced"])
@pytest.mark.parametrize("motion", ["squat", "step"])
def test_it_moves(name, motion):
    with Loop(name, motion=motion) as loop:
        loop.run(8.5)
        assert "REFERENCE_ENDED" in loop.seen, loop.seen


@pytest.mark.slow
@pytest.mark.parametrize("name", ["human28", "g1", "talos_reduced"])
@pytest.mark.parametrize("way", [(1.0, 0.0, 0.0), (-1.0, 0.0, 0.0), (0.0, 1.0, 0.0)])
def test_pushed_it_comes_back(name, way):
    """A push that gives the body 0.1 m/s."""
    with Loop(name) as loop:
        body = loop.run(0.5)
        before = body.com
        body.force = 0.1 * body.robot.mass / 0.1 * np.array(way)
        loop.run(0.1)
        body.force = np.zeros(3)
        loop.run(3.0)
        assert np.abs(body.com - before).max() < 0.01


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "speed"), [("human28", 0.25), ("g1", 0.2), ("talos_reduced", 0.3)]
)
@pytest.mark.parametrize(
    "way", [(1.0, 0.0, 0.0), (-1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, -1.0, 0.0)]
)
def test_pushed_hard_it_does_not_fall(name, speed, way):
    """A push that gives the body 0.2 to 0.3 m/s, which its soles alone can hardly take back."""
    with Loop(name) as loop:
        body = loop.run(0.5)
        before = body.com
        body.force = speed * body.robot.mass / 0.1 * np.array(way)
        loop.run(0.1)
        body.force = np.zeros(3)
        loop.run(3.0)
        assert np.abs(body.com - before).max() < 0.02


@pytest.mark.slow
@pytest.mark.parametrize("name", ["g1", "talos_reduced"])
def test_another_rule_takes_over_without_a_jolt(name):
    """The step of a torque is at most 1 / (blend * rate) of the difference of the rules, and what standing itself asks."""
    with Loop(name, Line(0.0, 0.0, 0.0, 0.0, 0.0, 0.01, 0.0), rule_blend=0.2) as loop:
        body = loop.run(1.0)
        first, loop.robot.worst_step = body.tau, 0.0
        result = loop.controller.set_parameters([Parameter("rule", value="minimum_torque_limited")])
        assert result[0].successful
        loop.run(1.0)
        difference = np.abs(body.tau - first).max()
        assert difference > 0.1
        assert loop.robot.worst_step <= 1.5 * difference / (0.2 * 500.0) + 0.1
