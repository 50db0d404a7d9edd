# SPDX-License-Identifier: Apache-2.0
"""Joint torques with physically consistent contact forces for any humanoid or biped URDF.

    import humanoid_dynamics as hd

    robot = hd.load_robot("human28")
    state = hd.State.at_rest(robot)
    answer = hd.inverse_dynamics(robot, state, a=[0.0] * robot.nv)
    answer.tau, answer.wrenches, answer.certificate

The names below are loaded when they are first used, so that a program can choose its BLAS threads before numpy is imported.
"""

from humanoid_dynamics.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
