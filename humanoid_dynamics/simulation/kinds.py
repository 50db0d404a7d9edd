# SPDX-License-Identifier: Apache-2.0
"""What a world is given, by kind: whatever is something else is refused in a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from types import NoneType
from typing import Any, Final

import numpy as np

from humanoid_dynamics.constraints.block import ConstraintBlock
from humanoid_dynamics.errors import ShapeError, UnknownNameError
from humanoid_dynamics.model.loop import LoopClosure
from humanoid_dynamics.simulation.contacts.moving_shapes import MovingShape
from humanoid_dynamics.simulation.contacts.shapes import Box, Capsule, Plane
from humanoid_dynamics.simulation.contacts.sound_shapes import check_shape
from humanoid_dynamics.simulation.contacts.touch_points import TouchPoint
from humanoid_dynamics.simulation.setup import CONTACTS, INTEGRATORS, Setup
from humanoid_dynamics.simulation.steps.joint_forces import Drive
from humanoid_dynamics.structure.events import Break, Connect, Cut, Event, Touch

Kinds = tuple[type, ...]
YES_OR_NO = (bool, np.bool_)
ONE: Final[tuple[tuple[str, Kinds, str], ...]] = (  # of what kind a field of the surroundings is
    ("contact", (str,), f"one of {', '.join(CONTACTS)}"),
    ("integrator", (str,), f"one of {', '.join(INTEGRATORS)}"),
    ("limits", YES_OR_NO, "True or False"),
    ("audit", YES_OR_NO, "True or False"),
    ("compiled", (*YES_OR_NO, NoneType), "True, False or None"),
    ("drive", (Drive, NoneType), "a Drive, as build_drive makes it, or None"),
)
MANY: Final[tuple[tuple[str, Kinds, str], ...]] = (  # and of what kind are the parts of one
    (
        "terrain",
        (Plane, Box, Capsule),
        "a tuple of planes, boxes and capsules, such as (build_plane(),)",
    ),
    ("points", (TouchPoint,), "'surfaces', 'body' or a tuple of TouchPoint"),
    ("passive", (str,), "a tuple of names of motors"),
    ("shapes", (MovingShape,), "a tuple of MovingShape"),
)


def check_setup(setup: Setup) -> Setup:
    """Return the surroundings of a world if all in them is of its kind.

    Args:
        setup: The surroundings.

    Raises:
        ShapeError: Naming the field, what was received and what was expected.
        UnknownNameError: If a law of contact or an integrator does not exist.
    """
    check_kind("setup", setup, (Setup,), "a Setup, or None")
    for field, kinds, expected in ONE:
        check_kind(field, getattr(setup, field), kinds, expected)
    for field, kinds, expected in MANY:
        given = getattr(setup, field)
        if not (field == "points" and isinstance(given, str)):
            check_kinds(field, given, kinds, expected)
    for shape in setup.shapes:
        check_kind(
            f"shape on link {shape.link!r:.60}", shape.shape, (Box, Capsule), "a box or a capsule"
        )
        check_kind("link of a moving shape", shape.link, (str,), "the name of a link")
        check_shape(f"the shape on link {shape.link!r}", shape.shape)
    for standing in setup.terrain:
        check_shape(f"terrain {standing.name!r:.60}", standing)
    for kind, name, known in (
        ("law of contact", setup.contact, CONTACTS),
        ("integrator", setup.integrator, INTEGRATORS),
    ):
        if name not in known:
            raise UnknownNameError(kind, name, known)
    return setup


def check_events(events: Sequence[Event]) -> None:
    """Refuse events that are none, or happen to what is no name and no connection.

    Args:
        events: What is to happen.

    Raises:
        ShapeError: Naming what was received and what was expected.
    """
    check_kinds(
        "events", events, (Connect, Touch, Cut, Break), "a list of Connect, Touch, Cut and Break"
    )
    for event in events:
        for field in fields(event)[:1]:
            loop = isinstance(event, Connect)
            kinds, expected = ((LoopClosure,), "a LoopClosure") if loop else ((str,), "a name")
            check_kind(
                f"{field.name} of {type(event).__name__}",
                getattr(event, field.name),
                kinds,
                expected,
            )


def check_blocks(connections: Sequence[ConstraintBlock]) -> None:
    """Refuse what are no bilateral constraints.

    Args:
        connections: What holds at the start.

    Raises:
        ShapeError: Naming what was received and what was expected.
    """
    expected = "a list of constraint blocks, as build_loop makes them"
    check_kind("connections", connections, (tuple, list), expected)
    for block in connections:
        if not hasattr(block, "write_error"):
            check_kind("an entry of connections", block, (), expected)


def check_kind(field: str, given: Any, kinds: Kinds, expected: str) -> None:
    """Refuse what is of another kind.

    Args:
        field: What it is given as.
        given: What came.
        kinds: What it may be.
        expected: The same in words.

    Raises:
        ShapeError: If it is not.
    """
    if not isinstance(given, kinds):
        raise ShapeError(field, f"{type(given).__name__} {given!r:.60}", expected)


def check_function(field: str, given: object, expected: str) -> None:
    """Refuse what cannot be called.

    Args:
        field: What it is given as.
        given: What came.
        expected: What it should be, in words.

    Raises:
        ShapeError: If it is no function.
    """
    if not callable(given):
        check_kind(field, given, (), expected)


def check_kinds(field: str, given: Any, kinds: Kinds, expected: str) -> None:
    """Refuse what is no sequence, or has a part of another kind.

    Args:
        field: What it is given as.
        given: What came.
        kinds: What its parts may be.
        expected: The same in words.

    Raises:
        ShapeError: If it is not.
    """
    check_kind(field, given, (tuple, list), expected)
    for part in given:
        check_kind(f"an entry of {field}", part, kinds, expected)
