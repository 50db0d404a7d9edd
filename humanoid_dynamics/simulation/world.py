# SPDX-License-Identifier: Apache-2.0
"""The world that steps.

A step goes to the middle of itself (q_M = q + dt/2 v), takes all terms there, finds the velocity at its end and moves on with the mean
of both: for smooth motion this is the leapfrog, of second order.  Constraints speak about velocities, so contacts stick, slide and
part within a step, and impacts cut a step in two where they happen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import NoneType
from typing import Any

import numpy as np

from humanoid_dynamics.constraints.block import ConstraintBlock
from humanoid_dynamics.constraints.constraint_set import ConstraintSet
from humanoid_dynamics.dynamics.change import Change, apply_events
from humanoid_dynamics.dynamics.mechanism import Mechanism
from humanoid_dynamics.errors import HumanoidDynamicsError, ShapeError, UnknownNameError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.model.state import State
from humanoid_dynamics.simulation.command import read_torque
from humanoid_dynamics.simulation.contacts.touch_points import choose_points, note_missing
from humanoid_dynamics.simulation.copying import Replica, describe_stepper, rebuild_parts
from humanoid_dynamics.simulation.door import check_start, close_start
from humanoid_dynamics.simulation.gauge import Gauge
from humanoid_dynamics.simulation.kinds import (
    check_blocks,
    check_events,
    check_function,
    check_kind,
    check_setup,
)
from humanoid_dynamics.simulation.observed import ObservedWorld
from humanoid_dynamics.simulation.push import Push, check_part
from humanoid_dynamics.simulation.reach import check_reach, close_up, move_along
from humanoid_dynamics.simulation.reading import read_report
from humanoid_dynamics.simulation.setup import (
    HOOKS,
    LONGEST_STEP,
    SHORTEST_STEP,
    Setup,
    SimulationStatus,
    StepReport,
)
from humanoid_dynamics.simulation.snapshot import Snapshot, go_back, take_snapshot
from humanoid_dynamics.simulation.steps.build_engine import build_engine
from humanoid_dynamics.simulation.steps.joint_forces import JointForces, rebind_drive
from humanoid_dynamics.simulation.steps.rotors import add_rotors
from humanoid_dynamics.simulation.steps.stepper import Stepper
from humanoid_dynamics.spatial.arrays import Vector, check_vector
from humanoid_dynamics.structure.events import Event

REAL = (float, int, np.floating)
Hook = Callable[["World"], None]
Pilot = Callable[["World"], Vector]


class World(ObservedWorld):
    """Bodies in one tree, their constraints and surroundings, and where they are.

    Attributes:
        robot: All bodies as one robot, with its own copy of the model, in which crossing hinges have rotors.
        mechanism: Bilateral constraints; edit them through ``apply``.
        actuated: Names of the coordinates ``step`` takes torques for.
        setup: Its surroundings.
        pilot: Gives the torques of a step that gets none; nobody where None.
        gauges: Numbers to be recorded besides the state, by name.
    """

    def __init__(
        self,
        robot: RobotModel,
        setup: Setup | None = None,
        state: State | None = None,
        connections: Sequence[ConstraintBlock] = (),
    ) -> None:
        """Put a robot into a world.

        Args:
            robot: The robot, or several as one tree.
            setup: Its surroundings; free space with gravity where left out.
            state: Where it starts; at rest in its posture where left out.
            connections: Bilateral constraints that hold at the start, besides those the robot comes with.

        Raises:
            UnknownNameError: If the setup names what does not exist.
            ShapeError: If the state does not fit, or starts with a joint beyond its limits, a body inside another or a loop that is open.
            SingularInertiaError: If a link moves without inertia.
        """
        check_kind("robot", robot, (RobotModel,), "a robot, as load_robot makes it")
        check_kind("state", state, (State, NoneType), "a State, or None")
        self.setup = check_setup(Setup() if setup is None else setup)
        self.pilot: Pilot | None = None
        self.gauges: dict[str, Gauge] = {}
        model = robot.model.copy()
        model.gravity.linear = check_vector("gravity", self.setup.gravity, 3)
        own = replace(robot, model=model)
        own.check_inertia("a world that steps")
        add_rotors(model)
        start = (State.at_rest(own) if state is None else state).check(own)
        passive = set(self.setup.passive)
        for name in passive - set(own.actuated):
            raise UnknownNameError("motor", name, own.actuated)
        self._points = choose_points(own, self.setup.points)
        own = note_missing(own, self._points) if self.setup.points == "body" else own
        self._hooks: dict[str, list[Hook]] = {name: [] for name in HOOKS}
        self._undisturbed, self._hooked = True, False
        self._within = ""
        check_blocks(connections)
        rows = ConstraintSet.of(own, connections)
        mechanism = Mechanism(
            own, rows, actuated=[name for name in own.actuated if name not in passive]
        )
        q = close_start(mechanism, start.q)
        start = State(q, move_along(mechanism, q, start.v))
        self._stepper = self._build_stepper(
            mechanism, JointForces(own, self.setup.drive, off=passive), start
        )
        check_start(self._stepper, limits=self.setup.limits)

    def __getstate__(self) -> dict[str, object]:
        """Return what it takes to build the same world again; whoever hooked into this one does not hear of a copy."""
        kept = ("setup", "pilot", "gauges", "_points")
        return {name: self.__dict__[name] for name in kept} | {
            "replica": describe_stepper(self._stepper)
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Build the world again, so that it goes on as the one it was copied from."""
        replica: Replica = state.pop("replica")
        self.__dict__.update(state)
        self._hooks = {name: [] for name in HOOKS}
        self._undisturbed, self._hooked, self._within = True, False, ""
        mechanism, joints = rebuild_parts(replica)
        self._stepper = self._build_stepper(
            mechanism, joints, State(replica.snapshot.q, replica.snapshot.v)
        )
        go_back(self._stepper, replica.snapshot)
        self._stepper.apart = replica.apart

    def warm_up(self) -> None:
        """Compile, or load, what a step calls only at impacts and events; the state stays as it is."""
        self._stepper.engine.warm_up()

    def add_hook(self, name: str, hook: Hook) -> None:
        """Let a function be called in every step.

        A hook may look at everything.  It may change the world, by events, pushes or another state, in ``before_step`` and ``after_step``
        alone; between the phases of a step that is refused, for a phase may be taken again.  No hook steps.

        Args:
            name: When; one of ``HOOKS``, which are called in this order, several of one name in the order they were added.
            hook: The function; it gets the world.

        Raises:
            UnknownNameError: If there is no such moment.
        """
        if not isinstance(name, str) or name not in HOOKS:
            raise UnknownNameError("hook", name, HOOKS)
        check_function("hook", hook, "a function of the world")
        self._hooks[name].append(hook)
        self._undisturbed, self._hooked = not any(self._hooks[name] for name in HOOKS[1:-1]), True

    def push(
        self,
        link: str,
        force: Sequence[float],
        duration: float,
        *,
        moment: Sequence[float] = (0, 0, 0),
        point: Sequence[float] = (0, 0, 0),
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
            ShapeError: If a number is not finite or has no measure, or the duration is negative.
            HumanoidDynamicsError: If a hook between the phases of a step asks for it.
        """
        self._check_between_steps("push")
        check_kind("link", link, (str,), "the name of a link")
        self.robot.link_frame(link)
        lasting = float(check_vector("duration", [duration], 1)[0])
        if lasting < 0.0:
            raise ShapeError("duration", f"{lasting:g} s", "zero or more")
        pairs = (("force", force), ("moment", moment), ("point", point))
        F, M, p = (check_part(field, value) for field, value in pairs)
        self._stepper.pushes.append(Push(link, F, M, p, self.t, lasting))

    def apply(self, events: Sequence[Event]) -> Change:
        """Let the structure change now: all events in one batch, then one impact.

        Args:
            events: What happens.

        Returns:
            What it led to.

        Raises:
            UnknownNameError: If an event names what is not there.
            HumanoidDynamicsError: If what is to be connected is apart or cannot close, or a hook between the phases of a step asks for it.
                What is refused changes nothing.
        """
        self._check_between_steps("apply")
        check_events(events)
        check_reach(self.mechanism, self.q, events)
        old, before, v = self._stepper, self._stepper.measure_energy(), self.v
        change = apply_events(self.mechanism, self.state, events, close=close_up)
        if change.mechanism is not old.mechanism:
            drive = (
                None
                if old.engine.joints.drive is None
                else rebind_drive(old.engine.joints.drive, old.robot, change.mechanism.robot)
            )
            new = self._build_stepper(
                change.mechanism, JointForces(change.mechanism.robot, drive), change.state
            )
            new.t, new.owed, new.books, new.pushes = old.t, old.owed, old.books, old.pushes
            self._stepper = new
        stepper = self._stepper
        stepper.q, stepper.v = np.array(change.state.q), np.array(change.state.v)
        stepper.forget()
        if change.impact is not None and change.mechanism is old.mechanism:
            stepper.note_impact(v, change.impact.impulse)
        after = stepper.measure_energy()
        stepper.books.enter("loops", after - before)
        stepper.books.shift(after - before, at_start=False)
        return change

    def set_velocity(self, v: Vector) -> None:
        """Give the bodies another velocity, such as a start that only makes sense once all is connected.

        Args:
            v: (nv,) velocity; of one that opens loops, the nearest that does not is taken.

        Raises:
            ShapeError: If it does not fit.
            HumanoidDynamicsError: If a hook between the phases of a step asks for it.
        """
        self._check_between_steps("set_velocity")
        stepper = self._stepper
        stepper.v = np.array(
            move_along(self.mechanism, stepper.q, check_vector("v", v, self.robot.nv))
        )
        stepper.forget()
        stepper.books.shift(stepper.measure_energy() - stepper.books.energy, at_start=True)

    def set_state(self, state: State) -> None:
        """Put the bodies elsewhere; what this changes in energy counts as there from the start.

        Args:
            state: Configuration and velocity.

        Raises:
            ShapeError: If they do not fit, or are none to start with; the world stays where it is then.
            HumanoidDynamicsError: If a hook between the phases of a step asks for it.
        """
        self._check_between_steps("set_state")
        check_kind("state", state, (State,), "a State")
        checked = state.check(self.robot)
        before, self._stepper.q = self._stepper.q, np.array(close_start(self.mechanism, checked.q))
        try:
            check_start(self._stepper, limits=self.setup.limits)
        except ShapeError:
            self._stepper.q = before
            raise
        self.set_velocity(checked.v)

    def keep(self) -> Snapshot:
        """Return where the world is, to go back to while its structure stays the same."""
        return take_snapshot(self._stepper)

    def restore(self, snapshot: Snapshot) -> None:
        """Go back.

        Args:
            snapshot: From ``keep``.

        Raises:
            HumanoidDynamicsError: If the structure has changed since, or a hook between the phases of a step asks for it.
        """
        self._check_between_steps("restore")
        check_kind("snapshot", snapshot, (Snapshot,), "what keep has returned")
        if not snapshot.fits(self._stepper):
            raise HumanoidDynamicsError(
                "the structure has changed since the snapshot; a snapshot can only be restored with the same structure"
            )
        go_back(self._stepper, snapshot)

    def try_step(self, dt: float, tau: Vector | Mapping[str, float] | None = None) -> StepReport:
        """Take a step that is to be undone: nobody who hooked in hears of it.

        Args:
            dt: Its length [s].
            tau: (na,) torques, or coordinate name -> torque; none where left out.

        Returns:
            What happened.
        """
        hooks, undisturbed = self._hooks, self._undisturbed
        self._hooks, self._undisturbed = {name: [] for name in HOOKS}, True
        try:
            return self.step(dt, tau)
        finally:
            self._hooks, self._undisturbed = hooks, undisturbed

    def step(self, dt: float, tau: Vector | Mapping[str, float] | None = None) -> StepReport:
        """Advance by one step: terms in its middle, detect, impact, forces, integrate, re-close, audit.

        Hooks are called in this order: ``before_step``; ``after_terms``, ``after_detect``, ``after_impact`` where something hit,
        ``after_forces``, ``after_integrate``, for each part of the step that an impact or loops cut, and again where a wild step is taken
        again in halves; ``after_step``.  A world that has stopped, or a step of no sensible length, calls none.

        Args:
            dt: Its length [s]; from a nanosecond to 20 ms.
            tau: (na,) torques in the order of ``actuated``, or coordinate name -> torque [N·m, N]; those of the pilot where left out, none
                without a pilot.

        Returns:
            What happened; trouble with numbers is a status there.

        Raises:
            ShapeError: If there are too many or too few torques.
            UnknownNameError: If a coordinate has no motor.
            HumanoidDynamicsError: If a hook asks for it.
        """
        if self._within:
            raise HumanoidDynamicsError(
                f"hook {self._within!r}: a hook cannot step the world that calls it"
            )
        stepper = self._stepper
        if stepper.reason:
            return read_report(stepper, SimulationStatus.STOPPED, stepper.reason, 0)
        if not (isinstance(dt, REAL) and SHORTEST_STEP <= dt <= LONGEST_STEP):
            return StepReport(
                self.t,
                SimulationStatus.INVALID_INPUT,
                f"a time step of {dt} s; expected one from {SHORTEST_STEP} to {LONGEST_STEP} s",
            )
        dt = float(dt)
        if self._hooked:
            self._run("before_step")
            stepper = self._stepper
        if tau is None and self.pilot is not None:
            check_function("pilot", self.pilot, "a function of the world, or None")
            tau = self.pilot(self)
            stepper = self._stepper
        command = self._no_torque if tau is None else read_torque(self.actuated, self._effort, tau)
        impacts = stepper.step(dt, command.tau, undisturbed=self._undisturbed)
        if self._stepper.reason:
            return read_report(self._stepper, SimulationStatus.STOPPED, self.reason, impacts)
        if self._hooked:
            self._run("after_step")
        return read_report(stepper, command.status, command.reason, impacts)

    def _build_stepper(self, mechanism: Mechanism, joints: JointForces, state: State) -> Stepper:
        robot = mechanism.robot
        self.actuated = tuple(robot.coordinates[index] for index in mechanism.actuated)
        self._effort = robot.limits.effort[mechanism.actuated]
        self._no_torque = read_torque(self.actuated, self._effort, None)
        engine = build_engine(mechanism, joints, self.setup, self._points)
        return Stepper(
            mechanism,
            engine,
            state,
            self._run,
            audit=self.setup.audit,
            accurate=self.setup.integrator == "accurate",
        )

    def _run(self, name: str) -> None:
        hooks = self._hooks[name]
        if not hooks:
            return
        self._within = name
        try:
            for hook in hooks:
                hook(self)
        finally:
            self._within = ""

    def _check_between_steps(self, what: str) -> None:
        """Refuse what changes the world while a step goes through its phases."""
        if self._within in HOOKS[1:-1]:
            said = f"between the phases of a step the world does not change; call {what} in {HOOKS[0]!r} or {HOOKS[-1]!r}"
            raise HumanoidDynamicsError(f"hook {self._within!r}: {said}")
