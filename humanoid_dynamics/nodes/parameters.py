"""One frozen dataclass per node is the source of its parameters: name, default, unit, range, description."""

from __future__ import annotations

from dataclasses import MISSING, field, fields
from typing import Any, TypeVar

from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor
from rclpy.node import Node

Config = TypeVar("Config")


def parameter(default: Any, description: str, *, unit: str = "", lowest: float | None = None, highest: float | None = None) -> Any:
    """Declare a field of a node's configuration.

    Args:
        default: Value where nobody sets one.
        description: What it does.
        unit: Its unit, empty for names and ratios.
        lowest: Lowest value allowed, for numbers.
        highest: Highest value allowed, for numbers.
    """
    return field(default=default, metadata={"description": description, "unit": unit, "lowest": lowest, "highest": highest})


def declare_parameters(node: Node, kind: type[Config]) -> Config:
    """Declare every field of a configuration as a read-only parameter and return the values given.

    Args:
        node: The node.
        kind: The configuration dataclass.

    Returns:
        The configuration.
    """
    values = {}
    for entry in fields(kind):  # type: ignore[arg-type]
        default = None if entry.default is MISSING else entry.default
        values[entry.name] = node.declare_parameter(entry.name, default, _descriptor(entry.metadata)).value
    return kind(**values)


def _descriptor(metadata: Any) -> ParameterDescriptor:
    unit = f" [{metadata['unit']}]" if metadata["unit"] else ""
    descriptor = ParameterDescriptor(description=metadata["description"] + unit, read_only=True)
    if metadata["lowest"] is not None:
        span = FloatingPointRange(from_value=float(metadata["lowest"]), to_value=float(metadata["highest"]), step=0.0)
        descriptor.floating_point_range = [span]
    return descriptor
