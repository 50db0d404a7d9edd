# SPDX-License-Identifier: Apache-2.0
"""Limits of what a file may unpack to: declared sizes are checked before anything is allocated, and unpacking stops at them."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any

LIMIT_VARIABLE = "HUMANOID_DYNAMICS_READ_LIMIT_MB"
LIMIT = 256  # MB, 1e6 bytes each
GROWTH = 8  # how often its size on disk a file may unpack to, where that is more
LONGEST_LINE = 1_000_000  # characters of a line of a table


class ReadLimitError(ValueError):
    """A file that declares or unpacks to more than may be read."""


def find_limit(size: int = 0) -> int:
    """Return how many bytes a file may unpack to.

    Args:
        size: Its size on disk [bytes].

    Returns:
        ``HUMANOID_DYNAMICS_READ_LIMIT_MB``, by default 256 MB, or eight times the size on disk where that is more [bytes].
    """
    given = os.environ.get(LIMIT_VARIABLE, "")
    megabytes = float(given) if given.replace(".", "", 1).isdigit() else LIMIT
    return max(int(megabytes * 1e6), GROWTH * size)


def check_size(what: str, size: int, limit: int) -> None:
    """Refuse what is larger than may be read.

    Args:
        what: What it is, for the message.
        size: Its size [bytes].
        limit: The most it may have [bytes].

    Raises:
        ReadLimitError: Naming both, and what raises the limit.
    """
    if not 0 <= size <= limit:
        raise ReadLimitError(
            f"{what} has {size} bytes, expected at most {limit}; {LIMIT_VARIABLE} raises the limit"
        )


def check_lines(lines: list[str]) -> None:
    """Refuse a line that no table has.

    Args:
        lines: Lines of a text.

    Raises:
        ReadLimitError: Naming the line.
    """
    for number, line in enumerate(lines, start=1):
        if len(line) > LONGEST_LINE:
            raise ReadLimitError(
                f"line {number} has {len(line)} characters, expected at most {LONGEST_LINE}"
            )


def inflate(make: Any, data: bytes, what: str, limit: int) -> bytes:
    """Unpack compressed data, which may consist of several frames, and stop where it becomes too large.

    Args:
        make: Makes an incremental decompressor, as those of ``bz2``, ``lz4.frame`` and ``compression.zstd``.
        data: What is compressed.
        what: What it is, for the message.
        limit: The most it may unpack to [bytes].

    Returns:
        The unpacked data.

    Raises:
        ReadLimitError: If there is more.
        EOFError: If the data end within a frame.
    """
    unpacked = bytearray()
    while data:
        decompressor = make()
        unpacked += decompressor.decompress(data, max_length=limit - len(unpacked) + 1)
        check_size(what, len(unpacked), limit)
        if not decompressor.eof:
            raise EOFError(f"{what} ends within compressed data")
        data = decompressor.unused_data or b""
    return bytes(unpacked)


class BoundedZstd:
    """A zstd module whose ``decompress`` and ``open`` stop at the limit; all else is that of the module."""

    def __init__(self, module: Any) -> None:
        """Wrap a module.

        Args:
            module: ``compression.zstd`` or what stands for it.
        """
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)

    def decompress(self, data: bytes) -> bytes:
        """Return the unpacked data of one message."""
        return inflate(self._module.ZstdDecompressor, data, "a message", find_limit())

    def open(self, file: Any, mode: str = "rb") -> Any:
        """Open a compressed file."""
        opened = self._module.open(file, mode)
        return (
            _BoundedStream(opened, find_limit(os.fstat(file.fileno()).st_size))
            if "r" in mode
            else opened
        )


class _BoundedStream:
    """A stream that refuses to be read beyond a limit."""

    def __init__(self, stream: Any, limit: int) -> None:
        self._stream, self._limit, self._read = stream, limit, 0

    def __enter__(self) -> _BoundedStream:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()

    def read(self, size: int = -1) -> bytes:
        data: bytes = self._stream.read(size if size >= 0 else self._limit + 1)
        self._read += len(data)
        check_size("the unpacked bag", self._read, self._limit)
        return data


def bound_rosbags() -> None:
    """Let ``rosbags`` unpack chunks, messages and files of bags no further than they declare and may be."""
    from rosbags.rosbag2 import reader, storage_mcap

    zstd, lz4 = getattr(reader, "zstd"), import_module("lz4.frame")  # noqa: B009 - not among what it offers
    if isinstance(zstd, BoundedZstd):
        return
    setattr(reader, "zstd", BoundedZstd(zstd))  # noqa: B010
    makers: dict[str, Any] = {"lz4": lz4.LZ4FrameDecompressor, "zstd": zstd.ZstdDecompressor}

    def bound(name: str) -> Any:
        def decompress(data: bytes, size: int) -> bytes:
            check_size("a chunk", size, find_limit())
            return inflate(makers[name], data, "a chunk", size)

        return decompress

    storage_mcap.DECOMPRESSORS |= {name: bound(name) for name in makers}


def measure_folder(path: Path) -> int:
    """Return the size of a file, or of the files in a folder [bytes].

    Args:
        path: File or folder.
    """
    parts = path.iterdir() if path.is_dir() else (path,)
    return sum(part.stat().st_size for part in parts if part.is_file())
