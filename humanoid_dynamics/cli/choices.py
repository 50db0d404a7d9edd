# SPDX-License-Identifier: Apache-2.0
"""What users choose by name, written as ROS writes it: ``name:=value``."""

from __future__ import annotations

from collections.abc import Iterable

from humanoid_dynamics.errors import HumanoidDynamicsError


def read_choices(choices: Iterable[str]) -> dict[str, str]:
    """Return arguments by name.

    Args:
        choices: Texts such as ``robot:=g1``.

    Raises:
        HumanoidDynamicsError: If one is none.
    """
    found: dict[str, str] = {}
    for choice in choices:
        name, sign, value = choice.partition(":=")
        if not sign:
            raise HumanoidDynamicsError(f"received {choice!r}, expected name:=value")
        found[name] = value
    return found
