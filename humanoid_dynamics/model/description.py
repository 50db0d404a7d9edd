# SPDX-License-Identifier: Apache-2.0
"""What a URDF cannot say, as a YAML file with one schema.

Every key is optional:

    urdf: human28.urdf             # for the catalogue: file in urdf/, or in `package`
    package: example-robot-data    # Python package whose robot files hold the URDF
    root: free_flyer               # free_flyer | fixed | planar (x, z and pitch about y)
    surfaces:                      # z of a surface frame is the inward normal: up for a sole; one corner is a point, two an edge
      left_foot: {link: l_foot, xyz: [0, 0, -0.07], rpy: [0, 0, 0], polygon: [[0.2, 0.05], ...], friction: 0.7}
      left_hand: {link: l_hand, points: [[0, 0, -0.1]], normal_force_limit: 200}   # a convex polygon has an order, points have none
    control_points: {head: {link: head, xyz: [0, 0, 0.1]}}
    posture: {left_knee: 0.4}      # joint -> rad or m; the rest stays at zero, inside its limits
    passive: [left_toe]            # joints without a motor; or `motors: [...]` names those with one
    fixed: [left_toe_lock]         # joints that do not move here
    spherical: {hip: [hip_x, hip_y, hip_z]}        # three revolutes that are one spherical joint, without position limits
    loops:
      rod: {kind: spherical, a: {link: rod, xyz: [0, 0, 0.1]}, b: {link: foot, xyz: [0.05, 0, 0]}}
    wheels: {wheel1: {link: link1, xyz: [0, 0, 0]}}   # x rolls, y is the axle
    imus:                          # `base` for the one that measures the base; standard deviations per axis for the simulator
      base: {link: pelvis, xyz: [0, 0, 0.1], rpy: [0, 0, 0], noise: {gyro: 0.005, acc: 0.05}, bias: {gyro: 0.005, acc: 0.05}, delay: 0.002}
    aliases: {l_ankle: l_foot, gaze: point:head}      # REP-120 name -> link, surface:<name> or point:<name>
    armature: {left_knee: 0.01}    # kg·m²; likewise friction [N·m], damping [N·m·s/rad], effort [N·m], positive

The keys of example-parallel-robots (``closed_loop``, ``type``, ``name_mot``, ``joint_name``, ``joint_type``) are read as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pinocchio as pin

from humanoid_dynamics.model.imu import EXACT, ImuErrors
from humanoid_dynamics.model.surface import DEFAULT_FRICTION
from humanoid_dynamics.spatial.arrays import Matrix

ROOTS = ("free_flyer", "fixed", "planar")


@dataclass(frozen=True, eq=False)
class FrameSpec:
    """A pose in a link, as written.

    Attributes:
        link: Name of the link.
        X_L: Pose in the link.
    """

    link: str
    X_L: pin.SE3


@dataclass(frozen=True, eq=False)
class SurfaceSpec:
    """A contact surface, as written.

    Attributes:
        frame: Link and pose of the surface frame.
        vertices: (k, 3) corners in the surface frame [m].
        friction: Coulomb coefficient [-].
        normal_force_limit: Largest normal force [N].
        assumed: Why it is a guess, empty where it was written.
    """

    frame: FrameSpec
    vertices: Matrix
    friction: float = DEFAULT_FRICTION
    normal_force_limit: float = np.inf
    assumed: str = ""


@dataclass(frozen=True, eq=False)
class ImuSpec:
    """An IMU, as written.

    Attributes:
        frame: Link and pose of the IMU.
        errors: Errors of the simulated sensor.
    """

    frame: FrameSpec
    errors: ImuErrors = EXACT


@dataclass(frozen=True, eq=False)
class LoopSpec:
    """A loop closure, as written.

    Attributes:
        kind: What the cut joint still lets move.
        a: First frame.
        b: Second frame.
    """

    kind: str
    a: FrameSpec
    b: FrameSpec


@dataclass(frozen=True, eq=False)
class Description:
    """A robot YAML file, read; the keys of the module's schema.

    Attributes:
        origin: The file, for messages.
        motors: Joints with a motor, or None where every joint has one that is not passive.
        substitutions: Single joints to be replaced by a spherical or universal one, by name.
    """

    origin: str = ""
    urdf: str = ""
    package: str = ""
    root: str = ""
    surfaces: Mapping[str, SurfaceSpec] = field(default_factory=dict)
    control_points: Mapping[str, FrameSpec] = field(default_factory=dict)
    posture: Mapping[str, float] = field(default_factory=dict)
    passive: tuple[str, ...] = ()
    motors: tuple[str, ...] | None = None
    fixed: tuple[str, ...] = ()
    spherical: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    substitutions: Mapping[str, str] = field(default_factory=dict)
    loops: Mapping[str, LoopSpec] = field(default_factory=dict)
    wheels: Mapping[str, FrameSpec] = field(default_factory=dict)
    imus: Mapping[str, ImuSpec] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)
    armature: Mapping[str, float] = field(default_factory=dict)
    friction: Mapping[str, float] = field(default_factory=dict)
    damping: Mapping[str, float] = field(default_factory=dict)
    effort: Mapping[str, float] = field(default_factory=dict)


def add_loops(description: Description, loops: Description) -> Description:
    """Return a description with what another says of closed chains on top.

    Args:
        description: What is known of the robot.
        loops: A description whose loops, motors, joint substitutions, spherical joints and posture are added; its own win.

    Returns:
        The description; messages about it name the file of the loops.
    """
    return replace(
        description,
        origin=loops.origin,
        loops={**description.loops, **loops.loops},
        motors=description.motors if loops.motors is None else loops.motors,
        passive=description.passive if loops.motors is None else loops.passive,
        substitutions={**description.substitutions, **loops.substitutions},
        spherical={**description.spherical, **loops.spherical},
        posture={**description.posture, **loops.posture},
    )
