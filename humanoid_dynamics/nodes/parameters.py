"""The configuration of a node as ROS parameters: described, bounded, read-only."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, TypeVar

from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor
from rclpy.node import Node

Config = TypeVar("Config")


def declare_parameters(node: Node, kind: type[Config]) -> Config:
    """Declare every field of a configuration as a read-only parameter and return the values given.

    Args:
        node: The node.
        kind: The configuration dataclass; every field has a default.

    Returns:
        The configuration.
    """
    values = {}
    for entry in fields(kind):  # type: ignore[arg-type]
        values[entry.name] = node.declare_parameter(entry.name, entry.default, _descriptor(entry.metadata)).value
    return kind(**values)


def _descriptor(metadata: Any) -> ParameterDescriptor:
    unit = f" [{metadata['unit']}]" if metadata["unit"] else ""
    descriptor = ParameterDescriptor(description=metadata["description"] + unit, read_only=True)
    if metadata["lowest"] is not None:
        span = FloatingPointRange(from_value=float(metadata["lowest"]), to_value=float(metadata["highest"]), step=0.0)
        descriptor.floating_point_range = [span]
    return descriptor
