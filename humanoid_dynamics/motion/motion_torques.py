# SPDX-License-Identifier: Apache-2.0
"""Torques of a whole motion: measured wrenches where there are any, a rule where there are none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_dynamics.errors import ClipError, count
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.derivatives import complete_rates
from humanoid_dynamics.motion.formats.columns import velocity_columns
from humanoid_dynamics.motion.measured.force_plates import MeasuredWrenches
from humanoid_dynamics.motion.measured.open_contacts import OpenContacts, find_open_contacts
from humanoid_dynamics.motion.measured.plate_doubts import find_plate_doubts
from humanoid_dynamics.motion.measured.rate_doubts import find_rate_doubts
from humanoid_dynamics.resolution.certificate import AnswerStatus
from humanoid_dynamics.resolution.inverse import InverseDynamics
from humanoid_dynamics.resolution.rules import DEFAULT_RULE, Rule, find_rule
from humanoid_dynamics.resolution.units import coordinate_units
from humanoid_dynamics.spatial.arrays import Matrix, Vector

BETWEEN = 64  # frames from one word on the progress to the next
WORLD = pin.ReferenceFrame.WORLD
FREE_BASE = tuple(
    (f"{what} {axis}", unit) for what, unit in (("force", "N"), ("moment", "N·m")) for axis in "xyz"
)

PROOF = ("residual", "normal_margin", "friction_margin", "cop_margin", "torque_margin")

Watch = Callable[[float], None]


@dataclass(frozen=True, eq=False)
class MotionTorques:
    """Torques of a motion, and what they leave unexplained.

    Attributes:
        clip: The motion, complete, with notices of what was assumed.
        columns: Names of the coordinates of the joints, without those of the root.
        units: Their units, N·m or N.
        tau: (n, columns) their torques.
        root: Name and unit of each row of the residual.
        residual: (n, root) what is missing at the root, zero for an exact answer: of a free base force and moment about its origin, in
            axes of the world, else in the coordinates of the root.
        lacking: (n,) the largest that a joint lacks: passive ones, and motors at their limits [N·m or N]; zero without a rule.
        rule: Rule that resolved contacts; empty where none did.
        statuses: How many frames had each status of a certificate; empty without a rule.
        first_fault: When a certificate first was not ``OK``, and why; empty where none was.
        surfaces: Surfaces whose wrenches the rule found.
        wrenches: (n, surfaces, 6) their force and moment about the origin of the surface, axes of the world [N, N·m].
        proofs: (n, 5) residual and smallest margins of each certificate: normal force, friction, centre of pressure, torque, as
            ``PROOF`` names them.
    """

    clip: Clip
    columns: tuple[str, ...]
    units: tuple[str, ...]
    tau: Matrix = field(repr=False)
    root: tuple[tuple[str, str], ...]
    residual: Matrix = field(repr=False)
    lacking: Vector = field(repr=False)
    rule: str = ""
    statuses: Mapping[AnswerStatus, int] = field(default_factory=dict)
    first_fault: str = ""
    surfaces: tuple[str, ...] = ()
    wrenches: Matrix = field(repr=False, default_factory=lambda: np.zeros((0, 0, 6)))
    proofs: Matrix = field(repr=False, default_factory=lambda: np.zeros((0, len(PROOF))))


def solve_motion(
    clip: Clip,
    measured: MeasuredWrenches | None = None,
    rule: str | Rule | None = None,
    watch: Watch | None = None,
) -> MotionTorques:
    """Find the torques of every frame of a motion.

    Measured wrenches act as they are.  A rule finds those of surfaces whose link was not measured, or not at that time.  Without a rule
    nothing else pushes, and what is missing stays at the base.  Where measured wrenches leave no contact to a
    rule it is not asked.

    Args:
        clip: The motion; velocities and accelerations it does not have are differentiated.
        measured: Measured wrenches.
        rule: The rule; ``DEFAULT_RULE`` where None and nothing was measured.
        watch: Told which part of the frames is done.

    Returns:
        The torques.

    Raises:
        ClipError: If the motion is longer than what was measured and no rule is given, or nothing of it was measured, or it holds numbers
            too large to compute with.
        UnknownNameError: If the rule does not exist.
    """
    with np.errstate(all="ignore"):
        given, clip = clip, complete_rates(clip)
    covered = np.zeros(len(clip), dtype=bool) if measured is None else measured.covers(clip.times)
    if measured is not None and not (covered.any() if rule else covered.all()):
        raise _outside(clip, measured, int(np.flatnonzero(~covered)[0]))
    free = _free_torques(clip)
    clip = clip.change(notices=(*clip.notices, *find_rate_doubts(given, clip)))
    forces = (
        np.zeros_like(free)
        if measured is None
        else _measured_forces(clip, measured, covered, watch)
    )
    if measured is not None:
        late = len(clip) - int(np.count_nonzero(covered))
        told = (
            (
                f"not measured: {late} of {count(len(clip), 'frame')}, in which the rule takes all contacts",
            )
            if late
            else ()
        )
        clip = clip.change(
            notices=(*clip.notices, *measured.notices, *told, *find_plate_doubts(clip, measured))
        )
    if measured is not None and rule is None:
        return _pack(clip, free - forces, free - forces)
    chosen = find_rule(DEFAULT_RULE if rule is None else rule)
    found = find_open_contacts(
        clip, free - forces, () if measured is None else measured.links, covered
    )
    if covered.all() and not found.shares.any():
        told = (f"no contact is left for rule {chosen.name}: those that touch were measured",)
        return _pack(clip.change(notices=(*clip.notices, *told)), free - forces, free - forces)
    return _resolve(clip, chosen, forces, found, watch, measured=measured)


def _outside(clip: Clip, measured: MeasuredWrenches, row: int) -> ClipError:
    first, last = measured.times[0], measured.times[-1]
    overlap = bool(measured.covers(clip.times).any())
    advice = (
        "shorten the motion, or name a rule for what was not measured"
        if overlap
        else "expected the clock of the motion"
    )
    problem = f"{clip.times[row]:.9g} s was not measured: {measured.origin} goes from {first:.9g} s to {last:.9g} s; {advice}"
    return ClipError(clip.origin, problem, row=row, column="time")


def _free_torques(clip: Clip) -> Matrix:
    """Return the torques of the motion if nothing touched, (n, nv)."""
    model, data = clip.robot.model, clip.robot.data()
    v, a = np.asarray(clip.v), np.asarray(clip.a)
    with np.errstate(all="ignore"):
        free = np.array([pin.rnea(model, data, *row) for row in zip(clip.q, v, a, strict=True)])
    bad = np.flatnonzero(~np.isfinite(free).all(axis=1))
    if bad.size:
        raise ClipError(clip.origin, "holds values too large for computation", row=int(bad[0]))
    return free


def _measured_forces(
    clip: Clip, measured: MeasuredWrenches, covered: NDArray[np.bool_], watch: Watch | None
) -> Matrix:
    """Return the generalized forces of what was measured, (n, nv): J'w with both about the origin of the world."""
    robot, data = clip.robot, clip.robot.data()
    joints = [robot.model.frames[robot.link_frame(link)].parentJoint for link in measured.links]
    wrenches, forces = measured.at(clip.times), np.zeros((len(clip), robot.nv))
    for k in np.flatnonzero(covered):
        pin.computeJointJacobians(robot.model, data, clip.q[k])
        for joint, wrench in zip(joints, wrenches[k], strict=True):
            forces[k] += pin.getJointJacobian(robot.model, data, joint, WORLD).T @ wrench
        if watch is not None and k % BETWEEN == 0:
            watch(k / len(clip))
    return forces


def _resolve(
    clip: Clip,
    rule: Rule,
    forces: Matrix,
    found: OpenContacts,
    watch: Watch | None,
    *,
    measured: MeasuredWrenches | None,
) -> MotionTorques:
    solver, robot = InverseDynamics(clip.robot, found.names, rule), clip.robot
    v, a = np.asarray(clip.v), np.asarray(clip.a)
    tau, missing = np.zeros((2, len(clip), robot.nv))
    wrenches, proofs = np.zeros((len(clip), len(found.names), 6)), np.zeros((len(clip), len(PROOF)))
    statuses: Counter[AnswerStatus] = Counter()
    fault = ""
    for k in range(len(clip)):
        answer = solver.solve(clip.q[k], v[k], a[k], found.shares[k], force=forces[k])
        statuses[answer.certificate.status] += 1
        if not fault and answer.certificate.status is not AnswerStatus.OK:
            fault = f"at {clip.times[k]:.3f} s: {'; '.join((*answer.certificate.reasons, *_tell_measured(measured, clip.times[k : k + 1])))}"
        tau[k, robot.actuated_v], missing[k] = answer.tau, answer.missing
        proofs[k] = [getattr(answer.certificate, name) for name in PROOF]
        for column, name in enumerate(found.names):
            if name in answer.wrenches:
                wrenches[k, column] = (*answer.wrenches[name].f_W, *answer.wrenches[name].m_W)
        if watch is not None and k % BETWEEN == 0:
            watch(k / len(clip))
    told = clip.change(notices=(*clip.notices, *found.notices))
    answered = _pack(told, tau, missing)
    joints = np.setdiff1d(np.arange(robot.nv), np.arange(robot.nv)[_root(robot)])
    lacking = np.max(np.abs(missing[:, joints]), axis=1, initial=0.0)
    told_by_rule = replace(
        answered, lacking=lacking, rule=rule.name, statuses=dict(statuses), first_fault=fault
    )
    return replace(told_by_rule, surfaces=found.names, wrenches=wrenches, proofs=proofs)


def _tell_measured(measured: MeasuredWrenches | None, times: Vector) -> tuple[str, ...]:
    """Tell what was measured at one instant, (1,), besides what a rule found."""
    if measured is None or not measured.covers(times).all():
        return ()
    sizes = np.linalg.norm(measured.at(times)[0, :, :3], axis=1)
    return (
        "measured there: "
        + ", ".join(
            f"{size:.4g} N on {link}" for link, size in zip(measured.links, sizes, strict=True)
        ),
    )


def _pack(clip: Clip, tau: Matrix, missing: Matrix) -> MotionTorques:
    robot, root = clip.robot, _root(clip.robot)
    joints = [index for index in range(robot.nv) if not root.start <= index < root.stop]
    names, units = velocity_columns(robot), coordinate_units(robot)
    residual, rows = (
        np.array(missing[:, root]),
        tuple((names[i], units[i]) for i in range(root.start, root.stop)),
    )
    if robot.root == "free_flyer":
        R_WB = np.array([pin.Quaternion(q[3:7]).toRotationMatrix() for q in clip.q])
        residual, rows = (
            np.einsum("nij,nkj->nki", R_WB, residual.reshape(-1, 2, 3)).reshape(-1, 6),
            FREE_BASE,
        )
    chosen = tuple(names[i] for i in joints), tuple(units[i] for i in joints)
    return MotionTorques(
        clip, *chosen, np.array(tau[:, joints]), rows, residual, np.zeros(len(clip))
    )


def _root(robot: RobotModel) -> slice:
    """Return the velocity coordinates of the joint that no motor drives at the root: none on a fixed base."""
    return robot.joints[0].v if robot.root != "fixed" and robot.joints else slice(0, 0)
