# SPDX-License-Identifier: Apache-2.0
"""The joint subsystem: what stands between a motor and the link it drives [BP, eq. 46-47].

Friction is Coulomb + viscous + Stribeck + offset.  The printed exponent, exp(-(rate / speed)), grows without bound for negative rates; the
Stribeck term here fades with the square of the rate, or with its magnitude.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike

from humanoid_dynamics.errors import ShapeError, UnknownNameError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Matrix, Vector, check_vector, read_only

SMOOTH_RATE = 1e-3
STRIBECK_SPEED = 0.1
STRIBECK_SHAPES = ("square", "absolute")
JOINT_PARAMETERS = ("inertia", "coulomb", "viscous", "stribeck", "offset")


@dataclass(frozen=True, eq=False)
class JointParameters:
    """Gear inertia and friction of every velocity coordinate; all (nv,).

    Attributes:
        inertia: Inertia of rotor and gear seen at the joint [kg·m² or kg].
        coulomb: Dry friction [N·m or N].
        viscous: Friction in proportion to the rate [N·m·s/rad or N·s/m].
        stribeck: Additional friction near rest [N·m or N].
        stribeck_speed: Rate over which it fades [rad/s or m/s].
        offset: Constant load [N·m or N].
    """

    inertia: Vector
    coulomb: Vector
    viscous: Vector
    stribeck: Vector
    stribeck_speed: Vector
    offset: Vector

    def __post_init__(self) -> None:
        nv = np.size(self.inertia)
        for field in fields(self):
            values = check_vector(field.name, getattr(self, field.name), nv)
            if field.name != "offset" and (values < 0.0).any():
                raise ShapeError(field.name, f"{values.min():g}", "numbers that are not negative")
            object.__setattr__(self, field.name, read_only(values))
        if (self.stribeck_speed == 0.0).any():
            raise ShapeError("stribeck_speed", "0", "positive numbers")

    @classmethod
    def of(
        cls,
        robot: RobotModel,
        stribeck: ArrayLike = 0.0,
        stribeck_speed: ArrayLike = STRIBECK_SPEED,
        offset: ArrayLike = 0.0,
    ) -> JointParameters:
        """Take armature, friction and damping from a robot; what a URDF cannot say is given here.

        Args:
            robot: The robot.
            stribeck: (nv,) or one number [N·m or N].
            stribeck_speed: (nv,) or one number [rad/s or m/s].
            offset: (nv,) or one number [N·m or N].

        Returns:
            The parameters.
        """
        wide = (
            np.broadcast_to(np.asarray(values, dtype=np.float64), robot.nv)
            for values in (stribeck, stribeck_speed, offset)
        )
        return cls(np.asarray(robot.model.armature), robot.friction, robot.damping, *wide)

    @classmethod
    def frictionless(cls, inertia: ArrayLike) -> JointParameters:
        """Return joints with gear inertia alone.

        Args:
            inertia: (nv,) [kg·m² or kg].
        """
        zero = np.zeros(np.size(inertia))
        return cls(
            np.asarray(inertia, dtype=np.float64), zero, zero, zero, zero + STRIBECK_SPEED, zero
        )

    def as_matrix(self) -> Matrix:
        """Return the five parameters that enter linearly, (nv, 5), in the order of ``JOINT_PARAMETERS``."""
        return np.column_stack([getattr(self, name) for name in JOINT_PARAMETERS])


def compute_sign(rate: Vector, smooth: float = SMOOTH_RATE) -> Vector:
    """Return a sign that is smooth at rest, tanh(rate / smooth) [-].

    Args:
        rate: (nv,) [rad/s or m/s].
        smooth: Width of the step [rad/s or m/s]; 0 for the sign itself.
    """
    return np.sign(rate) if smooth == 0.0 else np.tanh(rate / smooth)


def compute_stribeck(rate: Vector, speed: Vector, shape: str = "square") -> Vector:
    """Return how much of the Stribeck friction is left at a rate [-].

    Args:
        rate: (nv,) [rad/s or m/s].
        speed: (nv,) rate over which it fades [rad/s or m/s].
        shape: ``square`` for exp(-(rate/speed)²), ``absolute`` for exp(-|rate|/speed).

    Raises:
        UnknownNameError: If there is no such shape.
    """
    if shape not in STRIBECK_SHAPES:
        raise UnknownNameError("shape of the Stribeck term", shape, STRIBECK_SHAPES)
    share = rate / speed
    return np.exp(-(share**2) if shape == "square" else -np.abs(share))


def compute_friction(
    parameters: JointParameters, rate: Vector, shape: str = "square", smooth: float = SMOOTH_RATE
) -> Vector:
    """Compute the friction and the constant load of every joint, corrected from [BP, eq. 46].

    Args:
        parameters: Of the joints.
        rate: (nv,) joint rates [rad/s or m/s].
        shape: Of the Stribeck term.
        smooth: Width of the sign at rest [rad/s or m/s].

    Returns:
        (nv,) what a motor must overcome [N·m or N]; less the offset it never feeds power to the joint.
    """
    sign = compute_sign(rate, smooth)
    fading = compute_stribeck(rate, parameters.stribeck_speed, shape)
    return (
        sign * (parameters.coulomb + parameters.stribeck * fading)
        + parameters.viscous * rate
        + parameters.offset
    )


def compute_joint_torque(
    parameters: JointParameters, rate: Vector, acceleration: Vector, load: Vector
) -> Vector:
    """Compute the motor torques behind the torques that reach the links [BP, eq. 46-47].

    Args:
        parameters: Of the joints.
        rate: (nv,) joint rates [rad/s or m/s].
        acceleration: (nv,) joint accelerations [rad/s² or m/s²].
        load: (nv,) z' f at the driven cutting point [N·m or N].

    Returns:
        (nv,) torques of the motors [N·m or N].
    """
    return parameters.inertia * acceleration + compute_friction(parameters, rate) + load


def build_joint_regressor(
    parameters: JointParameters, rate: Vector, required_rate: Vector, required_acceleration: Vector
) -> Matrix:
    """Build the rows that multiply the five parameters of each joint.

    Signs and fading follow the measured rate, so that an error of the rate does not change them.

    Args:
        parameters: Of the joints; only the speeds over which Stribeck friction fades are read.
        rate: (nv,) measured rates.
        required_rate: (nv,) rates the viscous term is wanted for.
        required_acceleration: (nv,) accelerations.

    Returns:
        (nv, 5) rows, in the order of ``JOINT_PARAMETERS``; the torque is the sum of row times parameters.
    """
    sign = compute_sign(rate)
    fading = compute_stribeck(rate, parameters.stribeck_speed)
    return np.column_stack(
        (required_acceleration, sign, required_rate, sign * fading, np.ones_like(rate))
    )
