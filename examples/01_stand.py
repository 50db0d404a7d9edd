# SPDX-License-Identifier: Apache-2.0
"""A humanoid stands: what do its motors do, and what carries it?

By hand: the normal forces add up to mass times 9.81 m/s².
"""

import humanoid_dynamics as hd


def main() -> float:
    """Return the sum of the normal forces [N]."""
    robot = hd.load_robot("human28")
    answer = hd.inverse_dynamics(robot, hd.State.at_rest(robot), a=[0.0] * robot.nv)
    for name, torque in zip(robot.actuated[:4], answer.tau, strict=False):
        print(f"{name:24s} {torque:8.2f} N·m")
    return sum(wrench.normal_force for wrench in answer.wrenches.values())


if __name__ == "__main__":
    print(f"normal forces {main():.3f} N")
