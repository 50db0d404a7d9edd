# SPDX-License-Identifier: Apache-2.0
"""The experiments of the paper, each with its bounds: walk, kick, slopes, turn, pushes, squat [DF, sec. 5, fig. 7-11]."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pinocchio as pin

from humanoid_dynamics.filtering.experiments.motions import build_kick, build_squat, lay_on_slope
from humanoid_dynamics.filtering.experiments.reference import hold_ends
from humanoid_dynamics.filtering.experiments.ropes import build_rope_figure, run_rope_figure
from humanoid_dynamics.filtering.experiments.run import (
    PaperRun,
    find_lag,
    run_paper_filter,
    summarise,
)
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.derivatives import differentiate
from humanoid_dynamics.motion.editing import turn_heading, warp_time
from humanoid_dynamics.motion.gait import plan_walk
from humanoid_dynamics.motion.walking.footsteps import WalkStyle
from humanoid_dynamics.papers.dynamics_filter.filter import PaperFilter
from humanoid_dynamics.papers.dynamics_filter.ground import Slope
from humanoid_dynamics.papers.dynamics_filter.style import PaperStyle
from humanoid_dynamics.spatial.arrays import Vector

HOLD = 0.5  # s
SLOPES = (5.0, -5.0, 10.0, -10.0)  # degrees
HURRY = 2.0  # times as fast
LOWERED = 0.03  # m; uphill the knees would be straight otherwise
TURN = 30.0  # degrees
LET_GO = 1.0  # s
PUSHES = {
    "60 N forward": (60.0, 0.0),
    "60 N back": (-60.0, 0.0),
    "60 N to the left": (0.0, 60.0),
    "100 N forward": (100.0, 0.0),
}
PUSH_AT, PUSH_FOR, PUSH_UNTIL = 0.3, 0.1, 4.0  # s
CONTROL = "100 N forward, forces not looked at"
Watch = Callable[[float], None]


@dataclass(frozen=True)
class Check:
    """A number and the bound it has to keep.

    Attributes:
        run: Which run it is about.
        what: What was measured, with its unit.
        value: What it is.
        sense: ``<=`` or ``>=``.
        bound: The bound.
    """

    run: str
    what: str
    value: float
    sense: str
    bound: float

    @property
    def passed(self) -> bool:
        """Whether the bound is kept."""
        return self.value <= self.bound if self.sense == "<=" else self.value >= self.bound


@dataclass(frozen=True, eq=False)
class FilterExperiment:
    """What an experiment gave.

    Attributes:
        name: Its name.
        title: What was done.
        runs: The runs by name; the first one is what a picture shows.
        checks: Numbers with bounds.
    """

    name: str
    title: str
    runs: Mapping[str, PaperRun] = field(repr=False)
    checks: tuple[Check, ...]


def run_walk_experiment(robot: RobotModel, watch: Watch | None = None) -> FilterExperiment:
    """Walk on level ground; and, as a control, the same walk played too fast, which no feet can carry [DF, fig. 7].

    Args:
        robot: A robot that stands on two soles.
        watch: Called with the share that is done.

    Returns:
        The runs and their bounds.
    """
    clip = _walk(robot)
    _tell(watch, 0.5)
    fast = warp_time(
        clip.change(v=None, a=None), [0.0, clip.duration], [0.0, clip.duration / HURRY]
    )
    hurried = hold_ends(differentiate(fast), HOLD)
    runs = {
        "walk": run_paper_filter(robot, clip),
        "hurried (control)": run_paper_filter(robot, hurried),
    }
    _tell(watch, 1.0)
    run = runs["walk"]
    checks = (
        *_basic("walk", run, clip.duration),
        Check("walk", "joint error [deg]", float(np.rad2deg(run.joint_rms)), "<=", 8.0),
        Check("walk", "lag [frames]", float(find_lag(run)), "<=", 3.0),
        Check(
            "hurried (control)", "finished", float(runs["hurried (control)"].finished), "<=", 0.0
        ),
    )
    return FilterExperiment("walk", "walking on level ground", runs, checks)


def run_kick_experiment(robot: RobotModel, watch: Watch | None = None) -> FilterExperiment:
    """Kick forwards from one foot [DF, fig. 8].

    Args:
        robot: A robot that stands on two soles.
        watch: Called with the share that is done.

    Returns:
        The run and its bounds.
    """
    clip = hold_ends(build_kick(robot, PaperStyle().dt), HOLD)
    _tell(watch, 0.5)
    run = run_paper_filter(robot, clip)
    _tell(watch, 1.0)
    checks = (
        *_basic("kick", run, clip.duration),
        Check("kick", "joint error [deg]", float(np.rad2deg(run.joint_rms)), "<=", 8.0),
    )
    return FilterExperiment("kick", "a kick from one foot", {"kick": run}, checks)


def run_slope_experiment(robot: RobotModel, watch: Watch | None = None) -> FilterExperiment:
    """Walk up and down slopes of 5 and 10 degrees with the walk for level ground [DF, fig. 9].

    The body keeps its height above the ground and the soles are turned along it; as a control they stay level.

    Args:
        robot: A robot that stands on two soles.
        watch: Called with the share that is done.

    Returns:
        The runs and their bounds.
    """
    clip = _walk(robot)
    runs: dict[str, PaperRun] = {}
    checks: list[Check] = []
    for k, degrees in enumerate(SLOPES):
        angle = float(np.deg2rad(degrees))
        name = f"{abs(degrees):g} degrees {'up' if degrees > 0 else 'down'}"
        laid = lay_on_slope(clip, angle, LOWERED if degrees > 0 else 0.0)
        runs[name] = run_paper_filter(robot, laid, ground=Slope(angle))
        checks += [*_basic(name, runs[name], clip.duration), _tilt_check(name, runs[name], angle)]
        _tell(watch, (k + 2) / (len(SLOPES) + 2))
    name = f"{SLOPES[0]:g} degrees up, soles level (control)"
    q = np.array(clip.q)
    q[:, 2] += np.tan(np.deg2rad(SLOPES[0])) * q[:, 0]
    level = differentiate(clip.change(q=q, v=None, a=None))
    runs[name] = run_paper_filter(robot, level, ground=Slope(float(np.deg2rad(SLOPES[0]))))
    checks.append(Check(name, "finished", float(runs[name].finished), "<=", 0.0))
    _tell(watch, 1.0)
    return FilterExperiment("slope", "the walk for level ground, on slopes", runs, tuple(checks))


def run_turn_experiment(robot: RobotModel, watch: Watch | None = None) -> FilterExperiment:
    """Walk round a turn that was made from two headings, without regard to dynamics [DF, fig. 10].

    Args:
        robot: A robot that stands on two soles.
        watch: Called with the share that is done.

    Returns:
        The run and its bounds.
    """
    clip = _walk(robot)
    _tell(watch, 0.6)
    turned = turn_heading(
        clip.change(v=None, a=None), float(np.deg2rad(TURN)), 0.3 * clip.duration, 1.0
    )
    run = run_paper_filter(robot, differentiate(turned))
    _tell(watch, 1.0)
    miss = abs(_heading(run.frames[-1].q) - _heading(run.frames[0].q) - np.deg2rad(TURN))
    checks = (
        *_basic("turn", run, clip.duration),
        Check("turn", "heading at the end, error [deg]", float(np.rad2deg(miss)), "<=", 3.0),
    )
    return FilterExperiment("turn", f"a turn by {TURN:g} degrees", {"turn": run}, checks)


def run_push_experiment(robot: RobotModel, watch: Watch | None = None) -> FilterExperiment:
    """Push a standing robot in several directions; and, as a control, without looking at the contact forces [DF, fig. 11].

    Args:
        robot: A robot that stands on two soles.
        watch: Called with the share that is done.

    Returns:
        The runs and their bounds.
    """
    runs: dict[str, PaperRun] = {}
    checks: list[Check] = []
    for name, force in PUSHES.items():
        run = runs[name] = _push(robot, force, PaperStyle())
        low = name.startswith("60")
        checks += [
            *_basic(name, run, PUSH_UNTIL),
            Check(name, "joint error at the end [rad]", float(run.joint_error[-1]), "<=", 1e-3),
            Check(
                name,
                "largest joint error [rad]",
                float(run.joint_error.max()),
                "<=",
                1e-3 if low else 0.05,
            ),
        ]
        _tell(watch, len(runs) / (len(PUSHES) + 1))
    control = runs[CONTROL] = _push(robot, PUSHES["100 N forward"], PaperStyle(unilateral=False))
    worst = min(frame.certificate.cop_margin for frame in control.frames)
    checks.append(Check(CONTROL, "centre of pressure inside [m]", worst, "<=", -1e-3))
    _tell(watch, 1.0)
    return FilterExperiment(
        "push", "standing, pushed at the chest for a tenth of a second", runs, tuple(checks)
    )


def run_squat_experiment(robot: RobotModel, watch: Watch | None = None) -> FilterExperiment:
    """Squat twice in four seconds.

    Args:
        robot: A robot that stands on two soles.
        watch: Called with the share that is done.

    Returns:
        The run and its bounds.
    """
    clip = build_squat(robot, PaperStyle().dt)
    _tell(watch, 0.6)
    run = run_paper_filter(robot, clip)
    _tell(watch, 1.0)
    checks = (
        *_basic("squat", run, clip.duration),
        Check("squat", "largest joint error [rad]", float(run.joint_error.max()), "<=", 5e-3),
        Check(
            "squat",
            "share of frames on both faces",
            run.share(lambda f: f.states == ("face", "face")),
            ">=",
            1.0,
        ),
    )
    return FilterExperiment("squat", "squatting at half a hertz", {"squat": run}, checks)


def run_rope_experiment(robot: RobotModel, watch: Watch | None = None) -> FilterExperiment:
    """Pull up on two ropes, a closed chain of 48 freedoms of joints; and let go of one rope on the way [DF, fig. 3].

    Args:
        robot: Not used: the figure on the ropes is always the one of 28 hinges.
        watch: Called with the share that is done.

    Returns:
        The runs and their bounds.
    """
    del robot
    figure = build_rope_figure(PaperStyle().dt)
    _tell(watch, 0.4)
    runs = {
        "pull-up": run_rope_figure(figure),
        "one hand lets go": run_rope_figure(figure, let_go=LET_GO),
    }
    _tell(watch, 1.0)
    run, loose = runs["pull-up"], runs["one hand lets go"]
    weight = run.robot.mass * 9.81
    checks = (
        Check("pull-up", "joint error [deg]", float(np.rad2deg(run.joint_rms)), "<=", 1.0),
        Check(
            "pull-up",
            "hands off their ropes, acceleration [m/s²]",
            _worst(run, "constraint", 1.0),
            "<=",
            1e-8,
        ),
        *(
            Check(
                name,
                "equation of motion, largest miss as a share of the weight",
                _worst(one, "residual", 1.0) / weight,
                "<=",
                1e-8,
            )
            for name, one in runs.items()
        ),
        Check(
            "one hand lets go",
            "velocity jump when it does, over the largest of the steps before",
            _jump(loose, LET_GO),
            "<=",
            1.0,
        ),
    )
    return FilterExperiment("rope", "pulling up on two ropes", runs, checks)


def _jump(run: PaperRun, at: float) -> float:
    """Return the change of velocities in one step beyond what the acceleration says, over the largest of those before.

    Who lets go gives no impulse: what is left is what a step rounds off, as in any other.
    """
    frames = run.frames[: round(at / PaperStyle().dt) + 1]
    jumps = [float(np.abs(b.v - a.v - PaperStyle().dt * a.a).max()) for a, b in pairwise(frames)]
    return jumps[-1] / max(jumps[:-1])


EXPERIMENTS: Mapping[str, Callable[[RobotModel, Watch | None], FilterExperiment]] = {
    "walk": run_walk_experiment,
    "kick": run_kick_experiment,
    "slope": run_slope_experiment,
    "turn": run_turn_experiment,
    "push": run_push_experiment,
    "squat": run_squat_experiment,
    "rope": run_rope_experiment,
}


def _walk(robot: RobotModel) -> Clip:
    """Return a walk at the step of the filter, that stands still at both ends."""
    return hold_ends(
        plan_walk(robot, WalkStyle(rate=1.0 / PaperStyle().dt)).clip.change(contacts={}), HOLD
    )


def _push(robot: RobotModel, force: tuple[float, float], style: PaperStyle) -> PaperRun:
    point = next(
        (
            robot.control_points[name]
            for name in ("chest", "torso", "pelvis")
            if name in robot.control_points
        ),
        None,
    )
    link = robot.links[0] if point is None else point.link

    def push(tool: PaperFilter, row: int) -> None:
        if row == round(PUSH_AT / style.dt):
            tool.push(link, (*force, 0.0), PUSH_FOR)

    times = np.arange(round(PUSH_UNTIL / style.dt) + 1, dtype=np.float64) * style.dt
    still = np.zeros((len(times), robot.nv))
    clip = Clip(
        robot,
        times,
        np.tile(robot.posture, (len(times), 1)),
        still,
        still,
        origin=f"{robot.name} standing",
    )
    return run_paper_filter(robot, clip, style, between=push)


def _basic(name: str, run: PaperRun, seconds: float) -> tuple[Check, ...]:
    """Return the bounds every run has to keep."""
    facts = summarise(run)
    weight = run.robot.mass * 9.81
    return (
        Check(
            name,
            "finished",
            float(run.finished and run.frames[-1].time >= seconds - 0.01),
            ">=",
            1.0,
        ),
        Check(
            name,
            "equation of motion, largest miss as a share of the weight",
            _worst(run, "residual", 1.0) / weight,
            "<=",
            1e-8,
        ),
        Check(
            name,
            "least normal force as a share of the weight",
            -_worst(run, "normal_margin", -1.0) / weight,
            ">=",
            -1e-6,
        ),
        Check(
            name,
            "centre of pressure inside, least [m]",
            -_worst(run, "cop_margin", -1.0),
            ">=",
            -1e-6,
        ),
        Check(name, "depth in the ground [m]", _worst(run, "depth", 1.0), "<=", 2e-3),
        Check(name, "systems solved in a frame", _worst(run, "solves", 1.0), "<=", 4.0),
        Check(
            name, "milliseconds per frame", float(str(facts["milliseconds_per_frame"])), "<=", 10.0
        ),
    )


def _worst(run: PaperRun, what: str, sign: float) -> float:
    return max(sign * float(getattr(frame.certificate, what)) for frame in run.frames)


def _tilt_check(name: str, run: PaperRun, angle: float) -> Check:
    """Return how far the forces of standing faces lean from the normal of the slope, in the mean, against the friction cone."""
    lean = [
        np.hypot(w[0], w[1]) / w[2] for frame in run.frames for w in frame.wrenches if w[2] > 1.0
    ]
    return Check(
        name,
        "mean friction force over normal force",
        float(np.mean(lean)),
        "<=",
        float(np.tan(abs(angle)) + 0.1),
    )


def _heading(q: Vector) -> float:
    R = pin.Quaternion(q[3:7]).matrix()
    return float(np.arctan2(R[1, 0], R[0, 0]))


def _tell(watch: Watch | None, share: float) -> None:
    if watch is not None:
        watch(share)
