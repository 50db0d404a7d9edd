# SPDX-License-Identifier: Apache-2.0
"""Node ``simulator``: the world that steps, behind the topics of a robot, in real time or in lock-step with its controller."""

from __future__ import annotations

import re
import threading
from collections.abc import Container, Mapping, Sequence
from time import monotonic
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseStamped, WrenchStamped
from numpy.typing import NDArray
from rosgraph_msgs.msg import Clock
from std_msgs.msg import Float64MultiArray, String

from humanoid_dynamics.control.reference import joint_position, measured_joints
from humanoid_dynamics.errors import HumanoidDynamicsError
from humanoid_dynamics.nodes.adapter import Act, AdapterNode, Handler
from humanoid_dynamics.nodes.frames import STRAIGHT, FramePublisher
from humanoid_dynamics.nodes.messages import (
    SECOND,
    read_wrench,
    to_stamp,
    write_joint_state,
    write_odometry,
    write_wrench,
)
from humanoid_dynamics.nodes.observation import Observation
from humanoid_dynamics.nodes.running import MADE_UP, keep_rate, run
from humanoid_dynamics.nodes.sensing import SensorPublisher
from humanoid_dynamics.nodes.statuses import SimulatorNodeStatus
from humanoid_dynamics.nodes.wire import Form, JointStateReader, mark
from humanoid_dynamics.simulation.live import LiveWorld
from humanoid_dynamics.simulation.scenes.file import load_scene
from humanoid_dynamics.spatial.arrays import Vector

REPEAT = 0.1  # s; how often a state is sent again whose command has not come
ANXIOUS = 1.0  # s; when that is told
WORLD = "odom"
LATER = 1e-6  # s
LOOKS = 50.0  # Hz; how often lock-step looks whether a command is missing
SLOWEST, FASTEST = (
    0.01,
    100.0,
)  # simulated time per real time; the latter holds without lock-step where it is as fast as possible
MOST_PERIODS = 20  # made up for at once


class SimulatorNode(AdapterNode):
    """Steps a world and shows it as a robot would show itself."""

    good = (SimulatorNodeStatus.WAITING, SimulatorNodeStatus.RUNNING, SimulatorNodeStatus.PAUSED)
    failed = (SimulatorNodeStatus.STOPPED,)
    raw = ("joint_torque_commands",)

    def __init__(self, **keywords: Any) -> None:
        super().__init__("simulator", **keywords)
        self._live: LiveWorld | None = None
        self._sensing: SensorPublisher | None = None
        self._commanded_at = -np.inf
        self._sent_at = 0.0
        self._pose_due = 0.0
        self._offset = 0.0
        self._late = self._ticks = 0
        self._owed = False
        self._began = monotonic()

    def needs_robot(self) -> bool:
        """Return whether no scene was named."""
        return not self.config.scene

    def prepare(self) -> None:
        """Make the world."""
        config = self.config
        if config.scene:
            self._live = LiveWorld.of_scene(load_scene(config.scene))
            self.robot = self._live.world.robot
        elif self.robot is not None:
            self._live = LiveWorld.of_robot(
                self.robot, points=config.points, compiled=None if config.compiled else False
            )
        if self.robot is None or self._live is None:
            raise HumanoidDynamicsError(
                "parameter robot is empty; expected a catalogue name or a URDF path"
            )
        self._steps = max(1, round(1.0 / (config.rate * config.dt)))
        self._joints = [(joint, joint.name) for joint in measured_joints(self.robot)]
        self._plain = not any(joint.kind == "continuous" for joint, _ in self._joints)
        self._q_at = np.array([joint.q.start for joint, _ in self._joints], dtype=np.intp)
        self._v_at = np.array([joint.v.start for joint, _ in self._joints], dtype=np.intp)
        self._names = [name for _, name in self._joints]
        self._base = self.robot.links[0]
        self._floats = self.robot.root == "free_flyer"
        self._commands = JointStateReader()
        n, still = len(self._names), Time()
        self._joint_form = Form(write_joint_state(self._names, mark(0, n), mark(1, n), still), n, n)
        self._sensing = SensorPublisher(self, self._live, config) if config.sensors else None
        prefix = self.frame_prefix
        self._world = prefix + WORLD
        self._base_form = Form(
            write_odometry(mark(0, 7), mark(1, 6), still, (self._world, prefix + self._base)), 7, 6
        )
        wrench = mark(0, 3), mark(1, 3), still
        self._felt_names = (
            *self.robot.surfaces,
            *(name_topic(link, self.robot.surfaces) for link in self._live.links),
        )
        frames = (*self.robot.surfaces, *self._live.links)
        self._wrench_forms = [Form(write_wrench(*wrench, prefix + frame), 3, 3) for frame in frames]
        self._felt: NDArray[np.bool_] = np.zeros(len(frames), dtype=bool)
        self._always = np.array([name in self.robot.stance for name in self._felt_names])
        self._surfaces = np.arange(len(frames)) < len(self.robot.surfaces)
        self._sunken = ""
        self._live.warm_up()
        rest = self.robot.posture[3:7] if self._floats else STRAIGHT
        self._frames = FramePublisher(self, tuple(self.robot.aliases), rest)

    @property
    def period(self) -> float:
        """Time in the world between two states [s]."""
        return float(self._steps * self.config.dt)

    def names(self, placeholder: str) -> tuple[str, ...]:
        """Return surfaces, connections and frames."""
        if placeholder == "connection":
            return tuple(self._live.connections) if self._live is not None else ()
        if placeholder == "frame":
            return self._frames.as_poses
        if placeholder == "surface" and self._live is not None:
            return self._felt_names
        if placeholder == "imu":
            return self._sensing.imus if self._sensing is not None else ()
        return super().names(placeholder)

    def change(self) -> None:
        """Count time anew, since another speed may hold from now on."""
        self._began, self._ticks = monotonic(), 0

    def pace(self) -> float:
        """Return the rate of its loop [Hz]: the rate of states in real time; in lock-step without a time limit, that of a check."""
        config = self.config
        if config.lock_step and self._hangs:
            return float(config.rate)
        return (
            LOOKS
            if config.lock_step and not config.real_time_factor
            else float(config.rate) * self._factor
        )

    @property
    def _hangs(self) -> bool:
        """Whether sensors measure a robot at rest that waits for its first command."""
        live = self._live
        return self._sensing is not None and live is not None and not (live.begun or live.paused)

    @property
    def _factor(self) -> float:
        """Simulated time per real time; the largest value if it is as fast as possible."""
        factor = float(self.config.real_time_factor)
        return max(factor, SLOWEST) if factor else FASTEST

    def handlers(self) -> Mapping[str, Handler]:
        """Return what hears commands and pushes."""
        return {"joint_torque_commands": self._on_command, "push": self._on_push}

    def acts(self) -> Mapping[str, Act]:
        """Return what the services do."""
        return {
            "pause": self._pause,
            "step": self._step_once,
            "reset": self._reset,
            "connect/<connection>": lambda name: self._connect_or_cut(name, True),
            "cut/<connection>": lambda name: self._connect_or_cut(name, False),
        }

    def facts(self) -> Mapping[str, Any]:
        """Return time and energy of the world."""
        world = self._live.world if self._live is not None else None
        return (
            {}
            if world is None
            else {
                "time": f"{world.t:.3f}",
                "energy error": f"{world.books.missing:.3e}",
                "periods without a state": self._late,
            }
        )

    def begin(self) -> None:
        """Show the robot and the world as it stands."""
        if self.robot is not None:
            self.out("robot_description").publish(String(data=self.robot.urdf))
        self._commanded_at = -np.inf
        self._restart()

    def _restart(self) -> None:
        self._began, self._ticks, self._owed, self._sunken = monotonic(), 0, False, ""
        if self._live is not None:
            self._live.begun = not self.config.wait_for_command
        self.tell(
            SimulatorNodeStatus.WAITING
            if self.config.wait_for_command
            else SimulatorNodeStatus.RUNNING
        )

    def tick(self) -> None:
        """Take the steps of a period; in lock-step only look whether a command is missing."""
        with self.lock:
            live = self._live
            if not self.active or live is None:
                return
            if self.config.lock_step:
                self._repeat(live)
                return
            now = self.now()
            if (
                live.begun
                and not live.paused
                and now - self._commanded_at > self.config.command_timeout
            ):
                live.release()
            live.advance(self.config.dt, self._steps * self._count_periods())
            self.show(live, now)
            self._judge(live, now)

    def _count_periods(self) -> int:
        """Return how many periods are due: one while late ticks make up for themselves, after a pause all, but for those beyond many."""
        now, pace = monotonic(), self._factor / self.period
        if not self._ticks:
            self._began = now
        behind = int((now - self._began) * pace + 0.5) - self._ticks
        if behind <= max(MADE_UP * pace, 1.0):
            taken = int(behind >= 0)
            self._ticks += taken
            return taken
        self._late += behind
        self._began, self._ticks = now, 1
        return min(behind + 1, MOST_PERIODS)

    def _on_command(self, message: bytes) -> None:
        live = self._live
        if live is None:
            return
        found = self._commands.read(message)
        if found is None:
            live.fault = "a command cannot be read"
            return
        names, _, _, effort, stamp = found
        taken = live.command(names, effort)
        if taken:
            self._commanded_at = self.now()
        if (
            self.config.lock_step
            and taken
            and abs(stamp / SECOND - self._time(live)) < LATER
            and not live.paused
        ):
            live.advance(self.config.dt, self._steps)
            self._ticks += 1
            self._owed = self._is_ahead()
            if not self._owed:
                self.show(live, self._time(live))
            self._judge(live, self._commanded_at)

    def _is_ahead(self) -> bool:
        """Return whether lock-step is ahead of the time given by ``real_time_factor``."""
        return bool(
            self.config.real_time_factor
            and self._ticks * self.period > (monotonic() - self._began) * self._factor
        )

    def _on_push(self, message: WrenchStamped) -> None:
        if self._live is None:
            return
        force, moment = read_wrench(message)
        try:
            self._live.push(
                message.header.frame_id.removeprefix(self.frame_prefix) or self._base,
                force,
                moment,
                self.config.push_time,
            )
        except HumanoidDynamicsError as refusal:
            self.get_logger().warning(f"push refused: {refusal}")

    def _time(self, live: LiveWorld) -> float:
        """Return the time that states of lock-step are stamped with [s]; never zero, which stands for no time."""
        return float(self._offset + live.world.t + self.period)

    def _repeat(self, live: LiveWorld) -> None:
        if self._owed:
            if not self._is_ahead():
                self._owed = False
                self.show(live, self._time(live))
            return
        if self._hangs:  # time goes on, so that estimators settle on a robot at rest
            self._offset += self.period
            self.show(live, self._time(live))
        elif monotonic() - self._sent_at > REPEAT and not live.paused:
            self.show(live, self._time(live))
        waited = live.begun and monotonic() - self._sent_at > ANXIOUS
        self._judge(live, self._commanded_at, waited)

    def _judge(self, live: LiveWorld, now: float, waited: bool = False) -> None:
        if live.world.reason:
            self.tell(SimulatorNodeStatus.STOPPED, live.world.reason)
        elif live.paused:
            self.tell(SimulatorNodeStatus.PAUSED)
        elif self._sunken:
            self.tell(SimulatorNodeStatus.PENETRATION, self._sunken)
        elif live.fault:
            self.tell(SimulatorNodeStatus.REFUSED, live.fault)
        elif not live.begun:
            self.tell(SimulatorNodeStatus.WAITING)
        elif waited:
            self.tell(
                SimulatorNodeStatus.AWAITING_COMMAND, "the command for the last state has not come"
            )
        elif (
            self.config.wait_for_command and now - self._commanded_at > self.config.command_timeout
        ):
            self.tell(
                SimulatorNodeStatus.NO_COMMAND, f"no command for {now - self._commanded_at:.2f} s"
            )
        else:
            self.tell(SimulatorNodeStatus.RUNNING)

    def show(self, live: LiveWorld, t: float) -> None:
        """Publish the state; the joints last, because controllers wait for them."""
        world, stamp = live.world, to_stamp(t)
        self._sent_at = monotonic()
        if self.config.lock_step:
            self.out("clock").publish(Clock(clock=stamp))
        q, v = self._measure(live)
        if self._floats:
            self.out("odom").publish(self._base_form.write(stamp, world.q[:7], v[:6]))
        details = t >= self._pose_due or t < self._pose_due - 1.0
        if live.begun:
            wrenches = live.mean_wrenches()
            felt = np.asarray(wrenches.any(axis=1))
            for k in np.flatnonzero(
                self._always | felt | self._felt | (details & self._surfaces)
            ).tolist():
                form, name = self._wrench_forms[k], self._felt_names[k]
                self.out("contact_wrenches/<surface>", name).publish(
                    form.write(stamp, wrenches[k, :3], wrenches[k, 3:])
                )
            self._felt = felt
        if self._sensing is None:
            self.out("joint_states").publish(self._joint_form.write(stamp, q, v[self._v_at]))
        else:
            self._sensing.publish(live, t)
        if details:
            self._pose_due = t + 1.0 / self.config.pose_rate
            self._sunken = live.find_sunken()
            self._show_frames(live, stamp)

    def _measure(self, live: LiveWorld) -> tuple[Vector, Vector]:
        """Return what encoders of the joints tell, and the velocity of all that moves."""
        q = live.world.q
        still = live.paused or not live.begun
        v: Vector = np.zeros_like(live.world.v) if still else live.world.v
        return (
            q[self._q_at]
            if self._plain
            else np.array([joint_position(joint, q) for joint, _ in self._joints])
        ), v

    def observe(self, shown: bool) -> Observation:
        """Return the state for a controller in this process.

        Args:
            shown: Whether it goes out on the topics as well.

        Raises:
            HumanoidDynamicsError: If it is not active.
        """
        live = self._live
        if live is None or not self.active:
            raise HumanoidDynamicsError("the simulator is not active")
        t = self._time(live)
        if shown:
            self.show(live, t)
        q, v = self._measure(live)
        surfaces = self._felt_names[: len(live.world.robot.surfaces)]
        forces = (
            list(zip(surfaces, live.mean_wrenches()[: len(surfaces), 2].tolist(), strict=True))
            if live.begun
            else ()
        )
        pose = live.world.q[:7] if self._floats else None
        return Observation(round(t * SECOND), self._names, q, v[self._v_at], pose, v[:6], forces)

    def drive(self, names: Sequence[str], effort: Vector) -> None:
        """Take torques from a controller in this process, and the steps of a period.

        Args:
            names: Names of coordinates with a motor.
            effort: (len(names),) efforts [N·m or N].
        """
        live = self._live
        if live is not None and live.command(names, effort) and not live.paused:
            self._commanded_at = self._time(live)
            live.advance(self.config.dt, self._steps)
            self._judge(live, self._commanded_at)

    def _show_frames(self, live: LiveWorld, stamp: Any) -> None:
        if not live.begun:
            live.feel()
        poses = {name: live.place(name) for name in self._frames.names}
        for name, pose in self._frames.publish(poses, stamp, WORLD, self.frame_prefix).items():
            message = PoseStamped()
            message.header.stamp, message.header.frame_id = stamp, self._world
            p, o = message.pose.position, message.pose.orientation
            p.x, p.y, p.z, o.x, o.y, o.z, o.w = pose.tolist()
            self.out("frames/<frame>", name).publish(message)
        world, answer = live.world, live.world.touching.answer
        momentum = float(np.linalg.norm(world.v[:3]) * world.robot.mass) if self._floats else 0.0
        numbers = (
            world.t,
            world.books.energy,
            world.books.missing,
            answer.residual if answer else 0.0,
            world.touching.depth,
            momentum,
        )
        self.out("audit").publish(Float64MultiArray(data=[float(number) for number in numbers]))

    def _pause(self, request: Any) -> str:
        if self._live is not None:
            self._live.paused = bool(request.data)
            self._commanded_at = self.now()
            self._judge(self._live, self._commanded_at)
        return ""

    def _step_once(self, _request: Any) -> str:
        live = self._live
        if live is None or not live.paused:
            return "pause first"
        live.paused = False
        live.advance(self.config.dt, self._steps)
        live.paused = True
        self.show(live, self._time(live) if self.config.lock_step else self.now())
        return live.world.reason

    def _reset(self, _request: Any) -> str:
        if self._live is not None:
            self._offset += self._live.world.t + self.period  # time never goes back
            self._live.reset()
            self._restart()
        return ""

    def _connect_or_cut(self, name: str, closed: bool) -> str:
        try:
            if self._live is not None:
                self._live.connect(name, closed)
        except HumanoidDynamicsError as refusal:
            return str(refusal)
        return ""


def name_topic(link: str, surfaces: Container[str]) -> str:
    """Return the name of a link as a part of a topic; no surface has it.

    Args:
        link: Name of the link.
        surfaces: Names of surfaces.
    """
    name = re.sub(r"\W", "_", link, flags=re.ASCII)
    return f"link_{name}" if name in surfaces or not name[:1].isalpha() else name


def main() -> None:
    """Run the node."""

    def loop(node: SimulatorNode, stop: threading.Event) -> None:
        keep_rate(node.pace, stop, node.tick, node.wait)

    run(SimulatorNode, loop)
