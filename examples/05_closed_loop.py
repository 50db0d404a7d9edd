# SPDX-License-Identifier: Apache-2.0
"""A Stewart platform: six closed loops, six motors.  Which leg forces hold it up?

By hand: the virtual work of the six forces, lifted by a millimetre, is the weight of the platform times a millimetre.
"""

import numpy as np

import humanoid_dynamics as hd
from humanoid_dynamics.constraints import ConstraintSet
from humanoid_dynamics.dynamics import Mechanism, build_maps, close_position, solve_inverse


def main() -> float:
    """Return the largest generalized force the motors leave unsupported [N, N·m]."""
    robot = hd.load_robot("stewart")
    mechanism = Mechanism(robot, ConstraintSet.of(robot))
    q = close_position(mechanism, robot.posture).q
    still = np.zeros(robot.nv)
    mechanism.update(q, still)
    W, S = build_maps(mechanism)
    print(
        f"{robot.nv} coordinates, {mechanism.constraints.size} rows, {mechanism.nu} freedoms; W is {W.shape}, S is {S.shape}"
    )
    result = solve_inverse(mechanism, q, still, still)
    for name, force in zip(robot.actuated, result.tau, strict=True):
        print(f"{name:24s} {force:9.3f} N")
    return result.residual


if __name__ == "__main__":
    print(f"left unsupported {main():.1e} N")
