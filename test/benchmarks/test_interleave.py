# SPDX-License-Identifier: Apache-2.0
"""Taking times side by side: who is called when, what is made of the times, and what is left as it was."""

import gc
import os

import numpy as np
import pytest

from benchmarks.interleave import (
    Contender,
    interleave,
    no_collection,
    one_core,
    order_of_round,
    summarise,
)
from humanoid_dynamics.errors import HumanoidDynamicsError


def recorders(names, heard):
    return [Contender(name, lambda name=name: heard.append(name)) for name in names]


def test_everyone_is_called_once_a_round_and_first_in_turn():
    heard = []
    interleave(recorders("abc", heard), 6)
    rounds = ["".join(heard[start : start + 3]) for start in range(0, 18, 3)]
    assert rounds == ["abc", "bca", "cab", "cba", "acb", "bac"]


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_every_round_is_a_permutation_and_nobody_keeps_a_place(count):
    orders = np.array([order_of_round(count, number) for number in range(2 * count)])
    assert all(sorted(order) == list(range(count)) for order in orders.tolist())
    for place in range(count):
        assert np.bincount(orders[:, place], minlength=count).tolist() == [2] * count


def test_neighbours_change():
    followers = {
        tuple(order_of_round(5, number)[k : k + 2]) for number in range(10) for k in range(4)
    }
    assert {(0, 1), (1, 0)} <= followers


def test_median_and_tail():
    timing = summarise("a", [1000, 2000, 3000, 4000, 100_000])
    assert (timing.name, timing.calls, timing.median) == ("a", 5, 3.0)
    assert timing.p99 == pytest.approx(4 + 0.96 * 96)


def test_calls_that_count_and_those_that_warm_up():
    heard, begun, ended = [], [], []
    times = interleave(
        recorders("ab", heard), 4, warm_up=3, before_round=begun.append, after_round=ended.append
    )
    assert len(heard) == 2 * 7
    assert begun == [0, 1, 2, 0, 1, 2, 3]
    assert ended == [1, 2, 3, 4]
    assert [timing.calls for timing in times.values()] == [4, 4]
    assert all(0.0 < timing.median <= timing.p99 for timing in times.values())


def test_what_is_done_before_a_call_is_not_timed():
    heard = []
    slow = Contender(
        "slow", lambda: heard.append("call"), lambda: (heard.append("before"), sum(range(300_000)))
    )
    time = interleave([slow], 5)["slow"]
    assert heard == ["before", "call"] * 5
    assert time.median < 1000.0  # the preparation alone takes several milliseconds


def test_a_contender_that_raises_leaves_everything_as_it_was():
    def fail():
        raise ZeroDivisionError("at work")

    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    with pytest.raises(ZeroDivisionError, match="at work"):
        interleave([Contender("good", lambda: None), Contender("bad", fail)], 3)
    assert gc.isenabled()
    assert cores is None or os.sched_getaffinity(0) == cores


def test_collector_is_off_meanwhile_and_only_then():
    seen = []
    interleave([Contender("a", lambda: seen.append(gc.isenabled()))], 2)
    assert (seen, gc.isenabled()) == ([False, False], True)
    gc.disable()
    try:
        with no_collection():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity"), reason="threads choose no core on this system"
)
def test_one_core_meanwhile():
    before = os.sched_getaffinity(0)
    with one_core() as core:
        assert os.sched_getaffinity(0) == {core}
    assert os.sched_getaffinity(0) == before


def test_where_no_core_can_be_chosen(monkeypatch):
    monkeypatch.delattr(os, "sched_setaffinity", raising=False)
    with one_core() as core:
        assert core is None


@pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity"), reason="threads choose no core on this system"
)
def test_where_the_choice_is_refused(monkeypatch):
    def refuse(thread, cores):
        raise PermissionError

    monkeypatch.setattr(os, "sched_setaffinity", refuse)
    with one_core() as core:
        assert core is None


@pytest.mark.parametrize(
    ("names", "rounds", "warm_up", "word"),
    [("aa", 1, 0, "a, a"), ("ab", 0, 0, "0 rounds"), ("a", 1, -1, "-1")],
)
def test_refusals(names, rounds, warm_up, word):
    with pytest.raises(HumanoidDynamicsError, match=word):
        interleave(recorders(names, []), rounds, warm_up=warm_up)


@pytest.mark.slow
def test_ratio_of_equal_work_is_one_and_of_tenfold_work_is_ten():
    """Within a factor of three, whatever else the machine does."""

    def work(count):
        return lambda: sum(range(count))

    times = interleave(
        [
            Contender("one", work(2000)),
            Contender("same", work(2000)),
            Contender("ten", work(20000)),
        ],
        500,
        warm_up=50,
    )
    assert 1 / 3 < times["same"].median / times["one"].median < 3
    assert 10 / 3 < times["ten"].median / times["one"].median < 30
