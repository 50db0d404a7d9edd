# SPDX-License-Identifier: Apache-2.0
"""Times, weights and margins of the plans: one set for all robots, scaled by leg length and pendulum rate.

The pendulum rate is sqrt(g / height).  Weights multiply squared lengths in metres, or squared quantities that are made lengths by the
pendulum rate, and are integrated over time.
"""

from __future__ import annotations

from dataclasses import dataclass

from humanoid_dynamics.filtering.ticks.program import Weights
from humanoid_dynamics.filtering.ticks.tick import TickSettings
from humanoid_dynamics.filtering.ticks.wishes import TaskGains


@dataclass(frozen=True)
class PlanSettings:
    """Settings of walking.

    Attributes:
        swing_time: Single support, in times of 1 / pendulum rate [-]; people walk with 1.3 to 1.6.
        double_time: Double support between two steps, likewise [-].
        start_time: Double support before the first step, likewise [-].
        timing: Candidate factors on what is left of the phase that runs, beside its planned duration [-].
        least_share: Shortest swing, as a share of the nominal one [-].
        slack_tolerance: Slack of the terminal constraint that counts as none [m].
        shift_limit: Age up to which the last plan is followed where no new one is found [s].
        block: Length of a decision block of the phase that runs now [s].
        later_blocks: Decision blocks of a single and of a double support after that.
        stand_blocks: Decision blocks of standing.
        stand_horizon: Horizon of standing, in times of 1 / pendulum rate [-].
        footsteps: Footsteps that are decided at a time.
        tail_footsteps: Footsteps beyond the horizon that define the terminal constraint.
        period: Time between two plans [s].
        dcm_error: Deviation of the divergent component from the plan that asks for a new one at once [m].
        inside: Margin of the planned centre of pressure from the rim of a sole [m].
        inside_share: The same as a share of the half width, where that is less [-].
        pivot_offset: Largest deviation of the CMP from the centre of pressure beyond what swinging legs need, in lengths of a foot [-].
        friction_share: Share of the friction coefficient that a plan uses [-].
        weight_cop: Weight of the distance of the centre of pressure from the middle of what stands [1/s].
        weight_pivot: Weight of the distance of the CMP from the centre of pressure beyond what swinging legs need [1/s].
        weight_momentum: Weight of centroidal angular momentum beyond that of swinging legs, over weight and pendulum rate [1/s].
        weight_velocity: Weight of the velocity error of the centre of mass, over the pendulum rate [1/s].
        weight_smooth: Weight of the change of the CMP from block to block [-].
        weight_step: Weight of the deviation of a footstep from its nominal place relative to the other foot [-].
        weight_slack: Linear weight of the slack of the terminal constraint [m]: exact as long as it exceeds the multiplier.
        weight_slack_square: Quadratic weight of that slack [-].
        clearance: Height of a swing over the ground, in leg lengths [-].
        apex: Share of a swing after which the foot is highest [-].
        landing_speed: Downward speed of a sole at its planned touch-down, and after it until the ground stops it [m/s].
        landing_depth: Depth below the ground at which a sole that is late is aimed at most [m].
        turn_time: Time constant with which the heading of the base follows the feet, in times of 1 / pendulum rate [-].
        height_stiffness: Cost of the height error against that of vertical acceleration: pole of the height [1/s].
        vertical_nodes: Nodes of the vertical plan.
        vertical_step: Time between them [s].
        least_load: Least vertical force of a plan in contact, in weights [-].
        force_heights: Heights of the table of vertical forces, in walking heights [-].
        common_step: Step from foot to foot that legs reach at walking height, in leg lengths [-].
        leg_extension: Share of the straight leg that a plan uses [-].
        step_share: Longest step, in leg lengths [-].
        foot_gap: Least distance between the inner edges of the soles [m].
        acceleration: Limits of the change of the velocity command, in (m/s^2, m/s^2, rad/s^2).
        velocity: Largest velocity command, forward and sideways in pendulum rate times leg length [-], turning [rad/s].
        stale_after: Age of a command after which the robot is brought to a stop [s].
        still: Velocities below which a command means standing [m/s, m/s, rad/s].
        side_by_side: Distance from the nominal stance within which a step ends a walk [m].
        capture_slack: Terminal slack of a stance above which a step is inserted [m].
    """

    swing_time: float = 1.5
    double_time: float = 0.4
    start_time: float = 2.0
    timing: tuple[float, float] = (0.65, 1.25)
    least_share: float = 0.6
    slack_tolerance: float = 1e-4
    shift_limit: float = 0.1
    block: float = 0.06
    later_blocks: tuple[int, int] = (3, 1)
    stand_blocks: int = 10
    stand_horizon: float = 3.0
    footsteps: int = 3
    tail_footsteps: int = 5
    period: float = 0.04
    dcm_error: float = 0.03
    inside: float = 0.01
    inside_share: float = 0.3
    pivot_offset: float = 0.1
    friction_share: float = 1.0
    weight_cop: float = 0.5
    weight_pivot: float = 0.5
    weight_momentum: float = 100.0
    weight_velocity: float = 0.5
    weight_smooth: float = 0.1
    weight_step: float = 10.0
    weight_slack: float = 20.0
    weight_slack_square: float = 20.0
    clearance: float = 0.06
    apex: float = 0.45
    landing_speed: float = 0.1
    landing_depth: float = 0.02
    turn_time: float = 1.0
    height_stiffness: float = 8.0
    vertical_nodes: int = 40
    vertical_step: float = 0.02
    least_load: float = 0.1
    force_heights: tuple[float, ...] = (0.8, 0.9, 1.0)
    common_step: float = 0.3
    leg_extension: float = 0.97
    step_share: float = 0.6
    foot_gap: float = 0.02
    acceleration: tuple[float, float, float] = (0.5, 0.5, 1.0)
    velocity: tuple[float, float, float] = (0.25, 0.15, 0.7)
    stale_after: float = 0.5
    still: tuple[float, float, float] = (0.02, 0.02, 0.03)
    side_by_side: float = 0.06
    capture_slack: float = 0.005


SMALL = 1e-6  # m; a lever arm below it bears nothing
RANK = 1e-3  # of the largest singular value of the Jacobian of a leg
DAMPING = 1e-4  # of the normal equations of legs, for straight ones
RATE = 200.0  # Hz; ticks per second
RATES = (50.0, 2000.0)  # Hz; of ticks
LEAST_FORCE = 1.0  # weights; of one leg by its torque limits at walking height
FASTEST = 20.0  # m/s or rad/s; a base that is faster is not a robot's
WALK_TICK = TickSettings(TaskGains(stance=(900.0, 75.0)), Weights(height=1e4, base=100.0))
SCRIPT_STOP = 3.0  # s of standing commands after a script
