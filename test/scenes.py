# SPDX-License-Identifier: Apache-2.0
"""The scenes of the papers, composed of bundled robots: a figure and what it holds on to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pinocchio as pin

from humanoid_dynamics.constraints.null_space import DynamicsStatus
from humanoid_dynamics.dynamics.closure import close_position
from humanoid_dynamics.dynamics.mechanism import Mechanism
from humanoid_dynamics.model.load import load_robot
from humanoid_dynamics.model.loop import LoopClosure
from humanoid_dynamics.structure.joining import connect_points, join
from humanoid_dynamics.structure.virtual import with_virtual_links

ABOUT_Y = pin.SE3(pin.utils.rotate("x", -np.pi / 2), np.zeros(3))
SIDES = (("left", 1.0), ("right", -1.0))


@dataclass
class Scene:
    """A robot that holds on with its hands; ``closed`` is where it was closed."""

    robot: Any
    mechanism: Mechanism
    closed: Any

    @property
    def q(self):
        return self.closed.q

    def cut(self, name):
        self.mechanism.constraints.remove(name)
        self.mechanism.mobility(self.q)
        return self.mechanism.nu


def close_scene(robot, guess, loops):
    robot = replace(robot, loops=(*robot.loops, *loops))
    mechanism = Mechanism(robot)
    closed = close_position(mechanism, guess, tolerance=1e-14, most=200)
    mechanism.mobility(closed.q)
    return Scene(robot, mechanism, closed)


def raise_arms(robot, q, *, height, turn, elbow):
    """Set the figure's root height, ball shoulders turned about y and elbows bent."""
    q[robot.joint("figure/root_joint").q.start + 2] = height
    for side, _ in SIDES:
        q[robot.joint(f"figure/{side}_shoulder").q] = pin.Quaternion(
            pin.exp3(np.array([0.0, turn, 0.0]))
        ).coeffs()
        q[robot.joint(f"figure/{side}_elbow").q] = elbow


def hold(robot, kind, thing, suffix):
    """Loops from hands to grips of the same side."""
    return [
        connect_points(
            robot, f"{side}_hand", kind, f"figure/{side}_hand", f"{thing}/{side}_{suffix}"
        )
        for side, _ in SIDES
    ]


def swing():
    """human16 holds the bar of the swing by two ball joints; 31 freedoms, 9 rows, 22 left [CK, sec. 4]."""
    robot = join([load_robot("human16"), load_robot("swing")], ["figure", "swing"])
    guess = robot.posture.copy()
    raise_arms(robot, guess, height=0.4, turn=0.95 * np.pi, elbow=-0.5)
    return close_scene(robot, guess, hold(robot, "spherical", "swing", "grip"))


def high_bar(grip=0.18):
    """human16 on the high bar by two hinges about it [SV, sec. 5]; the grip is half the distance of the hands [m]."""
    robot = join([load_robot("human16"), load_robot("highbar")], ["figure", "bar"])
    loops = []
    for side, y in SIDES:
        hand, place = (
            robot.control_points[name] for name in (f"figure/{side}_hand", f"bar/{side}_grip")
        )
        X_LB = pin.SE3(place.X_LP.rotation, np.array([0.0, y * grip, 0.0])) * ABOUT_Y
        loops.append(
            LoopClosure(
                f"{side}_hand", "revolute", hand.link, hand.X_LP * ABOUT_Y, place.link, X_LB
            )
        )
    guess = robot.posture.copy()
    raise_arms(robot, guess, height=1.2, turn=0.85 * np.pi, elbow=-0.8)
    return close_scene(robot, guess, loops)


def ropes():
    """human28 hangs from two ropes; 48 freedoms with the balls in its hands, 36 left [DF, sec. 4]."""
    robot = join([load_robot("human28"), load_robot("ropes")], ["figure", "ropes"])
    guess = robot.posture.copy()
    guess[robot.joint("figure/root_joint").q.start + 2] = 0.9
    for side, _ in SIDES:
        guess[robot.joint(f"figure/{side}_shoulder_pitch").q] = -2.6
    return close_scene(robot, guess, hold(robot, "spherical", "ropes", "end"))


def rigid_swing():
    """human16 sits on the plate of the rigid swing, hands on its rods by balls, thighs in its slots by sliding joints [SV, sec. 5].

    Thighs point outwards, as the slots are wider apart than the hips; parallel ones would let the figure twist for an instant.
    """
    robot = join([load_robot("human16"), load_robot("rigid_swing")], ["figure", "swing"])
    guess = robot.posture.copy()
    raise_arms(robot, guess, height=0.8, turn=-0.5, elbow=-1.2)
    for side, y in SIDES:
        turn = pin.exp3(np.array([0.0, 0.0, 0.35 * y])) @ pin.exp3(np.array([0.0, -1.4, 0.0]))
        guess[robot.joint(f"figure/{side}_hip").q] = pin.Quaternion(turn).coeffs()
        guess[robot.joint(f"figure/{side}_knee").q] = 1.4
    scene = close_scene(robot, guess, hold(robot, "spherical", "swing", "rod"))
    assert scene.closed.status is DynamicsStatus.OK
    return close_scene(
        robot, scene.q, [*scene.robot.loops, *(slide(robot, scene.q, side) for side, _ in SIDES)]
    )


def slide(robot, q, side):
    """A thigh in its slot where it is now: it may slide along itself."""
    data = robot.data()
    pin.framesForwardKinematics(robot.model, data, q)
    X_LA = pin.SE3(np.eye(3), np.array([0.0, 0.0, -0.2]))
    X_WA = data.oMf[robot.link_frame(f"figure/{side}_thigh")] * X_LA
    X_LB = data.oMf[robot.link_frame("swing/swing")].actInv(X_WA)
    return LoopClosure(
        f"{side}_slot", "prismatic", f"figure/{side}_thigh", X_LA, "swing/swing", X_LB
    )


def keep_virtual_links(scene):
    """The same scene with the cut joints kept in the tree, as the papers count freedoms."""
    robot = with_virtual_links(scene.robot)
    guess = pin.neutral(robot.model)
    for joint in scene.robot.joints:
        guess[robot.joint(joint.name).q] = scene.q[joint.q]
    mechanism = Mechanism(robot)
    held = [name for name in scene.robot.coordinates if name in robot.coordinates]
    closed = close_position(mechanism, guess, held=held, tolerance=1e-13, most=200)
    mechanism.mobility(closed.q)
    return Scene(robot, mechanism, closed)


def list_numbers(report):
    """Return all that the report of a step tells in numbers."""
    return [value for value in report if not isinstance(value, str)]
