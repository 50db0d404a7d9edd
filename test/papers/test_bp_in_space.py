# SPDX-License-Identifier: Apache-2.0
"""The biped paper in three dimensions: many contacts, shares of a wrench, phases, feet that land without impact."""

import numpy as np
import pinocchio as pin
import pytest
from steps import T0, T1, T2

import humanoid_dynamics as hd
from humanoid_dynamics.constraints.contact import build_contact
from humanoid_dynamics.contact.phases import PhaseManager
from humanoid_dynamics.contact.schedule import ContactInterval, ContactSchedule
from humanoid_dynamics.contact.transfer import feasible_shares
from humanoid_dynamics.dynamics.impact import solve_impact
from humanoid_dynamics.dynamics.mechanism import Mechanism
from humanoid_dynamics.motion.walking.rolling_step import CONTACTS, build_spatial_step
from humanoid_dynamics.motion.walking.step_rules import StepComparison

FEET = ("left_foot", "right_foot")


@pytest.fixture(scope="module")
def human28():
    return hd.load_robot("human28")


@pytest.fixture(scope="module")
def comparison():
    return StepComparison(build_spatial_step(hd.load_robot("legs12")))


def on_stairs(robot, seed):
    """One leg bent more than the other, both soles level, everything above the hips at random and moving."""
    rng = np.random.default_rng(seed)
    q = np.array(robot.posture)
    q[3:7] = [0.0, 0.0, 0.0, 1.0]
    above = [
        joint
        for joint in robot.joints[1:]
        if not any(part in joint.name for part in ("hip", "knee", "ankle"))
    ]
    for joint in above:
        q[joint.q] += 0.4 * rng.standard_normal(joint.q.stop - joint.q.start)
    for side, hip, knee in (("left", -0.3, 0.5), ("right", -0.8, 1.3)):
        for name, angle in (("hip_pitch", hip), ("knee", knee), ("ankle_pitch", -hip - knee)):
            q[robot.joint(f"{side}_{name}").q] = angle
    return hd.State(q, rng.standard_normal(robot.nv)), rng.standard_normal(robot.nv)


# BP-20: any number of contacts


def test_freedom_of_choice(human28, comparison):
    """Rank of the contact rows less six: one foot none, two feet six, a hand six more; a sole and a heel edge five."""
    state, zero = hd.State.at_rest(human28), np.zeros(human28.nv)
    for names, freedom in (
        (FEET[:1], 0),
        (FEET, 6),
        ((*FEET, "right_palm"), 12),
        ((*FEET, "right_palm", "left_palm"), 18),
    ):
        certificate = hd.inverse_dynamics(human28, state, zero, names).certificate
        assert (certificate.rank, certificate.redundancy) == (6, freedom)
    step = comparison.step
    q, v, a = step.at(0.68)
    certificate = hd.inverse_dynamics(step.robot, hd.State(q, v), a, CONTACTS["DSP1"]).certificate
    assert (certificate.rank, certificate.redundancy) == (6, 5)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("names", [FEET, (*FEET, "right_palm")])
def test_parallel_split(human28, seed, names):
    """f_k = s_k F: every contact of any height has the direction of the whole; the six equations of the base hold."""
    state, a = on_stairs(human28, seed)
    shares = np.random.default_rng(seed + 10).uniform(0.1, 1.0, len(names))
    shares /= shares.sum()
    answer = hd.InverseDynamics(human28, names, "transition").solve(state.q, state.v, a, shares)
    data = human28.data()
    rate = pin.computeCentroidalMomentumTimeVariation(human28.model, data, state.q, state.v, a)
    F, com = rate.linear - human28.mass * human28.model.gravity.linear, np.array(data.com[0])
    pin.updateFramePlacements(human28.model, data)
    moment = np.zeros(3)
    for name, s in zip(names, shares, strict=True):
        wrench, place = answer.wrenches[name], data.oMf[human28.surfaces[name].frame].translation
        assert np.abs(wrench.f_W - s * F).max() < 1e-9 * np.linalg.norm(
            F
        )  # faces bear: forces do not give way
        moment += wrench.m_W + np.cross(place - com, wrench.f_W)
    assert sum(w.f_W for w in answer.wrenches.values()) == pytest.approx(F, abs=1e-8)
    assert np.abs(moment - rate.angular).max() < 1e-8


@pytest.mark.parametrize("seed", range(6))
def test_pressures_of_both_feet_lie_about_the_line_of_the_force(human28, seed):
    """The mean of both centres of pressure, by shares, is on the central line: no moment but about the vertical, and that by shares."""
    state, a = on_stairs(human28, seed)
    shares = np.array([0.35, 0.65])
    answer = hd.inverse_dynamics(human28, state, a, FEET, "transition", load=shares)
    data = human28.data()
    rate = pin.computeCentroidalMomentumTimeVariation(human28.model, data, state.q, state.v, a)
    F, com = rate.linear - human28.mass * human28.model.gravity.linear, np.array(data.com[0])
    pin.updateFramePlacements(human28.model, data)
    places, couples = [], []
    for name in FEET:
        X, wrench = data.oMf[human28.surfaces[name].frame], answer.wrenches[name]
        place = X.act(np.append(wrench.cop, 0.0))
        assert abs(X.rotation[2, 2] - 1.0) < 1e-12
        places.append(place)
        couples.append(wrench.m_W - np.cross(place - X.translation, wrench.f_W))
    assert abs(places[0][2] - places[1][2]) > 0.1
    mean = shares @ np.array(places)
    left = rate.angular + np.cross(com - mean, F)
    assert np.abs(left[:2]).max() < 1e-5
    for s, couple in zip(shares, couples, strict=True):
        assert np.abs(couple - s * np.array([0.0, 0.0, left[2]])).max() < 1e-4


@pytest.mark.parametrize("wanted", [0.1, 0.2, 0.4, 0.6, 0.8, 0.9])
def test_a_share_that_cannot_be_is_clipped(human28, wanted):
    """Standing, the weight is between the feet: each must carry what keeps both pressures inside, in closed form across the way."""
    state = hd.State.at_rest(human28)
    rows = [(place + np.array([-1.0, 1.0]) * 0.04675).tolist() for place in (-0.0884, 0.0884)]
    low, high = feasible_shares(0.0, tuple(rows[0]), tuple(rows[1]))
    assert 0.2 < low < 0.3
    answer = hd.inverse_dynamics(
        human28,
        state,
        np.zeros(human28.nv),
        FEET,
        "transition_limited",
        load=(wanted, 1.0 - wanted),
    )
    assert answer.certificate.status == "OK"
    carried = answer.wrenches["left_foot"].normal_force / (human28.mass * 9.81)
    assert carried == pytest.approx(min(max(wanted, low), high), abs=2e-3)


def test_a_foot_that_leaves_too_early_fades_and_is_told(human28):
    """Below a share of 0.1 a contact fades, so that nothing steps where it leaves; what the other foot lacks it gives down to 0.02."""
    state = hd.State.at_rest(human28)
    taus = []
    for wanted in (0.0, 1e-9, 0.01, 0.0199, 0.02, 0.1):
        answer = hd.inverse_dynamics(
            human28,
            state,
            np.zeros(human28.nv),
            FEET,
            "transition_limited",
            load=(wanted, 1.0 - wanted),
        )
        assert (answer.certificate.status == "OK") == (wanted >= 0.02)
        assert answer.certificate.status == "OK" or "lacks" in answer.certificate.reasons[0]
        taus.append(answer.tau)
    assert taus[1] == pytest.approx(taus[0], abs=1e-5)
    assert taus[2] == pytest.approx(
        0.5 * (taus[0] + taus[4]), abs=0.01 * np.abs(taus[4] - taus[0]).max()
    )
    assert taus[3] == pytest.approx(taus[4], abs=0.01 * np.abs(taus[4] - taus[0]).max())
    assert taus[4] == pytest.approx(taus[5], abs=0.15 * np.abs(taus[5] - taus[0]).max())


# BP-21: no switch is felt


def test_torques_near_a_switch_move_at_most_as_fast_as_elsewhere(comparison):
    """At 1 kHz through all three switches: a step is at most 1 N·m or five times those around it; least torque breaks that."""
    dt = 1e-3

    def steps(law, t):
        times = t + dt * np.arange(-6, 6) + 0.5 * dt
        tau = np.array([comparison.answer(float(x), law).tau for x in times])
        return np.abs(np.diff(tau, axis=0)).max(axis=1)

    for t in (T0, T1, T2):
        found = steps("recommended_transition", t)
        assert found[5] <= max(1.0, 5.0 * np.median(found))
        assert found.max() < 3.0
    found = steps("minimum_torque", T0)
    assert found[5] > max(1.0, 5.0 * np.median(found))


@pytest.mark.parametrize("late", [-0.02, 0.0, 0.03])
def test_early_and_late_touchdown(human28, late):
    """Events meet the schedule: torques of a standing figure move by no more than the bound of the shares allows."""
    schedule = ContactSchedule.of(
        [
            ContactInterval("left_foot", -np.inf, 0.5, 0.0, 0.2),
            ContactInterval("right_foot", 0.2, np.inf, 0.2, 0.0),
        ]
    )
    manager, solver = (
        PhaseManager(schedule),
        hd.InverseDynamics(human28, FEET, "transition"),
    )
    rest, zero = human28.posture, np.zeros(human28.nv)
    manager.observe("right_foot", False, 0.0)
    before, steps, seen = None, [], []
    for t in np.arange(0.0, 0.7, 2e-3):
        if t >= 0.2 + late:
            manager.observe("right_foot", True, float(t))
        shares = manager.phase(float(t)).shares
        tau = solver.solve(rest, zero, zero, np.array(shares)).tau
        seen.append(shares[1])
        if before is not None:
            steps.append(np.abs(tau - before).max())
        before = tau
    assert (seen[0], seen[-1]) == (0.0, 1.0)
    assert np.abs(np.diff(seen)).max() < 0.06
    assert max(steps) < 6.0


# BP-24: feet that land without speed


@pytest.mark.parametrize(("t", "touching"), [(T0, "DSP1"), (T1, "DSP2")])
def test_feet_land_without_impact(comparison, t, touching):
    """Heel at t0 and sole at t1 come to rest by themselves: closing the contact changes nothing, unless the foot is faster."""
    step = comparison.step
    q, v, _ = step.at(t)
    mechanism = Mechanism(
        step.robot, [build_contact(step.robot, name) for name in CONTACTS[touching]]
    )
    impact = solve_impact(mechanism, q, v)
    assert np.abs(impact.impulse).max() < 1e-9
    assert np.abs(impact.v_plus - v).max() < 1e-9
    faster = v + 0.1 * np.random.default_rng(1).standard_normal(len(v))
    assert np.abs(solve_impact(mechanism, q, faster).impulse).max() > 0.05
