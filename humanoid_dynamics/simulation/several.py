"""All figures and objects of a scene as one tree."""

from __future__ import annotations

from collections.abc import Mapping

from humanoid_dynamics.errors import HumanoidDynamicsError
from humanoid_dynamics.simulation.figures import Figure


def join_figures(figures: Mapping[str, Figure]) -> Figure:
    """Return the only figure or object of a scene.

    Args:
        figures: Figures by name.

    Returns:
        The figure.

    Raises:
        HumanoidDynamicsError: If there is none, or more than one.
    """
    if len(figures) != 1:
        raise HumanoidDynamicsError(f"received {len(figures)} figures and objects, expected one")
    return next(iter(figures.values()))
