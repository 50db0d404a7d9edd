# SPDX-License-Identifier: Apache-2.0
"""What the certificate of a frame says of soles that are declared to bear and are not on their ground."""

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.filtering.certificate import FrameJudge
from humanoid_dynamics.filtering.proportions import measure_proportions
from humanoid_dynamics.filtering.sole_edges import TOE, find_edges
from humanoid_dynamics.filtering.ticks.step import TickAnswer
from humanoid_dynamics.filtering.ticks.target import stand_still
from humanoid_dynamics.filtering.ticks.tick import BalancedTick
from humanoid_dynamics.motion.body_points import find_soles

DT = 0.005


class Standing:
    """A robot that stands still, its answer, and the certificate of that answer in other places."""

    def __init__(self, name="human28"):
        self.robot = robot = hd.load_robot(name)
        self.proportions = measure_proportions(robot)
        self.tick, self.judge = (
            BalancedTick(robot, None, self.proportions),
            FrameJudge(robot, self.proportions),
        )
        self.q, self.v = np.array(robot.posture), np.zeros(robot.nv)
        self.tick.terms.update(self.q, self.v)
        terms = self.tick.terms
        self.target = stand_still(
            self.q, robot.nv, terms.com.copy(), terms.place.copy(), terms.turn.copy()
        )
        self.step = self.tick.step(self.target, self.q, self.v, DT)

    def certify(self, q, step=None, target=None):
        return self.judge.judge(q, self.v, (q, self.v), step or self.step, target)

    def tilted(self, angle):
        """Turn the whole robot about the front edge of its left sole."""
        sole = find_soles(self.robot)[0]
        data = self.robot.data()
        pin.framesForwardKinematics(self.robot.model, data, self.q)
        pivot = data.oMf[sole.frame].act(find_edges(np.array(sole.vertices), 0.0).middle(TOE))
        turn = pin.SE3(pin.utils.rotate("y", angle), np.zeros(3))
        moved = (
            pin.SE3(np.eye(3), pivot)
            * turn
            * pin.SE3(np.eye(3), -pivot)
            * pin.XYZQUATToSE3(self.q[:7])
        )
        return np.concatenate((pin.SE3ToXYZQUAT(moved), self.q[7:]))


@pytest.fixture(scope="module")
def standing():
    return Standing()


@pytest.mark.parametrize(
    ("height", "holds"),
    [
        (0.0, True),
        (0.0015, True),
        (-0.0015, True),
        (0.0025, False),
        (-0.0025, False),
        (0.027, False),
    ],
)
def test_soles_that_bear_are_on_the_ground_within_two_millimetres(standing, height, holds):
    q = standing.q.copy()
    q[2] += height
    certificate = standing.certify(q)
    assert certificate.height == pytest.approx(abs(height), abs=1e-9)
    assert certificate.contacts_hold == certificate.holds == holds


def test_the_ground_is_where_the_target_has_it(standing):
    q = standing.q.copy()
    q[2] += 0.1
    raised = stand_still(
        standing.q,
        standing.robot.nv,
        standing.target.com,
        standing.target.sole_place,
        standing.target.sole_turn,
    )
    raised.ground += 0.1
    assert standing.certify(q, target=raised).contacts_hold
    assert not standing.certify(standing.q, target=raised).contacts_hold


@pytest.mark.parametrize(("degrees", "holds"), [(0.7, True), (3.0, False), (16.0, False)])
def test_whole_soles_are_parallel_to_the_ground_and_edges_need_not_be(standing, degrees, holds):
    angle = np.deg2rad(degrees)
    q = standing.tilted(angle)
    whole = standing.certify(q)
    assert whole.tilt == pytest.approx(angle, abs=1e-6)
    assert whole.contacts_hold == holds
    step = standing.step
    on_edge = TickAnswer(
        step.vdot,
        step.tau,
        step.wrenches * np.array([[1.0], [0.0]]),
        (True, False),
        0,
        edges=(TOE, 0),
    )
    assert standing.certify(q, on_edge).contacts_hold
    q[2] += 0.003
    assert not standing.certify(q, on_edge).contacts_hold


def test_load_on_a_sole_that_is_not_declared_fails(standing):
    step = standing.step
    undeclared = TickAnswer(step.vdot, step.tau, step.wrenches, (True, False), 0)
    certificate = standing.certify(standing.q, undeclared)
    assert certificate.undeclared > 0.3
    assert not certificate.holds
    assert standing.certify(standing.q, step).undeclared == 0.0
