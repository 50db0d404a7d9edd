"""The world that steps.

A step goes to the middle of itself (q_M = q + dt/2 v), takes all terms there, finds the velocity at its end and moves on with the mean
of both: for smooth motion this is the leapfrog, of second order.  Constraints speak about velocities, so contacts stick, slide and
part within a step, and impacts cut a step in two where they happen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pinocchio as pin

from humanoid_dynamics.dynamics.change import Change, apply_events
from humanoid_dynamics.dynamics.mechanism import Mechanism, all_finite
from humanoid_dynamics.errors import UnknownNameError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.model.state import State
from humanoid_dynamics.simulation.books import Books, measure_energy
from humanoid_dynamics.simulation.command import read_torque
from humanoid_dynamics.simulation.detection import LimitTable
from humanoid_dynamics.simulation.friction import FrictionContacts, Touching
from humanoid_dynamics.simulation.joint_forces import JointForces
from humanoid_dynamics.simulation.push import Push, shifted
from humanoid_dynamics.simulation.setup import FASTEST, HOOKS, LONGEST_STEP, PointForce, Setup, StepReport, fastest_coordinate
from humanoid_dynamics.simulation.sweep import sweep
from humanoid_dynamics.simulation.terms import Terms
from humanoid_dynamics.simulation.terrain import build_terrain
from humanoid_dynamics.simulation.touch_points import TouchPoint, bind_points, list_body_points, list_surface_points
from humanoid_dynamics.snake.compiled import select_kernel
from humanoid_dynamics.spatial.arrays import Matrix, Vector, check_vector, read_only
from humanoid_dynamics.structure.events import Break, Event

Hook = Callable[["World"], None]
CLOSED = 1e-11
RECLOSE = 3
MOST_IMPACTS = 8


class World:
    """Bodies in one tree, their constraints and surroundings, and where they are.

    Attributes:
        robot: All bodies as one robot, with its own copy of the model.
        mechanism: Bilateral constraints; edit them through ``apply``.
        actuated: Names of the coordinates ``step`` takes torques for.
        q: (nq,) configuration.
        v: (nv,) velocity.
        t: Time [s].
        books: Energy since the start.
        touching: What touched in the last part of the last step.
        lam: (k,) mean force of each bilateral row in the last part of the last step [N, N·m].
        reason: Why the world has stopped; empty while it runs.
    """

    def __init__(self, robot: RobotModel, setup: Setup | None = None, state: State | None = None) -> None:
        """Put a robot into a world.

        Args:
            robot: The robot, or several as one tree.
            setup: Its surroundings; free space with gravity where left out.
            state: Where it starts; at rest in its posture where left out.

        Raises:
            UnknownNameError: If the setup names what does not exist.
            ShapeError: If the state does not fit.
            SingularInertiaError: If a link moves without inertia.
        """
        self.setup = setup or Setup()
        self._points: str | tuple[TouchPoint, ...] = self.setup.points
        model = robot.model.copy()
        model.gravity.linear = check_vector("gravity", self.setup.gravity, 3)
        own = replace(robot, model=model)
        own.check_inertia("a world that steps")
        start = (State.at_rest(own) if state is None else state).check(own)
        passive = set(self.setup.passive)
        for name in passive - set(own.actuated):
            raise UnknownNameError("motor", name, own.actuated)
        self._terrain = build_terrain(self.setup.terrain)
        self._kernel = select_kernel(sweep, self.setup.compiled)
        self._hooks: dict[str, list[Hook]] = {name: [] for name in HOOKS}
        self._pushes: list[Push] = []
        self.t, self.reason = 0.0, ""
        self._v_before: Vector | None = None
        self._pushed: Vector | None = None
        self.q, self.v = np.array(start.q), np.array(start.v)
        self._bind(Mechanism(own, actuated=[name for name in own.actuated if name not in passive]))
        energy = measure_energy(model, self._audit_data, self.q, self.v)
        self.books = Books(energy, energy)

    @property
    def state(self) -> State:
        """Where the world is, as a value of its own."""
        return State(self.q, self.v)

    def add_hook(self, name: str, hook: Hook) -> None:
        """Let a function be called in every step.

        Args:
            name: When; one of ``HOOKS``, which are called in this order.
            hook: The function; it gets the world.

        Raises:
            UnknownNameError: If there is no such moment.
        """
        if name not in self._hooks:
            raise UnknownNameError("hook", name, HOOKS)
        self._hooks[name].append(hook)

    def push(
        self, link: str, force: Sequence[float], duration: float, *, moment: Sequence[float] = (0, 0, 0), point: Sequence[float] = (0, 0, 0)
    ) -> None:
        """Push a link from now on for a while.

        Args:
            link: The link.
            force: (3,) force in the world [N].
            duration: How long [s].
            moment: (3,) moment in the world [N·m].
            point: (3,) where, in the link [m].

        Raises:
            UnknownNameError: If there is no such link.
            ShapeError: If a number is not finite.
        """
        self.robot.link_frame(link)
        lasting = float(check_vector("duration", [duration], 1)[0])
        pairs = (("force", force), ("moment", moment), ("point", point))
        F, M, p = (read_only(check_vector(field, value, 3)) for field, value in pairs)
        self._pushes.append(Push(link, F, M, p, self.t, lasting))

    def apply(self, events: Sequence[Event]) -> Change:
        """Let the structure change now: all events in one batch, then one impact.

        Args:
            events: What happens.

        Returns:
            What it led to.

        Raises:
            UnknownNameError: If an event names what is not there.
        """
        change = apply_events(self.mechanism, self.state, events)
        rebuilt = any(isinstance(event, Break) for event in events)
        self.q, self.v = np.array(change.state.q), np.array(change.state.v)
        if rebuilt:
            self._bind(change.mechanism)
        self._contacts.forget()
        self._v_before = None
        energy = measure_energy(self.robot.model, self._audit_data, self.q, self.v)
        self.books.work["loops"] += energy - self.books.energy
        self.books.energy = energy
        return change

    def step(self, dt: float, tau: Vector | Mapping[str, float] | None = None) -> StepReport:
        """Advance by one step.

        Args:
            dt: Its length [s]; up to 20 ms.
            tau: (na,) torques in the order of ``actuated``, or coordinate name -> torque [N·m, N]; none where left out.

        Returns:
            What happened; trouble with numbers is a status there.

        Raises:
            ShapeError: If there are too many or too few torques.
            UnknownNameError: If a coordinate has no motor.
        """
        if self.reason:
            return StepReport(self.t, "stopped", self.reason)
        if not 0.0 < dt <= LONGEST_STEP:
            return StepReport(self.t, "invalid_input", f"a time step of {dt} s; expected one between 0 and {LONGEST_STEP} s")
        command = read_torque(self.actuated, self._effort, tau)
        self._tau = command.tau
        self._run("before_step")
        before = self.q, self.v, self.t
        impacts = self._advance(dt)
        if self._has_stopped():
            self.q, self.v, self.t = before
            return StepReport(self.t, "stopped", self.reason)
        self.t = before[2] + dt
        self._audit()
        self._run("after_step")
        return self._report(command.status, command.reason, impacts)

    def contact_forces(self) -> tuple[PointForce, ...]:
        """Return the mean forces on all points that touched in the last part of the last step."""
        names, links, touched = self._contacts.table.names, self._contacts.table.links, self.touching
        return tuple(
            PointForce(names[i], links[i], read_only(place), read_only(impulse / self._span))
            for i, place, impulse in zip(touched.index.tolist(), touched.place, touched.impulse, strict=True)
            if impulse.any()
        )

    def _bind(self, mechanism: Mechanism) -> None:
        """Take a tree: tables of points and limits, work spaces."""
        robot = mechanism.robot
        self.mechanism, self.robot = mechanism, robot
        self.actuated = tuple(robot.coordinates[index] for index in mechanism.actuated)
        self._effort = robot.limits.effort[mechanism.actuated]
        if self._points == "body":
            self._points = list_body_points(robot)
        elif isinstance(self._points, str):
            self._points = list_surface_points(robot)
        table = bind_points(robot, self._points)
        self._contacts = FrictionContacts(table, self._terrain, LimitTable(robot) if self.setup.limits else None, self._kernel)
        self._joints = JointForces(robot, self.setup.drive)
        self._terms = Terms(mechanism.kinematics, mechanism.constraints)
        self._audit_data = robot.data()
        self._tau = np.zeros(len(self.actuated))
        self._v_before = None
        self._span = 1.0
        self._closure = 0.0
        self.lam: Vector = np.zeros(mechanism.constraints.size)
        self.touching = Touching(np.zeros(0, dtype=np.intp), np.zeros((0, 3)), np.zeros((0, 3)), 0.0, None)

    def _advance(self, dt: float) -> int:
        """Go through a step, cut in two wherever something hits; return the number of impacts."""
        left, impacts = dt, 0
        for impacts in range(MOST_IMPACTS):
            hit = self._smooth(left, stop_at_impact=True)
            if hit is None or self.reason:
                return impacts
            if hit > 1e-9 * dt:
                self._smooth(hit)
                left -= hit
            self._impact()
            if self.reason or left <= 1e-9 * dt:
                return impacts + 1
        self._smooth(left, all_slow=True)
        return impacts + 1

    def _smooth(self, dt: float, *, stop_at_impact: bool = False, all_slow: bool = False) -> float | None:
        """Take a step without impacts; with ``stop_at_impact`` only tell when one would come, if one comes."""
        terms, contacts, v = self._terms, self._contacts, self.v
        q_M = pin.integrate(self.robot.model, self.q, (0.5 * dt) * v)
        force = self._compute_terms(q_M, dt)
        self._run("after_terms")
        contacts.look(terms, dt)
        hit = contacts.find_impact(v, dt) if stop_at_impact else None
        self._run("after_detect")
        if hit is not None:
            return hit
        z_0 = terms.momentum(v)
        z_free = z_0 + dt * terms.whiten(force)
        z = z_free - terms.Q.dot(terms.Q.T.dot(z_free + z_0)) if terms.Q.shape[1] else z_free
        z, self.touching = contacts.solve(terms, q_M, v, z, dt, all_slow=all_slow)
        self._run("after_forces")
        self._move(z, dt, z_free)
        return None

    def _compute_terms(self, q_M: Vector, dt: float) -> Vector:
        """Evaluate everything in the middle of the step; return the force at v."""
        v = self.v
        v_M = v if self._v_before is None else v + 0.5 * (v - self._v_before)
        implicit = None
        own: Vector | None = None
        if not self._joints.idle:
            own, implicit = self._joints.prepare(q_M, v, dt)
        self._terms.evaluate(q_M, v_M, implicit)
        if not self._terms.ok:
            self._stop("the inertia is not positive definite", v)
        self._terms.hold(q_M)
        force = -self._terms.h
        if own is not None:
            force += own
        force[self.mechanism.actuated] += self._tau
        self._pushed = self._push_force(dt)
        return force if self._pushed is None else force + self._pushed

    def _move(self, z: Vector, dt: float, z_free: Vector) -> None:
        """Take the new velocity, move on with the mean of both, and close what came apart."""
        terms, v = self._terms, self.v
        v_next = terms.velocity(z)
        if not self._is_sane(v_next):
            return
        mean = 0.5 * (v + v_next)
        if self.setup.audit:
            self._enter(mean, v_next, dt, z - z_free)
        if terms.Q.shape[1]:
            self.lam = terms.multipliers(terms.Q.T.dot(z - z_free)) / dt
        self.q = pin.integrate(self.robot.model, self.q, dt * mean)
        self._v_before, self.v, self._span = v, v_next, dt
        self._run("after_integrate")
        push = self._contacts.push_out()
        if push is not None:
            lift = terms.velocity(push)
            self.books.work["corrections"] += float(pin.computeGeneralizedGravity(self.robot.model, self._audit_data, self.q).dot(lift))
            self.q = pin.integrate(self.robot.model, self.q, lift)
        if terms.Q.shape[1]:
            self._reclose(z)

    def _reclose(self, z: Vector) -> None:
        """Close positions and velocities of bilateral rows, with the inertia of the middle of the step."""
        terms, constraints = self._terms, self.mechanism.constraints
        for _ in range(RECLOSE):
            terms.hold(self.q)
            error = constraints.error(terms.kinematics)
            self._closure = float(np.abs(constraints.scale * error).max(initial=0.0))
            if self._closure <= CLOSED:
                break
            self.q = pin.integrate(self.robot.model, self.q, terms.velocity(terms.closing(error)))
        self.v = terms.velocity(terms.restrain(z))
        terms.release()

    def _impact(self) -> None:
        """Let velocities jump where something hits, together with all that touches and all that holds."""
        terms, contacts = self._terms, self._contacts
        terms.evaluate(self.q, None)
        terms.hold(self.q)
        contacts.look(terms, 0.0)
        z, self.touching, change = contacts.solve_impact(terms, self.q, self.v, terms.momentum(self.v))
        v_next = terms.velocity(z)
        terms.release()
        if self._is_sane(v_next):
            self.v, self._v_before = v_next, None
            self.books.work["impacts"] += change
        self._run("after_impact")

    def _push_force(self, dt: float) -> Vector | None:
        """Return the generalized force (nv,) of the pushes of this moment, None where there are none."""
        if not self._pushes:
            return None
        self._pushes = [push for push in self._pushes if not push.over(self.t)]
        model, data = self.robot.model, self._terms.data
        force = np.zeros(self.robot.nv)
        for push in self._pushes:
            frame = model.frames[self.robot.link_frame(push.link)]
            place = (data.oMi[frame.parentJoint] * frame.placement).act(push.point)
            J: Matrix = pin.getJointJacobian(model, data, frame.parentJoint, pin.WORLD)
            force += push.share(self.t, dt) * shifted(push, place).dot(J)
        return force

    def _enter(self, mean: Vector, v_next: Vector, dt: float, constrained: Vector) -> None:
        """Enter the work of a part of a step: force times mean velocity, which the kinetic energy feels exactly."""
        work = self.books.work
        work["motors"] += dt * float(self._tau.dot(mean[self.mechanism.actuated]))
        terms = self._terms
        moving = terms.momentum(mean)
        loops = float(moving.dot(terms.Q.dot(terms.Q.T.dot(constrained)))) if terms.Q.shape[1] else 0.0
        work["loops"] += loops
        work["contacts"] += float(moving.dot(constrained)) - loops
        if self._pushed is not None:
            work["pushes"] += dt * float(self._pushed.dot(mean))
        if not self._joints.idle:
            work["drive"] += dt * float(self._joints.drive_torque(v_next).dot(mean))
            work["losses"] += dt * float(self._joints.loss_force(v_next).dot(mean))

    def _audit(self) -> None:
        if self.setup.audit:
            self.books.close_step(measure_energy(self.robot.model, self._audit_data, self.q, self.v))

    def _report(self, status: str, reason: str, impacts: int) -> StepReport:
        answer, touched = self.touching.answer, self.touching
        missing = self.books.missing if self.setup.audit else 0.0
        if answer is None:
            return StepReport(self.t, status, reason, 0, impacts, depth=touched.depth, closure=self._closure, missing=missing)
        if not answer.exact and status == "ok":
            status, reason = "inexact", f"contact impulses are {answer.residual:.1e} of the largest one away from a solution"
        count = int(np.count_nonzero(self._contacts.touching))
        certificate = (answer.residual, answer.complementarity, answer.cone)
        return StepReport(self.t, status, reason, count, impacts, *certificate, touched.depth, self._closure, missing)

    def _is_sane(self, v: Vector) -> bool:
        """Return whether velocities are finite and not absurd; stop the world where they are not."""
        if all_finite(v) and (not len(v) or max(v.max(), -v.min()) < FASTEST):
            return True
        self._stop("the motion ran away", v)
        return False

    def _stop(self, what: str, v: Vector) -> None:
        """Say which body and which row, and take no more steps."""
        index = fastest_coordinate(v)
        joint = next(joint for joint in self.robot.joints if joint.v.start <= index < joint.v.stop)
        row = ""
        if len(self.touching.index):
            strongest = int(np.argmax(np.abs(self.touching.impulse).max(axis=1)))
            row = f", contact {self._contacts.table.names[self.touching.index[strongest]]!r}"
        elif len(self.lam):
            row = f", row {self.mechanism.constraints.labels[int(np.argmax(np.abs(self.lam)))]!r}"
        self.reason = f"{what}: body {joint.child!r}, coordinate {self.robot.coordinates[index]!r}{row}, at t = {self.t:.6g} s"

    def _has_stopped(self) -> bool:
        return bool(self.reason)

    def _run(self, name: str) -> None:
        for hook in self._hooks[name]:
            hook(self)
