# SPDX-License-Identifier: Apache-2.0
"""Your own rule is a value: here one that spares the left leg.

By hand: the left leg does less than under `minimum_torque`, and the weight is carried all the same.
"""

import numpy as np

import humanoid_dynamics as hd
from humanoid_dynamics.resolution import Rule, TorqueObjective

DEARER = 100.0


def main() -> float:
    """Return the effort of the left leg under the own rule, as a share of that under `minimum_torque`."""
    robot = hd.load_robot("human28")
    leg = np.array(
        [name.startswith(("left_hip", "left_knee", "left_ankle")) for name in robot.actuated]
    )
    weights = np.where(leg, DEARER, 1.0)
    limping = Rule(
        "limping",
        lambda dynamics: TorqueObjective(dynamics, 1e-6, weights),
        False,
        False,
        "spares the left leg",
        "here",
    )
    state, still = hd.State.at_rest(robot), [0.0] * robot.nv
    effort = {}
    for rule in ("minimum_torque", limping):
        answer = hd.inverse_dynamics(robot, state, still, rule=rule)
        name = rule if isinstance(rule, str) else rule.name
        effort[name] = float(np.sum(answer.tau[leg] ** 2))
        feet = [wrench.normal_force for wrench in answer.wrenches.values()]
        print(
            f"{name:16s} left leg {effort[name]:8.2f} (N·m)², feet {feet[0]:.2f} + {feet[1]:.2f} = {sum(feet):.3f} N"
        )
    return effort["limping"] / effort["minimum_torque"]


if __name__ == "__main__":
    print(f"the left leg does {main():.3f} of the effort")
