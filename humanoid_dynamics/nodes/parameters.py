# SPDX-License-Identifier: Apache-2.0
"""The configuration of a node as ROS parameters: described, bounded, changed only where that is safe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, TypeVar

from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor
from rclpy.node import Node
from rclpy.parameter import Parameter

from humanoid_dynamics.nodes.configs import BagConfig, NodeConfig, describe

Config = TypeVar("Config", bound=NodeConfig | BagConfig)
ARRAYS = {
    "tuple[str, ...]": Parameter.Type.STRING_ARRAY,
    "tuple[float, ...]": Parameter.Type.DOUBLE_ARRAY,
}


def declare_parameters(node: Node, kind: type[Config]) -> Config:
    """Declare every field of a configuration and return the values given.

    Args:
        node: The node.
        kind: The configuration dataclass; every field has a default.

    Returns:
        The configuration.
    """
    values: dict[str, Any] = {}
    for entry in fields(kind):
        default: Any = entry.default
        if isinstance(default, tuple):  # an empty list has no type of its own
            default = (
                Parameter(entry.name, ARRAYS[str(entry.type)], list(default)).value
                or ARRAYS[str(entry.type)]
            )
        value = node.declare_parameter(entry.name, default, _descriptor(entry.metadata)).value
        values[entry.name] = tuple(value or ()) if isinstance(entry.default, tuple) else value
    return kind(**values)


def refuse_or_change(
    config: Config, changes: Mapping[str, Any], *, configured: bool
) -> tuple[str, Config]:
    """Tell why parameters may not change, or what the configuration is when they have.

    Args:
        config: The configuration now.
        changes: Values by name.
        configured: Whether the node is configured, so that only some may change.

    Returns:
        Why not, or an empty string; and the configuration.
    """
    known = {entry.name: entry for entry in fields(config)}
    for name, value in changes.items():
        if name not in known:
            continue
        about = known[name].metadata
        if configured and about["read_only"]:
            return f"{name} may not change while the node is configured: clean up first", config
        if about["choices"] and value not in about["choices"]:
            return f"{name}: received {value!r}, expected {' or '.join(about['choices'])}", config
        if about["lowest"] is not None and not about["lowest"] <= value <= about["highest"]:
            return (
                f"{name}: received {value}, expected {about['lowest']:g} to {about['highest']:g} {about['unit']}",
                config,
            )
    own: dict[str, Any] = {
        name: tuple(value) if isinstance(known[name].default, tuple) else value
        for name, value in changes.items()
        if name in known
    }
    return "", replace(config, **own)


def _descriptor(metadata: Mapping[str, Any]) -> ParameterDescriptor:
    descriptor = ParameterDescriptor(description=describe(metadata))
    if metadata["lowest"] is not None:
        span = FloatingPointRange(
            from_value=float(metadata["lowest"]), to_value=float(metadata["highest"]), step=0.0
        )
        descriptor.floating_point_range = [span]
    return descriptor
