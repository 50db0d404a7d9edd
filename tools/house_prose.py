# SPDX-License-Identifier: Apache-2.0
"""Rules of the house checks about documents, docstrings and help texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from house_sources import PACKAGE, Source, list_documents, read_prose

LONG_LINE = 120  # characters
BANNED = re.compile(
    r"\b(nobody|somebody|anybody|who|whom|whoever|tells?|told|says?|said|hears?|heard|cries|knows)\b",
    re.IGNORECASE,
)
PARTS = re.compile(r"(?<=[.!?])\s+(?=[A-Z`*\"(])|\n\s*\n|\n\s*(?:[-*#|]|\d+\.)\s*")
IMPORTS = re.compile(rf"(?:from|import)\s+({PACKAGE}(?:\.\w+)+)")


def list_deep_imports(_: Sequence[Source]) -> Iterator[str]:
    """Yield imports in documents and examples that go deeper than one room."""
    for path in (*list_documents(), *sorted(Path("examples").rglob("*.py"))):
        for match in IMPORTS.finditer(path.read_text(encoding="utf-8")):
            if match[1].count(".") > 1:
                yield f"{path}: {match[1]}"


def list_banned_words(sources: Sequence[Source]) -> Iterator[str]:
    """Yield words of the private language in prose."""
    yield from (
        f"{place}: {match[0]}"
        for place, text in read_prose(sources)
        for match in BANNED.finditer(text)
    )


def list_long_lines(sources: Sequence[Source]) -> Iterator[str]:
    """Yield lines of documents beyond 120 characters, tables and code left out."""
    documents = ((place, text) for place, text in read_prose(sources[:0]))
    yield from (
        f"{place}: {line[:60]}"
        for place, text in documents
        for line in text.splitlines()
        if len(line) > LONG_LINE
    )


def measure_sentences(sources: Sequence[Source]) -> int:
    """Return the 90th percentile of the number of words in a sentence."""
    lengths = sorted(
        len(part.split())
        for _, text in read_prose(sources)
        for part in PARTS.split(text)
        if len(part.split()) > 2
    )
    return lengths[int(0.9 * len(lengths))]
