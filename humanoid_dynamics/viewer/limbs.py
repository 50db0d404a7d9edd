# SPDX-License-Identifier: Apache-2.0
"""Which motors are plotted together: the legs, the arms and the rest, each side in a plot of its own."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

SIDES = frozenset({"left", "right"})
FIRST = MappingProxyType(
    {"l": "left", "fl": "left", "r": "right", "fr": "right"}
)  # sides where a name begins so
LEG = frozenset({"leg", "hip", "knee", "ankle", "haa", "hfe", "kfe"})
ARM = frozenset({"arm", "shoulder", "elbow", "wrist", "clavicle", "gripper"})
FILLING = frozenset({"joint", "leg", "arm"})  # words that tell nothing where a limb is named
MOST = 8  # curves in a plot
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
Groups = Mapping[str, Mapping[str, Mapping[str, str]]]  # limbs -> plot -> motor -> its short name


def group_motors(names: Sequence[str]) -> Groups:
    """Return what can be plotted: groups of limbs first, then every motor alone.

    Args:
        names: The motors.

    Returns:
        Name of a choice -> title of each of its plots -> motor -> what it is called there; at most eight in a plot.
    """
    groups: dict[str, dict[str, dict[str, str]]] = {"legs": {}, "arms": {}, "others": {}}
    for name in names:
        words = split_words(name)
        side = next((word for word in words if word in SIDES), "")
        limb = "leg" if LEG & set(words) else "arm" if ARM & set(words) else ""
        plots = groups[f"{limb}s" if limb else "others"]
        rest = " ".join(word for word in words if word not in FILLING | SIDES) or name
        _find_room(plots, f"{side} {limb or 'others'}".strip())[name] = rest
    chosen = {group: plots for group, plots in groups.items() if plots}
    if set(chosen) == {"others"}:
        chosen = {
            "all motors": {
                title.replace("others", "motors"): motors
                for title, motors in chosen["others"].items()
            }
        }
    return {**chosen, **{name: {name: {name: name}} for name in names}}


def split_words(name: str) -> list[str]:
    """Return the words of a name in small letters, ``left`` first for ``LHipYaw``, ``LLEG_HIP_Y`` and ``l_hip_yaw``.

    Args:
        name: The name.
    """
    words: list[str] = []
    for word in (found.lower() for found in WORD.findall(name.rpartition("/")[2])):
        words += [word[0], word[1:]] if word in {"lleg", "rleg", "larm", "rarm"} else [word]
    return [FIRST.get(words[0], words[0]), *words[1:]] if words else words


def _find_room(plots: dict[str, dict[str, str]], title: str) -> dict[str, str]:
    """Return the plot of that title that is not full yet."""
    number = 1
    while len(plots.setdefault(title if number == 1 else f"{title} {number}", {})) >= MOST:
        number += 1
    return plots[title if number == 1 else f"{title} {number}"]
