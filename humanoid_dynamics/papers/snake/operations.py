# SPDX-License-Identifier: Apache-2.0
"""Numbers that count what is done to them.

A multiplication or division counts as one M, an addition or subtraction as one A, sines, cosines and changes of sign as nothing, as in the
paper.  Constants of the chain are made beforehand and cost nothing either.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike


class Operations(NamedTuple):
    """How many operations of either kind.

    Attributes:
        multiplications: Multiplications and divisions.
        additions: Additions and subtractions.
    """

    multiplications: int
    additions: int

    @property
    def total(self) -> int:
        """All of them."""
        return self.multiplications + self.additions


class Counter:
    """A tally of operations on the numbers made by it.

    Plain integers met on the way are the zeros and ones a program starts from.  Where ``skip_structure`` is set, an operation with one of
    them costs nothing, as someone who writes the equations out would have it; otherwise it counts like any other.
    """

    def __init__(self, skip_structure: bool = False) -> None:
        self.skip_structure = skip_structure
        self.multiplications = self.additions = 0

    def array(self, values: ArrayLike) -> Any:
        """Return numbers that count.

        Args:
            values: Any shape of numbers.

        Returns:
            An array of counted numbers of the same shape, or one of them.
        """
        plain = np.asarray(values, dtype=np.float64)
        counted = np.empty(plain.shape, dtype=object)
        for index, value in np.ndenumerate(plain):
            counted[index] = Counted(float(value), self)
        return counted[()]

    def read(self) -> Operations:
        """Return the tally and start again from zero."""
        tally = Operations(self.multiplications, self.additions)
        self.multiplications = self.additions = 0
        return tally


class Counted:
    """One number that counts; behaves like a float in the four operations."""

    __slots__ = ("counter", "value")

    def __init__(self, value: float, counter: Counter) -> None:
        self.value, self.counter = value, counter

    def __add__(self, other: object) -> Any:
        return self._sum(other, 1.0)

    def __radd__(self, other: object) -> Any:
        return self._sum(other, 1.0)

    def __sub__(self, other: object) -> Any:
        return self._sum(other, -1.0)

    def __rsub__(self, other: object) -> Any:
        return (-self)._sum(other, 1.0)

    def __mul__(self, other: object) -> Any:
        if self._is_structure(other):
            return self if other == 1 else 0
        return self._product(_value_of(other))

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> Any:
        return (
            self
            if self._is_structure(other) and other == 1
            else self._product(1.0 / _value_of(other))
        )

    def __rtruediv__(self, other: object) -> Any:
        return (
            0
            if self._is_structure(other) and other == 0
            else Counted(1.0 / self.value, self.counter)._product(_value_of(other))
        )

    def __neg__(self) -> Counted:
        return Counted(-self.value, self.counter)

    def __float__(self) -> float:
        return self.value

    def cos(self) -> Counted:
        """Cosine, which costs nothing here; numpy finds it by its name."""
        return Counted(float(np.cos(self.value)), self.counter)

    def sin(self) -> Counted:
        """Sine, which costs nothing here; numpy finds it by its name."""
        return Counted(float(np.sin(self.value)), self.counter)

    def _is_structure(self, other: object) -> bool:
        return self.counter.skip_structure and isinstance(other, int) and other in {0, 1}

    def _sum(self, other: object, sign: float) -> Counted:
        if self._is_structure(other) and other == 0:
            return self
        self.counter.additions += 1
        return Counted(self.value + sign * _value_of(other), self.counter)

    def _product(self, other: float) -> Counted:
        self.counter.multiplications += 1
        return Counted(self.value * other, self.counter)


def _value_of(number: object) -> float:
    return number.value if isinstance(number, Counted) else float(number)  # type: ignore[arg-type]
