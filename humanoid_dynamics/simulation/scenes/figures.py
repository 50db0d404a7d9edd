# SPDX-License-Identifier: Apache-2.0
"""Figures and objects of a scene, one by one and then as one tree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pinocchio as pin

from humanoid_dynamics.errors import HumanoidDynamicsError
from humanoid_dynamics.model.load import load_robot
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.simulation.contacts.moving_shapes import MovingShape
from humanoid_dynamics.simulation.contacts.shapes import Box, Capsule
from humanoid_dynamics.simulation.contacts.solid_points import SolidPoint, list_box_corners
from humanoid_dynamics.simulation.contacts.terrain import build_ball, build_box
from humanoid_dynamics.simulation.contacts.touch_points import (
    TouchPoint,
    list_body_points,
    list_surface_points,
    note_missing,
)
from humanoid_dynamics.simulation.scenes.reader import SceneReader
from humanoid_dynamics.simulation.steps.joint_forces import Drive, build_drive
from humanoid_dynamics.spatial.arrays import Vector, read_only

FIGURE_KEYS = (
    "robot",
    "root",
    "xyz",
    "rpy",
    "lift",
    "posture",
    "velocity",
    "rates",
    "drive",
    "points",
    "passive",
    "effort",
)
OBJECT_KEYS = ("mass", "box", "ball", "xyz", "rpy", "velocity", "friction", "restitution")


@dataclass(frozen=True, eq=False)
class Figure:
    """A robot in a scene, before it is joined with the others.

    Attributes:
        robot: The robot.
        q: (nq,) where it begins.
        v: (nv,) how it begins.
        points: Its touch points.
        drive: Its joint position control, or None.
        passive: Its motors that are switched off.
        shapes: Its shapes, which the points of others touch.
    """

    robot: RobotModel
    q: Vector
    v: Vector
    points: tuple[TouchPoint, ...]
    drive: Drive | None = None
    passive: tuple[str, ...] = ()
    shapes: tuple[MovingShape, ...] = ()


def read_figure(reader: SceneReader, content: object, key: str) -> Figure:
    """Read a figure.

    Args:
        reader: Reads values.
        content: What stands under the key.
        key: Where.

    Returns:
        The figure.

    Raises:
        DescriptionError: If a value makes no sense.
    """
    table = reader.table(content, key, FIGURE_KEYS)
    root = (
        reader.word(table["root"], f"{key}.root", ("free_flyer", "fixed", "planar"))
        if "root" in table
        else None
    )
    if "robot" not in table:
        raise reader.refuse(
            key, "contains no robot; expected `robot:` with a catalogue name or a path"
        )
    robot = _load(reader, table["robot"], f"{key}.robot", root)
    if "effort" in table:
        robot = _strengthen(robot, reader.number(table["effort"], f"{key}.effort", 1e-9))
    q, v = _pose(reader, robot, table, key)
    kind = reader.word(
        table.get("points", "surfaces"), f"{key}.points", ("surfaces", "body", "none")
    )
    points = (
        list_surface_points(robot)
        if kind == "surfaces"
        else list_body_points(robot)
        if kind == "body"
        else ()
    )
    robot = note_missing(robot, points) if kind == "body" else robot
    drive = None
    if "drive" in table:
        gains = reader.table(table["drive"], f"{key}.drive", ("kp", "kd"))
        kp, kd = (
            _gain(reader, gains.get(name, 0.0), f"{key}.drive.{name}", robot)
            for name in ("kp", "kd")
        )
        drive = build_drive(robot, kp, kd, q)
    passive = _passive(reader, table.get("passive", []), f"{key}.passive", robot)
    return Figure(robot, q, v, points, drive, passive)


def read_object(reader: SceneReader, content: object, key: str) -> Figure:
    """Read a box or a ball that moves.

    Args:
        reader: Reads values.
        content: What stands under the key.
        key: Where.

    Returns:
        The object.

    Raises:
        DescriptionError: If a value makes no sense.
    """
    table = reader.table(content, key, OBJECT_KEYS)
    mass = reader.number(table.get("mass", 1.0), f"{key}.mass", 1e-9)
    friction = reader.number(table.get("friction", 0.7), f"{key}.friction", 0.0)
    restitution = reader.number(table.get("restitution", 0.0), f"{key}.restitution", 0.0, 1.0)
    if ("box" in table) == ("ball" in table):
        raise reader.refuse(key, "expected either a box or a ball")
    if "box" in table:
        size = reader.vector(table["box"], f"{key}.box", low=1e-6)
        moments = mass * (size @ size - size**2) / 12.0
        balls = list_box_corners(size)
        solid: Box | Capsule = build_box(
            size, (0.0, 0.0, 0.0), friction=friction, restitution=restitution
        )
    else:
        radius = reader.number(table["ball"], f"{key}.ball", 1e-6)
        moments, balls = np.full(3, 0.4 * mass * radius**2), [SolidPoint(np.zeros(3), radius)]
        solid = build_ball(radius, friction=friction, restitution=restitution)
    x, y, z = moments.tolist()
    inertia = f'<inertia ixx="{x!r}" iyy="{y!r}" izz="{z!r}" ixy="0" ixz="0" iyz="0"/>'
    shape = (
        f'<box size="{" ".join(map(repr, size.tolist()))}"/>'
        if "box" in table
        else f'<sphere radius="{radius!r}"/>'
    )
    inertial = f'<inertial><mass value="{mass!r}"/>{inertia}</inertial>'
    text = f'<robot name="object"><link name="body">{inertial}<visual><geometry>{shape}</geometry></visual></link></robot>'
    points = tuple(
        TouchPoint(f"body.{k}", "body", p, r, friction, restitution, out)
        for k, (p, r, out, _) in enumerate(balls)
    )
    robot = _load(reader, text, key, "free_flyer")
    notices = tuple(
        notice for notice in robot.notices if notice.element != "soles"
    )  # nobody asks a crate for feet
    X = reader.pose(table, key)
    q = np.concatenate((X.translation, pin.Quaternion(X.rotation).coeffs()))
    v = reader.vector(table.get("velocity", [0.0] * 6), f"{key}.velocity", 6)
    return Figure(
        replace(robot, surfaces={}, notices=notices),
        q,
        np.array(v),
        points,
        shapes=(MovingShape("body", solid),),
    )


def _load(reader: SceneReader, value: object, key: str, root: str | None) -> RobotModel:
    name = reader.word(value, key)
    try:
        return load_robot(name, root=root)
    except HumanoidDynamicsError as cause:
        raise reader.refuse(key, str(cause)) from cause


def _strengthen(robot: RobotModel, effort: float) -> RobotModel:
    """Return a robot whose motors all give so much, for descriptions that say nothing of use about them."""
    limits = np.where(robot.limits.effort > 0.0, effort, 0.0)
    return replace(robot, limits=replace(robot.limits, effort=read_only(limits)))


def _pose(
    reader: SceneReader, robot: RobotModel, table: Mapping[str, Any], key: str
) -> tuple[Vector, Vector]:
    """Return where a figure begins, and how fast."""
    q, v = np.array(robot.posture), np.zeros(robot.nv)
    free = bool(robot.joints) and robot.joints[0].kind == "free_flyer"
    for name in ("xyz", "rpy", "lift", "velocity"):
        if name in table and not free:
            raise reader.refuse(
                f"{key}.{name}", f"needs a free base; the root of this robot is {robot.root}"
            )
    if free and ("rpy" in table or "xyz" in table):
        X = reader.pose(table, key)
        q[:3] = X.translation if "xyz" in table else q[:3]
        q[3:7] = pin.Quaternion(X.rotation).coeffs()
    if "lift" in table:
        q[2] += reader.number(table["lift"], f"{key}.lift")
    if "velocity" in table:
        v[:6] = reader.vector(table["velocity"], f"{key}.velocity", 6)
    settable = {
        joint.name: joint
        for joint in robot.joints
        if joint.q.stop - joint.q.start == 1 or joint.kind == "spherical"
    }
    for name, value in reader.table(table.get("posture", {}), f"{key}.posture", settable).items():
        joint, where = settable[name], f"{key}.posture.{name}"
        turned = joint.kind == "spherical"
        q[joint.q] = (
            pin.Quaternion(pin.exp3(reader.vector(value, where))).coeffs()
            if turned
            else reader.number(value, where)
        )
    coordinates = robot.coordinates
    for name, value in reader.table(table.get("rates", {}), f"{key}.rates", coordinates).items():
        v[coordinates.index(name)] = reader.number(value, f"{key}.rates.{name}")
    return q, v


def _gain(
    reader: SceneReader, value: object, key: str, robot: RobotModel
) -> float | dict[str, float]:
    if isinstance(value, Mapping):
        table = reader.table(value, key, robot.actuated)
        return {name: reader.number(entry, f"{key}.{name}", 0.0) for name, entry in table.items()}
    return reader.number(value, key, 0.0)


def _passive(reader: SceneReader, value: object, key: str, robot: RobotModel) -> tuple[str, ...]:
    if value == "all":
        return robot.actuated
    return tuple(
        reader.word(name, f"{key}[{k}]", robot.actuated)
        for k, name in enumerate(reader.listed(value, key))
    )
