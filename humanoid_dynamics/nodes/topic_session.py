# SPDX-License-Identifier: Apache-2.0
"""What a page shows of a robot that lives on topics, and what becomes of the wishes of those who look."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin

from humanoid_dynamics.control.measured import MeasuredState
from humanoid_dynamics.errors import UnknownNameError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.resolution.rules import RULES
from humanoid_dynamics.spatial.arrays import Vector
from humanoid_dynamics.viewer.bodies import build_bodies
from humanoid_dynamics.viewer.picture import SMALLEST_FORCE, Painter, Picture, Touch
from humanoid_dynamics.viewer.session import Offer, Session
from humanoid_dynamics.viewer.strength import Strength, check_pull

CERTIFICATE = (
    "residual [N]",
    "margin, normal force [N]",
    "margin, friction [N]",
    "margin, pressure [m]",
    "margin, torque [-]",
    "age [s]",
)
LEAST_PULL = 0.1  # N; where a drag begins it has hardly any length, and is no push yet


@dataclass(frozen=True)
class Wires:
    """Where wishes go.

    Attributes:
        push: Takes a link, and force (3,) and moment (3,) in axes of the world [N, N·m].
        lead: Takes a frame, and the pose (7,) it should go to.
        rule: Takes the name of a rule.
        ask: Takes the name of a service of the simulator, and for one that is switched whether it is on.
    """

    push: Callable[[str, Vector, Vector], None]
    lead: Callable[[str, Vector], None]
    rule: Callable[[str], None]
    ask: Callable[[str, bool | None], None]


class TopicSession(Session):
    """A robot on topics.

    Attributes:
        bodies: What is drawn.
        offer: What the user may do.
        measured: The state that came.
        wrenches: Surface -> (6,) wrench that came, in its own axes.
        certificate: The numbers that came.
        troubles: Node -> what it says is wrong.
        torques: Motor -> torque that was commanded [N·m, N].
        t: Stamp of the state [s].
    """

    def __init__(
        self,
        robot: RobotModel,
        wires: Wires,
        *,
        rule: str = "",
        frames: Mapping[str, pin.SE3] | None = None,
        connections: Sequence[str] = (),
        push_time: float = 0.1,
        simple: bool = False,
    ) -> None:
        """Prepare.

        Args:
            robot: The robot.
            wires: Where wishes go.
            rule: The rule that is used now.
            frames: Frames that can be led, and where they are at first.
            connections: Connections of the scene, closed at first.
            push_time: How long a push lasts [s].
            simple: Whether to leave out meshes.
        """
        self.measured, self._wires, self._push_time = MeasuredState(robot), wires, push_time
        self.wrenches: dict[str, Vector] = {}
        self.certificate: tuple[float, ...] = ()
        self.troubles: dict[str, str] = {}
        self.t = 0.0
        self.bodies = build_bodies(robot, simple=simple)
        self._painter, self._data = Painter(robot, self.bodies), robot.data()
        self._robot = robot
        self._strength = Strength(robot, robot.posture, stands=not connections)
        self.torques: dict[str, float] = {}
        self._names = {body.name for body in self.bodies}
        rules = (rule, *(name for name in RULES if name != rule)) if rule else ()
        self.offer = Offer(
            f"{robot.name} on topics",
            rules=rules,
            frames=frames or {},
            connections=dict.fromkeys(connections, True),
            pushable=True,
            motors=robot.actuated,
            strength=self._strength.range,
            weight=self._strength.weight,
        )
        self._pull: tuple[str, Vector, Vector] | None = None
        self._pulled_at = -np.inf
        self._led: dict[str, Vector] = {}

    def advance(self, seconds: float) -> None:  # noqa: ARG002 - time goes on elsewhere
        """Say again what lasts: pulls as often as a push ends, poses at every picture."""
        for frame, pose in self._led.items():
            self._wires.lead(frame, pose)
        if self._pull is not None and not abs(self.t - self._pulled_at) < self._push_time:
            self._send_pull(*self._pull)

    def picture(self) -> Picture:
        """Return how things are now."""
        q = np.array(self.measured.q)
        pin.framesForwardKinematics(self._robot.model, self._data, q)
        touches = [
            touch
            for name, wrench in self.wrenches.items()
            if (touch := self._locate(name, wrench)) is not None
        ]
        numbers = {
            f"normal force, {name} [N]": float(wrench[2])
            for name, wrench in self.wrenches.items()
            if np.isfinite(wrench).all()
        }
        if len(self.certificate) == len(CERTIFICATE):
            numbers |= dict(zip(CERTIFICATE, self.certificate, strict=True))
        status = "; ".join(f"{node}: {trouble}" for node, trouble in sorted(self.troubles.items()))
        picture = self._painter.paint(
            self.t, q, touches, numbers=numbers, status=status or self.measured.missing
        )
        fallen = self._strength.has_fallen(picture) and not self.measured.missing
        return replace(picture, torques=dict(self.torques), fallen=fallen)

    def pull(self, body: str, point: Vector, force: Vector) -> None:
        """Pull a body, no more than the limit; not at all by next to nothing."""
        if body not in self._names:
            raise UnknownNameError("body", body, self._names)
        check_pull(point, force)
        self._pull = (
            (body, np.array(point), np.array(force)) if np.linalg.norm(force) > LEAST_PULL else None
        )

    def limit_pull(self, force: float) -> None:
        """Let no pull be stronger than a force [N]."""
        self._strength.ask(force)

    def let_go(self) -> None:
        """Pull and lead nothing any more."""
        self._pull = None
        self._led.clear()

    def lead(self, frame: str, X_WF: pin.SE3) -> None:
        """Ask a frame to go somewhere, and to stay there."""
        if frame not in self.offer.frames:
            raise UnknownNameError("frame", frame, self.offer.frames)
        self._led[frame] = np.array(pin.SE3ToXYZQUAT(X_WF))

    def switch(self, connection: str, closed: bool) -> None:
        """Close or open a connection of the scene."""
        if connection not in self.offer.connections:
            raise UnknownNameError("connection", connection, self.offer.connections)
        self._wires.ask(f"{'connect' if closed else 'cut'}/{connection}", None)
        self.offer = replace(self.offer, connections={**self.offer.connections, connection: closed})

    def choose_rule(self, rule: str) -> None:
        """Let the controller use another rule."""
        if rule not in RULES:
            raise UnknownNameError("rule", rule, RULES)
        self._wires.rule(rule)

    def pause(self, paused: bool) -> None:
        """Stop the time of the simulator, or let it go on."""
        self._wires.ask("pause", paused)

    def step(self) -> None:
        """Let a paused simulator take one period."""
        self._wires.ask("step", None)

    def reset(self) -> None:
        """Let the simulator begin again."""
        self.let_go()
        self._wires.ask("reset", None)

    def _send_pull(self, body: str, point: Vector, force: Vector) -> None:
        self._pulled_at, force = (
            self.t,
            self._strength.bound(body, point, force, self.measured.q, self.measured.v),
        )
        pin.framesForwardKinematics(self._robot.model, self._data, self.measured.q)
        R = self._data.oMf[self._robot.link_frame(body)].rotation
        self._wires.push(body, force, np.cross(R @ point, force))

    def _locate(self, name: str, wrench: Vector) -> Touch | None:
        """Return a contact force at its centre of pressure, in the world; None where it is too small to be seen."""
        force, moment = wrench[:3], wrench[3:]
        surface = self._robot.surfaces.get(name)
        if (
            surface is None
            or not np.isfinite(wrench).all()
            or np.linalg.norm(force) < SMALLEST_FORCE
        ):
            return None
        place = np.zeros(3)
        if force[2] > SMALLEST_FORCE:
            place[:2] = -moment[1] / force[2], moment[0] / force[2]
        X_WC = self._data.oMf[surface.frame]
        return Touch(
            name,
            X_WC.act(place),
            X_WC.rotation @ force,
            surface.vertices @ X_WC.rotation.T + X_WC.translation,
        )
