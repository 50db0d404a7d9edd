# SPDX-License-Identifier: Apache-2.0
"""REP-120 names for the frames of a robot that calls them otherwise [REP-120]."""

from __future__ import annotations

from collections.abc import Iterable

from humanoid_dynamics.errors import DescriptionError, UnknownNameError
from humanoid_dynamics.model.description import Description

SURFACE, POINT = (
    "surface:",
    "point:",
)  # so the frames of surfaces and control points are called in the pinocchio model
SOLES = {"l_sole": "left_foot", "r_sole": "right_foot"}


def name_frames(
    description: Description,
    links: tuple[str, ...],
    *,
    moves: bool,
    surfaces: Iterable[str],
    points: Iterable[str],
) -> dict[str, str]:
    """Return what each alias stands for: those of the description, and the root link and the soles where it is silent.

    Args:
        description: What was said about the robot.
        links: All links, root first.
        moves: Whether the root link moves.
        surfaces: Names of the contact surfaces.
        points: Names of the control points.

    Returns:
        REP-120 name -> link, ``surface:<name>`` or ``point:<name>``.

    Raises:
        DescriptionError: If an alias stands for nothing, or for another link than the one of that name.
    """
    known = (*links, *(SURFACE + name for name in surfaces), *(POINT + name for name in points))
    for alias, target in description.aliases.items():
        key = f"aliases.{alias}"
        if target not in known:
            raise DescriptionError(
                description.origin,
                key,
                str(UnknownNameError("link, surface or control point", target, known)),
            )
        if alias in links and alias != target:
            raise DescriptionError(
                description.origin,
                key,
                f"is a link of the robot already, it cannot stand for {target!r}",
            )
    assumed = {"base_link": links[0]} if moves else {}
    assumed |= {alias: SURFACE + name for alias, name in SOLES.items() if SURFACE + name in known}
    return {alias: target for alias, target in assumed.items() if alias not in links} | dict(
        description.aliases
    )
