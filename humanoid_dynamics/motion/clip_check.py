"""The doctor of clips: where, when and why a motion is impossible, and how often the doctor himself is wrong.

Nothing of the dynamics filter is used here: inverse dynamics by Pinocchio, contact forces by least squares over corners.  Recorded motion
has no accelerations; they come from a low-pass and two differences, which raises false alarms near impacts.  So what is wrong must be so
at two cut-offs, torques by more than the two differ and a twentieth of the limit, and near to a touch-down or a lift-off a sole may bear
load or not.  How many false
alarms are left is measured on walks of the same robot that are possible by construction, put through the same pipeline.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin
from scipy.ndimage import binary_dilation, binary_erosion

from humanoid_dynamics.errors import HumanoidDynamicsError, UnsupportedRobotError
from humanoid_dynamics.model.doubt import doubtful_limits
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.body_points import find_soles
from humanoid_dynamics.motion.checking.findings import DYNAMIC, LIMITS, Finding, group
from humanoid_dynamics.motion.checking.forces import MISS, ForceNeeds, compute_needs, merge_needs
from humanoid_dynamics.motion.clip import FEWEST_FRAMES, Clip, Labels, check_duration
from humanoid_dynamics.motion.contact_detection import detect_contacts
from humanoid_dynamics.motion.derivatives import central_differences, differentiate
from humanoid_dynamics.motion.gait import build_walk
from humanoid_dynamics.motion.resampling import resample
from humanoid_dynamics.motion.walking.footsteps import WalkStyle
from humanoid_dynamics.spatial.arrays import Matrix

CUTOFF = 6.0  # Hz
DEEP = 0.01  # m
SLIDES = 0.15  # m/s
OFF = 5e-3  # m; a foot that is higher does not slide
UNSURE = 0.08  # s; slides are not looked for so near to a touch-down or a lift-off
JUMP, HARDEST = 3.0, 150.0  # rad/s or m/s from one sample to the next, and rad/s^2 or m/s^2, that joints do by themselves
SECOND = 1.5  # times the cut-off: what is wrong must be so at both
LIKELY = 0.05  # s; so near to a touch-down or a lift-off a sole may bear load
BEYOND = 1e-3  # rad or m outside a limit that count
PULLS = -0.02  # share of the weight
BLURRED = 0.05  # share of a torque limit that is put down to differences, where a clip brings no accelerations
EXAMINED = 0.2  # of the work; the rest is the control
CONTROL = WalkStyle(steps=2, rate=60.0)
SPEEDS = {"walk": 1.0, "brisk walk": 1.3, "hasty walk": 1.7}


@dataclass(frozen=True, eq=False)
class ClipReport:
    """What the doctor found.

    Attributes:
        robot: The robot.
        origin: The clip.
        seconds: How long it is.
        frames: How many samples.
        level: Height of the ground it stands on [m].
        findings: Everything that is wrong, in order of time.
        shares: Kind -> share of the samples where it is wrong.
        impossible: Share of the samples that no forces inside the limits can make.
        false_alarms: The largest of ``alarms``; None where no walk could be made.
        alarms: Kind of motion that is possible -> share of its samples that is found impossible.
        smoothed: Cut-off of the low-pass before the differences [Hz]; None where the clip brought its accelerations.
        notices: What was assumed when the clip was read, and doubts about its units.
        doubtful: Joints whose limits cannot be meant; where there are any no limits of joints and motors are judged.
    """

    robot: RobotModel
    origin: str
    seconds: float
    frames: int
    level: float
    findings: tuple[Finding, ...] = field(repr=False)
    shares: dict[str, float]
    impossible: float
    false_alarms: float | None
    alarms: dict[str, float]
    smoothed: float | None
    notices: tuple[str, ...] = ()
    doubtful: tuple[str, ...] = ()


def check_clip(clip: Clip, *, cutoff: float = CUTOFF, control: bool = True, watch: Callable[[float], None] | None = None) -> ClipReport:
    """Tell where, when and why a clip is impossible.

    Args:
        clip: A clip of a robot that stands on two soles; its contacts, velocities and accelerations are used where it has any.
        cutoff: Low-pass before differences, where accelerations are missing [Hz].
        control: Whether the false alarms are measured too.
        watch: Told the share that is done.

    Returns:
        The report.

    Raises:
        UnsupportedRobotError: If the robot has no free base or no two soles.
        ClipError: If the clip lasts more than a day.
    """
    if clip.robot.root != "free_flyer":
        raise UnsupportedRobotError("checking a clip", [clip.robot.name], f"needs a free base, this root is {clip.robot.root}")
    check_duration(clip)
    report = _examine(clip, cutoff, watch and (lambda share: watch(EXAMINED * share)))
    if watch is not None:
        watch(EXAMINED)
    rest = watch and (lambda share: watch(EXAMINED + (1.0 - EXAMINED) * share))
    alarms = measure_false_alarms(clip.robot, clip.rate, cutoff, rest) if control else {}
    return ClipReport(
        clip.robot, clip.origin, clip.duration, len(clip), report.level, report.findings, report.shares, float(np.mean(report.impossible)),
        max(alarms.values(), default=None), alarms, report.smoothed, clip.notices, report.doubtful,
    )  # fmt: skip


def measure_false_alarms(
    robot: RobotModel, rate: float, cutoff: float = CUTOFF, watch: Callable[[float], None] | None = None
) -> dict[str, float]:
    """Return the share of what is possible that is found impossible, of walks at several speeds.

    The walks are consistent by construction; of those played faster only samples count that their exact accelerations say are possible.

    Args:
        robot: The robot.
        rate: Samples per second of the clip it is compared with [Hz].
        cutoff: Low-pass before differences [Hz].
        watch: Told the share that is done.

    Returns:
        Kind of motion -> share; nothing where the robot cannot walk, or samples are too far apart to see it.
    """
    try:
        walk = build_walk(robot, CONTROL, watch=watch).clip
    except HumanoidDynamicsError:
        return {}
    if rate * walk.duration < max(SPEEDS.values()) * FEWEST_FRAMES:
        return {}
    return {kind: _count_alarms(walk, speed, rate, cutoff) for kind, speed in SPEEDS.items()}


def _count_alarms(walk: Clip, speed: float, rate: float, cutoff: float) -> float:
    """Return the share of the possible samples of a walk, played at some speed, that are found impossible where only it is known."""
    if walk.v is None or walk.a is None:
        return 0.0
    played = walk.change(times=walk.times / speed, v=speed * walk.v, a=speed**2 * walk.a)
    bare = resample(played.change(v=None, a=None, contacts={}), min(rate, played.rate))
    possible = ~_examine(played, cutoff).impossible[np.searchsorted(played.times, bare.times - 1e-9).clip(max=len(played) - 1)]
    return float(np.mean(_examine(bare, cutoff).impossible[possible])) if possible.any() else 0.0


@dataclass(frozen=True, eq=False)
class _Examined:
    level: float
    findings: tuple[Finding, ...]
    shares: dict[str, float]
    impossible: Labels
    smoothed: float | None
    doubtful: tuple[str, ...]


def _examine(clip: Clip, cutoff: float, watch: Callable[[float], None] | None = None) -> _Examined:
    soles = find_soles(clip.robot)
    given = clip.v is not None and clip.a is not None
    even = clip if given or clip.is_even else resample(clip.change(v=None, a=None, contacts={}), clip.rate)
    low = min(cutoff, 0.4 * even.rate)
    bare = even.change(v=None, a=None)
    cutoffs = (low, min(SECOND * low, 0.4 * even.rate))
    motions = [even] if given else [differentiate(bare, hertz) for hertz in cutoffs]
    moving = motions[0]
    labels = even.contacts if {s.name for s in soles} <= set(even.contacts) else detect_contacts(even).labels(even.times)
    stands = np.column_stack([labels[sole.name] for sole in soles])
    heights, speeds = _measure_corners(moving)
    level = float(np.median(heights[stands])) if stands.any() else float(np.min(heights))
    may_bear = stands if given else _dilate(stands, even.rate)
    needs = [compute_needs(motion, soles, may_bear, level, watch) for motion in motions]
    wrong, findings = _judge_forces(moving, merge_needs(needs), [sole.name for sole in soles], 1.0 if given else 1.0 + BLURRED)
    geometric = _judge_geometry(
        even, heights - level, np.where(_erode(stands & (heights - level < OFF), even.rate), speeds, 0.0), [sole.name for sole in soles]
    )
    for kind, (mask, found) in geometric.items():
        wrong[kind] = mask
        findings += found
    doubtful = doubtful_limits(clip.robot)
    if doubtful:
        wrong = {kind: mask for kind, mask in wrong.items() if kind not in LIMITS}
    shares = {kind: float(np.mean(mask)) for kind, mask in wrong.items()}
    impossible = np.any([wrong[kind] for kind in DYNAMIC if kind in wrong], axis=0)
    ordered = tuple(sorted((each for each in findings if each.kind in wrong), key=lambda finding: (finding.start, finding.kind)))
    return _Examined(level, ordered, shares, impossible, None if given else low, doubtful)


def _erode(stands: Labels, rate: float) -> Labels:
    """Return stands without their beginnings and ends, of which detection is not sure."""
    least = max(1, round(UNSURE * rate))
    sure: Labels = binary_erosion(stands, np.ones((2 * least + 1, 1)), border_value=1)
    return sure


def _dilate(stands: Labels, rate: float) -> Labels:
    """Return stands with what is near to their beginnings and ends, where detection and low-pass are not sure."""
    near: Labels = binary_dilation(stands, np.ones((2 * max(1, round(LIKELY * rate)) + 1, 1)))
    return near


def _measure_jumps(clip: Clip) -> Matrix:
    """Return by how much the velocity of each coordinate changes from one step to the next."""
    model, steps = clip.robot.model, np.diff(clip.times)
    slopes = np.array([pin.difference(model, a, b) / h for a, b, h in zip(clip.q[:-1], clip.q[1:], steps, strict=True)])
    jumps = np.zeros((len(clip), clip.robot.nv))
    jumps[1:-1] = np.abs(np.diff(slopes, axis=0))
    return jumps


def _measure_corners(clip: Clip) -> tuple[Matrix, Matrix]:
    """Return the height of the lowest corner of each sole [m] and how fast its middle moves over the ground [m/s]."""
    model, data, soles = clip.robot.model, clip.robot.data(), find_soles(clip.robot)
    heights, places = np.empty((len(clip), len(soles))), np.empty((len(clip), len(soles), 2))
    for row, q in enumerate(clip.q):
        pin.framesForwardKinematics(model, data, q)
        for k, sole in enumerate(soles):
            corners = np.array([data.oMf[sole.frame].act(corner) for corner in sole.vertices])
            heights[row, k], places[row, k] = corners[:, 2].min(), corners[:, :2].mean(axis=0)
    return heights, np.linalg.norm(np.gradient(places, clip.times, axis=0), axis=2)


def _judge_forces(clip: Clip, needs: ForceNeeds, soles: list[str], strongest: float) -> tuple[dict[str, Labels], list[Finding]]:
    """Say of each sample what its forces lack."""
    bad = needs.miss > MISS
    sticky = bad & np.isfinite(needs.friction) & (needs.friction > 0.0)
    pulls = bad & ~sticky & ~needs.alone & (needs.push < PULLS)
    wrong = {"friction": sticky, "pull": pulls, "tip": bad & ~sticky & ~pulls & ~needs.alone, "flight": bad & needs.alone}
    findings: list[Finding] = []
    for first, last, worst in group(clip.times, np.where(wrong["friction"], needs.friction, 0.0)):
        foot, value = soles[int(needs.foot[worst])], float(needs.friction[worst])
        findings.append(_tell(clip, ("friction", foot, "-"), (first, last, worst), value, f"{foot} would need friction {value:.1f}"))
    for first, last, worst in group(clip.times, np.where(wrong["pull"], -needs.push, 0.0)):
        value = -float(needs.push[worst])
        findings.append(
            _tell(clip, ("pull", "", "weights"), (first, last, worst), value, f"the ground would have to pull by {value:.2f} weights")
        )
    far = np.minimum(needs.outside, 1.0)
    for first, last, worst in group(clip.times, np.where(wrong["tip"], np.maximum(far, 1e-6), 0.0)):
        value = float(far[worst])
        distance = f"{100.0 * value:.1f} cm" if value < 1.0 else "more than 1 m"
        said = f"the centre of pressure would have to be {distance} outside the feet"
        said = said if value > 5e-4 else f"the feet cannot give the turning moment, {needs.miss[worst]:.2f} weights are missing"
        findings.append(_tell(clip, ("tip", "", "m"), (first, last, worst), value, said))
    for first, last, worst in group(clip.times, np.where(wrong["flight"], needs.miss, 0.0)):
        value = float(needs.miss[worst])
        findings.append(
            _tell(clip, ("flight", "", "weights"), (first, last, worst), value, f"nothing touches, and {value:.2f} weights are missing")
        )
    over = np.abs(needs.torque) - strongest
    wrong["torque"] = np.any(over > 0.0, axis=1)
    for k in np.flatnonzero(np.any(over > 0.0, axis=0)):
        name = clip.robot.actuated[int(k)]
        for first, last, worst in group(clip.times, over[:, k]):
            value = strongest + float(over[worst, k])
            findings.append(
                _tell(clip, ("torque", name, "limits"), (first, last, worst), value, f"{name} would need {value:.2f} times its torque")
            )
    return wrong, findings


def _judge_geometry(clip: Clip, heights: Matrix, speeds: Matrix, soles: list[str]) -> dict[str, tuple[Labels, list[Finding]]]:
    """Say of each sample what no forces are needed to see."""
    judged: dict[str, tuple[Labels, list[Finding]]] = {}
    v, _ = central_differences(clip.robot.model, clip.times, clip.q)
    jump = max(JUMP, HARDEST / clip.rate)
    jumps = _measure_jumps(clip) - jump
    joints = [joint for joint in clip.robot.joints if joint.q.stop - joint.q.start == joint.v.stop - joint.v.start == 1]
    limits = clip.robot.limits
    outside = np.column_stack([
        np.maximum(limits.lower[j.q.start] - clip.q[:, j.q.start], clip.q[:, j.q.start] - limits.upper[j.q.start]) for j in joints
    ])  # fmt: skip
    rates = np.column_stack([np.abs(v[:, j.v.start]) - (limits.velocity[j.v.start] or np.inf) for j in joints])
    names, coordinates = [joint.name for joint in joints], list(clip.robot.coordinates)
    judged["position"] = _list(clip, "position", names, outside - BEYOND, ("rad", "is {:.3f} rad or m outside its limits", BEYOND))
    judged["velocity"] = _list(clip, "velocity", names, rates, ("rad/s", "is {:.2f} rad/s or m/s faster than its limit", 0.0))
    judged["jump"] = _list(clip, "jump", coordinates, jumps, ("rad/s", "changes its velocity by {:.2f} rad/s or m/s at once", jump))
    judged["penetration"] = _list(clip, "penetration", soles, -heights - DEEP, ("m", "is {:.3f} m in the ground", DEEP))
    judged["slide"] = _list(clip, "slide", soles, speeds - SLIDES, ("m/s", "slides at {:.2f} m/s while it stands", SLIDES))
    return judged


def _list(clip: Clip, kind: str, names: list[str], excess: Matrix, said: tuple[str, str, float]) -> tuple[Labels, list[Finding]]:
    found = []
    for k in np.flatnonzero(np.any(excess > 0.0, axis=0)):
        for first, last, worst in group(clip.times, excess[:, k]):
            value = float(excess[worst, k]) + said[2]
            found.append(
                _tell(clip, (kind, names[int(k)], said[0]), (first, last, worst), value, f"{names[int(k)]} {said[1].format(value)}")
            )
    return np.any(excess > 0.0, axis=1), found


def _tell(clip: Clip, what: tuple[str, str, str], rows: tuple[int, int, int], value: float, text: str) -> Finding:
    kind, where, unit = what
    first, last, worst = (float(clip.times[row]) for row in rows)
    return Finding(kind, where, first, last, worst, value, unit, f"{worst:.2f} s: {text}")
