# SPDX-License-Identifier: Apache-2.0
"""Records whose arrays cannot be written to."""

from __future__ import annotations

import numpy as np


def seal(record: object) -> None:
    """Make all arrays of a record read-only; called at the end of making it.

    Args:
        record: A dataclass without slots; the arrays are not copied.
    """
    for name, value in vars(record).items():
        if isinstance(value, np.ndarray):
            sealed = value.view()
            sealed.flags.writeable = False
            object.__setattr__(record, name, sealed)


class Sealed:
    """Base of a frozen dataclass with read-only arrays."""

    def __post_init__(self) -> None:
        seal(self)
