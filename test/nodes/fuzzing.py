# SPDX-License-Identifier: Apache-2.0
"""Messages of any kind with anything in them: extreme numbers, wrong sizes, names and times that are none; bytes that are no message."""

from array import array
from importlib import import_module

import numpy as np

NUMBERS = (0.0, -0.0, 1.0, -1.0, 1e-300, 1e300, -1e300, np.inf, -np.inf, np.nan, 1e6, 5e-324)
TEXTS = ("", "odom", "world", "\n", "a" * 300, "left_foot", "pelvis", "/", "é")


class Fuzzer:
    """Makes messages at random.

    Attributes:
        names: Names that mean something, which are mixed in.
        now: Returns the time [ns], which stamps are near to most of the time.
    """

    def __init__(self, rng, names, now):
        self.rng, self.names, self.now = rng, tuple(names), now

    def message(self, kind):
        """Return a message of a class."""
        made = kind()
        for field, of in kind.get_fields_and_field_types().items():
            setattr(made, field, self._value(of, getattr(made, field)))
        return made

    def _value(self, of, default):
        rng = self.rng
        if of == "builtin_interfaces/Time":
            return self._time(default)
        if of.startswith("sequence<"):
            return self._sequence(of[9:].partition(">")[0].partition(",")[0], default)
        if "[" in of:  # of a fixed length
            default[:] = [self._number() for _ in default] if rng.random() < 0.2 else default
            return default
        if of in {"double", "float"}:
            return self._number() if of == "double" else float(np.float32(rng.uniform(-1e3, 1e3)))
        if of == "string":
            return self._text()
        if of == "boolean":
            return bool(rng.integers(2))
        if "/" in of:
            return self.message(find(of))
        return self._whole(of)

    def _sequence(self, of, default):
        rng = self.rng
        size = int(rng.choice((0, 1, 2, 3, len(self.names), len(self.names), 40)))
        if of == "string":
            return list(self.names) if rng.random() < 0.6 else [self._text() for _ in range(size)]
        if of == "double":
            values = (
                [self._number() for _ in range(size)]
                if rng.random() < 0.4
                else rng.normal(0.0, 3.0, size).tolist()
            )
            return array("d", values)
        if "/" in of:
            return [self.message(find(of)) for _ in range(min(size, 4))]
        return default

    def _number(self):
        rng = self.rng
        return float(rng.choice(NUMBERS)) if rng.random() < 0.25 else float(rng.normal(0.0, 2.0))

    def _text(self):
        rng = self.rng
        return str(rng.choice((*TEXTS, *self.names)))

    def _whole(self, of):
        bits = int("".join(filter(str.isdigit, of)) or 8)
        low, high = (
            (0, 2**bits)
            if of.startswith(("u", "octet", "byte"))
            else (-(2 ** (bits - 1)), 2 ** (bits - 1))
        )
        if of in {"octet", "byte"}:
            return bytes([int(self.rng.integers(256))])
        return int(self.rng.integers(max(low, -(2**62)), min(high, 2**62)))

    def _time(self, stamp):
        rng = self.rng
        shift = int(rng.choice((0, 0, 0, 0, 10**6, -(10**8), 10**9, -(10**12), 2**31 * 10**9)))
        t = max(0, self.now() + shift) % (2**31 * 10**9) if rng.random() < 0.9 else 0
        stamp.sec, stamp.nanosec = divmod(t, 10**9)
        return stamp


def find(of):
    package, _, name = of.partition("/")
    return getattr(import_module(f"{package}.msg"), name)


def spoil(rng, data):
    """Return a message cut short, grown, overwritten here and there, or of nothing but chance."""
    way = rng.integers(4)
    data = bytearray(rng.bytes(rng.integers(0, 200)) if way == 3 else data)
    if way == 1:
        data = data[: rng.integers(0, len(data) + 1)]
    if way == 2:
        data += rng.bytes(rng.integers(1, 40))
    for _ in range(rng.integers(0, 4) if data else 0):
        data[rng.integers(len(data))] = rng.choice((0, 1, 255, rng.integers(256)))
    return bytes(data)
