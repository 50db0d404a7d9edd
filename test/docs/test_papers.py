# SPDX-License-Identifier: Apache-2.0
"""Every item of a paper has code that cites it and a test that is named after it."""

import re

import paper_items
import pytest

COUNTS = {"CK": 14, "SV": 14, "SN": 13, "BP": 24}


@pytest.fixture(scope="module")
def tests():
    return paper_items.find_tests()


@pytest.fixture(scope="module")
def code():
    return paper_items.find_code()


@pytest.mark.parametrize("paper", COUNTS)
def test_items_are_complete(paper):
    assert list(paper_items.read_items()[paper]) == list(range(1, COUNTS[paper] + 1))


@pytest.mark.parametrize("paper", paper_items.PAPERS)
def test_every_item_has_code_and_a_test(paper, tests, code):
    for number, item in paper_items.read_items()[paper].items():
        assert paper_items.read_places(item["where"]), (
            f"{paper}-{number} names no place in the paper"
        )
        assert paper_items.match_code(item["where"], code[paper]), (
            f"no docstring cites {paper}-{number}: [{paper}, {item['where']}]"
        )
        assert tests.get((paper, number)), f"no test is named after {paper}-{number}"


def test_every_test_named_after_an_item_has_that_item(tests):
    items = paper_items.read_items()
    unknown = sorted(
        f"{paper}-{number}"
        for paper, number in tests
        if paper in COUNTS and number not in items[paper]
    )
    assert unknown == []


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("eq. 13", {("eq", "13")}),
        ("eq. 15-16, 20", {("eq", "15"), ("eq", "16"), ("eq", "20")}),
        ("sec. 2.1, 3.1", {("sec", "2.1"), ("sec", "3.1")}),
        ("eqs. 6-7, sec. II", {("eq", "6"), ("eq", "7"), ("sec", "II")}),
        ("sec. III-V, tab. I", {("sec", "III"), ("sec", "IV"), ("sec", "V"), ("tab", "I")}),
        ("sec. VI.3", {("sec", "VI.3")}),
        (
            "properties 3-4, assumption 2",
            {("property", "3"), ("property", "4"), ("assumption", "2")},
        ),
    ],
)
def test_places(text, places):
    assert paper_items.read_places(text) == places


def test_a_module_gives_way_to_what_is_in_it():
    code = {
        "a.b": {("eq", "1")},
        "a.b.c": {("eq", "1")},
        "a.d": {("eq", "1"), ("eq", "2")},
        "a.e": {("eq", "3")},
    }
    assert paper_items.match_code("eq. 1-2", code) == ["a.b.c", "a.d"]


def test_names_and_comments_lead_to_items(tests):
    assert (
        "papers/test_ck.py::test_ck11_inertia_and_bias_of_the_closed_chain_eq_23" in tests["CK", 11]
    )
    assert "papers/test_sn.py::test_sn10_reference_trajectories_and_sn11_energy" in {
        *tests["SN", 10]
    } & {*tests["SN", 11]}
    assert not any(re.search(r"ck1_", test) for test in tests["CK", 11])
