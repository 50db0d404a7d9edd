# SPDX-License-Identifier: Apache-2.0
"""The whole run: races that were asked for, one row for every goal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from types import MappingProxyType
from typing import Any

from benchmarks import (
    balanced_filter,
    closed_chain,
    closed_chain_forward,
    filter_stream,
    inverse_dynamics,
    limits,
    qp,
    simulation,
    snake,
)
from benchmarks.floors import FLOOR_ID
from benchmarks.goals import GOAL_ROBOT, GOALS, NOT_HERE, ON_TOPICS, Goal
from benchmarks.interleave import Timing, interleave
from benchmarks.machine import describe_machine
from benchmarks.peers import AWAY, Peers, open_peers
from benchmarks.rows import Measurement, Race, Row, build_row, compare
from benchmarks.stand import Stand, build_stand
from humanoid_dynamics.errors import HumanoidDynamicsError, MissingExtraError, UnknownNameError
from humanoid_dynamics.program import BLAS_VARIABLES

FALLBACK = "human28"
OURS = MappingProxyType(  # what peers are compared with, by goal
    {
        "inverse_dynamics.tsid": "minimum_torque",
        "inverse_dynamics.placo": "minimum_torque",
        "inverse_dynamics_limits.tsid": limits.RULE,
        "filter.balanced_tsid": balanced_filter.BOTH,
        "filter.tasks_tsid": balanced_filter.TASKS,
    }
)
RECORDED = MappingProxyType(
    {"tsid": 109.5 / 5.8, "placo": 80.6 / 5.8}
)  # a tick on two soles of GOAL_ROBOT over floor_ID, one machine
ON_ROS = ("ros", "lockstep", "real_time.node")  # paths and goals of the graph on topics
WARM_UP_SHARE, LEAST_WARM_UP = 10, 20
ROBOT_RACES: Mapping[str, Callable[[Stand], Race]] = {
    inverse_dynamics.PATH: inverse_dynamics.build_inverse_dynamics,
    limits.PATH: limits.build_limits,
    closed_chain.PATH: closed_chain.build_closed_chain,
    closed_chain_forward.PATH: closed_chain_forward.build_closed_chain_forward,
    balanced_filter.PATH: balanced_filter.build_balanced_filter,
    filter_stream.PATH: filter_stream.build_filter_stream,
}


@dataclass(frozen=True, eq=False)
class BenchReport:
    """What a run found.

    Attributes:
        machine: On what it was measured.
        robot: The robot that was measured.
        rows: One row for every goal that was asked for.
        times: Times of all contenders, by race.
        notes: What a reader should know first.
    """

    machine: Mapping[str, Any]
    robot: str
    rows: tuple[Row, ...]
    times: Mapping[str, tuple[Timing, ...]]
    notes: tuple[str, ...]


def run_bench(
    robot: str = GOAL_ROBOT,
    repeat: int = 2000,
    only: str = "",
    progress: Callable[[float], object] | None = None,
    pythons: Sequence[str] = (),
) -> BenchReport:
    """Measure what the goals ask for and what there is to measure.

    Args:
        robot: Catalogue name, or path of a URDF or xacro file.
        repeat: Calls of every contender.
        only: Name of a goal, or of a path, to leave out all others; everything where empty.
        progress: Told again and again which share of the run is done.
        pythons: Paths of interpreters that have peers, which are timed there in turn with ours.

    Returns:
        The report.

    Raises:
        HumanoidDynamicsError: If there is not one call.
        UnknownNameError: If there is no such goal.
    """
    if repeat < 1:
        raise HumanoidDynamicsError(
            f"received {repeat} calls of every contender, expected at least 1"
        )
    goals = select_goals(only)
    machine = describe_machine()
    paths = {_path_of(goal.name) for goal in goals}
    robot, stand, notes = _load(
        robot, needed=not paths.isdisjoint((*ROBOT_RACES, *simulation.PATHS))
    )
    races, missing = _build(paths, stand)
    compared = {_path_of(name) for name in OURS}
    with open_peers(pythons, stand if not paths.isdisjoint(compared) else None) as peers:
        races = [_join(race, peers) if race.name in compared else race for race in races]
        times = _time(races, repeat, progress or (lambda _: None))
    measured: dict[str, Measurement] = {}
    for race in races:
        measured.update(race.measure(times[race.name]))
        measured.update(_compare_peers(race.name, times[race.name], peers))
    rows = tuple(
        build_row(
            goal,
            measured.get(goal.name),
            judged=robot == GOAL_ROBOT,
            note=_obstacle(goal, times, peers),
        )
        for goal in goals
    )
    notes += missing + _warn_of_threads(machine)
    return BenchReport(
        machine, robot, rows, {name: tuple(race.values()) for name, race in times.items()}, notes
    )


def select_goals(only: str) -> tuple[Goal, ...]:
    """Return the goals of a name, or of a path; all where it is empty.

    Raises:
        UnknownNameError: If there is none.
    """
    chosen = tuple(goal for goal in GOALS if only in {"", goal.name, _path_of(goal.name)})
    if not chosen:
        raise UnknownNameError(
            "benchmark",
            only,
            (*dict.fromkeys(_path_of(goal.name) for goal in GOALS), *(goal.name for goal in GOALS)),
        )
    return chosen


def _warn_of_threads(machine: Mapping[str, Any]) -> tuple[str, ...]:
    """Warn where BLAS may share the one core out among several threads of its own, which makes small matrices a thousand times slower."""
    several = [variable for variable in BLAS_VARIABLES if machine["blas_threads"][variable] != "1"]
    if not several:
        return ()
    return (
        f"BLAS may use several threads, and no time is to be trusted then: set {'=1, '.join(several)}=1 before Python starts",
    )


def _path_of(name: str) -> str:
    return name.partition(".")[0]


def _load(name: str, *, needed: bool) -> tuple[str, Stand | None, tuple[str, ...]]:
    """Load the robot; the one the goals are set for gives way to one of ours where its files are not installed."""
    if not needed:
        return name, None, ()
    try:
        return name, build_stand(name), ()
    except MissingExtraError as missing:
        if name != GOAL_ROBOT:
            raise
        return (
            FALLBACK,
            build_stand(FALLBACK),
            (f"{missing}; {FALLBACK} was measured instead, and the goals are not judged",),
        )


def _build(paths: set[str], stand: Stand | None) -> tuple[list[Race], tuple[str, ...]]:
    """Return the races that were asked for, and why one that only informs is missing."""
    races = [
        build(stand) for path, build in ROBOT_RACES.items() if stand is not None and path in paths
    ]
    notes: tuple[str, ...] = ()
    if stand is not None:
        steps, notes = simulation.build_simulation(stand, paths)
        races += steps
    if snake.PATH in paths:
        races.append(snake.build_snake())
    if qp.PATH in paths:
        races.append(qp.build_qp())
    return races, notes


def _time(
    races: list[Race], repeat: int, progress: Callable[[float], object]
) -> dict[str, dict[str, Timing]]:
    """Time one race after the other; the warm-up tells how long each will take."""
    warm_up = max(LEAST_WARM_UP, repeat // WARM_UP_SHARE)
    expected = {}
    for race in races:
        start = perf_counter()
        interleave(race.contenders, warm_up, warm_up=1, before_round=race.before_round)
        expected[race.name] = perf_counter() - start
    total, done = sum(expected.values()), 0.0
    times = {}
    for race in races:
        share, before = expected[race.name] / total, done

        def tell(rounds: int, share: float = share, before: float = before) -> None:
            progress(before + share * rounds / repeat)

        times[race.name] = interleave(
            race.contenders, repeat, before_round=race.before_round, after_round=tell
        )
        done += share
    return times


def _join(race: Race, peers: Peers) -> Race:
    """Let peers take turns with the contenders of a race."""
    return replace(race, contenders=[*race.contenders, *peers.contenders.values()])


def _compare_peers(path: str, times: Mapping[str, Timing], peers: Peers) -> dict[str, Measurement]:
    """Return what was measured against peers in other interpreters."""
    found = {}
    for name, ours in OURS.items():
        peer = _peer_of(name)
        if _path_of(name) == path and peer in peers.contenders:
            note = f"{peer} {peers.versions[peer]} in an interpreter of its own; its tick also chooses the accelerations"
            found[name] = compare(times[ours], times[peer], None, note)
    return found


def _obstacle(goal: Goal, times: Mapping[str, Mapping[str, Timing]], peers: Peers) -> str:
    """Say why a goal has no number: a peer is not there, or our side is not; and what the peer took elsewhere."""
    ours = OURS.get(goal.name)
    if ours is None:
        return ON_TOPICS if goal.name in ON_ROS or _path_of(goal.name) in ON_ROS else NOT_HERE
    peer, race = _peer_of(goal.name), times[_path_of(goal.name)]
    missing = f"{peer} {peers.problems.get(peer, 'is in no --peer-python')}"
    if FLOOR_ID not in race:
        return missing
    ratio = race[ours].median / race[FLOOR_ID].median
    return f"{missing}; recorded elsewhere at {RECORDED[peer]:.1f} x floor_ID, of which ours at {ratio:.2f} is {ratio / RECORDED[peer]:.3f}"


def _peer_of(name: str) -> str:
    return next(peer for peer in AWAY if name.endswith(peer))
