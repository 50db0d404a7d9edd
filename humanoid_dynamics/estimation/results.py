# SPDX-License-Identifier: Apache-2.0
"""Estimates of the base and of its contacts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from humanoid_dynamics.estimation.settings import EstimatorStatus
from humanoid_dynamics.spatial.arrays import Matrix, Vector


@dataclass(frozen=True, eq=False)
class ContactEstimate:
    """Estimate of one contact.

    Attributes:
        name: Name of the contact surface.
        probability: Probability that it carries load.
        closed: Whether it carries load, with hysteresis.
        load: Normal force [N].
        slipping: Whether its loaded point moves.
        point: (3,) loaded point in the world [m].
        weight: Weight of its last velocity measurement, 0-1; small at slips and impacts.
    """

    name: str
    probability: float
    closed: bool
    load: float
    slipping: bool
    point: Vector
    weight: float

    @property
    def height(self) -> float:
        """Height of the loaded point in the world [m]."""
        return float(self.point[2])


@dataclass(frozen=True, eq=False)
class BaseEstimate:
    """Estimate of the pose and the twist of the base link.

    Attributes:
        time: Time of the estimate [s].
        status: Status of the estimator.
        faults: Faults of the inputs in the last moments.
        position: (3,) place of the base link in the world [m].
        orientation: (4,) its orientation, a quaternion x y z w.
        linear_velocity: (3,) its velocity in its own axes [m/s].
        angular_velocity: (3,) its angular velocity in its own axes [rad/s].
        pose_covariance: (6, 6) of position [m] and rotation about the fixed axes of the world [rad].
        twist_covariance: (6, 6) of linear [m/s] and angular velocity [rad/s] in axes of the base.
        gyro_bias: (3,) bias of the gyroscope in IMU axes [rad/s].
        acc_bias: (3,) bias of the accelerometer in IMU axes [m/s²].
        contacts: Contacts.
    """

    time: float
    status: EstimatorStatus
    faults: tuple[EstimatorStatus, ...]
    position: Vector
    orientation: Vector
    linear_velocity: Vector
    angular_velocity: Vector
    pose_covariance: Matrix
    twist_covariance: Matrix
    gyro_bias: Vector
    acc_bias: Vector
    contacts: tuple[ContactEstimate, ...]

    @property
    def valid(self) -> bool:
        """Whether pose and velocity may be used."""
        return self.status in {
            EstimatorStatus.RUNNING,
            EstimatorStatus.CALIBRATING,
            EstimatorStatus.NO_CONTACT,
        }

    @property
    def q_base(self) -> Vector:
        """Place and orientation as the first seven numbers of a configuration."""
        return np.concatenate((self.position, self.orientation))

    @property
    def v_base(self) -> Vector:
        """Linear and angular velocity as the first six numbers of a velocity."""
        return np.concatenate((self.linear_velocity, self.angular_velocity))
