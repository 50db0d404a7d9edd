# SPDX-License-Identifier: Apache-2.0
"""Two feet leave a choice: six numbers of the contact forces are free.  Here the load is moved from foot to foot by hand.

By hand: with shares of 0.8 and 0.2 the left foot carries 80 % of the weight.
"""

import numpy as np

import humanoid_dynamics as hd


def main() -> float:
    """Return the share of the weight on the left foot."""
    robot = hd.load_robot("human28")
    solver = hd.InverseDynamics(robot, ("left_foot", "right_foot"), "transition")
    still = np.zeros(robot.nv)
    for left in (0.5, 0.8):
        answer = solver.solve(robot.posture, still, still, np.array([left, 1.0 - left]))
        left_force, right_force = (
            answer.wrenches[foot].normal_force for foot in ("left_foot", "right_foot")
        )
        print(f"share {left:.1f}: left {left_force:7.2f} N, right {right_force:7.2f} N")
    return float(left_force / (left_force + right_force))


if __name__ == "__main__":
    print(f"left foot carries {main():.3f} of the weight")
