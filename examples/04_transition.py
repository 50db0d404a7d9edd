# SPDX-License-Identifier: Apache-2.0
"""Load passes from one foot to the other, and no torque has a step.

By hand: the largest change of a torque in one millisecond stays under the bound computed before any load has moved.
"""

import numpy as np

import humanoid_dynamics as hd
from humanoid_dynamics.contact import ContactInterval, ContactSchedule
from humanoid_dynamics.resolution import bound_torque_step

DT = 1e-3


def main() -> float:
    """Return the largest change of a torque in one millisecond, as a share of its bound."""
    robot = hd.load_robot("human28")
    feet = ("left_foot", "right_foot")
    schedule = ContactSchedule.of(
        (
            ContactInterval("left_foot", -np.inf, 1.0, 0.0, 0.8),
            ContactInterval("right_foot", 0.2, np.inf, 0.8, 0.0),
        ),
        "quintic",
    )
    solver = hd.InverseDynamics(robot, feet, "transition")
    still = np.zeros(robot.nv)
    before, largest = None, np.zeros(len(robot.actuated))
    for t in np.arange(0.0, 1.2, DT):
        tau = solver.solve(robot.posture, still, still, schedule.shares(float(t))).tau
        largest = largest if before is None else np.maximum(largest, np.abs(tau - before))
        before = np.array(tau)
    bound = bound_torque_step(
        robot, hd.State.at_rest(robot), still, feet, schedule.share_rates() * DT, "transition"
    ).bound
    print(f"largest change in a millisecond {largest.max():.4f} N·m, bound {bound.max():.4f} N·m")
    return float(np.max(largest[bound > 0.0] / bound[bound > 0.0]))


if __name__ == "__main__":
    print(f"{main():.3f} of the bound")
