# SPDX-License-Identifier: Apache-2.0
"""Base class of the status values of all components."""

from __future__ import annotations

from enum import Enum


class StatusEnum(str, Enum):
    """Status of a component: a string in ``UPPER_SNAKE``, with one sentence that describes it.

    A member is its value wherever a string is expected: in messages, in JSON, in f-strings and in comparisons.
    """

    _value_: str
    description: str

    def __new__(cls, value: str, description: str) -> StatusEnum:
        """Make a member from its value and its description."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.description = description
        return member

    __str__ = str.__str__

    def __repr__(self) -> str:
        """Return the value in quotation marks."""
        return str.__repr__(self)

    def __format__(self, format_spec: str) -> str:
        """Format the value."""
        return str.__format__(self, format_spec)
