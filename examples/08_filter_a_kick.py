# SPDX-License-Identifier: Apache-2.0
"""A kick nobody could do: one leg is flung up while the other soles and the trunk pretend nothing happened.  The filter makes it possible.

By hand: the body begins and ends at rest, so the mean of the normal forces is its weight, 65 kg times 9.81 m/s², 637.65 N.
"""

import numpy as np

import humanoid_dynamics as hd
from humanoid_dynamics.filtering import filter_clip
from humanoid_dynamics.motion import Clip, differentiate


def build_kick(robot: hd.RobotModel) -> Clip:
    """Return a clip of two seconds in which the left leg goes up and down again."""
    times = np.arange(0.0, 2.0, 1.0 / 60.0)
    lift = np.where(abs(times - 1.0) < 0.5, 0.5 + 0.5 * np.cos(2.0 * np.pi * (times - 1.0)), 0.0)
    q = np.tile(robot.posture, (len(times), 1))
    for joint, angle in {"left_hip_pitch": -0.8, "left_knee": 0.5}.items():
        q[:, robot.joint(joint).q] += angle * lift[:, None]
    return Clip(robot, times, q)


def main() -> float:
    """Return the mean of the sum of the normal forces of the filtered kick [N]."""
    robot = hd.load_robot("human28")
    kick = build_kick(robot)
    moving = differentiate(kick, cutoff=6.0)
    solver = hd.InverseDynamics(robot, ("right_foot",), "minimum_torque_limited")
    lifted = abs(moving.times - 1.0) < 0.4
    rows = zip(moving.q[lifted], moving.v[lifted], moving.a[lifted], strict=True)
    before = [
        solver.solve(q, v, a).certificate.status in {"OK", "INCONSISTENT_CONTACT"}
        for q, v, a in rows
    ]
    found = filter_clip(robot, kick)
    print(
        f"before: {np.mean(before):.0%} of the frames on one foot can be; after: {found.report.all_limits:.0%} are inside all limits"
    )
    return float(np.mean([frame.wrenches[:, 2].sum() for frame in found.frames]))


if __name__ == "__main__":
    print(f"mean normal force {main():.1f} N")
