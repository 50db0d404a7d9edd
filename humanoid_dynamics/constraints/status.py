"""How an answer went; numbers going wrong are told here and never raised."""

from __future__ import annotations

from enum import Enum


class Status(str, Enum):
    """What became of a question.

    ``rank_deficient``: rows depend on each other.  ``indeterminate``: the motion is unique, the constraint forces are not.
    ``actuation_singular``: the motors cannot produce every generalized force.  ``inconsistent_input``: the motion asked for breaks the
    constraints.  ``invalid_input``: numbers that are not finite.
    """

    OK = "ok"
    RANK_DEFICIENT = "rank_deficient"
    INDETERMINATE = "indeterminate"
    ACTUATION_SINGULAR = "actuation_singular"
    INCONSISTENT_INPUT = "inconsistent_input"
    INFEASIBLE_CONTACT = "infeasible_contact"
    SATURATED = "saturated"
    INVALID_INPUT = "invalid_input"
