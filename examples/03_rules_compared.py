# SPDX-License-Identifier: Apache-2.0
"""Several rules answer the same question on the same tick.

By hand: every rule obeys the same equation of motion, so all carry the same weight; `minimum_torque` needs the least squared torque.
"""

import numpy as np

import humanoid_dynamics as hd
from humanoid_dynamics.resolution import RULES


def main() -> float:
    """Return the smallest sum of squared torques, as a share of that of `minimum_torque`."""
    robot = hd.load_robot("human28")
    solver = hd.InverseDynamics(robot, ("left_foot", "right_foot"), "minimum_torque")
    still = np.zeros(robot.nv)
    least = solver.solve(robot.posture, still, still, np.array([0.7, 0.3])).tau
    efforts = {}
    for rule in RULES:
        answer = solver.resolve_with(rule)
        efforts[rule] = float(answer.tau @ answer.tau)
        left = answer.wrenches["left_foot"].normal_force
        print(
            f"{rule:24s} {answer.certificate.status:12s} left foot {left:7.2f} N, squared torques {efforts[rule]:9.1f} (N·m)²"
        )
    return min(efforts.values()) / float(least @ least)


if __name__ == "__main__":
    print(f"least effort {main():.6f} of that of minimum_torque")
