# SPDX-License-Identifier: Apache-2.0
"""The biped paper: how far torques jump where contacts change, rule by rule."""

import numpy as np
import pinocchio as pin
import pytest
from steps import BODY, DSP1, R1, STEP, T1, leg_coordinates, other_gait

import humanoid_dynamics as hd
from humanoid_dynamics.errors import UnknownNameError, UnsupportedRobotError
from humanoid_dynamics.motion.walking import rolling_step
from humanoid_dynamics.motion.walking.rolling_step import (
    build_planar_step,
    build_spatial_step,
)
from humanoid_dynamics.motion.walking.step_rules import StepComparison
from humanoid_dynamics.papers.biped.chain import view_from
from humanoid_dynamics.papers.biped.ground import compute_ground_wrench, compute_moment_left
from humanoid_dynamics.papers.biped.recursion import FRONT_SIGN
from humanoid_dynamics.papers.biped.schedule import (
    STEP_RULES,
    build_step,
    compute_step_torques,
    measure_jumps,
)
from humanoid_dynamics.papers.biped.step import find_points
from humanoid_dynamics.papers.biped.transition import linear_share


@pytest.fixture(scope="module")
def planar():
    return StepComparison(build_planar_step(hd.load_robot("biped7")))


# BP-18: the jump table


@pytest.mark.parametrize(
    ("rule", "jumps"),
    [
        ("pseudo_inverse", (7.04, 135.2, 14.0)),
        ("minimum_torque", (65.1, 17.1, 62.1)),
        ("linear_transition", (0.0, 1.12, 0.0)),
        ("smooth_transition", (0.0, 1.12, 0.0)),
        ("recommended_transition", (0.0, 0.0, 0.0)),
    ],
)
def test_jump_table(rule, jumps):
    found = measure_jumps(STEP, rule)
    for value, printed in zip(found, jumps, strict=True):
        assert (
            value == pytest.approx(printed, abs=0.05 if printed > 2 else 5e-3)
            if printed
            else value < 1e-9
        )


@pytest.mark.parametrize("seed", range(1, 25))
def test_jumps_of_other_steps(seed):
    """Any body, any times: the first two rules jump, transitions jump at t1 by the couple left, the recommended one not at all."""
    gait = other_gait(seed)
    body, times = gait.parameters.body, gait.switches
    step = build_step(body, gait.at, times)
    motion = gait.at(times[1])
    total, points = (
        compute_ground_wrench(body, view_from(motion, "rear")),
        find_points(body, motion, DSP1),
    )
    jumps = {rule: measure_jumps(step, rule) for rule in STEP_RULES}
    assert jumps["pseudo_inverse"].max() > 5.0
    assert jumps["minimum_torque"].max() > 5.0
    for rule, share in (
        ("linear_transition", linear_share(times[1], times[0], times[2])),
        ("recommended_transition", step.balanced),
    ):
        left = compute_moment_left(
            total.force[1], total.zmp, share, points.toe_rear, points.heel_front
        )
        assert jumps[rule] == pytest.approx([0.0, abs(left), 0.0], abs=1e-9)
    if points.toe_rear < total.zmp < points.heel_front:
        assert jumps["recommended_transition"].max() < 1e-9
    assert np.abs(jumps["smooth_transition"][[0, 2]]).max() < 1e-9


def test_most_other_steps_satisfy_the_proposition():
    inside = [
        0.0 < build_step(gait.parameters.body, gait.at, gait.switches).balanced < 1.0
        for gait in map(other_gait, range(1, 25))
    ]
    assert sum(inside) >= 12


@pytest.mark.parametrize("t", [0.3, 0.62, 0.68, 0.75, 0.77, 0.84, 0.91, 1.2])
def test_rules_for_any_robot_contain_those_of_the_paper(planar, t):
    """The URDF biped on sole, heel and toe: shares by the same functions, torques to round-off; least torques but for a small weight."""
    joints = [k - 3 for k in leg_coordinates(planar.step.robot)]
    for law in (
        "linear_transition",
        "smooth_transition",
        "recommended_transition",
        "minimum_torque",
    ):
        tau = planar.answer(t, law).tau[joints] * FRONT_SIGN
        expected = compute_step_torques(STEP, t, law).tau
        assert np.abs(tau - expected).max() < (1e-4 if law == "minimum_torque" else 1e-7)


def test_limits_are_no_cure_for_jumps(planar):
    """Least torques inside all limits jump like those without: there the load is where the cost wants it, not where it was."""
    assert planar.jumps("minimum_torque_limited") == pytest.approx([65.1, 17.1, 62.1], abs=0.05)
    assert planar.jumps("minimum_torque") == pytest.approx([65.1, 17.1, 62.1], abs=0.05)


@pytest.mark.parametrize("name", ["legs12", "human28"])
def test_jump_table_in_space(name):
    """Three dimensions, swaying from foot to foot: rules by least squares jump, transitions do not, but for the couple left at t1."""
    comparison = StepComparison(build_spatial_step(hd.load_robot(name)))
    for law in ("pseudo_inverse", "minimum_torque", "minimum_torque_limited"):
        assert comparison.jumps(law)[[0, 2]].min() > 50.0
    left = couple_left(comparison.step, 0.5)
    for law in ("linear_transition", "smooth_transition"):
        jumps = comparison.jumps(law)
        assert jumps[[0, 2]].max() < 1e-7
        assert 0.95 * left < jumps[1] <= left * (1.0 + 1e-6)
    assert comparison.jumps("recommended_transition").max() < 1e-7


def couple_left(step, share):
    """F_z ((z - toe) - s (heel - toe)) at t1, from the motion of the centre of mass and places of the feet."""
    t, robot, data = step.switches[1], step.robot, step.robot.data()
    rate = pin.computeCentroidalMomentumTimeVariation(robot.model, data, *step.at(t))
    force, com = rate.linear - robot.mass * robot.model.gravity.linear, data.com[0]
    zmp = com[0] - (rate.angular[1] + com[2] * force[0]) / force[2]
    return abs(force[2] * ((zmp - BODY.toe) - share * (0.35 - BODY.heel - BODY.toe)))


@pytest.mark.parametrize("delay", [0.05, 0.1])
def test_no_jump_with_a_force_to_the_side(delay, monkeypatch):
    """A sway that is late pushes sideways at t1: turning about the vertical must not change feet either."""
    plain = rolling_step._SpatialLegs.__init__

    def late(self, *arguments):
        plain(self, *arguments)
        self._middle += delay

    monkeypatch.setattr(rolling_step._SpatialLegs, "__init__", late)
    comparison = StepComparison(build_spatial_step(hd.load_robot("legs12")))
    answer = comparison.answer(T1, "recommended_transition", "DSP1")
    assert abs(sum(w.f_W[1] for w in answer.wrenches.values())) > 3.0
    assert comparison.jumps("recommended_transition").max() < 1e-7


@pytest.mark.parametrize("t", [0.1, 0.59, 0.65, 0.8, 0.93, 1.4])
def test_the_step_in_space_is_the_planar_one_seen_from_the_side(t):
    """Feet stand where those of the gait do, without sliding or turning; velocities and accelerations by differences."""
    step = build_spatial_step(hd.load_robot("legs12"))
    model, data, h = step.robot.model, step.robot.data(), 1e-4
    q, v, a = step.at(t)
    (before, v_before, _), (after, v_after, _) = (step.at(t + s * h) for s in (-1, 1))
    assert np.abs(pin.difference(model, before, after) / (2 * h) - v).max() < 2e-5
    assert np.abs((v_after - v_before) / (2 * h) - a).max() < 0.05
    pin.framesForwardKinematics(model, data, q)
    for foot, (pitch, ankle) in zip(
        ("left_foot", "right_foot"), (R1.points(t)[:2], R1.points(t)[2:4]), strict=True
    ):
        sole = step.robot.surfaces[foot]
        at_ankle = data.oMf[sole.frame] * sole.X_LC.inverse()
        assert np.abs(at_ankle.translation[[0, 2]] - ankle.value).max() < 1e-12
        assert np.abs(at_ankle.rotation - pin.utils.rotate("y", -float(pitch.value))).max() < 1e-12


def test_steps_that_cannot_be():
    with pytest.raises(UnsupportedRobotError, match="the root must be planar, it is: free_flyer"):
        build_planar_step(hd.load_robot("legs12"))
    with pytest.raises(UnsupportedRobotError, match="the root must be free, it is: planar"):
        build_spatial_step(hd.load_robot("biped7"))
    with pytest.raises(
        UnsupportedRobotError, match="heel, toe and height of the ankle must be those of the gait"
    ):
        build_spatial_step(hd.load_robot("human28"), other_gait(3))
    with pytest.raises(UnknownNameError, match="no law named 'best'"):
        StepComparison(build_planar_step(hd.load_robot("biped7"))).answer(0.7, "best")
