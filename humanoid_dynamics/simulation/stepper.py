"""One step of a world: to the middle of itself, all terms there, contact and constraint forces, and on with the mean velocity."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pinocchio as pin

from humanoid_dynamics.dynamics.mechanism import Mechanism, all_finite
from humanoid_dynamics.model.state import State
from humanoid_dynamics.simulation.books import Books, measure_energy
from humanoid_dynamics.simulation.friction import FrictionContacts, Touching
from humanoid_dynamics.simulation.joint_forces import JointForces
from humanoid_dynamics.simulation.push import Push, shifted
from humanoid_dynamics.simulation.setup import FASTEST, fastest_coordinate
from humanoid_dynamics.simulation.terms import Terms
from humanoid_dynamics.spatial.arrays import Matrix, Vector

CLOSED = 1e-11
RECLOSE = 3
MOST_IMPACTS = 8


class Stepper:
    """State and work space of one tree of bodies.

    Attributes:
        mechanism: The tree and its bilateral constraints.
        robot: Its robot.
        contacts: Contacts and limits.
        joints: What joints do by themselves.
        q: (nq,) configuration.
        v: (nv,) velocity.
        t: Time at the start of the step [s].
        tau: (na,) motor torques of this step.
        pushes: Pushes that have not ended.
        books: Energy since the start.
        audit: Whether the books are kept.
        touching: What touched in the last part of the last step.
        span: Length of that part [s].
        lam: (k,) mean force of each bilateral row in it.
        closure: Largest position error of the bilateral rows [m].
        reason: Why nothing moves any more; empty while it does.
    """

    def __init__(
        self, mechanism: Mechanism, contacts: FrictionContacts, joints: JointForces, state: State, run: Callable[[str], None]
    ) -> None:
        """Prepare.

        Args:
            mechanism: The tree and its bilateral constraints.
            contacts: Contacts and limits.
            joints: What joints do by themselves.
            state: Where it is.
            run: Called with the name of each hook when its time has come.
        """
        robot = mechanism.robot
        self.mechanism, self.robot, self.contacts, self.joints = mechanism, robot, contacts, joints
        self.q, self.v = np.array(state.q), np.array(state.v)
        self.t, self.reason, self.span, self.closure, self.audit = 0.0, "", 1.0, 0.0, True
        self.tau = np.zeros(len(mechanism.actuated))
        self.pushes: list[Push] = []
        self.lam: Vector = np.zeros(mechanism.constraints.size)
        self.touching = Touching(np.zeros(0, dtype=np.intp), np.zeros((0, 3)), np.zeros((0, 3)), 0.0, None)
        self._run = run
        self._terms = Terms(mechanism.kinematics, mechanism.constraints)
        self._data = robot.data()
        self._v_before: Vector | None = None
        self._pushed: Vector | None = None
        energy = self.measure_energy()
        self.books = Books(energy, energy)

    def measure_energy(self) -> float:
        """Return the energy now [J]."""
        return measure_energy(self.robot.model, self._data, self.q, self.v)

    def forget(self) -> None:
        """Forget the last step, after a change of structure or of velocity."""
        self.contacts.forget()
        self._v_before = None

    def step(self, dt: float, tau: Vector) -> int:
        """Take a step, and go back to its start where the motion runs away.

        Args:
            dt: Its length [s].
            tau: (na,) motor torques.

        Returns:
            The number of impacts in it.
        """
        self.tau = tau
        before = self.q, self.v, self.t
        impacts = self._advance(dt)
        if self.reason:
            self.q, self.v, self.t = before
            return impacts
        self.t = before[2] + dt
        if self.audit:
            self.books.close_step(self.measure_energy())
        return impacts

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
        terms, contacts, v = self._terms, self.contacts, self.v
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
        if not self.joints.idle:
            own, implicit = self.joints.prepare(q_M, v, dt)
        self._terms.evaluate(q_M, v_M, implicit)
        if not self._terms.ok:
            self._stop("the inertia is not positive definite", v)
        self._terms.hold(q_M)
        force = -self._terms.h
        if own is not None:
            force += own
        force[self.mechanism.actuated] += self.tau
        self._pushed = self._push_force(dt)
        return force if self._pushed is None else force + self._pushed

    def _move(self, z: Vector, dt: float, z_free: Vector) -> None:
        """Take the new velocity, move on with the mean of both, and close what came apart."""
        terms, v = self._terms, self.v
        v_next = terms.velocity(z)
        if not self._is_sane(v_next):
            return
        mean = 0.5 * (v + v_next)
        if self.audit:
            self._enter(mean, v_next, dt, z - z_free)
        if terms.Q.shape[1]:
            self.lam = terms.multipliers(terms.Q.T.dot(z - z_free)) / dt
        self.q = pin.integrate(self.robot.model, self.q, dt * mean)
        self._v_before, self.v, self.span = v, v_next, dt
        self._run("after_integrate")
        push = self.contacts.push_out()
        if push is not None:
            lift = terms.velocity(push)
            self.books.work["corrections"] += float(pin.computeGeneralizedGravity(self.robot.model, self._data, self.q).dot(lift))
            self.q = pin.integrate(self.robot.model, self.q, lift)
        if terms.Q.shape[1]:
            self._reclose(z)

    def _reclose(self, z: Vector) -> None:
        """Close positions and velocities of bilateral rows, with the inertia of the middle of the step."""
        terms, constraints = self._terms, self.mechanism.constraints
        for _ in range(RECLOSE):
            terms.hold(self.q)
            error = constraints.error(terms.kinematics)
            self.closure = float(np.abs(constraints.scale * error).max(initial=0.0))
            if self.closure <= CLOSED:
                break
            self.q = pin.integrate(self.robot.model, self.q, terms.velocity(terms.closing(error)))
        self.v = terms.velocity(terms.restrain(z))
        terms.release()

    def _impact(self) -> None:
        """Let velocities jump where something hits, together with all that touches and all that holds."""
        terms, contacts = self._terms, self.contacts
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
        if not self.pushes:
            return None
        self.pushes = [push for push in self.pushes if not push.over(self.t)]
        model, data = self.robot.model, self._terms.data
        force = np.zeros(self.robot.nv)
        for push in self.pushes:
            frame = model.frames[self.robot.link_frame(push.link)]
            place = (data.oMi[frame.parentJoint] * frame.placement).act(push.point)
            J: Matrix = pin.getJointJacobian(model, data, frame.parentJoint, pin.WORLD)
            force += push.share(self.t, dt) * shifted(push, place).dot(J)
        return force

    def _enter(self, mean: Vector, v_next: Vector, dt: float, constrained: Vector) -> None:
        """Enter the work of a part of a step: force times mean velocity, which the kinetic energy feels exactly."""
        work = self.books.work
        work["motors"] += dt * float(self.tau.dot(mean[self.mechanism.actuated]))
        terms = self._terms
        moving = terms.momentum(mean)
        loops = float(moving.dot(terms.Q.dot(terms.Q.T.dot(constrained)))) if terms.Q.shape[1] else 0.0
        work["loops"] += loops
        work["contacts"] += float(moving.dot(constrained)) - loops
        if self._pushed is not None:
            work["pushes"] += dt * float(self._pushed.dot(mean))
        if not self.joints.idle:
            work["drive"] += dt * float(self.joints.drive_torque(v_next).dot(mean))
            work["losses"] += dt * float(self.joints.loss_force(v_next).dot(mean))

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
            row = f", contact {self.contacts.table.names[self.touching.index[strongest]]!r}"
        elif len(self.lam):
            row = f", row {self.mechanism.constraints.labels[int(np.argmax(np.abs(self.lam)))]!r}"
        self.reason = f"{what}: body {joint.child!r}, coordinate {self.robot.coordinates[index]!r}{row}, at t = {self.t:.6g} s"
