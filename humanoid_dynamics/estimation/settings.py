# SPDX-License-Identifier: Apache-2.0
"""Settings and status values of the base estimator."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.status import StatusEnum

SMALL_JACOBIAN = 1e-4  # rad; the same for differences of third order
SMALL_ANGLE = 1e-7  # rad; below, rotations are series
UPRIGHT = 0.95  # cosine between heading and vertical beyond which another axis of the base heads
FEWEST_SAMPLES = 2  # of a calm moment
CONTACT_GUARD = 0.02  # s; contacts are not compared with the truth nearer to a change
MAY_BE_ZERO = frozenset(
    {
        "gyro_bias_walk",
        "acc_bias_walk",
        "armature_of_effort",
        "lift_evidence",
        "schedule_evidence",
        "horizon",
    }
)  # settings that nothing is divided by


class EstimatorStatus(StatusEnum):
    """Status of the base estimator, and faults of its inputs."""

    WAITING_IMU = "WAITING_IMU", "no IMU sample has come"
    WAITING_JOINTS = "WAITING_JOINTS", "no joint sample has come"
    WAITING_STILL = (
        "WAITING_STILL",
        "the robot moves; the estimator waits for a calm moment or a given attitude",
    )
    CALIBRATING = (
        "CALIBRATING",
        "the estimate is valid; the gyroscope bias is not yet known to the configured accuracy",
    )
    RUNNING = "RUNNING", "the estimate is valid"
    NO_CONTACT = "NO_CONTACT", "no contact carries load; the IMU alone is integrated"
    IMU_GAP = "IMU_GAP", "IMU samples are missing; the gap is bridged with larger uncertainty"
    IMU_SATURATED = "IMU_SATURATED", "the IMU is at the end of its range"
    IMU_INVALID = "IMU_INVALID", "an IMU sample has NaN or infinity and is rejected"
    IMU_STALE = "IMU_STALE", "IMU samples have stopped"
    STAMP_IN_PAST = "STAMP_IN_PAST", "a stamp is not after the one before it or is too old"
    TIME_JUMP = "TIME_JUMP", "the clock has jumped; velocity is unknown until the next contact"
    JOINTS_INVALID = "JOINTS_INVALID", "a joint sample has NaN or infinity and is rejected"
    JOINTS_FROZEN = "JOINTS_FROZEN", "joint values are constant while the IMU moves"
    JOINTS_STALE = "JOINTS_STALE", "joint samples have stopped"
    WRENCH_INVALID = "WRENCH_INVALID", "a wrench has NaN or infinity and is rejected"
    POSE_INVALID = "POSE_INVALID", "a pose or its deviation is no possible number and is rejected"
    POSE_OUTLIER = "POSE_OUTLIER", "a pose is far from the estimate and has little weight"
    SLIPPING = "SLIPPING", "a loaded contact point moves"
    IMPACT = "IMPACT", "the accelerometer measures an impact"
    ACCEPTED = "ACCEPTED", "the sample is used"


@dataclass(frozen=True)
class EstimatorSettings:
    """Settings of the base estimator.

    Noise is given as a density: the deviation of one sample times the square root of its interval.  The defaults were
    measured on walks of a Unitree G1 in MuJoCo.

    Attributes:
        floor_height: Height of a flat level floor [m], used as a weak measurement; None where the ground is unknown.
        gravity: Gravity [m/s²].
        gyro_noise: Noise of the gyroscope [rad/s/√Hz]; data sheets of MEMS sensors give 1e-4.
        acc_noise: Noise of the accelerometer [m/s²/√Hz]; ten times a data sheet's, because impacts alias.
        gyro_bias_walk: Random walk of the gyroscope bias [rad/s²/√Hz].
        acc_bias_walk: Random walk of the accelerometer bias [m/s³/√Hz].
        gyro_bias_deviation: Deviation of an unknown gyroscope bias [rad/s].
        acc_bias_deviation: Deviation of an unknown accelerometer bias [m/s²].
        known_gyro_bias_deviation: Deviation of a given gyroscope bias [rad/s].
        known_acc_bias_deviation: Deviation of a given accelerometer bias [m/s²].
        attitude_deviation: Deviation of roll and pitch from gravity in a calm moment [rad].
        given_attitude_deviation: Deviation of roll and pitch that are given [rad].
        start_speed_deviation: Deviation of the velocity at the start [m/s].
        known_speed_deviation: Deviation of a given velocity [m/s].
        start_place_deviation: Deviation of place [m] and heading [rad] at the start, where they are zero by definition.
        calibrated_deviation: Deviation of the gyroscope bias from which on it is calibrated [rad/s].
        rate_deviation: Noise of one sample of the gyroscope [rad/s].
        fault_noise: Factor on the noise of the IMU over gaps and at saturation.
        calm_duration: Length of the calm moment at the start [s].
        calm_rate: Largest angular rate in it [rad/s].
        calm_acceleration: Largest deviation of the specific force in it [m/s²].
        contact_noise: Noise of the velocity of a contact point [m/s/√Hz]: large, because slip is correlated.
        contact_scale: Innovation that halves the weight of a contact [m/s].
        full_load: Normal force from which on a contact has its full weight, of the robot's weight.
        edge_height: Height over the lowest corner at which the weight of a corner has fallen to 1/e [m].
        roll_scale: Angular velocity of a sole that doubles the variance of its point [rad/s].
        turn_noise: Noise of the angular velocity of a flat sole [rad/s/√Hz].
        turn_scale: Angular velocity of a sole that halves its weight [rad/s].
        flat_height: Spread of the heights of the corners of a flat sole [m].
        height_noise: Noise of the floor height [m/√Hz].
        height_scale: Innovation of the floor height that halves its weight [m].
        observer_gain: Gain of the momentum observer [1/s].
        force_deviation: Deviation of the base force rows of the observer [N per N of weight].
        moment_deviation: Deviation of the base moment rows [m, per N of weight].
        torque_deviation: Deviation of a joint torque [N·m].
        cop_deviation: Deviation of the centre of pressure from the middle of a sole, of its half extent.
        armature_of_effort: Rotor inertia that is assumed where the robot gives none [kg·m² per N·m of effort limit].
        contact_force: Normal force at which a contact is as likely as not [N].
        contact_force_spread: Normal force that changes the log-odds of a contact by one [N].
        lift_height: Height over the other contacts above which a contact is unlikely [m].
        lift_spread: Height that changes the log-odds by one [m].
        lift_evidence: Largest log-odds of the height.
        schedule_evidence: Log-odds of a planned contact.
        close_probability: Probability at which a contact closes.
        open_probability: Probability at which it opens.
        least_probability: Probability below which a contact measures nothing.
        slip_speed: Speed of a loaded contact point that is a slip [m/s].
        slip_filter: Time constant of that speed [s].
        still_rate: Difference of fast and slow mean of the gyroscope beyond which the robot moves [rad/s].
        still_acceleration: The same for the accelerometer [m/s²].
        still_joint: The same for joints [rad].
        still_filter: Time constant of the fast means [s].
        still_duration: Time constant of the slow means, and time without motion after which the robot is still [s].
        still_noise: Noise of the zero velocity of a still robot [m/s/√Hz].
        still_noise_factor: Noise of its zero rate, of the noise of the gyroscope.
        pose_deviation: Default deviation of a given position [m].
        pose_turn_deviation: Default deviation of a given orientation [rad].
        pose_scale: Innovation over its deviation that halves the weight of a pose.
        outlier_weight: Weight of a pose below which it is an outlier.
        gyro_limit: Range of the gyroscope [rad/s].
        acc_limit: Range of the accelerometer [m/s²].
        joint_limit: Joint position or velocity beyond which a sample is invalid [rad, rad/s].
        place_limit: Coordinate of a pose beyond which it is invalid [m].
        torque_limit: The same for torques and wrenches [N·m, N].
        impact: Specific force over gravity that is an impact [m/s²].
        imu_gap: Interval of IMU samples that is a gap [s].
        longest_gap: Gap beyond which the clock has jumped [s].
        stale: Age at which an input is stale [s].
        frozen: Time after which constant joint values are frozen [s].
        frozen_rate: Angular rate that shows that the robot moves [rad/s].
        fault_hold: Time for which a fault is reported [s].
        horizon: Longest extrapolation of an estimate [s].
        velocity_filter: Time constant of joint velocities that are differentiated [s].
    """

    floor_height: float | None = None
    gravity: float = 9.81
    gyro_noise: float = 3e-4
    acc_noise: float = 1e-2
    gyro_bias_walk: float = 1e-5
    acc_bias_walk: float = 1e-4
    gyro_bias_deviation: float = 0.006
    acc_bias_deviation: float = 0.06
    known_gyro_bias_deviation: float = 5e-4
    known_acc_bias_deviation: float = 5e-3
    attitude_deviation: float = 0.03
    given_attitude_deviation: float = 0.01
    start_speed_deviation: float = 0.5
    known_speed_deviation: float = 0.02
    start_place_deviation: float = 1e-4
    calibrated_deviation: float = 3e-3
    rate_deviation: float = 5e-3
    fault_noise: float = 30.0
    calm_duration: float = 0.2
    calm_rate: float = 0.3
    calm_acceleration: float = 0.5
    contact_noise: float = 0.009
    contact_scale: float = 0.06
    full_load: float = 0.9
    edge_height: float = 0.005
    roll_scale: float = 1.5
    turn_noise: float = 0.012
    turn_scale: float = 0.15
    flat_height: float = 0.006
    height_noise: float = 2e-3
    height_scale: float = 0.01
    observer_gain: float = 250.0
    force_deviation: float = 0.03
    moment_deviation: float = 0.01
    torque_deviation: float = 1.0
    cop_deviation: float = 0.7
    armature_of_effort: float = 1.4e-4
    contact_force: float = 20.0
    contact_force_spread: float = 8.0
    lift_height: float = 0.01
    lift_spread: float = 0.004
    lift_evidence: float = 4.0
    schedule_evidence: float = 1.5
    close_probability: float = 0.55
    open_probability: float = 0.45
    least_probability: float = 0.05
    slip_speed: float = 0.095
    slip_filter: float = 0.003
    still_rate: float = 0.005
    still_acceleration: float = 0.06
    still_joint: float = 8e-4
    still_filter: float = 0.05
    still_duration: float = 0.3
    still_noise: float = 1e-3
    still_noise_factor: float = 2.0
    pose_deviation: float = 0.005
    pose_turn_deviation: float = 0.01
    pose_scale: float = 5.0
    outlier_weight: float = 0.1
    gyro_limit: float = 34.9
    acc_limit: float = 156.9
    joint_limit: float = 1e3
    place_limit: float = 1e6
    torque_limit: float = 1e5
    impact: float = 30.0
    imu_gap: float = 0.025
    longest_gap: float = 0.5
    stale: float = 0.1
    frozen: float = 0.1
    frozen_rate: float = 0.1
    fault_hold: float = 0.25
    horizon: float = 0.05
    velocity_filter: float = 0.005

    def __post_init__(self) -> None:
        for entry in fields(self):
            name, value = entry.name, getattr(self, entry.name)
            if name == "floor_height":
                if value is not None and not math.isfinite(value):
                    raise ShapeError(name, repr(value), "a finite height, or None")
            elif not math.isfinite(value) or value < 0.0 or (not value and name not in MAY_BE_ZERO):
                expected = (
                    "zero or a positive number" if name in MAY_BE_ZERO else "a positive number"
                )
                raise ShapeError(name, repr(value), expected)
