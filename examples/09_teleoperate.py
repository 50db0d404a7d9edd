# SPDX-License-Identifier: Apache-2.0
"""An operator leads the left hand by poses, 50 in a second; the humanoid follows at 500 Hz and keeps its balance.

By hand: the hand is asked to go 6 cm forward and 8 cm up, which is 10 cm.
"""

import numpy as np
import pinocchio as pin

import humanoid_dynamics as hd
from humanoid_dynamics.filtering import Teleoperation

RATE, SECONDS = 500, 2.0


def place(robot: hd.RobotModel, q: np.ndarray) -> np.ndarray:
    """Return where the left hand is (3,) [m]."""
    data = robot.data()
    pin.framesForwardKinematics(robot.model, data, q)
    return np.array(data.oMf[robot.control_points["left_hand"].frame].translation)


def main() -> float:
    """Return how far the hand has gone [m]."""
    robot = hd.load_robot("human28")
    operator = Teleoperation(robot, frames=("left_hand",), rate=RATE)
    goal = operator.pose("left_hand")
    goal.translation = goal.translation + np.array([0.06, 0.0, 0.08])
    for k in range(round(SECONDS * RATE)):
        now = k / RATE
        if k % 10 == 0:
            goal.rotation = (
                pin.exp3(1e-6 * np.array([k % 7, 0.0, 0.0])) @ goal.rotation
            )  # a living hand never stands quite still
            operator.update("left_hand", now, goal, now)
        frame = operator.step(now)
    least = frame.wrenches[:, 2].min()
    print(
        f"{frame.streams['left_hand'].status}, certificate holds: {frame.certificate.holds}, lighter foot {least:.0f} N"
    )
    return float(np.linalg.norm(place(robot, frame.q) - place(robot, robot.posture)))


if __name__ == "__main__":
    print(f"hand moved {main():.4f} m")
