# SPDX-License-Identifier: Apache-2.0
"""Whether two generated texts say the same: the words equal, the numbers equal to the round-off of another machine's sine."""

from __future__ import annotations

import math
import re

NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]?\d+)?")
ROUND_OFF = 1e-13


def same_text(one: str, other: str) -> bool:
    """Return whether the texts differ in nothing but the round-off of their numbers."""
    if one == other:
        return True
    if NUMBER.sub("#", one) != NUMBER.sub("#", other):
        return False
    pairs = zip(NUMBER.findall(one), NUMBER.findall(other), strict=True)
    return all(
        math.isclose(float(a), float(b), rel_tol=ROUND_OFF, abs_tol=ROUND_OFF) for a, b in pairs
    )
