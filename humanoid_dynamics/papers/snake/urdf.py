# SPDX-License-Identifier: Apache-2.0
"""The same snake as a robot for the general engine: a URDF, its wheels, and the way between the two states.

The base moves in the plane through prismatic joints x and y and a continuous joint yaw, whose links between carry no mass; link i hangs on
link i - 1 by a continuous joint.  A wheel is a frame whose x axis rolls and whose y axis is the axle, along which it may not move.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.papers.snake.chain import SnakeModel, SnakeState
from humanoid_dynamics.papers.snake.dynamics import compute_link_speeds
from humanoid_dynamics.spatial.arrays import Vector, check_vector

BASE_JOINTS = ("base_x", "base_y", "base_yaw")
"""Joints that carry link 1 in the plane and have no motor."""

LINK_WIDTH = 0.25
"""Width and height of a drawn link, in parts of its length."""

EFFORT = 100.0
"""Largest torque of a joint in the URDF [N·m]."""

SPEED = 100.0
"""Largest rate of a joint in the URDF [rad/s or m/s]."""


def build_snake_urdf(model: SnakeModel, name: str = "snake") -> str:
    """Return the URDF of a snake.

    Args:
        model: The snake.
        name: Name of the robot.

    Returns:
        XML text with links ``link_1`` .. ``link_n`` and joints ``base_x``, ``base_y``, ``base_yaw``, ``joint_1`` .. ``joint_n-1``.
    """
    parts = [f'<?xml version="1.0"?>\n<robot name="{name}">', '  <link name="world"/>']
    parts += ['  <link name="slide_x"/>', '  <link name="slide_y"/>']
    parts.append(_joint("base_x", "prismatic", "world", "slide_x", axis="1 0 0"))
    parts.append(_joint("base_y", "prismatic", "slide_x", "slide_y", axis="0 1 0"))
    parts.append(_joint("base_yaw", "continuous", "slide_y", "link_1"))
    for i in range(model.n):
        parts.append(_link(model, i))
        if i > 0:
            reach = float(model.half_lengths[i - 1]) * (1.0 if i == 1 else 2.0)
            parts.append(
                _joint(f"joint_{i}", "continuous", f"link_{i}", f"link_{i + 1}", reach=reach)
            )
    return "\n".join([*parts, "</robot>\n"])


def build_snake_description(model: SnakeModel, name: str = "snake") -> dict[str, Any]:
    """Return what the URDF cannot say, in the words of a robot description.

    Args:
        model: The snake.
        name: Name of the robot.

    Returns:
        Root, passive joints and wheels: link, position [m] and roll, pitch, yaw [rad] of each wheel in its link.
    """
    wheels = {
        f"wheel_{i + 1}": {
            "link": f"link_{i + 1}",
            "xyz": [_centre(model, i), 0.0, 0.0],
            "rpy": [0.0, 0.0, 0.0],
        }
        for i in range(model.n)
    }
    return {"name": name, "root": "fixed", "passive": list(BASE_JOINTS), "wheels": wheels}


def to_robot_state(model: SnakeModel, state: SnakeState) -> tuple[Vector, Vector]:
    """Return a state in the coordinates of the URDF.

    Args:
        model: The snake.
        state: Its state.

    Returns:
        (2n+2,) configuration in the order of pinocchio: x and y [m], then cosine and sine of yaw and of every joint angle; and (n+2,)
        velocity: x and y [m/s], rates of yaw and of every joint angle [rad/s].
    """
    omega = compute_link_speeds(model, state)[1]
    angles = np.concatenate((state.theta[:1], state.phi))
    heading = np.array([np.cos(state.theta[0]), np.sin(state.theta[0])])
    q = np.concatenate((state.position, np.column_stack((np.cos(angles), np.sin(angles))).ravel()))
    return q, np.concatenate((state.u[0] * heading, omega[:1], np.diff(omega)))


def from_robot_state(model: SnakeModel, q: Vector, v: Vector) -> SnakeState:
    """Return a state from the coordinates of the URDF; parts of the velocity that the wheels forbid are left out.

    Args:
        model: The snake.
        q: (2n+2,) configuration as in ``to_robot_state``.
        v: (n+2,) velocity as in ``to_robot_state``.

    Returns:
        The state, joint angles between -pi and pi.

    Raises:
        ShapeError: If the configuration has a joint without direction.
    """
    q, v = check_vector("q", q, 2 * model.n + 2), check_vector("v", v, model.n + 2)
    pairs = q[2:].reshape(-1, 2)
    if not np.hypot(pairs[:, 0], pairs[:, 1]).all():
        raise ShapeError("q", "cosine and sine both zero", "a unit vector for every turning joint")
    theta = np.cumsum(np.arctan2(pairs[:, 1], pairs[:, 0]))
    return SnakeState(
        theta, np.array([np.cos(theta[0]) * v[0] + np.sin(theta[0]) * v[1], v[2]]), q[:2]
    )


def _centre(model: SnakeModel, i: int) -> float:
    """Centre of mass along the link: link 1 is held there, the others at their near end."""
    return 0.0 if i == 0 else float(model.half_lengths[i])


def _link(model: SnakeModel, i: int) -> str:
    m, inertia, length = (
        float(values[i]) for values in (model.masses, model.inertias, 2.0 * model.half_lengths)
    )
    width = LINK_WIDTH * length
    origin = f'<origin xyz="{_centre(model, i)!r} 0 0" rpy="0 0 0"/>'
    return (
        f'  <link name="link_{i + 1}">\n'
        f'    <inertial>{origin}<mass value="{m!r}"/>'
        f'<inertia ixx="{inertia!r}" ixy="0" ixz="0" iyy="{inertia!r}" iyz="0" izz="{inertia!r}"/></inertial>\n'
        f'    <visual>{origin}<geometry><box size="{length!r} {width!r} {width!r}"/></geometry></visual>\n'
        f"  </link>"
    )


def _joint(
    name: str, kind: str, parent: str, child: str, *, axis: str = "0 0 1", reach: float = 0.0
) -> str:
    limit = f'<limit lower="-1000" upper="1000" effort="{EFFORT}" velocity="{SPEED}"/>'
    if kind == "continuous":
        limit = f'<limit effort="{EFFORT}" velocity="{SPEED}"/>'
    return (
        f'  <joint name="{name}" type="{kind}">\n'
        f'    <parent link="{parent}"/><child link="{child}"/><origin xyz="{reach!r} 0 0" rpy="0 0 0"/><axis xyz="{axis}"/>{limit}\n'
        f"  </joint>"
    )
