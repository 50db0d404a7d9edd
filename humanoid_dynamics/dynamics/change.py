# SPDX-License-Identifier: Apache-2.0
"""Structure changes while running: all events of one instant, then one impact [SV, sec. 4]."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from humanoid_dynamics.constraints.constraint_set import ConstraintSet
from humanoid_dynamics.constraints.contact import build_contact, hold
from humanoid_dynamics.constraints.loop import build_loop
from humanoid_dynamics.constraints.partition import CoordinatePartition
from humanoid_dynamics.constraints.rebind import rebind
from humanoid_dynamics.dynamics.impact import solve_impact
from humanoid_dynamics.dynamics.mechanism import Mechanism
from humanoid_dynamics.dynamics.results import ImpactResult
from humanoid_dynamics.model.state import State
from humanoid_dynamics.spatial.arrays import Vector
from humanoid_dynamics.structure.detachment import detach, transfer
from humanoid_dynamics.structure.events import Break, Connect, Cut, Event, Touch

Closing = Callable[[Mechanism, Vector], Vector]


@dataclass(frozen=True, eq=False)
class Change:
    """What a batch of events leads to.

    Attributes:
        mechanism: The mechanism to go on with: the same one, unless a joint of the tree broke.
        state: Configuration and velocity after the events.
        impact: The velocity jump; None where nothing was connected, so that no velocity changes.
    """

    mechanism: Mechanism
    state: State
    impact: ImpactResult | None


def apply_events(
    mechanism: Mechanism,
    state: State,
    events: Sequence[Event],
    restitution: Mapping[str, float] | None = None,
    *,
    close: Closing | None = None,
) -> Change:
    """Apply events that happen at one instant [SV, sec. 4, 6].

    First all of them edit the constraints, then ONE impact is solved with all rows, old and new: solving one after the other leaves
    earlier connections violated and depends on the order.  Cuts alone change no velocity.

    A batch that is refused changes nothing.

    Args:
        mechanism: The mechanism; its constraints are edited.
        state: Configuration and velocity before.
        events: What happens.
        restitution: Block name -> coefficient of its unilateral rows.
        close: Moves the configuration until what was connected is together, before velocities jump; it may refuse.

    Returns:
        Mechanism and state to go on with, and the impact.

    Raises:
        UnknownNameError: If an event names what is not there.
        HumanoidDynamicsError: If a connection of that name exists already.
    """
    before, change = tuple(mechanism.constraints), None
    try:
        change = _apply(mechanism, state, events, restitution, close)
    finally:
        if change is None:
            mechanism.constraints.reset(before)
    return change


def _apply(
    mechanism: Mechanism,
    state: State,
    events: Sequence[Event],
    restitution: Mapping[str, float] | None,
    close: Closing | None,
) -> Change:
    for event in events:
        if isinstance(event, Break):
            mechanism, state = _break(mechanism, state, event)
    mechanism.kinematics.move(state.q, state.v)
    for event in events:
        _edit(mechanism, event)
    if not any(isinstance(event, Connect | Touch) for event in events):
        return Change(mechanism, state, None)
    if close is not None:
        state = State(close(mechanism, state.q), state.v)
    impact = solve_impact(mechanism, state.q, state.v, restitution)
    return Change(mechanism, State(state.q, impact.v_plus), impact)


def _edit(mechanism: Mechanism, event: Event) -> None:
    """Let one event change the constraints."""
    constraints = mechanism.constraints
    if isinstance(event, Cut):
        constraints.remove(event.name)
    elif isinstance(event, Connect):
        constraints.add(build_loop(mechanism.robot, event.loop))
    elif isinstance(event, Touch):
        constraints.add(
            hold(
                build_contact(mechanism.robot, event.surface, vertices=event.vertices),
                mechanism.kinematics,
            )
        )


def _break(mechanism: Mechanism, state: State, event: Break) -> tuple[Mechanism, State]:
    """Rebuild the tree without a joint and carry constraints and state over."""
    old = mechanism.robot
    new = detach(old, event.joint)
    blocks = [rebind(block, old, new) for block in mechanism.constraints]
    motors = [old.coordinates[index] for index in mechanism.actuated]
    kept = [name for name in motors if name in new.coordinates]
    space = CoordinatePartition(new.nv)
    return Mechanism(
        new,
        ConstraintSet(new, blocks, length=mechanism.constraints.length),
        null_space=space,
        actuated=kept,
    ), transfer(old, new, state)
