# SPDX-License-Identifier: Apache-2.0
"""Fingerprints: same clip, same robot and same settings give the same one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path

import numpy as np
import pinocchio as pin

from humanoid_dynamics.errors import ClipError
from humanoid_dynamics.model.robot import RobotModel

PARTS = (
    "urdf",
    "root",
    "actuated",
    "limits",
    "friction",
    "damping",
    "surfaces",
    "posture",
    "stance",
)


def fingerprint(value: object) -> str:
    """Return the fingerprint of plain data, arrays, records and poses.

    Args:
        value: Text, numbers, arrays, and mappings, sequences and records of these.

    Returns:
        64 hexadecimal digits.
    """
    return hashlib.sha256(json.dumps(_plain(value), sort_keys=True).encode()).hexdigest()


def fingerprint_robot(robot: RobotModel) -> str:
    """Return the fingerprint of a robot: its URDF and what was said beside it.

    Args:
        robot: The robot.
    """
    return fingerprint([getattr(robot, part) for part in PARTS])


def fingerprint_file(path: Path) -> str:
    """Return the fingerprint of what a file holds, whatever it is called; of a folder, of all its files.

    Args:
        path: The file, or the folder of a bag.

    Raises:
        ClipError: If it cannot be read.
    """
    digest = hashlib.sha256()
    try:
        for member in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if member.is_file():
                digest.update(f"{member.relative_to(path)}:{member.stat().st_size}:".encode())
                with member.open("rb") as file:
                    while block := file.read(1 << 20):
                        digest.update(block)
    except OSError as cause:
        raise ClipError(str(path), f"cannot be read: {cause}") from cause
    return digest.hexdigest()


def _plain(value: object) -> object:
    if isinstance(value, pin.SE3):
        value = value.homogeneous
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if is_dataclass(value) and not isinstance(value, type):
        return {part.name: _plain(getattr(value, part.name)) for part in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value
