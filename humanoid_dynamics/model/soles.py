"""Soles of a robot nobody has described."""

from __future__ import annotations

from pathlib import Path

import pinocchio as pin

from humanoid_dynamics.model.description import SurfaceSpec
from humanoid_dynamics.model.robot import Notice
from humanoid_dynamics.model.urdf import Urdf


def find_soles(urdf: Urdf, model: pin.Model, folder: Path | None) -> tuple[dict[str, SurfaceSpec], tuple[Notice, ...]]:
    """Return the soles."""
    return {}, ()
