# SPDX-License-Identifier: Apache-2.0
"""Times of several callables taken side by side, so that whatever the machine does meanwhile it does to all of them."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter_ns

import numpy as np

from humanoid_dynamics.errors import HumanoidDynamicsError

MICROSECOND = 1e3  # ns


@dataclass(frozen=True, eq=False)
class Contender:
    """Something to be timed.

    Attributes:
        name: Its name, unique among those it is timed with.
        call: What is timed.
        before: What is done before every call and not timed.
        tells: Whether the call returns how long it took [ns], as one that is answered by another process does.
    """

    name: str
    call: Callable[[], object]
    before: Callable[[], object] | None = None
    tells: bool = False


@dataclass(frozen=True)
class Timing:
    """How long the calls of one contender took.

    Attributes:
        name: The contender.
        calls: Number of calls.
        median: Median [us].
        p99: 99th percentile [us].
    """

    name: str
    calls: int
    median: float
    p99: float


def interleave(
    contenders: Sequence[Contender],
    rounds: int,
    *,
    warm_up: int = 0,
    before_round: Callable[[int], object] | None = None,
    after_round: Callable[[int], object] | None = None,
) -> dict[str, Timing]:
    """Call every contender once a round, each call timed by itself.

    The garbage collector is off meanwhile and the process stays on one core, where the system lets it choose; both are as before
    afterwards, whatever a contender raises.

    Args:
        contenders: What to time.
        rounds: Number of timed rounds.
        warm_up: Number of rounds before them that do not count.
        before_round: Called with the number of the round before it; not timed.
        after_round: Called with the number of timed rounds that are done; not timed.

    Returns:
        Times by name.

    Raises:
        HumanoidDynamicsError: If two contenders have one name, or there is no round.
    """
    names = [contender.name for contender in contenders]
    if len(set(names)) < len(names):
        raise HumanoidDynamicsError(f"contenders need different names, received {', '.join(names)}")
    if rounds < 1 or warm_up < 0:
        raise HumanoidDynamicsError(
            f"received {rounds} rounds after {warm_up} to warm up, expected at least 1 after at least 0"
        )
    with one_core(), no_collection():
        _run(contenders, warm_up, before_round, None)
        times = _run(contenders, rounds, before_round, after_round)
    return {name: summarise(name, spent) for name, spent in zip(names, times, strict=True)}


def order_of_round(count: int, number: int) -> Sequence[int]:
    """Return who is called in which order: everyone is first in turn, and every other cycle runs backwards.

    Backwards, so that nobody always comes after the same neighbour, who may have emptied the caches.

    Args:
        count: Number of contenders.
        number: Number of the round.

    Returns:
        (count,) indices.
    """
    cycle, start = divmod(number, count)
    order = [(start + step) % count for step in range(count)]
    return order[::-1] if cycle % 2 else order


def summarise(name: str, times: Sequence[int]) -> Timing:
    """Return median and 99th percentile of some times.

    Args:
        name: Whose they are.
        times: Times [ns].

    Returns:
        The summary [us].
    """
    median, p99 = np.percentile(times, (50.0, 99.0)) / MICROSECOND
    return Timing(name, len(times), float(median), float(p99))


@contextmanager
def one_core() -> Iterator[int | None]:
    """Keep this thread on one core, the last it may use.

    Yields:
        Number of the core, or None where the system does not let a thread choose.
    """
    allowed = _keep_to_last_core()
    chosen = max(allowed, default=None)
    try:
        yield chosen
    finally:
        if allowed:
            os.sched_setaffinity(0, allowed)


@contextmanager
def no_collection() -> Iterator[None]:
    """Keep the garbage collector from running; what there is to collect is collected first."""
    was_on = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _keep_to_last_core() -> set[int]:
    """Keep this thread on the last core it may use; return all it might use before, none where the choice is not ours."""
    if not hasattr(os, "sched_setaffinity"):
        return set()
    allowed = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {max(allowed)})
    except OSError:
        return set()
    return allowed


def _run(
    contenders: Sequence[Contender],
    rounds: int,
    before_round: Callable[[int], object] | None,
    after_round: Callable[[int], object] | None,
) -> list[list[int]]:
    times: list[list[int]] = [[0] * rounds for _ in contenders]
    for number in range(rounds):
        if before_round is not None:
            before_round(number)
        for index in order_of_round(len(contenders), number):
            contender = contenders[index]
            if contender.before is not None:
                contender.before()
            call = contender.call
            start = perf_counter_ns()
            told = call()
            stop = perf_counter_ns()
            times[index][number] = (
                told if contender.tells and isinstance(told, int) else stop - start
            )
        if after_round is not None:
            after_round(number + 1)
    return times
