# SPDX-License-Identifier: Apache-2.0
"""Inertial measurement units of a robot: their poses, and the errors that a simulator gives them."""

from __future__ import annotations

from dataclasses import dataclass

import pinocchio as pin

BASE = "base"  # the IMU that carries the plain topic name


@dataclass(frozen=True)
class ImuErrors:
    """Errors of an IMU, for each axis.

    Attributes:
        gyro_noise: Standard deviation of the white noise of a gyro sample [rad/s].
        acc_noise: Standard deviation of the white noise of an accelerometer sample [m/s²].
        gyro_bias: Standard deviation of the constant gyro bias of a run [rad/s].
        acc_bias: Standard deviation of the constant accelerometer bias of a run [m/s²].
        delay: Time from measurement to delivery [s].
    """

    gyro_noise: float = 0.0
    acc_noise: float = 0.0
    gyro_bias: float = 0.0
    acc_bias: float = 0.0
    delay: float = 0.0


EXACT = ImuErrors()


@dataclass(frozen=True, eq=False)
class Imu:
    """An IMU on a link.

    Attributes:
        name: Its name; ``base`` for the one that measures the base.
        link: Link that carries it.
        X_LI: Its pose in the link.
        errors: Errors of the simulated sensor.
    """

    name: str
    link: str
    X_LI: pin.SE3
    errors: ImuErrors = EXACT
