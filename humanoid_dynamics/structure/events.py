# SPDX-License-Identifier: Apache-2.0
"""What can happen to a structure between two steps, as data; events of one instant are applied together [SV, sec. 4]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from humanoid_dynamics.model.loop import LoopClosure


@dataclass(frozen=True, eq=False)
class Connect:
    """Two links, or a link and the ground, become joined; velocities jump where they differ [SV, sec. 4.2].

    Attributes:
        loop: The new joint.
    """

    loop: LoopClosure


@dataclass(frozen=True)
class Touch:
    """A contact surface, or some of its corners, comes to rest on the ground where it is.

    Attributes:
        surface: Name of the surface, and of the constraint.
        vertices: Corners that touch; the whole surface where left out.
    """

    surface: str
    vertices: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Cut:
    """A connection ends: a closed loop, a contact, or a joint declared breakable.  Velocities stay [SV, sec. 4.2].

    Attributes:
        name: Name of the constraint.
    """

    name: str


@dataclass(frozen=True)
class Break:
    """A joint of the tree breaks; what hangs on it flies free.  Velocities of all bodies stay [SV, fig. 10].

    Attributes:
        joint: Name of the joint.
    """

    joint: str


Event: TypeAlias = Connect | Touch | Cut | Break
