# SPDX-License-Identifier: Apache-2.0
"""A robot told in plain data: what ``describe`` prints and ``--json`` writes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pinocchio as pin

from humanoid_dynamics.model.imu import Imu
from humanoid_dynamics.model.robot import ControlPoint, RobotModel
from humanoid_dynamics.model.surface import ContactSurface
from humanoid_dynamics.spatial.arrays import Vector


def describe_robot(robot: RobotModel) -> dict[str, Any]:
    """Describe a robot model.

    Args:
        robot: The robot.

    Returns:
        Plain data, ready for JSON: lengths in m, angles in rad, masses in kg, forces in N, torques in N·m; None for no limit.
    """
    data = robot.data()
    pin.framesForwardKinematics(robot.model, data, robot.posture)
    com = pin.centerOfMass(robot.model, data, robot.posture)
    links = [frame for frame in robot.model.frames if frame.type == pin.FrameType.BODY]
    return {
        "name": robot.name,
        "origin": robot.origin,
        "root": robot.root,
        "nq": robot.nq,
        "nv": robot.nv,
        "mass": robot.mass,
        "links": len(robot.links),
        "root_link": robot.links[0],
        "massless_links": sum(link.inertia.mass == 0.0 for link in links),
        "actuated": list(robot.actuated),
        "passive": [
            joint.name
            for joint in robot.joints
            if not joint.actuated and joint.kind not in {"free_flyer", "planar", "mimic"}
        ],
        "joints": [_joint_facts(robot, index) for index in range(len(robot.joints))],
        "centre_of_mass": _finite(com),
        "surfaces": {
            name: _surface_facts(surface, data) for name, surface in robot.surfaces.items()
        },
        "control_points": _links_of(robot.control_points),
        "imus": _links_of(robot.imus),
        "loops": [
            {"name": loop.name, "kind": loop.kind, "a": loop.link_a, "b": loop.link_b}
            for loop in robot.loops
        ],
        "wheels": [wheel.name for wheel in robot.wheels],
        "mimics": [
            {"joint": m.joint, "leader": m.leader, "ratio": m.ratio, "offset": m.offset}
            for m in robot.mimics
        ],
        "aliases": dict(robot.aliases),
        "inertia_sound": not robot.inertialess,
        "inertialess": list(robot.inertialess),
        "notes": [str(notice) for notice in robot.notices if notice.severity == "info"],
        "warnings": list(robot.warnings),
    }


def _joint_facts(robot: RobotModel, index: int) -> dict[str, Any]:
    joint, limits = robot.joints[index], robot.limits
    return {
        "name": joint.name,
        "kind": joint.kind,
        "parent": joint.parent,
        "child": joint.child,
        "carried_by": str(robot.model.names[robot.model.parents[joint.index]]),
        "actuated": joint.actuated,
        "lower": _finite(limits.lower[joint.q]),
        "upper": _finite(limits.upper[joint.q]),
        "velocity": _finite(limits.velocity[joint.v]),
        "effort": _finite(limits.effort[joint.v]),
        "posture": [float(x) for x in robot.posture[joint.q]],
    }


def _surface_facts(surface: ContactSurface, data: pin.Data) -> dict[str, Any]:
    X_WC = data.oMf[surface.frame]
    return {
        "link": surface.link,
        "kind": surface.kind,
        "size": list(surface.size),
        "position": [float(x) for x in X_WC.translation],
        "normal": [float(x) for x in X_WC.rotation[:, 2]],
        "friction": surface.friction,
        "vertices": surface.vertices.tolist(),
        "assumed": surface.assumed,
    }


def _links_of(named: Mapping[str, ControlPoint] | Mapping[str, Imu]) -> dict[str, str]:
    return {name: entry.link for name, entry in named.items()}


def _finite(values: Vector) -> list[float | None]:
    return [float(x) if np.isfinite(x) else None for x in values]
