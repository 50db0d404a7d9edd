# SPDX-License-Identifier: Apache-2.0
"""What the exact motions are made of: findings, single bodies, and a way to run them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_dynamics.model.load import load_robot
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.model.state import State
from humanoid_dynamics.simulation.contacts.solid_points import CORNERS
from humanoid_dynamics.simulation.contacts.touch_points import TouchPoint
from humanoid_dynamics.simulation.world import World
from humanoid_dynamics.spatial.arrays import Matrix

STEP = 1e-3
GRAVITY = 9.81
HERE = pin.SE3.Identity()


@dataclass(frozen=True)
class Finding:
    """One number of the world beside the exact one.

    Attributes:
        case: Which motion.
        quantity: What was measured, with its unit.
        measured: What the world says.
        exact: What is right.
        tolerance: Largest difference that passes, as a share of the exact number, or of one where that is zero.
    """

    case: str
    quantity: str
    measured: float
    exact: float
    tolerance: float = 1e-3

    @property
    def error(self) -> float:
        """Difference as a share of the exact number; as it is where that is zero."""
        return float(abs(self.measured - self.exact)) / float(abs(self.exact) or 1.0)

    @property
    def passed(self) -> bool:
        """Whether the difference is small enough."""
        return bool(self.error <= self.tolerance)


def build_body(
    mass: float,
    moments: tuple[float, float, float],
    com: tuple[float, float, float] = (0.0, 0.0, 0.0),
) -> RobotModel:
    """Return one free rigid body, link ``body``.

    Args:
        mass: Its mass [kg].
        moments: Principal moments of inertia [kg·m²].
        com: Its centre of mass in the link [m].

    Returns:
        The robot.
    """
    return load_robot(
        f'<robot name="body">{write_link("body", mass, moments, com)}</robot>', root="free_flyer"
    )


def run_world(
    world: World, seconds: float, dt: float, goes_on: Callable[[], bool] | None = None
) -> None:
    """Step for a time, the last step as short as it must be.

    Args:
        world: The world.
        seconds: How long [s].
        dt: Length of a step [s].
        goes_on: Asked before every step; where it says no, that was all.
    """
    for _ in range(int(seconds / dt + 1e-9)):
        if goes_on is not None and not goes_on():
            return
        world.step(dt)
    rest = seconds - world.t
    if rest > 1e-9:
        world.step(rest)


def find_crossings(
    world: World, value: Callable[[], float], seconds: float, dt: float
) -> list[float]:
    """Return the times at which a value changes sign, by interpolation."""
    found, before = [], value()
    for _ in range(int(seconds / dt)):
        world.step(dt)
        now = value()
        if before * now < 0.0:
            found.append(world.t - dt * now / (now - before))
        before = now
    return found


def build_state(*, x: float = 0.0, z: float = 0.0, v: tuple[float, ...] = (0.0,) * 6) -> State:
    """Return where one free body begins.

    Args:
        x: Its place along x [m].
        z: Its height [m].
        v: (6,) its velocity, linear and angular, in its own axes.
    """
    return State(np.array([x, 0.0, z, 0.0, 0.0, 0.0, 1.0]), np.array(v))


def build_crate(mass: float, size: tuple[float, float, float]) -> RobotModel:
    """Return a free box of even density.

    Args:
        mass: Its mass [kg].
        size: Its edges [m].
    """
    x, y, z = (length**2 for length in size)
    return build_body(mass, (mass * (y + z) / 12, mass * (x + z) / 12, mass * (x + y) / 12))


def list_corners(size: tuple[float, float, float], friction: float) -> tuple[TouchPoint, ...]:
    """Return the corners of such a box as touch points.

    Args:
        size: Its edges [m].
        friction: Coulomb coefficient.
    """
    corners: Matrix = CORNERS * np.array(size)
    return tuple(
        TouchPoint(f"corner{k}", "body", corner, 0.0, friction) for k, corner in enumerate(corners)
    )


def write_link(
    name: str,
    mass: float,
    moments: tuple[float, float, float],
    com: tuple[float, float, float] = (0.0, 0.0, 0.0),
) -> str:
    """Return a link as URDF.

    Args:
        name: Its name.
        mass: Its mass [kg].
        moments: Principal moments of inertia [kg·m²].
        com: Its centre of mass [m].
    """
    x, y, z = (float(moment) for moment in moments)
    inertia = f'<inertia ixx="{x!r}" iyy="{y!r}" izz="{z!r}" ixy="0" ixz="0" iyz="0"/>'
    origin = '<origin xyz="{!r} {!r} {!r}"/>'.format(*(float(place) for place in com))
    return f'<link name="{name}"><inertial>{origin}<mass value="{float(mass)!r}"/>{inertia}</inertial></link>'


def wrap_angle(angle: float) -> float:
    """Return an angle between half a turn back and half a turn ahead [rad].

    Args:
        angle: The angle [rad].
    """
    return float((angle + np.pi) % (2 * np.pi) - np.pi)
