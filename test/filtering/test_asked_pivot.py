# SPDX-License-Identifier: Apache-2.0
"""What the soles of a measured robot are asked for: no more than they can give, where a step catches the robot."""

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.filtering.ticks.target import stand_still
from humanoid_dynamics.filtering.ticks.tick import BalancedTick
from humanoid_dynamics.filtering.ticks.wishes import STEPPING
from humanoid_dynamics.motion.body_points import find_soles

DT = 0.005


class Leaning:
    """A robot that should stand on its left sole, and leans forward from its ankles by an angle [rad]."""

    def __init__(self, angle):
        robot = self.robot = hd.load_robot("g1")
        sole, data, q = find_soles(robot)[0], robot.data(), np.array(robot.posture)
        pin.framesForwardKinematics(robot.model, data, q)
        flat, self.com = data.oMf[sole.frame].copy(), pin.centerOfMass(robot.model, data, q).copy()
        for side in ("left", "right"):
            q[robot.joint(f"{side}_ankle_pitch_joint").q] -= angle
        pin.framesForwardKinematics(robot.model, data, q)
        q[:7] = pin.SE3ToXYZQUAT(flat * data.oMf[sole.frame].inverse() * data.oMi[1])
        self.q, edges = q, [flat.act(corner)[0] for corner in np.asarray(sole.vertices)]
        self.heel, self.toe = min(edges), max(edges)

    def ask(self, *, measured):
        """Return where the centre of mass is and where its pivot is asked to be, along the sole [m]."""
        robot = self.robot
        tick = BalancedTick(robot)
        tick.terms.update(robot.posture, np.zeros(robot.nv))
        target = stand_still(
            robot.posture, robot.nv, self.com, tick.terms.place.copy(), tick.terms.turn.copy()
        )
        target.touches, target.until[1] = (True, False), 0.0
        tick.step(target, self.q, np.zeros(robot.nv), DT, measured=measured)
        height = tick.terms.com[2] - target.ground.max()
        return tick.terms.com[0], tick.terms.com[0] - tick._wishes.com[0] * height / 9.81


@pytest.mark.parametrize("angle", [-0.15, 0.3])
def test_sole_alone_is_asked_for_no_pivot_beside_it_where_a_step_catches_the_robot(angle):
    """Weight that it does not bear would topple nobody, but the robot would fall."""
    leaning = Leaning(angle)
    com, pivot = leaning.ask(measured=True)
    assert not leaning.heel < com < leaning.toe
    assert leaning.heel < pivot < leaning.toe
    _, free = leaning.ask(measured=False)
    assert not leaning.heel < free < leaning.toe


def test_robot_that_is_near_its_plan_is_asked_for_all_of_it():
    leaning = Leaning(0.5 * STEPPING)
    np.testing.assert_allclose(leaning.ask(measured=True), leaning.ask(measured=False), atol=1e-12)
