# SPDX-License-Identifier: Apache-2.0
"""What a sample of a record is made of: its tables with their columns, and what in them is a joint, a body, a contact."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from humanoid_dynamics.errors import RecordError
from humanoid_dynamics.spatial.arrays import Matrix, read_only

WRENCH = ("fx", "fy", "fz", "mx", "my", "mz")
STATE = ("q", "v", "tau")


@dataclass(frozen=True)
class JointPlace:
    """A joint of one freedom, and where its numbers stand.

    Attributes:
        name: Its name.
        q: Its column in table ``q``.
        v: Its column in table ``v``.
        tau: Its column in table ``tau``, -1 where no motor drives it.
    """

    name: str
    q: int
    v: int
    tau: int = -1


@dataclass(frozen=True)
class BodyPlace:
    """A body that moves freely, and where its numbers stand.

    Attributes:
        link: Its link.
        q: First of its seven columns in table ``q``: place and quaternion x y z w in the world.
        v: First of its six columns in table ``v``: twist in its own axes, linear first.
    """

    link: str
    q: int
    v: int


@dataclass(frozen=True, eq=False)
class Patch:
    """A contact surface, or a link that may touch; its wrench is six columns of table ``wrench``.

    Attributes:
        name: Its name.
        frame: The frame the wrench is written in, at its origin; the surface frame, or that of the link.
        corners: (k, 2) corners of the surface in its frame, counter-clockwise [m]; none for a link.
    """

    name: str
    frame: str
    corners: Matrix

    def __post_init__(self) -> None:
        object.__setattr__(self, "corners", read_only(np.reshape(self.corners, (-1, 2))))


@dataclass(frozen=True, eq=False)
class Layout:
    """What a sample is made of.

    Attributes:
        columns: Table -> names of its columns.
        joints: Joints of one freedom.
        bodies: Bodies that move freely.
        patches: Contacts, in the order of table ``wrench``.
    """

    columns: Mapping[str, tuple[str, ...]]
    joints: tuple[JointPlace, ...] = ()
    bodies: tuple[BodyPlace, ...] = ()
    patches: tuple[Patch, ...] = field(default=())

    def __post_init__(self) -> None:
        for table, names in self.columns.items():
            twice = [name for k, name in enumerate(names) if name in names[:k]]
            if twice:
                raise RecordError("layout", f"table {table!r} has two columns named {twice[0]!r}")
        object.__setattr__(
            self,
            "columns",
            MappingProxyType({name: tuple(names) for name, names in self.columns.items()}),
        )

    @property
    def numbers(self) -> tuple[str, ...]:
        """Tables that stand for themselves: neither state nor contacts nor audit."""
        return tuple(name for name in self.columns if name not in {*STATE, "wrench", "audit"})

    @property
    def is_plain(self) -> bool:
        """Whether joints of one freedom and free bodies are all there is in the state."""
        q = sum(1 for _ in self.joints) + 7 * len(self.bodies)
        v = len(self.joints) + 6 * len(self.bodies)
        driven = sum(joint.tau >= 0 for joint in self.joints)
        return (q, v, driven) == tuple(len(self.columns.get(name, ())) for name in STATE)

    def dump(self) -> str:
        """Return the layout as JSON."""
        return json.dumps(
            {
                "columns": dict(self.columns),
                "joints": [[joint.name, joint.q, joint.v, joint.tau] for joint in self.joints],
                "bodies": [[body.link, body.q, body.v] for body in self.bodies],
                "patches": [
                    [patch.name, patch.frame, patch.corners.tolist()] for patch in self.patches
                ],
            }
        )


def parse_layout(text: str) -> Layout:
    """Read a layout from JSON.

    Args:
        text: What ``Layout.dump`` wrote.

    Returns:
        The layout.

    Raises:
        ValueError: If it is none.
    """
    content: Any = json.loads(text)
    try:
        return Layout(
            {name: tuple(columns) for name, columns in content["columns"].items()},
            tuple(JointPlace(*entry) for entry in content["joints"]),
            tuple(BodyPlace(*entry) for entry in content["bodies"]),
            tuple(
                Patch(name, frame, np.array(corners)) for name, frame, corners in content["patches"]
            ),
        )
    except (KeyError, TypeError, AttributeError) as cause:
        raise ValueError(f"is no layout of a record: {cause!r}") from cause
