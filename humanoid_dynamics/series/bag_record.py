# SPDX-License-Identifier: Apache-2.0
"""A record from the bag it was written into, number by number."""

from __future__ import annotations

import json

import numpy as np

from humanoid_dynamics.errors import RecordError
from humanoid_dynamics.series.bag_reader import Bag, Series
from humanoid_dynamics.series.bag_writer import (
    ABOUT,
    DESCRIPTION,
    EXACT,
    IMU_TOPIC,
    JOINTS,
    name_bodies,
    name_numbers,
    name_patches,
)
from humanoid_dynamics.series.layout import STATE, WRENCH, Layout, parse_layout
from humanoid_dynamics.series.record import Record
from humanoid_dynamics.series.sink import MemorySink
from humanoid_dynamics.spatial.arrays import Matrix


def record_from_bag(bag: Bag) -> Record:
    """Turn a bag that this package wrote into the record it was.

    Args:
        bag: The bag.

    Returns:
        The record.

    Raises:
        RecordError: If it is a bag of something else, or messages are missing.
    """
    if ABOUT not in bag.messages:
        listed = ", ".join(f"{topic} ({kind})" for topic, kind in bag.topics.items()) or "none"
        raise RecordError(
            bag.origin,
            f"is a bag without {ABOUT}, which a record of simulate has; its topics are {listed}",
        )
    about: dict[str, str] = {}
    starts: list[tuple[int, Layout]] = []
    try:
        for stamp, message in bag.messages[ABOUT]:
            content = json.loads(message.data)
            about = {str(key): str(value) for key, value in content["about"].items()}
            starts.append((stamp, parse_layout(json.dumps(content["layout"]))))
    except (ValueError, KeyError, TypeError, AttributeError) as cause:
        raise RecordError(bag.origin, f"its topic {ABOUT} cannot be read: {cause}") from cause
    if DESCRIPTION in bag.messages:
        about["urdf"] = bag.messages[DESCRIPTION][0][1].data
    sink = MemorySink()
    ends = [*(stamp for stamp, _ in starts[1:]), np.iinfo(np.int64).max]
    for (start, layout), end in zip(starts, ends, strict=True):
        _add_part(bag, layout, (start, int(end)), sink)
    return sink.record(about)


def _add_part(bag: Bag, layout: Layout, span: tuple[int, int], sink: MemorySink) -> None:
    """Enter the samples of one layout."""
    exact = _rows(bag, f"/{EXACT}", span, None)[0]
    t, count = exact[:, 0], len(exact)
    tables = {EXACT: exact[:, 1:]} if EXACT in layout.columns else {}
    for name in layout.numbers:
        tables[name] = _read_numbers(bag, name_numbers(name), span, count)
    wrenches = [_rows(bag, topic, span, count)[0] for topic in name_patches(layout)]
    tables["wrench"] = np.hstack(wrenches) if wrenches else np.zeros((count, 0))
    tables |= _read_state(bag, layout, span, count)
    sink.begin(layout)
    expected = {name: len(columns) for name, columns in layout.columns.items()}
    for name, size in expected.items():
        if name not in tables or tables[name].shape[1] != size:
            raise RecordError(
                bag.origin,
                f"table {name!r} has {tables[name].shape[1] if name in tables else 0} columns, expected {size}",
            )
    whole = {name: np.ascontiguousarray(tables[name]) for name in expected}
    for k, instant in enumerate(t.tolist()):
        sink.write(instant, {name: values[k] for name, values in whole.items()})


def _read_numbers(bag: Bag, topic: str, span: tuple[int, int], count: int) -> Matrix:
    """Return a table that stands for itself: an array, or rate and force of an IMU."""
    fields = _rows(bag, topic, span, count)
    return np.hstack(fields[2::2]) if topic.startswith(IMU_TOPIC) else fields[0]


def _read_state(bag: Bag, layout: Layout, span: tuple[int, int], count: int) -> dict[str, Matrix]:
    if not layout.is_plain:
        return {name: _rows(bag, f"/state/{name}", span, count)[0] for name in STATE}
    tables = {name: np.zeros((count, len(layout.columns[name]))) for name in STATE}
    if layout.joints:
        fields = _rows(bag, JOINTS, span, count)
        for name, values in zip(STATE, fields, strict=True):
            for k, joint in enumerate(layout.joints):
                if getattr(joint, name) >= 0:
                    tables[name][:, getattr(joint, name)] = values[:, k]
    for topic, body in zip(name_bodies(layout), layout.bodies, strict=True):
        pose, _, twist, _ = _rows(bag, topic, span, count)
        tables["q"][:, body.q : body.q + 7], tables["v"][:, body.v : body.v + len(WRENCH)] = (
            pose,
            twist,
        )
    return tables


def _rows(bag: Bag, topic: str, span: tuple[int, int], count: int | None) -> tuple[Matrix, ...]:
    """Return the numbers of a topic within a span of time."""
    parts = [_within(series, span) for series in bag.series.get(topic, ())]
    parts = [part for part in parts if len(part.stamps)]
    received = sum(len(part.stamps) for part in parts)
    if len(parts) != 1 or (count is not None and received != count):
        expected, listed = "some" if count is None else str(count), ", ".join(bag.topics)
        raise RecordError(
            bag.origin,
            f"topic {topic} has {received} messages in {len(parts)} forms, expected {expected} in one; topics: {listed}",
        )
    return parts[0].fields


def _within(series: Series, span: tuple[int, int]) -> Series:
    return series.rows((series.stamps >= span[0]) & (series.stamps < span[1]))
