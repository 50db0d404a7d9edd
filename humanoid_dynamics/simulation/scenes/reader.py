# SPDX-License-Identifier: Apache-2.0
"""Values of a scene file, read one by one; each refusal names the key, what was received and what was expected."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

import numpy as np
import pinocchio as pin

from humanoid_dynamics.errors import DescriptionError
from humanoid_dynamics.spatial.arrays import Vector, read_only

EXPONENT = re.compile(
    r"[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+"
)  # a number to everybody but YAML 1.1, which asks for a point and a sign
LARGEST = float(np.finfo(np.float64).max)


class SceneReader:
    """Reads values and says where they stand.

    Attributes:
        origin: The file, for messages.
    """

    def __init__(self, origin: str) -> None:
        self.origin = origin

    def refuse(self, key: str, problem: str) -> DescriptionError:
        """Return the error that refuses a key."""
        return DescriptionError(self.origin, key, problem)

    def table(
        self, value: object, key: str, known: Iterable[str] | None = None
    ) -> Mapping[str, Any]:
        """Return a mapping whose keys are words, and known ones where a list is given."""
        if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
            raise self.refuse(key or "scene", f"received {value!r:.60}, expected a table")
        names = None if known is None else tuple(known)
        for name in value if names is not None else ():
            if names is not None and name not in names:
                close = get_close_matches(name, names, n=1)
                hint = f" Did you mean {close[0]!r}?" if close else ""
                raise self.refuse(
                    f"{key}.{name}" if key else name, f"is unknown.{hint} Known: {', '.join(names)}"
                )
        return value

    def listed(self, value: object, key: str) -> list[Any]:
        """Return a list."""
        if not isinstance(value, list):
            raise self.refuse(key, f"received {value!r:.60}, expected a list")
        return value

    def word(self, value: object, key: str, choices: Iterable[str] | None = None) -> str:
        """Return a word, one of some choices where they are given."""
        if not isinstance(value, str):
            raise self.refuse(key, f"received {value!r:.60}, expected a word")
        allowed = None if choices is None else tuple(choices)
        if allowed is not None and value not in allowed:
            close = get_close_matches(value, allowed, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise self.refuse(
                key, f"received {value!r}.{hint} Known: {', '.join(allowed) or 'none'}"
            )
        return value

    def number(self, value: object, key: str, low: float = -np.inf, high: float = np.inf) -> float:
        """Return a finite number in a range; of those that YAML takes for words, ``1e-3`` is one."""
        if isinstance(value, str) and EXPONENT.fullmatch(value):
            value = float(value)
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not -LARGEST <= value <= LARGEST
            or not low <= value <= high
        ):
            limits = (
                (f" of at least {low:g}" if np.isfinite(low) else "")
                if np.isinf(high)
                else f" from {low:g} to {high:g}"
            )
            raise self.refuse(key, f"received {value!r:.60}, expected a finite number{limits}")
        return float(value)

    def truth(self, table: Mapping[str, Any], name: str, key: str, *, default: bool) -> bool:
        """Return true or false from a table."""
        value = table.get(name, default)
        if not isinstance(value, bool):
            raise self.refuse(key, f"received {value!r:.60}, expected true or false")
        return value

    def vector(
        self, value: object, key: str, size: int = 3, low: float = -np.inf, high: float = np.inf
    ) -> Vector:
        """Return finite numbers in a range."""
        if not isinstance(value, list) or len(value) != size:
            raise self.refuse(key, f"received {value!r:.60}, expected {size} numbers")
        return read_only(
            [self.number(entry, f"{key}[{k}]", low, high) for k, entry in enumerate(value)]
        )

    def pose(self, table: Mapping[str, Any], key: str) -> pin.SE3:
        """Return the pose that the keys ``xyz`` and ``rpy`` of a table give."""
        xyz = self.vector(table.get("xyz", [0.0, 0.0, 0.0]), f"{key}.xyz")
        rpy = self.vector(table.get("rpy", [0.0, 0.0, 0.0]), f"{key}.rpy")
        return pin.SE3(pin.rpy.rpyToMatrix(rpy), xyz)
