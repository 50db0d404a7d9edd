# SPDX-License-Identifier: Apache-2.0
"""The robots known by name: every file in ``config/robots`` is an entry."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from humanoid_dynamics.errors import MissingExtraError, SourceError, UnknownNameError
from humanoid_dynamics.model.description import Description
from humanoid_dynamics.model.reading.description_file import load_description


@dataclass(frozen=True, eq=False)
class CatalogueEntry:
    """A robot known by name.

    Attributes:
        name: Its name.
        description: What its YAML file says.
    """

    name: str
    description: Description

    def urdf_path(self) -> Path:
        """Return the URDF file of this robot.

        Raises:
            MissingExtraError: If the package that ships it is not installed.
            SourceError: If the package is there and the file is not.
        """
        package, relative = self.description.package, self.description.urdf
        shares = (
            [share for share in _shares(package) if share.is_dir()]
            if package
            else [_shipped("urdf")]
        )
        if not shares:
            raise MissingExtraError(package, "robots", f"robot {self.name!r}")
        for share in shares:
            if relative and (share / relative).is_file():
                return share / relative
        raise SourceError(
            f"robot {self.name!r}: {f'package {package!r}' if package else 'urdf/'} has no file {relative!r}"
        )


def catalogue_names() -> tuple[str, ...]:
    """Return the names of all robots in the catalogue, sorted."""
    return tuple(sorted(path.stem for path in (_shipped("config") / "robots").glob("*.yaml")))


def find_entry(name: str) -> CatalogueEntry | None:
    """Return the catalogue entry of that name, or None."""
    if name not in catalogue_names():
        return None
    return CatalogueEntry(name, load_description(_shipped("config") / "robots" / f"{name}.yaml"))


def find_description(name: str) -> Description | None:
    """Return what a catalogue name or a YAML file says of a robot, or None for an empty name.

    Args:
        name: Catalogue name, path of a YAML file, or an empty string.

    Raises:
        UnknownNameError: If it is neither.
    """
    if not name:
        return None
    entry = find_entry(name)
    if entry is not None:
        return entry.description
    if not Path(name).expanduser().is_file():
        raise UnknownNameError("robot configuration or YAML file", name, catalogue_names())
    return load_description(Path(name).expanduser())


def _shipped(folder: str) -> Path:
    return Path(str(resources.files("humanoid_dynamics"))) / folder


def _shares(package: str) -> Iterator[Path]:
    """Yield the share folders a package of robot files may have: in a wheel, in an environment, in ROS workspaces."""
    for site in dict.fromkeys((*sys.path, sysconfig.get_path("purelib"))):
        yield Path(site) / "cmeel.prefix" / "share" / package
    for prefix in (*os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep), sys.prefix):
        if prefix:
            yield Path(prefix) / "share" / package
