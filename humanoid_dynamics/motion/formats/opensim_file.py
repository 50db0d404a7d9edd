# SPDX-License-Identifier: Apache-2.0
"""Tables as OpenSim writes them, `.mot` and `.sto`: a few lines about the file, `endheader`, names, rows, with tabs, commas or spaces."""

from __future__ import annotations

import re
from collections.abc import Sequence

from humanoid_dynamics.errors import ClipError

END = "endheader"
DEGREES = re.compile(r"indegrees\s*=\s*(\S*)", re.IGNORECASE)
ANSWERS = {"yes": True, "no": False}

Line = tuple[int, str]


def is_opensim(lines: Sequence[str]) -> bool:
    """Return whether a text is such a table.

    Args:
        lines: Its lines.
    """
    return any(line.strip().lower() == END for line in lines)


def split_opensim(lines: Sequence[Line], origin: str) -> tuple[list[tuple[int, list[str]]], bool]:
    """Split a table into cells.

    Args:
        lines: Number and text of the lines that are not empty.
        origin: The file, for messages.

    Returns:
        Number and cells of each line behind the header, names first; whether angles are in degrees.

    Raises:
        ClipError: If the header does not state the unit of angles, or nothing stands behind it.
    """
    end = next(index for index, (_, line) in enumerate(lines) if line.lower() == END)
    body = lines[end + 1 :]
    if not body:
        raise ClipError(origin, "has no names of columns behind endheader", line=lines[end][0])
    mark = next((mark for mark in ("\t", ",") if mark in body[0][1]), None)
    return [
        (number, [cell.strip() for cell in line.split(mark)]) for number, line in body
    ], _in_degrees(lines[:end], origin)


def _in_degrees(header: Sequence[Line], origin: str) -> bool:
    for number, line in header:
        said = DEGREES.match(line)
        if said:
            if said.group(1).lower() not in ANSWERS:
                raise ClipError(
                    origin,
                    f"received {line!r}, expected inDegrees=yes or inDegrees=no",
                    line=number,
                )
            return ANSWERS[said.group(1).lower()]
    return False
