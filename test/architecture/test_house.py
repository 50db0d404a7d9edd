# SPDX-License-Identifier: Apache-2.0
"""Each rule of the house checks finds what it is about, and the budgets are those of the code."""

import ast
from pathlib import Path

import house
import house_prose
import pytest
from house_sources import Source


def source(text, name="humanoid_dynamics.control.thing", path="humanoid_dynamics/control/thing.py"):
    return Source(Path(path), name, name.split(".")[1], text, ast.parse(text))


@pytest.mark.parametrize(
    ("rule", "bad", "good"),
    [
        (house.list_long, "a = 1\n" * 401, "a = 1\n" * 400),
        (house.list_late_imports, "def f():\n    import os", "import os"),
        (house.list_private_imports, "from numba.core import types", "from numba import types"),
        (house.list_private_imports, "import_module('numba.core.event')", "import_module('numba')"),
        (house.list_scattered_numbers, "GAIN = 0.35", "GAIN = 1.0"),
        (
            house.list_scattered_numbers,
            "def f(x, gain=0.2): return x > 0.7",
            "def f(x, gain): return x > gain",
        ),
        (
            house.list_complex,
            "def f(x):\n" + "    if x: pass\n" * 12,
            "def f(x):\n" + "    if x: pass\n" * 11,
        ),
        (house.list_loose_statuses, "answer.status == 'ok'", "answer.status is Status.OK"),
        (
            house.list_late_attributes,
            "class A:\n    def f(self): self.x = 1",
            "class A:\n    def __init__(self): self.x = 1",
        ),
        (
            house_prose.list_banned_words,
            '"""Tell what nobody knows."""',
            '"""Compute the torque."""',
        ),
    ],
)
def test_rule_finds_what_it_is_about(rule, bad, good, monkeypatch):
    monkeypatch.setattr("house_sources.list_documents", list)
    assert list(rule([source(bad)]))
    assert not list(rule([source(good)]))


def test_repeated_class_names_and_modules_of_one_importer():
    first = source("class Frame: pass", "humanoid_dynamics.a.one", "humanoid_dynamics/a/one.py")
    second = source(
        "from humanoid_dynamics.a.one import Frame as F\nclass Frame: pass",
        "humanoid_dynamics.a.two",
        "humanoid_dynamics/a/two.py",
    )
    assert len(list(house.list_repeated_names([first, second]))) == 1
    assert [str(path) for path in house.list_single_use([first, second])] == [
        "humanoid_dynamics/a/one.py"
    ]


def test_longest_chain_stays_inside_a_room_and_sees_cycles():
    names = [f"humanoid_dynamics.a.m{k}" for k in range(4)]
    chain = [
        source(f"import {names[k + 1]}" if k < 3 else "", names[k], f"humanoid_dynamics/a/m{k}.py")
        for k in range(4)
    ]
    assert house.measure_chain(chain)[0] == 4
    assert (
        house.measure_chain(
            [*chain[:3], source(f"import {names[0]}", names[3], "humanoid_dynamics/a/m3.py")]
        )[0]
        == 99
    )


def test_every_rule_has_a_budget():
    rules = {*house.LISTS, *house.FIGURES}
    assert set(house.BUDGETS) == rules - set(house.PRINTED_ONLY)
