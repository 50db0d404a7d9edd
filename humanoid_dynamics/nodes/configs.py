"""Parameters of every node: one frozen dataclass each, the source of names, defaults, units, ranges and descriptions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


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


@dataclass(frozen=True)
class StandingTorquesConfig:
    """Parameters of the node ``standing_torques``."""

    robot: str = parameter("", "Catalogue name or URDF path; empty to wait for /robot_description")
    config: str = parameter("", "Catalogue name or YAML path that says what the URDF cannot")
    rule: str = parameter("minimum_torque", "Rule that chooses among the torques")
    rate: float = parameter(500.0, "Rate of the torque commands", unit="Hz", lowest=1.0, highest=2000.0)
    timeout: float = parameter(0.1, "Age at which a joint state is stale", unit="s", lowest=0.001, highest=10.0)
    decay: float = parameter(0.5, "Time in which the torques of a stale state fade to zero", unit="s", lowest=0.001, highest=60.0)


@dataclass(frozen=True)
class SnakeDriverConfig:
    """Parameters of the node ``snake_driver``."""

    robot: str = parameter("snake5", "Catalogue name or URDF path of a snake whose joints tell where it is in the plane")
    rate: float = parameter(500.0, "Rate of the torque commands", unit="Hz", lowest=1.0, highest=2000.0)
    timeout: float = parameter(0.1, "Age at which a joint state is stale", unit="s", lowest=0.001, highest=10.0)
    decay: float = parameter(0.5, "Time in which the torques of a stale state fade to zero", unit="s", lowest=0.001, highest=60.0)
    friction: float = parameter(0.6, "Coulomb coefficient of the wheels", unit="-", lowest=0.01, highest=10.0)
    turn_rate: float = parameter(0.5, "How fast the aim follows the heading", unit="rad/s", lowest=0.001, highest=10.0)
    speed: float = parameter(0.3, "Speed of the head along itself", unit="m/s", lowest=0.0, highest=10.0)
    swing: float = parameter(0.6, "Amplitude of the head about the heading", unit="rad", lowest=0.0, highest=1.5)
    period: float = parameter(2.0, "Period of the swing", unit="s", lowest=0.1, highest=60.0)
