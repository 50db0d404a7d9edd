# SPDX-License-Identifier: Apache-2.0
"""The certificate: right answers are certified, wrong torques, wrenches and contacts that move are not, whichever way they came."""

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.constraints.constraint_set import ConstraintSet
from humanoid_dynamics.constraints.contact import build_contact
from humanoid_dynamics.contact.ground import Ground
from humanoid_dynamics.dynamics.mechanism import Mechanism
from humanoid_dynamics.errors import ShapeError, UnknownNameError
from humanoid_dynamics.resolution.certify import Certifier

FEET = ("left_foot", "right_foot")
ROBOTS = ("legs12", "human16", "human28")


def standing_motion(robot, names, rng, speed=0.2, push=0.5):
    """A random configuration and a random motion that leaves the surfaces at rest."""
    q = np.array(pin.integrate(robot.model, robot.posture, 0.05 * rng.standard_normal(robot.nv)))
    standing = Mechanism(
        robot, ConstraintSet.of(robot, [build_contact(robot, name) for name in names])
    )
    standing.update(q, np.zeros(robot.nv))
    v = standing.null_space.Gamma @ (speed * rng.standard_normal(standing.nu))
    standing.update(q, v)
    return hd.State(q, v), standing.null_space.Gamma @ (
        push * rng.standard_normal(standing.nu)
    ) + standing.null_space.beta


def along(robot, name, values):
    """A velocity or acceleration of the base, in axes of the world, that moves all of the robot as one."""
    moved = np.zeros(robot.nv)
    R = pin.XYZQUATToSE3(robot.posture[:7]).rotation
    moved[:3], moved[3:6] = R.T @ values[:3], R.T @ values[3:]
    return moved


@pytest.mark.parametrize("name", ROBOTS)
def test_surfaces_at_rest_are_no_false_alarm(name):
    robot, rng = hd.load_robot(name), np.random.default_rng(1)
    solver, certified = hd.InverseDynamics(robot, FEET), 0
    for _ in range(40):
        state, a = standing_motion(robot, FEET, rng)
        certificate = solver.solve(state.q, state.v, a).certificate
        assert certificate.status in {"OK", "UNSUPPORTED"}, certificate.reasons
        assert not any("pushes" in reason for reason in certificate.reasons)
        certified += certificate.status == "OK"
    assert certified > 20


@pytest.mark.parametrize("rule", ["transition", "transition_limited", "minimum_torque_limited"])
def test_torques_and_wrenches_that_are_wrong_are_no_ok(monkeypatch, rule):
    """Whatever found them: torques and pushes are changed on their way to the certificate."""
    robot = hd.load_robot("human28")
    state = hd.State.at_rest(robot)
    solver, certify, change = hd.InverseDynamics(robot, FEET, rule), Certifier.certify, {}

    def tamper(self, f, tau, *rest):
        change["now"](f, tau)
        return certify(self, f, tau, *rest)

    monkeypatch.setattr(Certifier, "certify", tamper)

    def swap(_, tau):
        tau[[3, 9]] = tau[[9, 3]] + 0.01

    changes = {
        "nothing": lambda x, tau: None,
        "scaled torques": lambda x, tau: np.multiply(tau, 1.01, tau),
        "one torque": lambda x, tau: np.add.at(tau, 5, 1e-3),
        "swapped torques": swap,
        "scaled wrenches": lambda x, tau: np.multiply(x, 1.001, x),
        "wrench of other sign": lambda x, tau: np.negative(x, x),
        "wrench of the other foot": lambda x, tau: np.copyto(x, np.roll(x, 6) + 1e-3),
        "dropped contact": lambda x, tau: np.copyto(x[:6], 0.0),
    }
    for what, how in changes.items():
        change["now"] = how
        certificate = solver.solve(state.q, state.v, np.zeros(robot.nv)).certificate
        assert (certificate.status == "OK") == (what == "nothing"), what
        assert (certificate.residual < 1e-8) == (what == "nothing"), what
        assert bool(certificate.reasons) == (what != "nothing"), what


def test_forces_inside_a_closed_chain_are_checked_against_their_cones(monkeypatch):
    """Two feet that push against each other leave no residual; the rows of their cones find them."""
    robot = hd.load_robot("human28")
    state, certify = hd.State.at_rest(robot), Certifier.certify
    solver = hd.InverseDynamics(robot, FEET, "minimum_torque_limited")

    def tamper(self, f, tau, *rest):
        problem = solver.problem
        null = np.linalg.svd(problem.J[:, :6].T)[2][6:]
        change = 2e3 * null.T @ null @ np.eye(12)[2]
        f += change
        tau -= problem.J[:, 6:].T @ change
        return certify(self, f, tau, *rest)

    assert solver.solve(state.q, state.v, np.zeros(robot.nv)).certificate.status == "OK"
    monkeypatch.setattr(Certifier, "certify", tamper)
    certificate = solver.solve(state.q, state.v, np.zeros(robot.nv)).certificate
    assert certificate.residual < 1e-8
    assert certificate.status == "INFEASIBLE_CONTACT"


MOVES = {
    "slides": (0.05, 0.0, 0.0, 0.0, 0.0, 0.0),
    "slides across": (0.0, -0.5, 0.0, 0.0, 0.0, 0.0),
    "is driven into the ground": (0.0, 0.0, -0.1, 0.0, 0.0, 0.0),
    "lifts off": (0.0, 0.0, 0.3, 0.0, 0.0, 0.0),
    "turns": (0.0, 0.0, 0.0, 0.0, 0.0, 0.4),
}


@pytest.mark.parametrize("how", MOVES)
def test_contacts_that_move_are_told(how):
    robot = hd.load_robot("human28")
    solver, zero = hd.InverseDynamics(robot, FEET), np.zeros(robot.nv)
    moved = along(robot, "human28", np.array(MOVES[how]))
    word = how.removesuffix(" across")
    for v, a, begins in ((moved, zero, ""), (zero, 10.0 * moved, "begins to ")):
        certificate = solver.solve(
            robot.posture, v, a if abs(a).max() < 3.0 else 3.0 * a / abs(a).max()
        ).certificate
        assert certificate.status in {"INCONSISTENT_CONTACT", "UNSUPPORTED"}
        told = (
            {"slides": "slide", "turns": "turn", "lifts off": "lift off"}.get(word, word)
            if begins
            else word
        )
        assert any(
            reason.startswith("left_foot: pushes") and told in reason
            for reason in certificate.reasons
        ), certificate.reasons


def test_a_contact_without_a_push_may_move():
    """Free fall with idle feet, and a foot that has no share."""
    robot = hd.load_robot("human28")
    falling = np.zeros(robot.nv)
    falling[:3] = robot.model.gravity.linear
    assert (
        hd.inverse_dynamics(robot, hd.State.at_rest(robot), falling, FEET).certificate.status
        == "OK"
    )
    rng = np.random.default_rng(2)
    for _ in range(20):
        state, a = standing_motion(robot, FEET[:1], rng, 0.1, 0.2)
        assert not any(
            "right_foot" in reason
            for reason in hd.inverse_dynamics(
                robot, state, a, FEET, load=[1.0, 0.0]
            ).certificate.reasons
        )


def test_edges_and_points_may_turn_about_themselves():
    """Only along what they hold they may not move: a heel rolls, a finger tip pivots."""
    robot, rng = hd.load_robot("biped7"), np.random.default_rng(3)
    for name, surface in robot.surfaces.items():
        if surface.kind == "face":
            continue
        solver = hd.InverseDynamics(robot, name, "minimum_torque")
        for _ in range(10):
            state, a = standing_motion(robot, (name,), rng)
            assert not any(
                "pushes" in reason
                for reason in solver.solve(state.q, state.v, a).certificate.reasons
            )


class TestGround:
    @pytest.mark.parametrize(
        ("height", "ground", "status"),
        [
            (0.0, 0.0, "ok"),
            (1.0, 0.0, "off"),
            (1.0, 1.0, "ok"),
            (-0.02, 0.0, "off"),
            (1.0, None, "ok"),
        ],
    )
    def test_height(self, height, ground, status):
        robot = hd.load_robot("human28")
        q = np.array(robot.posture)
        q[2] += height
        for answer in (
            hd.inverse_dynamics(
                robot, hd.State(q, np.zeros(robot.nv)), np.zeros(robot.nv), FEET, ground=ground
            ),
            hd.InverseDynamics(robot, FEET, ground=ground).solve(
                q, np.zeros(robot.nv), np.zeros(robot.nv)
            ),
        ):
            assert answer.certificate.status == ("OK" if status == "ok" else "INCONSISTENT_CONTACT")
            assert any(
                "the ground" in reason or "its ground" in reason
                for reason in answer.certificate.reasons
            ) == (status == "off")

    def test_a_slope_is_no_level_ground(self):
        robot, rest = hd.load_robot("human28"), np.zeros(34)
        slope = Ground(0.0, [0.1, 0.0, 1.0])
        assert (
            hd.inverse_dynamics(
                robot, hd.State.at_rest(robot), rest, FEET, ground=slope
            ).certificate.status
            == "INCONSISTENT_CONTACT"
        )

    def test_each_surface_may_have_its_own(self):
        robot, rest = hd.load_robot("human28"), np.zeros(34)
        one = hd.inverse_dynamics(
            robot,
            hd.State.at_rest(robot),
            rest,
            FEET,
            ground={"left_foot": -0.3, "right_foot": 0.0},
        )
        assert [reason[:10] for reason in one.certificate.reasons] == ["left_foot:"]

    def test_what_is_no_ground_is_refused(self):
        robot = hd.load_robot("human28")
        with pytest.raises(ShapeError, match="upwards"):
            hd.InverseDynamics(robot, FEET, ground=Ground(0.0, [1.0, 0.0, 0.0]))
        with pytest.raises(UnknownNameError, match="left_fot"):
            hd.InverseDynamics(robot, FEET, ground={"left_fot": 0.0})


def swapped(answer, _):
    order = np.argsort(answer.tau)
    tau = np.array(answer.tau)
    tau[order[0]], tau[order[-1]] = tau[order[-1]], tau[order[0]]
    return {"tau": tau}


def numbers(wrench, sign=1.0):
    return sign * np.concatenate((wrench.f_W, wrench.m_W))


WRONG = {
    "torques of 1.01": lambda answer, robot: {"tau": 1.01 * answer.tau},
    "torques of the other sign": lambda answer, robot: {"tau": -answer.tau},
    "torques swapped": swapped,
    "one torque a little off": lambda answer, robot: {
        "tau": answer.tau + 1e-3 * (np.arange(len(answer.tau)) == 3)
    },
    "wrenches of the other sign": lambda answer, robot: {
        "wrenches": {name: numbers(w, -1.0) for name, w in answer.wrenches.items()}
    },
    "wrenches of 1.01": lambda answer, robot: {
        "wrenches": {name: numbers(w, 1.01) for name, w in answer.wrenches.items()}
    },
    "wrenches on other feet": lambda answer, robot: {
        "wrenches": dict(
            zip(answer.wrenches, reversed(list(answer.wrenches.values())), strict=True)
        )
    },
    "a contact dropped": lambda answer, robot: {
        "wrenches": dict(list(answer.wrenches.items())[1:])
    },
}


@pytest.mark.parametrize(
    "rule", ["minimum_torque", "transition", "transition_limited", "recommended_transition"]
)
@pytest.mark.parametrize("name", [*ROBOTS, "biped7"])
def test_verify_agrees_with_right_answers_and_finds_wrong_ones(name, rule):
    """Whatever was found, the same status and residual come out of Pinocchio's recursion; what was changed is no ``ok``."""
    robot, rng, certified = hd.load_robot(name), np.random.default_rng(5), 0
    feet = tuple(robot.surfaces)[:2]
    solver = hd.InverseDynamics(robot, feet, rule)
    for number in range(16):
        state, a = standing_motion(robot, feet, rng, *((0.2, 0.5) if number % 2 else (0.02, 0.05)))
        answer = solver.solve(state.q, state.v, a, np.array([0.4, 0.6]))
        verified = answer.verify()
        assert verified.status == answer.certificate.status, verified.reasons
        assert verified.residual == pytest.approx(answer.certificate.residual, abs=1e-8)
        assert verified.cop_margin == pytest.approx(answer.certificate.cop_margin, abs=1e-9)
        assert len(verified.reasons) == len(answer.certificate.reasons)
        certified += verified.status == "OK"
        for what, change in WRONG.items() if verified.residual < 1e-8 * robot.mass * 9.81 else ():
            wrong = answer.verify(**change(answer, robot))
            assert wrong.status != "OK", what
            assert wrong.residual > 5e-8 * robot.mass * 9.81, what
            assert wrong.reasons, what
    assert certified > 3 or rule != "transition_limited" or name == "biped7"


def test_verify_finds_wrenches_in_axes_that_are_not_the_worlds():
    robot, rng = hd.load_robot("human28"), np.random.default_rng(6)
    found = 0
    for _ in range(10):
        state, a = standing_motion(robot, FEET, rng, 0.02, 0.05)
        answer = hd.inverse_dynamics(robot, state, a, FEET)
        data = robot.data()
        pin.framesForwardKinematics(robot.model, data, state.q)
        local = {}
        for name, wrench in answer.wrenches.items():
            R = data.oMf[robot.surfaces[name].frame].rotation
            local[name] = np.concatenate((R.T @ wrench.f_W, R.T @ wrench.m_W))
        if answer.certificate.status == "OK":
            found += 1
            assert answer.verify().status == "OK"
            assert answer.verify(wrenches=local).status == "UNSUPPORTED"
    assert found > 3


def test_verify_sees_contacts_that_move_and_ground():
    robot, zero = hd.load_robot("human28"), np.zeros(34)
    for values in MOVES.values():
        answer = hd.inverse_dynamics(
            robot, hd.State(robot.posture, along(robot, "human28", np.array(values))), zero, FEET
        )
        assert answer.verify().status == answer.certificate.status == "INCONSISTENT_CONTACT"
        assert answer.verify().reasons == answer.certificate.reasons
    still = hd.inverse_dynamics(robot, hd.State.at_rest(robot), zero, FEET, ground=0.0)
    assert still.verify().status == "OK"
    assert still.verify(ground=-1.0).status == "INCONSISTENT_CONTACT"
    assert (
        still.verify(ground={"left_foot": Ground(0.0, [0.2, 0.0, 1.0])})
        .reasons[0]
        .startswith("left_foot: pushes")
    )


def test_verify_of_an_answer_from_before_is_of_its_own_question():
    robot, zero = hd.load_robot("human28"), np.zeros(34)
    solver, force = hd.InverseDynamics(robot, FEET), np.zeros(34)
    force[2] = 50.0
    answer = solver.solve(robot.posture, zero, zero, force=force)
    force[:] = 0.0
    v = np.array(zero)
    v[0] = 0.7
    moved = solver.solve(robot.posture, v, zero)
    v[:] = 0.0
    assert answer.verify().status == "OK"
    assert moved.verify().status == "INCONSISTENT_CONTACT"
    assert solver.solve(np.full(35, np.nan), zero, zero).verify().status == "INVALID_INPUT"


def test_verify_refuses_what_it_cannot_use():
    robot, zero = hd.load_robot("human28"), np.zeros(34)
    answer = hd.inverse_dynamics(robot, hd.State.at_rest(robot), zero, FEET)
    with pytest.raises(ShapeError, match="tau"):
        answer.verify(tau=[1.0])
    with pytest.raises(ShapeError, match="left_foot"):
        answer.verify(wrenches={"left_foot": [1.0, 2.0]})
    with pytest.raises(UnknownNameError, match="left_fot"):
        answer.verify(wrenches={"left_fot": np.zeros(6)})
