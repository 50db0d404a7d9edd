# SPDX-License-Identifier: Apache-2.0
"""What a figure of a record shows, as numbers: panels with curves, and centres of pressure under soles."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from humanoid_dynamics.contact.wrench import find_pressure
from humanoid_dynamics.errors import RecordError, UnknownNameError
from humanoid_dynamics.plotting.panels import Curve, Panel, Sheet, SolePanel
from humanoid_dynamics.series.layout import Patch
from humanoid_dynamics.series.record import Record
from humanoid_dynamics.spatial.arrays import Matrix

LOADED = 1.0  # N; a contact that carries less has no centre of pressure
SIDES = {"left": "left", "l": "left", "right": "right", "r": "right"}
MOST_CONTACTS = 8  # curves in one panel
GAUGES = {
    "heading": ("heading", "rad"),
    "side_force": ("side force of wheels", "N"),
    "slip_margin": ("side force that is left before a wheel slips", "N"),
}


@dataclass(frozen=True)
class _Kind:
    """How a sheet is made.

    Attributes:
        build: Makes its panels.
        absent: What a record without any lacks.
    """

    build: Callable[[Record], list[Panel | SolePanel]] = field(repr=False)
    absent: str


def build_sheet(record: Record, name: str) -> Sheet:
    """Prepare a figure.

    Args:
        record: The record.
        name: One of ``SHEETS``.

    Returns:
        The sheet.

    Raises:
        UnknownNameError: If there is no such figure.
        RecordError: If the record has nothing to show in it.
    """
    if name not in SHEETS:
        raise UnknownNameError("figure", name, SHEETS)
    panels = SHEETS[name].build(record)
    if not panels:
        raise RecordError(
            record.about.get("scene", "record"),
            f"has nothing for the figure {name!r}: {SHEETS[name].absent}",
        )
    return Sheet(name, record.t, tuple(panels))


def list_sheets(record: Record) -> tuple[str, ...]:
    """Return the figures a record has something for.

    Args:
        record: The record.
    """
    return tuple(name for name, kind in SHEETS.items() if kind.build(record))


def _joint_panels(record: Record) -> list[Panel | SolePanel]:
    q, panels, curves = record.table("q"), [], []
    taken: set[str] = set()
    for stem in _stems(q.columns, ("x", "y", "z")):
        places = tuple(
            Curve(f"{stem[0]}{axis}", axis, q.column(f"{stem[0]}{axis}")) for axis in "xyz"
        )
        panels.append(Panel(stem[1], "m", places))
        taken.update(curve.name for curve in places)
    for stem in _stems(q.columns, ("qx", "qy", "qz", "qw")):
        parts = np.column_stack([q.column(f"{stem[0]}{part}") for part in ("qx", "qy", "qz", "qw")])
        angle = 2.0 * np.arctan2(np.linalg.norm(parts[:, :3], axis=1), np.abs(parts[:, 3]))
        curves.append(Curve(f"{stem[0]}turn", f"{stem[1]} turn", angle))
        taken.update(f"{stem[0]}{part}" for part in ("qx", "qy", "qz", "qw"))
    for name in q.columns:
        if name.endswith(".cos"):
            stem_name = name.removesuffix(".cos")
            curves.append(
                Curve(
                    stem_name,
                    stem_name,
                    np.unwrap(np.arctan2(q.column(f"{stem_name}.sin"), q.column(name))),
                )
            )
        elif name not in taken and not name.endswith(".sin"):
            curves.append(Curve(name, name, q.column(name)))
    return [*panels, *_pair(curves, "rad, m")]


def _torque_panels(record: Record) -> list[Panel | SolePanel]:
    tau = record.table("tau")
    return _pair([Curve(name, name, tau.column(name)) for name in tau.columns], "N·m, N")


def _force_panels(record: Record) -> list[Panel | SolePanel]:
    loaded = _loaded(record)
    if not loaded:
        return []
    balance = record.table("balance")
    total = Panel(
        "all contacts",
        "N",
        tuple(Curve(f"force_{axis}", axis, balance.column(f"force_{axis}")) for axis in "xyz"),
    )
    normal, friction = [], []
    for name, wrench in loaded:
        side = _split(name)[1]
        if record_patch(record, name).corners.size:
            normal.append(Curve(f"{name}.fz", name, wrench[:, 2], side))
            friction.append(
                Curve(f"{name}.friction", name, np.hypot(wrench[:, 0], wrench[:, 1]), side)
            )
        else:  # the axes of a link lie anywhere
            normal.append(Curve(f"{name}.force", name, np.linalg.norm(wrench[:, :3], axis=1), side))
    panels: list[Panel | SolePanel] = [
        total,
        Panel("normal force, of links the whole", "N", tuple(normal)),
    ]
    return [*panels, Panel("friction", "N", tuple(friction))] if friction else panels


def _sole_panels(record: Record) -> list[Panel | SolePanel]:
    panels: list[Panel | SolePanel] = []
    for patch in record.patches:
        if len(patch.corners) < 3:
            continue
        cop = find_pressure(record.wrench(patch.name), LOADED)
        if np.isfinite(cop).any():
            panels.append(SolePanel(patch, cop))
    return panels


def _energy_panels(record: Record) -> list[Panel | SolePanel]:
    if "energy" not in record.tables:
        return []
    energy = record.table("energy")
    kinetic, potential, missing = (
        energy.column(name) for name in ("kinetic", "potential", "missing")
    )
    height = potential - potential[0]
    kept = (
        Curve("kinetic", "kinetic", kinetic),
        Curve("potential", "potential", height),
        Curve("total", "total", kinetic + height),
    )
    entries = [name for name in energy.columns if name not in {"kinetic", "potential", "missing"}]
    work = tuple(
        Curve(name, name, energy.column(name)) for name in entries if energy.column(name).any()
    )
    panels: list[Panel | SolePanel] = [Panel("energy, potential from the start", "J", kept)]
    if work:
        panels.append(Panel("work since the start", "J", work))
    return [
        *panels,
        Panel(
            "energy error: energy less start and work", "J", (Curve("missing", "missing", missing),)
        ),
    ]


def _wheel_panels(record: Record) -> list[Panel | SolePanel]:
    panels: list[Panel | SolePanel] = []
    for name, (title, unit) in GAUGES.items():
        if name in record.tables:
            table = record.table(name)
            order = np.argsort(-np.abs(table.values).max(axis=0, initial=0.0), kind="stable")[
                :MOST_CONTACTS
            ]
            shown = [table.columns[i] for i in sorted(order)]
            panels.append(
                Panel(
                    title,
                    unit,
                    tuple(Curve(column, column, table.column(column)) for column in shown),
                )
            )
    return panels


def record_patch(record: Record, name: str) -> Patch:
    """Return a contact of a record.

    Args:
        record: The record.
        name: Its name.

    Returns:
        The contact.

    Raises:
        UnknownNameError: If there is none of that name.
    """
    patches = {patch.name: patch for patch in record.patches}
    if name not in patches:
        raise UnknownNameError("contact", name, patches)
    return patches[name]


def _loaded(record: Record) -> list[tuple[str, Matrix]]:
    """Return the contacts that ever carried load, those with the largest impulse."""
    pairs = [(patch.name, record.wrench(patch.name)) for patch in record.patches]
    sizes = {name: float(np.nansum(np.linalg.norm(w[:, :3], axis=1))) for name, w in pairs}
    strongest = sorted(
        (name for name in sizes if sizes[name] > 0.0), key=lambda name: -sizes[name]
    )[:MOST_CONTACTS]
    return [(name, w) for name, w in pairs if name in strongest]


def _stems(columns: tuple[str, ...], parts: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return what stands before the parts of a place or a quaternion, and what it is called: ``base_`` and ``base``."""
    found = []
    for name in columns:
        if name.endswith((f"_{parts[0]}", f".{parts[0]}")):
            stem = name.removesuffix(parts[0])
            if all(stem + part in columns for part in parts):
                found.append((stem, stem.rstrip("_.").removesuffix("/root_joint")))
    return found


def _pair(curves: list[Curve], unit: str) -> list[Panel | SolePanel]:
    """Put left and right of the same joint into one panel."""
    groups: dict[str, list[Curve]] = {}
    for curve in curves:
        title, side = _split(curve.label)
        groups.setdefault(title, []).append(Curve(curve.name, side or "value", curve.values, side))
    return [Panel(title, unit, tuple(group)) for title, group in groups.items()]


def _split(name: str) -> tuple[str, str]:
    """Return what a name says besides the side, and the side."""
    words = [word for word in re.split(r"[_/ ]", name) if word]
    side = next((SIDES[word] for word in words if word in SIDES), "")
    rest = [word for word in words if word not in SIDES]
    return (" ".join(rest), side) if side and rest else (name, "")


SHEETS: Mapping[str, _Kind] = MappingProxyType(
    {
        "joints": _Kind(_joint_panels, "no joints and no bodies"),
        "torques": _Kind(_torque_panels, "it has no motors"),
        "forces": _Kind(_force_panels, "no contact ever carried load"),
        "cop": _Kind(_sole_panels, "no sole ever carried load"),
        "energy": _Kind(_energy_panels, "no books of energy"),
        "wheels": _Kind(_wheel_panels, "the record contains no wheel motion"),
    }
)
