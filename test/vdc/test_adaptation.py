# SPDX-License-Identifier: Apache-2.0
"""Learning masses while moving: bounds are kept, errors fall, unknown loads are found."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from lxml import etree

import humanoid_dynamics as hd
from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.papers.vdc.adaptation import (
    ParameterBounds,
    project_rates,
    scale_gains,
    update_parameters,
)
from humanoid_dynamics.papers.vdc.adaptive_gains import AdaptiveGains
from humanoid_dynamics.papers.vdc.controller import AdaptiveController, Desired
from humanoid_dynamics.papers.vdc.decomposition import decompose
from humanoid_dynamics.papers.vdc.inverse import solve_subsystems

ARM = ("right_shoulder", "right_elbow", "right_wrist")
PERIOD = 2.0
STEP = 2e-3
LOAD = 5.0


def build_arm():
    """Return the right arm of human28, everything else fixed to the world."""
    tree = etree.fromstring(hd.load_robot("human28").urdf.encode())
    for joint in tree.findall("joint"):
        if not joint.get("name").startswith(ARM):
            joint.set("type", "fixed")
    return hd.load_robot(etree.tostring(tree).decode(), root="fixed")


def build_plant(arm, masses=1.0, load=0.0):
    plant = arm.model.copy()
    for i in range(1, plant.njoints):
        plant.inertias[i] = pin.Inertia(
            plant.inertias[i].mass * masses,
            plant.inertias[i].lever,
            plant.inertias[i].inertia * masses,
        )
    if load:
        ball = pin.Inertia.FromSphere(load, 0.05)
        ball.lever = np.array([0.0, 0.0, -0.08])
        hand = int(plant.getJointId("right_wrist_pitch"))
        plant.inertias[hand] = plant.inertias[hand] + ball
    return plant


def bounds_of_an_unknown_load(body):
    """All links are known to a tenth; the hand may hold up to eight kilograms, up to 0.3 m from the wrist."""
    known, hand = body.link_parameters(), body.link("right_hand")
    bounds = ParameterBounds.around(known, 0.1)
    lower, upper = np.array(bounds.lower), np.array(bounds.upper)
    lower[hand] = known[hand] + np.array([0.0, -0.3, -0.3, -1.0, 0.0, -0.1, 0.0, -0.1, -0.1, 0.0])
    upper[hand] = known[hand] + np.array([8.0, 0.3, 0.3, 0.3, 0.2, 0.1, 0.2, 0.1, 0.1, 0.2])
    return ParameterBounds(lower, upper)


def desired(t):
    w = 2 * np.pi / PERIOD
    middle, swing = (
        np.array([0.1, -0.3, 0.0, -1.0, 0.0, 0.0]),
        np.array([0.5, 0.3, 0.4, 0.5, 0.5, 0.4]),
    )
    angle = w * t + np.array([0.0, 1.0, 2.0, 0.5, 1.5, 2.5])
    return Desired(
        middle + swing * np.sin(angle), swing * w * np.cos(angle), -swing * w**2 * np.sin(angle)
    )


def track(arm, plant, controller, cycles):
    """Return the RMS tracking error of each cycle [rad] and all answers."""
    data = plant.createData()
    q, v = (np.array(x) for x in (desired(0.0).q, desired(0.0).v))
    errors, answers = [], []
    for cycle in range(cycles):
        squares = 0.0
        for k in range(round(PERIOD / STEP)):
            wanted = desired(cycle * PERIOD + k * STEP)
            squares += float(np.sum((wanted.q - q) ** 2))
            answers.append(controller.tick(q, v, wanted, STEP))
            v = v + pin.aba(plant, data, q, v, np.array(answers[-1].tau)) * STEP
            q = q + v * STEP
        errors.append(np.sqrt(squares * STEP / PERIOD))
    return np.array(errors), answers


def gains(arm, learning, wrist=0.1):
    """Return gains for an empty hand; a stiffer wrist needs a load to be stable at this step."""
    joint = np.array([2.0, 2.0, 2.0, 2.0, wrist, wrist])
    return AdaptiveGains(
        np.full(arm.nv, 10.0), np.r_[np.full(3, 5.0), np.full(3, 0.05)], joint, learning
    )


# BP-23: adaptation


def test_an_unknown_load_in_the_hand_is_found():
    """5 kg in one hand: the error falls in every cycle, and the masses end where the truth is."""
    arm = build_arm()
    body, plant = decompose(arm), build_plant(arm, load=LOAD)
    bounds, hand = bounds_of_an_unknown_load(body), body.link("right_hand")
    truth = np.array([inertia.toDynamicParameters() for inertia in list(plant.inertias)[1:]])
    assert ((bounds.lower <= truth) & (truth <= bounds.upper)).all()
    controller = AdaptiveController(
        body, gains(arm, scale_gains(bounds, time=2.0, power=20.0), wrist=2.0), bounds
    )
    errors, answers = track(arm, plant, controller, cycles=6)
    assert (np.diff(errors) < 0.0).all()
    assert errors[-1] < 0.1 * errors[0]
    estimates = np.array([answer.link_parameters for answer in answers])
    assert (estimates >= bounds.lower).all()
    assert (estimates <= bounds.upper).all()
    missing = np.abs(estimates[:, hand, 0] - truth[hand, 0])[:: round(PERIOD / STEP)]
    assert missing[0] == pytest.approx(LOAD)
    assert (np.diff(missing[2:]) < 0.0).all()
    assert abs(controller.link_parameters[hand, 0] - truth[hand, 0]) < 0.02
    assert abs(controller.link_parameters[:, 0].sum() - truth[:, 0].sum()) < 0.3
    moment = controller.link_parameters[hand, 3]
    assert abs(moment - truth[hand, 3]) < 0.04 < abs(moment - body.link_parameters()[hand, 3])


@pytest.mark.slow
def test_without_learning_the_error_stays():
    arm = build_arm()
    body = decompose(arm)
    controller = AdaptiveController(
        body, gains(arm, 0.0), ParameterBounds.around(body.link_parameters(), 0.1)
    )
    errors, _ = track(arm, build_plant(arm, load=LOAD), controller, cycles=3)
    assert abs(errors[2] / errors[1] - 1.0) < 0.01
    assert errors[2] > 0.05


@pytest.mark.parametrize("share", [0.7, pytest.param(1.3, marks=pytest.mark.slow)])
def test_masses_off_by_thirty_percent(share):
    """Error decreases in every cycle when all masses are wrong by the same share."""
    arm = build_arm()
    body = decompose(arm)
    bounds = ParameterBounds.around(body.link_parameters(), 0.4)
    controller = AdaptiveController(
        body, gains(arm, scale_gains(bounds, time=4.0, power=5.0)), bounds
    )
    errors, _ = track(arm, build_plant(arm, masses=share), controller, cycles=4)
    assert (np.diff(errors) < 0.0).all()


def test_with_true_parameters_it_is_inverse_dynamics():
    """On the wanted motion required and measured velocities agree, and the torques are those of the recursion."""
    arm = build_arm()
    body = decompose(arm)
    known = body.link_parameters()
    wanted = desired(0.3)
    answer = AdaptiveController(body, gains(arm, 1.0), ParameterBounds(known, known)).tick(
        wanted.q, wanted.v, wanted, STEP
    )
    expected = solve_subsystems(arm, hd.State(wanted.q, wanted.v), wanted.a).tau
    assert np.abs(answer.tau - expected).max() < 1e-12
    assert answer.missing_power == 0.0


def test_a_free_base_with_quaternions():
    """Required velocities live in the tangent space: on the motion itself the answer is inverse dynamics there too."""
    robot = hd.load_robot("human40")
    body = decompose(robot)
    known = body.link_parameters()
    rng = np.random.default_rng(5)
    q = pin.integrate(robot.model, robot.posture, rng.normal(size=robot.nv))
    wanted = Desired(q, rng.normal(size=robot.nv), rng.normal(size=robot.nv))
    gain = AdaptiveGains(np.full(robot.nv, 10.0), np.ones(6), np.ones(robot.nv), 0.0)
    contacts = {"left_foot": rng.normal(size=6)}
    answer = AdaptiveController(body, gain, ParameterBounds(known, known)).tick(
        q, wanted.v, wanted, STEP, contacts
    )
    expected = solve_subsystems(robot, hd.State(q, wanted.v), wanted.a, contacts).tau
    assert np.abs(answer.tau - expected).max() < 1e-11 * np.abs(expected).max()


def test_estimates_stop_at_their_bounds():
    bounds = ParameterBounds(np.zeros(4), np.ones(4))
    estimate, drive = np.array([0.0, 0.0, 1.0, 0.5]), np.array([-1.0, 1.0, 1.0, -3.0])
    assert (project_rates(estimate, drive, bounds) == [0.0, 1.0, 0.0, -3.0]).all()
    assert (update_parameters(estimate, drive, 1e6, bounds, 1.0) == [0.0, 1.0, 1.0, 0.0]).all()


def test_numbers_that_are_not_finite_are_a_status():
    arm = build_arm()
    body = decompose(arm)
    controller = AdaptiveController(
        body, gains(arm, 1.0), ParameterBounds.around(body.link_parameters(), 0.1)
    )
    before = controller.link_parameters
    answer = controller.tick(np.full(arm.nv, np.nan), np.zeros(arm.nv), desired(0.0), STEP)
    assert answer.status == "INVALID_INPUT"
    assert not answer.tau.any()
    assert (controller.link_parameters == before).all()


def test_bounds_that_are_refused():
    arm = build_arm()
    body = decompose(arm)
    with pytest.raises(
        ShapeError, match=r"link_bounds: received shape \(2, 10\), expected \(6, 10\)"
    ):
        AdaptiveController(body, gains(arm, 1.0), ParameterBounds.around(np.ones((2, 10)), 0.1))
    with pytest.raises(ShapeError, match="below lower"):
        ParameterBounds(np.ones(2), np.zeros(2))
    with pytest.raises(ShapeError, match="not finite"):
        ParameterBounds(np.array([np.nan]), np.ones(1))
    with pytest.raises(ShapeError, match="that of lower"):
        ParameterBounds(np.ones(2), np.ones(3))


class UnheardError(Exception):
    """No relation of what Python itself raises; cannot even be told."""

    def __str__(self):
        raise self


class Slippery(dict):
    """A mapping that breaks when it is looked into."""

    def items(self):
        raise UnheardError

    __iter__ = __repr__ = items


class Heavy:
    """What claims to be an array and has no memory for it."""

    def __array__(self, dtype=None, copy=None):
        raise MemoryError


def give_up(answer, fault=RuntimeError):
    raise fault("no contact to be had")


def turn_strict(answer):
    """Choose contacts, and leave numpy in a mode in which rounding to zero raises."""
    np.seterr(all="raise")
    return {"left_foot": np.full(6, 1e-300)}


BAD = {
    "nan": lambda q, v, d: (np.full_like(q, np.nan), v, d, STEP, {}),
    "quaternion of zero": lambda q, v, d: (np.zeros_like(q), v, d, STEP, {}),
    "quaternion of zero, desired": lambda q, v, d: (
        q,
        v,
        Desired(np.zeros_like(q), v, v),
        STEP,
        {},
    ),
    "too fast": lambda q, v, d: (q, np.full_like(v, 1e200), d, STEP, {}),
    "too fast, desired": lambda q, v, d: (q, v, Desired(q, np.full_like(v, 1e200), v), STEP, {}),
    "time back": lambda q, v, d: (q, v, d, -1.0, {}),
    "no time": lambda q, v, d: (q, v, d, None, {}),
    "short q": lambda q, v, d: (q[:-1], v, d, STEP, {}),
    "short v": lambda q, v, d: (q, v[:-1], d, STEP, {}),
    "short a": lambda q, v, d: (q, v, Desired(q, v, v[:-1]), STEP, {}),
    "no q": lambda q, v, d: (None, v, d, STEP, {}),
    "no v": lambda q, v, d: (q, None, d, STEP, {}),
    "nothing desired": lambda q, v, d: (q, v, None, STEP, {}),
    "contact of nan": lambda q, v, d: (q, v, d, STEP, {"left_foot": np.full(6, np.nan)}),
    "unknown contact": lambda q, v, d: (q, v, d, STEP, {"third_foot": np.zeros(6)}),
    "contact too large": lambda q, v, d: (q, v, d, STEP, {"left_foot": np.full(6, 1e308)}),
    "short contact": lambda q, v, d: (q, v, d, STEP, {"left_foot": np.zeros(3)}),
    "no contacts": lambda q, v, d: (q, v, d, STEP, None),
    "nobody chooses contacts": lambda q, v, d: (q, v, d, STEP, lambda answer: None),
    "who chooses contacts breaks": lambda q, v, d: (
        q,
        v,
        d,
        STEP,
        lambda answer: {"left_foot": 1.0 / 0},
    ),
    "who chooses contacts gives up": lambda q, v, d: (q, v, d, STEP, give_up),
    "who chooses contacts has no memory": lambda q, v, d: (
        q,
        v,
        d,
        STEP,
        lambda answer: give_up(answer, MemoryError),
    ),
    "who chooses contacts ends early": lambda q, v, d: (
        q,
        v,
        d,
        STEP,
        lambda answer: next(iter(())),
    ),
    "who chooses contacts warns": lambda q, v, d: (
        q,
        v,
        d,
        STEP,
        lambda answer: give_up(answer, DeprecationWarning),
    ),
    "who chooses contacts raises what nobody knows": lambda q, v, d: (
        q,
        v,
        d,
        STEP,
        lambda answer: give_up(answer, UnheardError),
    ),
    "contacts that break": lambda q, v, d: (q, v, d, STEP, Slippery(left_foot=np.zeros(6))),
    "contacts that break when chosen": lambda q, v, d: (
        q,
        v,
        d,
        STEP,
        lambda answer: Slippery(left_foot=np.zeros(6)),
    ),
    "contact without memory": lambda q, v, d: (q, v, d, STEP, {"left_foot": Heavy()}),
    "q without memory": lambda q, v, d: (Heavy(), v, d, STEP, {}),
    "masked v": lambda q, v, d: (q, np.ma.masked_array(v, mask=True), d, STEP, {}),
    "masked a": lambda q, v, d: (q, v, Desired(q, v, np.ma.masked_array(v, mask=True)), STEP, {}),
    "contact without a name": lambda q, v, d: (q, v, d, STEP, {3: np.zeros(6)}),
    "complex q": lambda q, v, d: (q.astype(complex), v, d, STEP, {}),
    "time of words": lambda q, v, d: (q, v, d, "soon", {}),
}


def control_legs():
    robot = hd.load_robot("legs12")
    body = decompose(robot)
    pull = AdaptiveGains(np.full(robot.nv, 10.0), np.full(6, 5.0), np.full(robot.nv, 2.0), 1.0)
    controller = AdaptiveController(body, pull, ParameterBounds.around(body.link_parameters(), 0.1))
    return robot, controller


@pytest.mark.parametrize("kind", BAD)
def test_input_that_makes_no_sense_is_a_status_and_teaches_nothing(kind):
    robot, controller = control_legs()
    q, v = np.array(robot.posture), np.zeros(robot.nv)
    goal = Desired(q, v, np.full(robot.nv, 0.1))
    before = np.array(controller.link_parameters)
    answer = controller.tick(*BAD[kind](q, v, goal))
    assert answer.status == "INVALID_INPUT"
    assert answer.reason
    assert answer.tau.shape == (robot.nv,)
    assert not answer.tau.any()
    np.testing.assert_array_equal(controller.link_parameters, before)
    after = controller.tick(q, v, goal, STEP)
    assert (after.status, after.reason) == ("OK", "")
    assert np.isfinite(after.tau).all()


def test_how_a_chooser_leaves_numpy_does_not_matter():
    robot, controller = control_legs()
    q, v = np.array(robot.posture), np.full(robot.nv, 1e-200)
    before = np.geterr()
    answer = controller.tick(q, v, Desired(q, v, v), STEP, turn_strict)
    assert (answer.status, np.geterr()) == ("OK", before)
    told = controller.tick(q, v, Desired(q, v, v), STEP, give_up)
    assert told.reason.endswith("chooses contacts, raised RuntimeError: no contact to be had")


@pytest.mark.parametrize("ending", [KeyboardInterrupt, SystemExit])
def test_who_ends_the_program_ends_it(ending):
    robot, controller = control_legs()
    q, v = np.array(robot.posture), np.zeros(robot.nv)
    with pytest.raises(ending):
        controller.tick(q, v, Desired(q, v, v), STEP, lambda answer: give_up(answer, ending))


ODD = (None, "text", 3.0, {}, [[1], [2, 3]], np.zeros((0,)), np.zeros((3, 1)), object())


def spoil(rng, values):
    """Return values as they are, of another type, size or shape, or with a number among them that is none."""
    kind = rng.integers(12)
    if kind < len(ODD):
        return ODD[kind]
    spoilt = np.array(values, dtype=float)
    if kind == 8:
        return [*spoilt, 0.0]
    if kind == 9:
        return spoilt.tolist()
    spoilt[rng.integers(len(spoilt))] = rng.choice([np.nan, np.inf, -np.inf, 1e160, 1e308])
    return spoilt.astype(object) if kind == 10 else spoilt


def test_a_tick_never_raises():
    robot = hd.load_robot("legs12")
    body, rng = decompose(robot), np.random.default_rng(7)
    pull = AdaptiveGains(np.full(robot.nv, 10.0), np.full(6, 5.0), np.full(robot.nv, 2.0), 1.0)
    controller = AdaptiveController(body, pull, ParameterBounds.around(body.link_parameters(), 0.1))
    rest, still = np.array(robot.posture), np.zeros(robot.nv)
    told = set()
    for _ in range(400):
        given = [rest, still, rest, still, still, [STEP], np.zeros(6)]
        for index in rng.choice(len(given), size=rng.integers(1, 3), replace=False):
            given[index] = spoil(rng, given[index])
        q, v, q_d, v_d, a_d, dt, wrench = given
        answer = controller.tick(
            q,
            v,
            Desired(q_d, v_d, a_d),
            dt[0] if isinstance(dt, list) else dt,
            {"left_foot": wrench},
        )
        told.add(answer.status)
        assert np.isfinite(answer.tau).all()
        assert answer.status == "OK" or (answer.reason and not answer.tau.any())
    assert told == {"OK", "INVALID_INPUT"}


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("tracking", np.ones(3), r"gains\.tracking: received shape \(3,\), expected \(6,\)"),
        ("link", 5.0, r"gains\.link: received shape \(\), expected \(6,\)"),
        ("joint", np.full(6, np.nan), r"gains\.joint: received an entry that is not finite"),
        (
            "link_learning",
            np.ones((6, 5)),
            r"gains\.link_learning: received shape \(6, 5\), expected \(6, 10\), or one number",
        ),
        (
            "joint_learning",
            "much",
            r"gains\.joint_learning: received str 'much', expected \(6, 5\), or one number",
        ),
        (
            "joint",
            np.full(6, -1.0),
            r"gains\.joint: received -1, expected numbers that are not negative",
        ),
    ],
)
def test_gains_that_are_refused(name, value, message):
    arm = build_arm()
    body = decompose(arm)
    with pytest.raises(ShapeError, match=message):
        AdaptiveController(
            body,
            replace(gains(arm, 1.0), **{name: value}),
            ParameterBounds.around(body.link_parameters(), 0.1),
        )


def test_what_is_no_gain_or_bound_is_refused():
    arm = build_arm()
    body = decompose(arm)
    bounds = ParameterBounds.around(body.link_parameters(), 0.1)
    with pytest.raises(ShapeError, match="gains: received NoneType, expected AdaptiveGains"):
        AdaptiveController(body, None, bounds)
    with pytest.raises(ShapeError, match="joint_bounds: received int, expected ParameterBounds"):
        AdaptiveController(body, gains(arm, 1.0), bounds, 3)
    with pytest.raises(
        ShapeError, match=r"link_parameters: received shape \(3,\), expected \(6, 10\)"
    ):
        AdaptiveController(body, gains(arm, 1.0), bounds, link_parameters=np.ones(3))
