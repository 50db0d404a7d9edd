# SPDX-License-Identifier: Apache-2.0
"""The controller of a robot on its feet: messages in, torques out, and a status that says how things stand.

It follows a reference where there is one and holds the posture it found where there is none.  Load passes between the feet as the schedule
of the reference has it, and waits for contacts that do not come.  Whatever is wrong with the numbers, the torques stay finite: they fade
where the state cannot be believed, and damp where the robot has fallen.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import acos

import numpy as np

from humanoid_dynamics.contact.phases import ContactPhaseStatus, PhaseManager
from humanoid_dynamics.contact.schedule import ContactInterval, ContactSchedule
from humanoid_dynamics.control.balance_settings import BalanceSettings, BalanceStatus, Torques
from humanoid_dynamics.control.contact_state import ContactState, ContactThresholds
from humanoid_dynamics.control.measured import MeasuredState
from humanoid_dynamics.control.reference import Reference
from humanoid_dynamics.control.safe_output import SafeTorques
from humanoid_dynamics.control.whole_body import Gains, WholeBodyLaw, check_floating_base
from humanoid_dynamics.dynamics.joint_friction import compute_joint_friction, has_joint_friction
from humanoid_dynamics.errors import UnknownNameError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.resolution.answer import Answer
from humanoid_dynamics.resolution.certificate import AnswerStatus
from humanoid_dynamics.resolution.inverse import InverseDynamics
from humanoid_dynamics.resolution.rules import RULES, find_rule
from humanoid_dynamics.spatial.arrays import Vector, read_only

SEEK_SPEED, SEEK_DEPTH = 0.1, 0.03  # m/s and m; how a sole that should touch looks for the ground
PUT_DOWN_SPEED, PUT_DOWN_DEPTH = (
    0.15,
    0.1,
)  # m/s and m; how every sole in the air goes down where it is to land
LANDING, LANDING_SPEED = (
    0.06,
    0.05,
)  # s and m/s; how early and how fast a sole that is about to touch goes below its reference
LONGEST = 0.02  # s between ticks that counts
CREEP = 0.03  # rad/s or m/s; width of the step of dry friction at rest
LOST_AFTER = 0.03  # s for which a contact that bears load must be open until it is lost
PATIENCE = 0.15  # s for which a motion goes on without a sole that should have touched
LEAVING = 0.15  # share of the load below which a contact that opens is leaving as planned
LATE_CONTACTS = {
    ContactPhaseStatus.WAITING: BalanceStatus.CONTACT_WAITING,
    ContactPhaseStatus.LOST: BalanceStatus.CONTACT_LOST,
}


class BalanceController:
    """Keeps one robot in balance; not for several threads at once.

    Attributes:
        robot: The robot.
        measured: What is known of its state.
        reference: What it is asked to do.
        law: From both to accelerations.
    """

    def __init__(
        self,
        robot: RobotModel,
        settings: BalanceSettings | None = None,
        gains: Gains | None = None,
    ) -> None:
        """Prepare.

        Args:
            robot: The robot; it stands on surfaces in its resting posture.
            settings: How it behaves.
            gains: How strongly errors are answered.

        Raises:
            UnsupportedRobotError: If the root is not free, or a joint has several freedoms.
        """
        check_floating_base(robot)
        self.robot, self.settings = robot, settings or BalanceSettings()
        self.measured = MeasuredState(robot)
        self.reference = Reference(robot, self.settings.blend)
        self.limits = np.minimum(robot.limits.effort[robot.actuated_v], 1e6)
        self._solver = InverseDynamics(robot, rule=self.settings.rule, joint_friction=False)
        self.law = WholeBodyLaw(self._solver.problem, gains)
        self._solver.prepare(RULES)
        self._rule = self._before = self._solver.rule
        self._switched = -np.inf
        self._weight = self._solver.problem.unit_force
        self._damping = SafeTorques(robot.actuated, self.limits, robot=robot)
        self._ended = ContactSchedule.of(
            ContactInterval(name, -np.inf, np.inf, 0.0, 0.0) for name in self.law.names
        )
        self.forget()

    def forget(self) -> None:
        """Begin anew, as after a reset of the clock."""
        self.measured.forget()
        self.reference = Reference(self.robot, self.settings.blend)
        self._phases = PhaseManager(self._ended)
        self._contacts = {name: ContactState(self._thresholds()) for name in self.law.names}
        self._told: dict[str, bool] = {}
        self._opened: dict[
            str, float
        ] = {}  # contacts that should bear load and are open, since when
        self._given: Vector = np.ones(len(self.law.names))
        self._holding, self._complaint, self._skewed = False, "", False
        self._good_at = -np.inf
        self._rewound = ""
        self._last_q: Vector = self.measured.q
        self._last = Torques(
            read_only(np.zeros(len(self.robot.actuated))),
            BalanceStatus.WAITING,
            "no state received",
        )

    def hold_posture(self) -> None:
        """Drop reference and schedule, and hold the posture that the next state shows; contacts stay as they were measured."""
        self.reference = Reference(self.robot, self.settings.blend)
        self._phases = PhaseManager(self._ended)
        self._told, self._holding = {}, False
        self.law.sink[:] = self.law.sinking[:] = 0.0

    def change(self, settings: BalanceSettings) -> None:
        """Take other settings while running; a new rule takes over gradually.

        Args:
            settings: The settings.
        """
        rule = find_rule(settings.rule)
        if rule is not self._rule:
            self._before, self._rule, self._switched = self._rule, rule, self.measured.joints_at
        self.settings = settings
        self.reference.blend = settings.blend
        for contact in self._contacts.values():
            contact.thresholds = self._thresholds()

    def observe_joints(
        self, names: Sequence[str], positions: Vector, velocities: Vector, stamp: float, now: float
    ) -> bool:
        """Take a joint state; see ``MeasuredState.put_joints``.

        Args:
            names: Joint names.
            positions: (len(names),) positions [rad or m].
            velocities: (len(names),) velocities [rad/s or m/s].
            stamp: When it was measured [s].
            now: The time [s].

        Returns:
            Whether it was taken.
        """
        known = self._in_time(stamp, now, self.measured.measured_at(names))
        return known and self._accept(self.measured.put_joints(names, positions, velocities, stamp))

    def observe_base(self, pose: Vector, twist: Vector, stamp: float, now: float) -> bool:
        """Take odometry; see ``MeasuredState.put_base``.

        Args:
            pose: (7,) position and quaternion [m].
            twist: (6,) velocity in axes of the root link [m/s, rad/s].
            stamp: When it was measured [s].
            now: The time [s].

        Returns:
            Whether it was taken.
        """
        return self._in_time(stamp, now, self.measured.base_at) and self._accept(
            self.measured.put_base(pose, twist, stamp)
        )

    def observe_contact(self, surface: str, normal_force: float, t: float) -> None:
        """Take the normal force on a sole; other surfaces are passed over.

        Args:
            surface: Its name.
            normal_force: The force [N].
            t: When it was measured [s].
        """
        if self.settings.contact_source == "wrench" and surface in self._contacts:
            self._feel(surface, normal_force, t)

    def observe_contact_probability(self, surface: str, probability: float, t: float) -> None:
        """Take the contact probability of a sole from a state estimator; other surfaces are passed over.

        Args:
            surface: Its name.
            probability: Probability that the sole carries load.
            t: When it was measured [s].
        """
        if self.settings.contact_source == "estimate" and surface in self._contacts:
            self._feel(surface, probability, t)

    def schedule(self, schedule: ContactSchedule, start: float) -> None:
        """Take when which sole bears how much; those it does not name are in the air.

        Args:
            schedule: The schedule, in absolute times.
            start: The time [s].

        Raises:
            UnknownNameError: If it names a surface that is no sole.
        """
        for name in schedule.surfaces:
            if name not in self.law.names:
                raise UnknownNameError("sole", name, self.law.names)
        self._phases = PhaseManager(schedule, start, PATIENCE)
        self._told = {}

    def command(self, t: float) -> Torques:
        """Return the torques for the state measured last.

        Args:
            t: When it was measured [s].
        """
        missing = self.measured.missing or (
            "no reference yet" if self.settings.await_reference and not self.reference.begun else ""
        )
        stale = self.measured.explain_age(t, self.settings.timeout)
        if missing or (stale and self._last.status is BalanceStatus.WAITING):
            self._last = Torques(self._last.tau, BalanceStatus.WAITING, missing or stale)
            return self._last
        if stale:
            return self._fade(t, stale)
        if not self._holding:
            self.reference.hold(self.measured.q)
            self._holding = True
        dt, self._good_at = t - self._good_at, t
        self._tell_phases(t)
        phase = self._phases.phase(t)
        self._seek(min(dt, LONGEST), phase.status is ContactPhaseStatus.WAITING)
        wanted = self.reference.at(
            phase.schedule_time if self._phases.schedule is not self._ended else t, t
        )
        q, v = self.measured.q, self.measured.v
        if self._tilt(wanted.q) > self.settings.fall_tilt:
            self._damping.observe(self.robot.actuated, np.zeros(0), v[self.robot.actuated_v])
            tau = np.clip(self._damping.torques(0.0), -self.limits, self.limits)
            self._last = Torques(
                read_only(tau),
                BalanceStatus.FALLEN,
                f"the root link is tilted by {np.degrees(self._tilt(wanted.q)):.0f} degrees",
            )
            return self._last
        shares = self._shares(phase.shares)
        a = self.law.accelerate(q, v, wanted, tuple((shares > 0.0).tolist()))
        if self.settings.contact_source == "geometry":
            for name, height in self.law.heights().items():
                self._feel(name, -height, t)
        rubs = self.settings.joint_friction and has_joint_friction(
            self.robot
        )  # by the reference: a measured velocity is noisy
        answer = self._solver.solve(
            q,
            v,
            a,
            shares,
            force=-compute_joint_friction(self.robot, wanted.v, CREEP) if rubs else None,
        )
        tau, answer = self._mix_rules(answer, t)
        status, reason = self._judge(answer, t, phase.status, phase.reason)
        self._last = Torques(
            read_only(np.minimum(np.maximum(tau, -self.limits), self.limits)),
            status,
            reason,
            answer,
        )
        return self._last

    def watch(self, now: float) -> Torques | None:
        """Return what is to be sent although no good state has come; None where all is well, or nothing has begun.

        Args:
            now: The time [s].
        """
        age = self._age(now)
        if self._last.status is BalanceStatus.WAITING or age <= self.settings.timeout:
            return None
        late = (
            self.measured.explain_age(now, self.settings.timeout)
            or f"no good state for {1e3 * age:.0f} ms"
        )
        return self._fade(now, f"{late}; {self._complaint}" if self._complaint else late)

    def _age(self, now: float) -> float:
        """Return the age of the oldest part of the state [s]."""
        return now - min(self._good_at, self.measured.joints_at, self.measured.base_at)

    def _fade(self, now: float, why: str) -> Torques:
        """Return the last torques, which fade with the age of the state.

        Args:
            now: The time [s].
            why: What is missing.
        """
        age = self._age(now)
        share = (
            min(
                max(0.0, 1.0 - (age - self.settings.timeout) / self.settings.fade_out_duration), 1.0
            )
            if np.isfinite(age)
            else 0.0
        )
        return Torques(
            read_only(share * self._last.tau),
            BalanceStatus.STATE_SKEWED if self._skewed else BalanceStatus.STATE_STALE,
            why,
        )

    def _in_time(self, stamp: float, now: float, before: float) -> bool:
        """Return whether a stamp is near enough to now; where it went back against that before from the same source, all begins anew."""
        settings = self.settings
        if stamp < before - settings.skew and abs(now - stamp) <= settings.timeout + settings.skew:
            said = f"stamps went back by {before - stamp:.3f} s"
            self.forget()
            self._rewound = said
        self._skewed = not -settings.skew <= now - stamp <= settings.timeout
        if self._skewed:
            self._complaint = f"a state is stamped {1e3 * (stamp - now):+.0f} ms from now"
            return False
        return True

    def _accept(self, taken: bool) -> bool:
        self._complaint = "" if taken else self.measured.fault
        return taken

    def complain(self, why: str) -> None:
        """Note that a state came that is none.

        Args:
            why: What is wrong with it.
        """
        self._complaint, self._skewed = why, False

    def refused(self) -> Torques | None:
        """Return the last torques with the reason for which the latest state was refused; None where it was not."""
        if not self._complaint or self._last.status is BalanceStatus.WAITING:
            return None
        return Torques(
            self._last.tau,
            BalanceStatus.STATE_SKEWED if self._skewed else BalanceStatus.STATE_REFUSED,
            self._complaint,
            self._last.answer,
        )

    def _thresholds(self) -> ContactThresholds:
        s = self.settings
        if s.contact_source == "geometry":
            return ContactThresholds(-0.5 * s.ground_gap, -s.ground_gap, s.debounce)
        if s.contact_source == "estimate":
            return ContactThresholds(
                s.contact_on_probability, s.contact_off_probability, s.debounce
            )
        return ContactThresholds(
            s.contact_on_threshold * self._weight,
            s.contact_off_threshold * self._weight,
            s.debounce,
        )

    def _feel(self, surface: str, measure: float, t: float) -> None:
        self._contacts[surface].observe(measure, t)

    def _tell_phases(self, t: float) -> None:
        """Pass on which contacts closed and opened; one that opens while it gives its last load away has not been lost."""
        if self.settings.contact_source == "assumed":
            return
        for name, given in zip(self.law.names, self._given.tolist(), strict=True):
            closed = self._contacts[name].closed
            if closed or not given:
                self._opened.pop(name, None)
            flickers = (
                not closed and given > 0.0 and t - self._opened.setdefault(name, t) < LOST_AFTER
            )
            leaving = flickers or (not closed and 0.0 < given < LEAVING)
            if (
                name in self._phases.schedule.surfaces
                and closed != self._told.get(name)
                and not leaving
            ):
                self._phases.observe(name, closed, t)
                self._told[name] = closed

    def _seek(self, dt: float, waits: bool) -> None:
        """Let soles that are to touch go down: a little when it is soon, farther when it should have been; those that touch stay."""
        absent = self._phases.absent
        for k, name in enumerate(self.law.names):
            soon = self._phases.touches_within(name, LANDING)
            deepest = (
                SEEK_DEPTH if waits or name in absent else LANDING * LANDING_SPEED if soon else 0.0
            )
            speed = SEEK_SPEED if waits or name in absent else LANDING_SPEED
            if self.settings.land:
                deepest, speed = PUT_DOWN_DEPTH, PUT_DOWN_SPEED
            sinks = (
                deepest > 0.0
                and not self._contacts[name].closed
                and self._given[k] == 0.0
                and self.law.sink[k] < deepest
            )
            self.law.sinking[k] = speed if sinks else 0.0
            self.law.sink[k] = (
                min(self.law.sink[k] + dt * speed, deepest)
                if sinks
                else self.law.sink[k]
                if not self._given[k]
                else 0.0
            )

    def _shares(self, scheduled: Vector) -> Vector:
        """Return shares in the order of the soles."""
        shares = np.zeros(len(self.law.names))
        for name, share in zip(self._phases.schedule.surfaces, scheduled.tolist(), strict=True):
            shares[self.law.names.index(name)] = share
        self._given = shares
        return shares

    def _tilt(self, wanted: Vector) -> float:
        """Return the angle between the vertical axes of the root link now and in the reference [rad]."""
        (x, y, z, w), (a, b, c, d) = self.measured.q[3:7].tolist(), wanted[3:7].tolist()
        along = 4.0 * ((x * z - w * y) * (a * c - d * b) + (y * z + w * x) * (b * c + d * a))
        upright = (1.0 - 2.0 * (x * x + y * y)) * (1.0 - 2.0 * (a * a + b * b))
        return acos(min(max(along + upright, -1.0), 1.0))

    def _mix_rules(self, answer: Answer, t: float) -> tuple[Vector, Answer]:
        """Return the torques of the rule; while it takes over, a mean of both, which moves the robot alike."""
        if self._rule is not self._solver.rule:
            answer = self._solver.resolve_with(self._rule)
        s = (t - self._switched) / self.settings.rule_blend
        if not 0.0 <= s < 1.0 or self._before is self._rule:
            return answer.tau, answer
        return (1.0 - s) * self._solver.resolve_with(self._before).tau + s * answer.tau, answer

    def _judge(
        self, answer: Answer, t: float, phase: ContactPhaseStatus, why: str
    ) -> tuple[BalanceStatus, str]:
        if self._rewound:
            said, self._rewound = self._rewound, ""
            return BalanceStatus.TIME_BACK, said
        certificate = answer.certificate
        if certificate.status not in {
            AnswerStatus.OK,
            AnswerStatus.INCONSISTENT_CONTACT,
        }:  # measured soles are never quite at rest
            infeasible = certificate.status in {
                AnswerStatus.UNSUPPORTED,
                AnswerStatus.INVALID_INPUT,
            }
            return (BalanceStatus.INFEASIBLE if infeasible else BalanceStatus.LIMITED), "; ".join(
                certificate.reasons
            )
        if phase in LATE_CONTACTS:
            return LATE_CONTACTS[phase], why
        if self.reference.fault:
            return BalanceStatus.REFERENCE_REJECTED, self.reference.fault
        status, why = self._judge_reference(t)
        if self.measured.estimated.any():
            return (
                BalanceStatus.VELOCITIES_ESTIMATED,
                f"{status}; {self.measured.estimated.sum()} joints come without velocities",
            )
        return status, why

    def _judge_reference(self, t: float) -> tuple[BalanceStatus, str]:
        if not self.reference.begun:
            return BalanceStatus.STANDING, ""
        ended = t > self.reference.end
        return (BalanceStatus.REFERENCE_ENDED if ended else BalanceStatus.FOLLOWING), (
            f"ended {t - self.reference.end:.2f} s ago" if ended else ""
        )
