# SPDX-License-Identifier: Apache-2.0
"""Parameters of a scene file: words that begin with a dollar stand for values that may be given when the scene is run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from humanoid_dynamics.simulation.scenes.reader import SceneReader


def fill_parameters(reader: SceneReader, content: object, given: Mapping[str, str]) -> object:
    """Return a scene with its parameters replaced by values.

    Args:
        reader: Reads values.
        content: What the file holds.
        given: Name -> value as it was typed; the others keep the values of the file.

    Returns:
        The scene without parameters.

    Raises:
        DescriptionError: If there is no such parameter, or a word stands for none.
    """
    table = dict(reader.table(content, ""))
    values = dict(reader.table(table.pop("parameters", {}), "parameters"))
    for name, text in given.items():
        reader.word(name, "parameters", values)
        try:
            values[name] = yaml.safe_load(text)
        except yaml.YAMLError as cause:
            raise reader.refuse(f"parameters.{name}", " ".join(str(cause).split())) from cause
    return _fill(reader, table, values, "")


def _fill(reader: SceneReader, content: object, values: Mapping[str, Any], key: str) -> object:
    if isinstance(content, Mapping):
        return {
            name: _fill(reader, value, values, f"{key}.{name}" if key else str(name))
            for name, value in content.items()
        }
    if isinstance(content, list):
        return [_fill(reader, value, values, f"{key}[{k}]") for k, value in enumerate(content)]
    if isinstance(content, str) and content.startswith("$"):
        return values[reader.word(content[1:], key, values)]
    return content
