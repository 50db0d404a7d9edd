# SPDX-License-Identifier: Apache-2.0
"""A walk for any humanoid: footsteps, a bounded path of the centre of mass, and all joints by inverse kinematics.

The zero-moment point stays inside the feet; the centre of mass follows the bounded solution of the inverted pendulum for it, in closed
form.  What the pendulum leaves out, the swinging legs and the turning trunk, is found by inverse dynamics of the whole robot, and the
zero-moment point of the pendulum is moved against it, a few times over.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np
import pinocchio as pin
from scipy.interpolate import CubicSpline

from humanoid_dynamics.errors import HumanoidDynamicsError, UnsupportedRobotError
from humanoid_dynamics.model.doubt import doubtful_limits, tell_doubtful
from humanoid_dynamics.model.joint import Joint
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.body_points import SIDES, chain_length, find_body, find_soles
from humanoid_dynamics.motion.checking.zmp import compute_reaction, support_margins
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.inverse_kinematics import Found
from humanoid_dynamics.motion.quintic import bump
from humanoid_dynamics.motion.schedule import TouchTimes
from humanoid_dynamics.motion.walking.clearance import FootClearance, refuse_crossing
from humanoid_dynamics.motion.walking.foot_paths import foot_schedule, zmp_path
from humanoid_dynamics.motion.walking.footsteps import FootstepPlan, WalkStyle, plan_footsteps
from humanoid_dynamics.motion.walking.pendulum import PendulumPath, solve_at_rest
from humanoid_dynamics.motion.walking.whole_body import HARD_MISS, WalkSearch
from humanoid_dynamics.spatial.arrays import Matrix, Vector

STEP_SHARE, HEIGHT_SHARE = 0.3, 0.06  # of the length of a leg
SHORTER = (
    1.0,
    0.8,
    0.6,
    0.4,
    0.2,
)  # shares of the usual step that are tried where none was asked for
SWING_SHARE, DOUBLE_SHARE, END_SHARE = (
    2.4,
    0.3,
    4.5,
)  # of 1 / w of the pendulum, of the swing, and of 1 / w
CORRECTION_RATE = 50.0  # Hz
CORRECTIONS = 3
FIRST, LAST = 0.4, 0.95  # of the work: done after the corrections, and after all joints are found
HEIGHT_STEP, LOWEST, HIGHEST = (
    0.01,
    12,
    3,
)  # of the length of a leg: by how much the body is lowered or lifted at a time, and how often
MOST_WASTED, MOST_PROBED = (
    10_000,
    1500,
)  # iterations on heights and lengths of steps that the legs do not reach
PARTS, STEEPEST = (
    (0.75, 0.5, 0.25, 0.1),
    0.6,
)  # of what was asked for and is too much, the first that can be walked is told; rad
TELLING = 1e-3  # m or rad; a smaller miss tells nothing
CHECK_RATE = 25.0  # Hz; samples that tell whether the legs reach
GRAVITY = 9.81


@dataclass(frozen=True, eq=False)
class Walk:
    """A walk, and how good it is.

    Attributes:
        clip: The motion, with velocities, accelerations and contact labels.
        schedule: Which sole stands when.
        plan: The footsteps.
        X_WP: The ground plane.
        zmp: (n, 2) zero-moment point by inverse dynamics of the whole robot [m], on the ground plane.
        zmp_margin: (n,) how far inside the standing soles it lies [m].
        zmp_wanted: (n, 2) where it was meant to be [m].
        lowered: How far the centre of mass is lowered from the resting posture [m].
        miss: Largest miss of soles and centre of mass [m or rad].
    """

    clip: Clip
    schedule: TouchTimes
    plan: FootstepPlan
    X_WP: pin.SE3
    zmp: Matrix = field(repr=False)
    zmp_margin: Vector = field(repr=False)
    zmp_wanted: Matrix = field(repr=False)
    lowered: float
    miss: float

    @property
    def zmp_share(self) -> float:
        """Share of the samples whose zero-moment point lies inside the standing soles."""
        return float(np.mean(self.zmp_margin >= 0.0))


def plan_walk(
    robot: RobotModel,
    style: WalkStyle | None = None,
    *,
    speed: float | None = None,
    keep_limits: bool = True,
    watch: Callable[[float], None] | None = None,
    **fields: Any,
) -> Walk:
    """Plan a walk with its contact schedule, from standing to standing.

    Args:
        robot: A robot that stands on two soles.
        style: How to walk.
        speed: Forward speed [m/s], negative backwards, in place of the step length of the style.
        keep_limits: Whether joints stay inside their position limits; where left and right differ they do not, and the clip says so.
        watch: Called with the share that is done, now and then.
        **fields: Fields of ``WalkStyle`` that replace those of the style, such as ``steps=6``.

    Returns:
        The walk.

    Raises:
        UnsupportedRobotError: If the robot does not stand on two soles, or its legs cannot follow the steps.
        ShapeError: If the feet would cross.
    """
    _check_legs(robot)
    style = replace(style or WalkStyle(), **fields)
    if speed is not None:
        style = replace(style, step_length=speed * step_period(robot, style))
    doubtful = doubtful_limits(robot) if keep_limits else ()
    frame, search, lowered = _prepare(robot, style, keep_limits and not doubtful)
    coarse, times = frame.times(CORRECTION_RATE), frame.times(style.rate)
    wanted = frame.pendulum(frame.zmp(CORRECTION_RATE), CORRECTION_RATE, lowered).p
    moved = np.zeros_like(wanted)
    watch = watch or _tell_nobody
    for number in range(CORRECTIONS):
        part = _part_of(watch, FIRST * number / CORRECTIONS, FIRST * (number + 1) / CORRECTIONS)
        found = search.run(
            frame.plan,
            coarse,
            frame.pendulum(wanted + moved, CORRECTION_RATE, lowered),
            lowered,
            part,
        )
        clip = Clip(robot, coarse, found.q, found.v, found.a)
        moved = moved + wanted - frame.to_world(compute_reaction(clip, frame.X_WP).zmp)
    correction = CubicSpline(coarse, moved)(np.minimum(times, coarse[-1]))
    wanted = frame.pendulum(frame.zmp(style.rate), style.rate, lowered).p
    found = search.run(
        frame.plan,
        times,
        frame.pendulum(wanted + correction, style.rate, lowered),
        lowered,
        _part_of(watch, FIRST, LAST),
    )
    if found.worst.hard_error > HARD_MISS:
        raise _refusal(robot, style, frame, found.worst)
    watch(LAST)
    schedule = foot_schedule(frame.plan, frame.soles)
    notices = tell_doubtful(doubtful) if doubtful or not keep_limits else _tell_fast(robot, found.v)
    clip = Clip(
        robot,
        times,
        found.q,
        found.v,
        found.a,
        schedule.labels(times),
        f"walk of {robot.name}",
        notices=notices,
    )
    zmp = compute_reaction(clip, frame.X_WP).zmp
    margin = support_margins(clip, clip.contacts, zmp, frame.X_WP)
    return Walk(
        clip,
        schedule,
        frame.plan,
        frame.X_WP,
        zmp,
        margin,
        frame.to_plane(wanted),
        lowered,
        found.worst.hard_error,
    )


def step_period(robot: RobotModel, style: WalkStyle | None = None) -> float:
    """Return the time from one step to the next [s], single and double support together.

    Args:
        robot: A robot that stands on two soles.
        style: How to walk.

    Returns:
        The period.
    """
    return _Frame(robot, replace(style or WalkStyle(), steps=1), 1.0).period


def _tell_nobody(share: float) -> None:
    del share


def _part_of(watch: Callable[[float], None], start: float, end: float) -> Callable[[float], None]:
    """Return what is told the share of a part of the work."""
    return lambda share: watch(start + share * (end - start))


class _Frame:
    """Everything about a walk that is known before any joint is: lengths, times, ground, footsteps."""

    def __init__(self, robot: RobotModel, style: WalkStyle, share: float) -> None:
        body, data = find_body(robot), robot.data()
        pin.framesForwardKinematics(robot.model, data, robot.posture)
        pin.centerOfMass(robot.model, data, robot.posture)
        points = {name: data.oMf[point.frame].act(point.p_F) for name, point in body.points.items()}
        self.leg = float(
            np.mean(
                [
                    chain_length(
                        np.array([points[f"{s}_{part}"] for part in ("hip", "knee", "ankle")])
                    )
                    for s in SIDES
                ]
            )
        )
        soles = [data.oMf[sole.frame] for sole in body.soles]
        self.height = float(data.com[0][2] - np.mean([X.translation[2] for X in soles]))
        stand = np.array(
            [
                [X.translation[0], X.translation[1], np.arctan2(X.rotation[1, 0], X.rotation[0, 0])]
                for X in soles
            ]
        )
        stand[:, 0], stand[:, 2] = np.mean(stand[:, 0]), 0.0
        self.soles = (body.soles[0].name, body.soles[1].name)
        self.centres = np.array([np.mean(sole.vertices[:, :2], axis=0) for sole in body.soles])
        fall = float(np.sqrt(self.height / GRAVITY))
        swing = style.step_time or SWING_SHARE * fall
        both = style.double_support or DOUBLE_SHARE * swing
        begin, stop = style.start_time or END_SHARE * fall, style.stop_time or END_SHARE * fall
        self.length = (
            share * STEP_SHARE * self.leg if style.step_length is None else style.step_length
        )
        self.step_height = (
            share * HEIGHT_SHARE * self.leg if style.step_height is None else style.step_height
        )
        times = tuple(
            np.ceil(part * CORRECTION_RATE) / CORRECTION_RATE for part in (begin, swing, both, stop)
        )
        self.plan = plan_footsteps(
            style, stand, length=self.length, times=(times[0], times[1], times[2], times[3])
        )
        self.period = float(times[1] + times[2])
        self.slope, self.lower = style.slope, style.lower
        self.X_WP = pin.SE3(pin.utils.rotate("y", -style.slope), np.zeros(3))

    def times(self, rate: float) -> Vector:
        """Return the instants of the walk at a rate."""
        return np.arange(int(np.floor(self.plan.end * rate * (1.0 + 1e-12))) + 1) / rate

    def zmp(self, rate: float) -> Matrix:
        """Return the wanted zero-moment point, seen from above [m]."""
        return self.to_world(zmp_path(self.plan, self.times(rate), self.centres))

    def to_world(self, points: Matrix) -> Matrix:
        """Return x and y in the world of points of the ground plane."""
        return np.asarray(points * np.array([np.cos(self.slope), 1.0]))

    def to_plane(self, points: Matrix) -> Matrix:
        """Return the points of the ground plane below x and y of the world."""
        return np.asarray(points / np.array([np.cos(self.slope), 1.0]))

    def pendulum(self, zmp: Matrix, rate: float, lowered: float) -> PendulumPath:
        """Return the bounded path of the centre of mass that starts and ends at rest."""
        times, w = self.times(rate), float(np.sqrt(GRAVITY / (self.height - lowered)))
        begin, stop = self.plan.steps[0].leaves, self.plan.end - self.plan.steps[-1].lands
        bumps = np.column_stack((bump(times / begin), bump((times - self.plan.end + stop) / stop)))
        return solve_at_rest(zmp, 1.0 / rate, w, bumps)


def _check_legs(robot: RobotModel) -> None:
    """Refuse legs that cannot place their soles: a flat one takes six freedoms, a point three."""
    for sole in find_soles(robot):
        joints = _joints_of_leg(robot, sole.frame)
        needed, has = (
            3 if sole.kind == "point" else 6,
            sum(joint.v.stop - joint.v.start for joint in joints),
        )
        if has < needed:
            problem = f"the leg of {sole.name!r} has {has} freedoms, a walk on its sole takes {needed}; its joints are"
            raise UnsupportedRobotError(
                f"walking with {robot.name!r}", [joint.name for joint in joints], problem
            )


def _joints_of_leg(robot: RobotModel, sole: int) -> list[Joint]:
    """Return what is between the base and a sole."""
    leg = {int(i) for i in robot.model.supports[robot.model.frames[sole].parentJoint]}
    return [joint for joint in robot.joints if joint.index in leg and joint.kind != "free_flyer"]


def _prepare(
    robot: RobotModel, style: WalkStyle, keep_limits: bool, *, probing: bool = False
) -> tuple[_Frame, WalkSearch, float]:
    """Choose the length of the steps, where none was asked for, and the height of the centre of mass; best touching no limit."""
    frames = _clear_frames(robot, style, keep_limits)
    found, wasted = None, {True: 0, False: 0}
    for strict, frame in product((False,) if probing else (True, False), frames):
        search = WalkSearch(
            robot, frame.X_WP, frame.height, frame.step_height, keep_limits=keep_limits
        )
        for lowered in _heights(style, frame.leg):
            if wasted[strict] > (MOST_PROBED if probing else MOST_WASTED):
                break
            path = frame.pendulum(frame.zmp(CHECK_RATE), CHECK_RATE, lowered)
            found, iterations = search.check(
                frame.plan, frame.times(CHECK_RATE), path, lowered, strict=strict
            )
            if found is None:
                return frame, search, lowered
            wasted[strict] += iterations
    possible = "" if probing else _possible(robot, style, frames[-1].leg, keep_limits)
    raise _refusal(robot, style, frames[-1], found, possible)


def _clear_frames(robot: RobotModel, style: WalkStyle, keep_limits: bool) -> list[_Frame]:
    """Return the walks of steps as long as may be, and of shorter ones where none was asked for, on which feet do not cross."""
    shares = SHORTER if style.step_length is None or style.step_height is None else (1.0,)
    frames, clearance = (
        [_Frame(robot, style, share) for share in shares],
        FootClearance(robot, keep_limits=keep_limits),
    )
    clear = [frame for frame in frames if clearance.crossing(frame.plan) is None]
    if not clear:
        raise refuse_crossing(clearance, style, frames[-1].plan.stand, length=frames[-1].length)
    return clear


def _heights(style: WalkStyle, leg: float) -> list[float]:
    """Return how far the centre of mass may be lowered, likely ones first; negative is lifted."""
    if style.lower is not None:
        return [style.lower]
    return [HEIGHT_STEP * leg * k for k in sorted(range(-HIGHEST, LOWEST + 1), key=abs)]


def _possible(robot: RobotModel, style: WalkStyle, leg: float, keep_limits: bool) -> str:
    """Tell which part of a slope, or else of a step, can be walked."""
    name, most = ("slope", STEEPEST) if style.slope else ("step_length", leg)
    wanted, short = getattr(style, name) or 0.0, replace(style, steps=min(style.steps, 2))
    for share in PARTS if wanted else ():
        part = float(np.copysign(share * min(abs(wanted), most), wanted))
        try:
            frame, _, _ = _prepare(
                robot,
                replace(short, slope=part) if style.slope else replace(short, step_length=part),
                keep_limits,
                probing=True,
            )
        except HumanoidDynamicsError:
            continue
        return f"; {_ask(frame, name, part)} can be walked"
    return ""


def _ask(frame: _Frame, name: str, value: float) -> str:
    return (
        f"a slope of {value:.2g} rad"
        if name == "slope"
        else f"a step of {value:.2g} m ({value / frame.period:.2g} m/s)"
    )


def _tell_fast(robot: RobotModel, v: Matrix) -> tuple[str, ...]:
    """Tell which joints go faster than they can; empty where none does."""
    limits, fastest = robot.limits.velocity, np.abs(v).max(axis=0)
    fast = [
        f"{joint.name} ({fastest[joint.v][0]:.2g} of {limits[joint.v][0]:.2g})"
        for joint in robot.joints
        if joint.v.stop - joint.v.start == 1 and 0.0 < limits[joint.v][0] < fastest[joint.v][0]
    ]
    return (f"faster than their limits, in rad/s or m/s: {', '.join(fast)}",) if fast else ()


def _refusal(
    robot: RobotModel, style: WalkStyle, frame: _Frame, found: Found | None, possible: str = ""
) -> UnsupportedRobotError:
    ever = [] if found is None else np.flatnonzero(found.at_limit).tolist()
    miss = np.inf if found is None else found.hard_error
    asked = [
        _ask(frame, "step_length", frame.length),
        *([_ask(frame, "slope", style.slope)] if style.slope else []),
    ]
    missing = f", {miss:.2g} m or rad are missing" if miss > TELLING else ""
    names = [robot.coordinates[index] for index in ever]
    why = "at their limits are" if names else "no joint is at a limit: it is out of reach of"
    legs = [joint.name for sole in find_soles(robot) for joint in _joints_of_leg(robot, sole.frame)]
    names = [name for name in names if name.split(".")[0] in legs] or names or legs
    problem = f"the legs cannot follow {' on '.join(asked)}{missing}{possible}; {why}"
    return UnsupportedRobotError(f"walking with {robot.name!r}", names, problem)
