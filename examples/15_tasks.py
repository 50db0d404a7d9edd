# SPDX-License-Identifier: Apache-2.0
"""Tasks instead of an acceleration: the centre of mass goes down, the left hand goes forward, the joints stay near their posture.

By hand: tasks of level 1 are reached exactly, so after two seconds the centre of mass is 0.05 m lower.
"""

import numpy as np
import pinocchio as pin

import humanoid_dynamics as hd

DT = 0.005  # s


def main() -> float:
    """Return how far the centre of mass went down [m]."""
    robot = hd.load_robot("human28")
    center = hd.CenterOfMassTask(level=1)
    hand = hd.FrameTask("left_hand", weight=1.0, rows=(0, 1, 2))
    control = hd.WholeBody(robot, [center, hand, hd.PostureTask(weight=1e-2)])
    q, v = np.array(robot.posture), np.zeros(robot.nv)
    control.solve(q, v)  # tasks without a target start where the robot is
    height = center.target[2]
    center.target = center.target - [0.0, 0.0, 0.05]
    hand.target.translation += np.array([0.05, 0.0, 0.0])
    for _ in range(round(2.0 / DT)):
        answer = control.solve(q, v)
        v = v + DT * answer.a
        q = pin.integrate(robot.model, q, DT * v)
    print(answer.certificate.status, f"largest torque {np.abs(answer.tau).max():.1f} N·m")
    return height - float(pin.centerOfMass(robot.model, robot.data(), q)[2])


if __name__ == "__main__":
    print(f"centre of mass lower by {main():.4f} m")
