"""Anything a user may call a robot, turned into URDF text: a name, a path, XML, a URDF object."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from humanoid_dynamics.errors import MissingExtraError, SourceError
from humanoid_dynamics.model.catalogue import CatalogueEntry, catalogue_names, find_entry
from humanoid_dynamics.model.description import Description
from humanoid_dynamics.model.description_file import load_description
from humanoid_dynamics.model.objects import is_urdf_object, write_object

LARGEST_URDF = 20_000_000


@dataclass(frozen=True, eq=False)
class Source:
    """URDF text, with what is known about where it came from.

    Attributes:
        text: The XML.
        origin: Catalogue name, path, or kind of object, for messages.
        folder: Folder the mesh paths may be relative to, or None.
        description: What the catalogue or a YAML file beside the URDF adds.
    """

    text: str
    origin: str
    folder: Path | None
    description: Description


def read_source(source: object, xacro_arguments: Mapping[str, str] | None = None) -> Source:
    """Turn a robot source into URDF text.

    Args:
        source: Catalogue name, path of a URDF or xacro file, XML text (also a ROS ``robot_description``), or a URDF object of
            yourdfpy, urchin or urdfpy.
        xacro_arguments: Arguments for a xacro file.

    Returns:
        The text and where it came from.

    Raises:
        SourceError: If nothing of that name exists, or it cannot be read.
    """
    if is_urdf_object(source):
        kind = f"{type(source).__module__.partition('.')[0]} object"
        return Source(write_object(source), kind, None, Description())
    if isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith("<"):
        return Source(_checked_size(source.lstrip("\ufeff \t\r\n"), "XML text"), "XML text", None, Description())
    if isinstance(source, str | os.PathLike):
        return _read_named(source, xacro_arguments or {})
    raise SourceError(
        f"a robot cannot be read from a {type(source).__name__}; expected a catalogue name, a path, XML text, "
        "or a URDF object of yourdfpy, urchin or urdfpy"
    )


def _read_named(source: str | os.PathLike[str], xacro_arguments: Mapping[str, str]) -> Source:
    name = os.fspath(source)
    entry = find_entry(name)
    if entry is not None:
        return _read_entry(entry)
    path = Path(name).expanduser()
    if not path.is_file():
        raise SourceError(_nothing_there(name, path))
    text = _run_xacro(path, xacro_arguments) if _is_xacro(path) else _read_text(path)
    beside = path.with_suffix(".yaml")
    return Source(text, name, path.parent, load_description(beside) if beside.is_file() else Description())


def _read_entry(entry: CatalogueEntry) -> Source:
    path = entry.urdf_path()
    return Source(_read_text(path), entry.name, path.parent, entry.description)


def _nothing_there(name: str, path: Path) -> str:
    if path.is_dir():
        return f"{name} is a folder; expected a URDF or xacro file"
    if path.suffix or len(path.parts) > 1:
        return f"no file {name}"
    return f"no robot named {name!r} and no such file. Catalogue: {', '.join(catalogue_names())}"


def _read_text(path: Path) -> str:
    try:
        size = path.stat().st_size
        if size > LARGEST_URDF:
            raise SourceError(_too_large(str(path), size))
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as cause:
        raise SourceError(f"{path}: is not text in UTF-8, so not a URDF") from cause
    except OSError as cause:
        raise SourceError(f"{path}: cannot be read: {cause.strerror}") from cause


def _checked_size(text: str, origin: str) -> str:
    if len(text) > LARGEST_URDF:
        raise SourceError(_too_large(origin, len(text)))
    return text


def _too_large(origin: str, size: int) -> str:
    return f"{origin}: {size / 1e6:.0f} MB, expected a robot description of at most {LARGEST_URDF / 1e6:.0f} MB"


def _is_xacro(path: Path) -> bool:
    return path.suffix == ".xacro"


def _run_xacro(path: Path, arguments: Mapping[str, str]) -> str:
    _read_text(path)
    try:
        import xacro
    except ImportError as cause:
        raise MissingExtraError("xacro", "xacro", f"reading {path}") from cause
    # Every failure of a macro language ends here: its own exceptions, those of the XML parser, and those of expressions.
    failures: tuple[type[Exception], ...] = (xacro.XacroException, SyntaxError, ValueError, OSError, LookupError, TypeError, RuntimeError)
    try:
        document: Any = xacro.process_file(str(path), mappings=dict(arguments))
    except failures as cause:
        raise SourceError(f"{path}: xacro cannot process it: {cause}") from cause
    return str(document.toprettyxml(indent="  "))
