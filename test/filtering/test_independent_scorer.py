# SPDX-License-Identifier: Apache-2.0
"""Produced frames under a second opinion that shares no code with the certificate, and how often that opinion is wrong."""

import numpy as np
import pinocchio as pin
import pytest
from independent_scorer import KINDS, Moment, Scorer
from recordings import find_recording, load_recorded

import humanoid_dynamics as hd
from humanoid_dynamics.filtering import filter_clip
from humanoid_dynamics.motion.body_points import find_soles
from humanoid_dynamics.motion.gait import plan_walk
from humanoid_dynamics.motion.walking.footsteps import WalkStyle

DT = 0.005
RECORDED = (
    "g1_asap/squat_level1.npz",
    "g1_asap/walk_level1.npz",
    "g1_asap/walk_level4.npz",
    "g1_asap/kick_level1.npz",
    "g1_asap/single_foot_balance_level1.npz",
    "g1_asap/step_forward_back_level1.npz",
    "g1_asap/side_jump_level1.npz",
    "g1_karate/B_HandsUp.csv",
    "g1_karate/J_ShortDance16_JazzWalk.csv",
    "g1_karate/M_ShortMove12.csv",
    "g1_karate/M_Move18.csv",
)


def scorer_of(robot):
    soles = find_soles(robot)
    return Scorer(
        robot,
        [s.frame for s in soles],
        [np.array(s.vertices) for s in soles],
        [s.friction for s in soles],
    )


def possible_moment(robot, scorer, rng):
    """Return a frame that is possible by construction: limits first, then pushes of the corners, and motion follows from both."""
    model = robot.model
    q = pin.integrate(model, robot.posture, 0.05 * rng.normal(size=robot.nv))
    q[scorer.places] = np.clip(
        q[scorer.places],
        model.lowerPositionLimit[scorer.places],
        model.upperPositionLimit[scorer.places],
    )
    v = rng.uniform(-1.0, 1.0, robot.nv) * np.where(
        np.isfinite(model.velocityLimit), np.minimum(model.velocityLimit, 2.0), 2.0
    )
    tau = rng.uniform(-1.0, 1.0, robot.nv - 6) * np.minimum(model.effortLimit[6:], 100.0)
    wrenches = np.zeros((2, 6))
    for foot, corners in enumerate(scorer.corners):
        for corner in corners:
            push = rng.uniform(0.0, 0.3) * scorer.weight
            pulled, way = (
                rng.uniform(0.0, scorer.friction[foot]) * push,
                rng.uniform(0.0, 2.0 * np.pi),
            )
            force = np.array([pulled * np.cos(way), pulled * np.sin(way), push])
            wrenches[foot] += np.concatenate((force, np.cross(corner, force)))
    pin.computeJointJacobians(model, scorer.data, q)
    J = np.vstack(
        [
            pin.getFrameJacobian(model, scorer.data, frame, pin.ReferenceFrame.LOCAL)
            for frame in scorer.frames
        ]
    )
    v = v - np.linalg.lstsq(J, J @ v, rcond=None)[0]  # soles rest
    v *= min(1.0, 1.0 / np.max(np.abs(v[6:]) / model.velocityLimit[6:]))
    return Moment(q, v, follow(robot, scorer, q, v, tau, wrenches), tau, wrenches)


def at_its_limits(robot, scorer, rng):
    """Return a frame that is possible with nothing to spare: each sole is pushed at one corner, on its cone, and motors give all."""
    moment = possible_moment(robot, scorer, rng)
    tau = np.where(moment.tau < 0.0, -1.0, 1.0) * np.where(
        np.isfinite(robot.model.effortLimit[6:]), robot.model.effortLimit[6:], 1.0
    )
    wrenches = np.zeros((2, 6))
    for foot, corners in enumerate(scorer.corners):
        way, push = rng.uniform(0.0, 2.0 * np.pi), rng.uniform(0.1, 1.0) * scorer.weight
        force = push * np.array(
            [scorer.friction[foot] * np.cos(way), scorer.friction[foot] * np.sin(way), 1.0]
        )
        wrenches[foot] = np.concatenate(
            (force, np.cross(corners[rng.integers(len(corners))], force))
        )
    return Moment(
        moment.q, moment.v, follow(robot, scorer, moment.q, moment.v, tau, wrenches), tau, wrenches
    )


def follow(robot, scorer, q, v, tau, wrenches):
    """Return the acceleration that follows from torques and wrenches."""
    pin.computeJointJacobians(robot.model, scorer.data, q)
    pushed = sum(
        pin.getFrameJacobian(robot.model, scorer.data, frame, pin.ReferenceFrame.LOCAL).T @ wrench
        for frame, wrench in zip(scorer.frames, wrenches, strict=True)
    )
    return np.array(
        pin.aba(robot.model, scorer.data, q, v, np.concatenate((np.zeros(6), tau)) + pushed)
    )


def next_moment(robot, scorer, moment):
    """Return the frame that comes after one by its acceleration."""
    v = moment.v + DT * moment.vdot
    q = pin.integrate(robot.model, moment.q, DT * v)
    return Moment(
        q, v, follow(robot, scorer, q, v, moment.tau, moment.wrenches), moment.tau, moment.wrenches
    )


def spoil(kind, moment, scorer, model):
    """Return the frame with one fault, the equation of motion left alone where it can be."""
    parts = {
        name: np.array(getattr(moment, name)) for name in ("q", "v", "vdot", "tau", "wrenches")
    }
    limited = next(k for k in range(len(parts["tau"])) if np.isfinite(model.effortLimit[6 + k]))
    if kind == "motion":
        parts["vdot"][8] += 1e-3
    elif kind == "pull":
        parts["wrenches"][0, 2] = -1e-3 * scorer.weight
    elif kind == "friction":
        parts["wrenches"][1, 0] = 1.001 * scorer.friction[1] * parts["wrenches"][1, 2]
        parts["wrenches"][1, 1] = 0.0
    elif kind == "pressure":
        parts["wrenches"][0, 4] -= 0.5 * parts["wrenches"][0, 2]
    elif kind == "torque":
        parts["tau"][limited] = 1.001 * model.effortLimit[6 + limited]
    elif kind == "joint":
        parts["q"][scorer.places[0]] = model.upperPositionLimit[scorer.places[0]] + 1e-3
    elif kind in ("speed", "slide"):
        place, rate = {
            "speed": (6, 1.001 * model.velocityLimit[6]),
            "slide": (0, parts["v"][0] + 0.3),
        }[kind]
        parts["v"][place] = rate
    return Moment(**parts)


@pytest.mark.parametrize("make", [possible_moment, at_its_limits])
@pytest.mark.parametrize("name", ["g1", "human28", "talos_reduced"])
def test_no_kind_of_false_alarm_on_motion_that_is_possible_by_construction(name, make):
    robot, rng = hd.load_robot(name), np.random.default_rng(0)
    scorer = scorer_of(robot)
    shares = scorer.score([make(robot, scorer, rng) for _ in range(200)])
    assert shares == dict.fromkeys((*KINDS, "any"), 0.0)


@pytest.mark.parametrize("name", ["g1", "human28", "talos_reduced"])
def test_no_false_alarm_on_paths_that_follow(name):
    robot, rng = hd.load_robot(name), np.random.default_rng(4)
    scorer = scorer_of(robot)
    for _ in range(50):
        first = possible_moment(robot, scorer, rng)
        assert scorer.score([first, next_moment(robot, scorer, first)], DT)["path"] == 0.0


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "path"])
def test_every_fault_is_seen(kind):
    robot, rng = hd.load_robot("g1"), np.random.default_rng(1)
    scorer = scorer_of(robot)
    spoiled = [
        spoil(kind, possible_moment(robot, scorer, rng), scorer, robot.model) for _ in range(50)
    ]
    assert scorer.score(spoiled)[kind] == 1.0


def test_path_that_does_not_follow_is_seen():
    robot, rng = hd.load_robot("g1"), np.random.default_rng(2)
    scorer = scorer_of(robot)
    moments = [possible_moment(robot, scorer, rng) for _ in range(3)]
    assert scorer.score(moments, DT)["path"] == pytest.approx(2 / 3)


def assert_possible(robot, frames, path=True):
    moments = [Moment(f.q, f.v, f.vdot, f.tau, f.wrenches) for f in frames]
    shares = scorer_of(robot).score(moments, DT if path else None)
    assert shares["any"] == 0.0, shares


def test_short_clips_are_possible():
    robot = hd.load_robot("human28")
    found = filter_clip(robot, plan_walk(robot, WalkStyle(steps=1)).clip)
    assert found.report.finished
    assert_possible(robot, found.frames)
    robot = hd.load_robot("g1")
    clip = load_recorded(find_recording("g1_asap/squat_level1.npz"), robot)
    rows = clip.times <= clip.times[0] + 1.5
    found = filter_clip(robot, clip.change(times=clip.times[rows], q=clip.q[rows], v=None, a=None))
    assert found.report.finished
    assert_possible(robot, found.frames)


@pytest.mark.slow
@pytest.mark.parametrize("name", RECORDED)
def test_recorded_clip_is_possible(name):
    robot = hd.load_robot("g1")
    found = filter_clip(robot, load_recorded(find_recording(name), robot))
    assert found.report.finished
    assert_possible(robot, found.frames)
