"""Messages that several nodes send, made from numbers of the library."""

from __future__ import annotations

import array
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from humanoid_dynamics.spatial.arrays import Vector


def write_efforts(names: Sequence[str], tau: Vector, stamp: Any) -> tuple[JointState, Float64MultiArray]:
    """Return torques as a message with names and a stamp, and as plain numbers.

    Args:
        names: (na,) joint names.
        tau: (na,) torques [N·m or N].
        stamp: Time of the message.

    Returns:
        Both messages.
    """
    numbers = array.array("d", tau.tobytes())
    message = JointState(name=list(names), effort=numbers)
    message.header.stamp = stamp
    return message, Float64MultiArray(data=numbers)


def write_diagnostics(name: str, level: bytes, status: str, facts: Mapping[str, str], stamp: Any) -> DiagnosticArray:
    """Return how a node stands as a message.

    Args:
        name: Of the node, and of what it makes.
        level: One of those of ``DiagnosticStatus``.
        status: In one word.
        facts: More of it, by name.
        stamp: Time of the message.

    Returns:
        The message.
    """
    values = [KeyValue(key=key, value=value) for key, value in facts.items()]
    message = DiagnosticArray(status=[DiagnosticStatus(level=level, name=name, message=status, values=values)])
    message.header.stamp = stamp
    return message


def write_peak(tau: Vector) -> str:
    """Return the largest torque as text [N·m]."""
    return f"{np.max(np.abs(tau), initial=0.0):.3f}"
