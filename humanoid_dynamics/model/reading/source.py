# SPDX-License-Identifier: Apache-2.0
"""Anything a user may call a robot, turned into URDF text: a name, a path, XML, a URDF object."""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

from humanoid_dynamics.errors import SourceError
from humanoid_dynamics.model.description import Description
from humanoid_dynamics.model.reading.catalogue import CatalogueEntry, catalogue_names, find_entry
from humanoid_dynamics.model.reading.description_file import is_description, load_description
from humanoid_dynamics.model.reading.objects import is_urdf_object, write_object
from humanoid_dynamics.model.reading.xacro_file import expand_xacro
from humanoid_dynamics.model.robot import Notice

NO_XACRO = "xacro_arguments were given, but the source is no .xacro file"
ARGUMENT = re.compile(r"[A-Za-z_]\w*:=\S*")
LARGEST_URDF = 5_000_000
BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
DECLARATION = re.compile(r"^(\s*)<\?xml\b[^>]*\?>")
DECLARED_ENCODING = re.compile(rb"""^\s*<\?xml\b[^>]*\bencoding=["']([\w.-]+)["']""")


@dataclass(frozen=True, eq=False)
class Source:
    """URDF text, with what is known about where it came from.

    Attributes:
        text: The XML, without a declaration of its encoding.
        origin: Catalogue name, path, or kind of object, for messages.
        folder: Folder the mesh paths may be relative to, or None.
        description: What the catalogue or a YAML file beside the URDF adds.
        notices: What was found and left out.
    """

    text: str
    origin: str
    folder: Path | None = None
    description: Description = field(default_factory=Description)
    notices: tuple[Notice, ...] = ()


def read_source(source: object, xacro_arguments: Mapping[str, str] | None = None) -> Source:
    """Turn a robot source into URDF text.

    Args:
        source: Catalogue name, path of a URDF or xacro file, XML text (also a ROS ``robot_description``), or a URDF object of
            yourdfpy, urchin or urdfpy. Words such as ``name:=value`` after the path of a xacro file are its arguments.
        xacro_arguments: Arguments for a xacro file; they win over those after its path.

    Returns:
        The text and where it came from.

    Raises:
        SourceError: If nothing of that name exists, or it cannot be read.
    """
    if isinstance(source, str | os.PathLike) and not _is_xml(source):
        name, arguments = split_arguments(os.fspath(source))
        return _read_named(name, {**arguments, **(xacro_arguments or {})})
    if xacro_arguments:
        raise SourceError(NO_XACRO)
    if isinstance(source, str):
        return Source(_plain(_checked_size(source, "XML text")), "XML text")
    if is_urdf_object(source):
        kind = f"{type(source).__module__.partition('.')[0]} object"
        return Source(_plain(write_object(source, kind)), kind)
    raise SourceError(
        f"a robot cannot be read from {type(source).__name__}; expected a catalogue name, a path, XML text, "
        "or a URDF object of yourdfpy, urchin or urdfpy"
    )


def split_arguments(source: str) -> tuple[str, dict[str, str]]:
    """Take the words ``name:=value`` from the end of what names a robot, as the command xacro has them.

    Args:
        source: Such as ``legs.urdf.xacro side:=left mass:=2``.

    Returns:
        The rest, and values by name.
    """
    arguments: dict[str, str] = {}
    rest, space, last = source.rpartition(" ")
    while space and ARGUMENT.fullmatch(last):
        name, _, value = last.partition(":=")
        arguments = {name: value, **arguments}
        source = rest.rstrip()
        rest, space, last = source.rpartition(" ")
    return source, arguments


def _is_xml(source: object) -> bool:
    return isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith("<")


def _plain(text: str) -> str:
    """Take the byte order mark and the declaration away, which speak of bytes; lines keep their numbers."""
    return DECLARATION.sub(r"\1", text.removeprefix("\ufeff"))


def _read_named(name: str, xacro_arguments: Mapping[str, str]) -> Source:
    path = Path(os.path.expanduser(name))
    if xacro_arguments and path.suffix != ".xacro":
        raise SourceError(NO_XACRO)
    entry = find_entry(name)
    if entry is not None:
        return _read_entry(entry)
    if not os.path.isfile(path):
        raise SourceError(_nothing_there(name, path))
    text, origin = _read_text(path), name
    if path.suffix == ".xacro":
        text, origin = expand_xacro(path, xacro_arguments), f"{name} (expanded)"
    beside = path.with_name(path.name.removesuffix(".xacro").removesuffix(".urdf") + ".yaml")
    if not beside.is_file():
        return Source(text, origin, path.parent)
    if not is_description(beside):
        told = Notice(
            "info", f"file {str(beside)!r}", "has no key of a robot description; left out"
        )
        return Source(text, origin, path.parent, notices=(told,))
    return Source(text, origin, path.parent, load_description(beside))


def _read_entry(entry: CatalogueEntry) -> Source:
    path = entry.urdf_path()
    return Source(_read_text(path), entry.name, path.parent, entry.description)


def _nothing_there(name: str, path: Path) -> str:
    if os.path.isdir(path):
        return f"{name} is a folder; expected a URDF or xacro file"
    if path.suffix or len(path.parts) > 1:
        return f"no file {name:.200}"
    close = get_close_matches(name, catalogue_names(), n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    return f"no robot named {name!r:.200} and no such file.{hint} Catalogue: {', '.join(catalogue_names())}"


def _read_text(path: Path) -> str:
    try:
        size = path.stat().st_size
        if size > LARGEST_URDF:
            raise SourceError(_too_large(str(path), size))
        content = path.read_bytes()
    except OSError as cause:
        raise SourceError(f"{path}: cannot be read: {cause.strerror}") from cause
    encoding = _encoding(content)
    try:
        return _plain(content.decode(encoding))
    except (UnicodeDecodeError, LookupError) as cause:
        raise SourceError(f"{path}: is not text in {encoding}, so not a URDF") from cause


def _encoding(content: bytes) -> str:
    for mark, encoding in BYTE_ORDER_MARKS.items():
        if content.startswith(mark):
            return encoding
    declared = DECLARED_ENCODING.match(content)
    return declared[1].decode() if declared else "utf-8"


def _checked_size(text: str, origin: str) -> str:
    if len(text) > LARGEST_URDF:
        raise SourceError(_too_large(origin, len(text)))
    return text


def _too_large(origin: str, size: int) -> str:
    return f"{origin}: has {size / 1e6:.0f} MB, expected a robot description of at most {LARGEST_URDF / 1e6:.0f} MB"
