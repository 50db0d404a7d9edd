# SPDX-License-Identifier: Apache-2.0
"""Whether what a scene cuts and connects is closed and open by then."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from humanoid_dynamics.simulation.scenes.reader import SceneReader


def check_order(
    reader: SceneReader, table: Mapping[str, Any], closed: Collection[str], watched: Collection[str]
) -> None:
    """Refuse an event that cuts what is open by then, or closes what is closed.

    Args:
        reader: Says where things stand.
        table: The scene, with events that make sense one by one.
        closed: Connections that are closed at the start.
        watched: Connections that a condition may cut at any time; nothing is known of them.

    Raises:
        DescriptionError: Naming the event.
    """
    holds = set(closed)
    for key, verb, name in _list_changes(reader, table):
        if name in watched:
            continue
        if (verb == "cut") != (name in holds):
            raise reader.refuse(
                key, f"{name!r} is {'closed' if name in holds else 'open'} already by then"
            )
        holds ^= {name}


def _list_changes(reader: SceneReader, table: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Return key, verb and connection of all changes in the order in which they happen; grasps are the last of their time."""
    changes = []
    for k, entry in enumerate(table.get("events", [])):
        at = reader.number(entry["at"], f"events[{k}].at")
        for verb in ("cut", "connect", "grasp"):
            value = entry.get(verb, [])
            names = value if isinstance(value, list) else [value]
            changes += [
                ((at, verb == "grasp"), f"events[{k}].{verb}", verb, name) for name in names
            ]
    for _, key, verb, name in sorted(changes, key=lambda change: change[0]):
        yield key, verb, name
