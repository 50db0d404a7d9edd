# SPDX-License-Identifier: Apache-2.0
"""Quadratic programs: the compiled active set beside daqp, judged by wrong answers, then by the slowest solves, then by the median.

python -m benchmarks.qp [FILE.npz ...]     a file holds <name>_{H,f,A,lower,upper}; bounds of the first unknowns come before those of A
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter_ns

import daqp
import numpy as np

from benchmarks.interleave import MICROSECOND, Contender, Timing, no_collection, one_core
from benchmarks.rows import Measurement, Race, compare
from humanoid_dynamics.solvers.qp import QpStatus, QpWorkspace
from humanoid_dynamics.spatial.arrays import Matrix, Vector

PATH = "qp"
OURS, PEER = "active set", "daqp"
SEED, LOOKS = 5, 9
EQUALITY = 5  # how daqp marks an equation
MOST_STEPS = 500
TOLERANCE = 1e-9  # of the size of x, of daqp
WRONG = 1e-6  # violation of a row of unit length, and shortfall of the objective, of their sizes
EXACT = 1e-9  # violation above which an objective may be lower than the minimum
EACH = 100  # random programs of a family
TICKS = (
    Path(__file__).parent / "data" / "tick_programs.npz"
)  # recorded ticks: inverse dynamics on slippery soles, a hasty walk
PARTS = ("H", "f", "A", "lower", "upper")
TAIL = 99.9


@dataclass(frozen=True, eq=False)
class Program:
    """A quadratic program.

    Attributes:
        workspace: The numbers.
        n_equal: Number of equations.
        size: Typical size of x.
        is_feasible: Whether an x satisfies all rows; None where only an answer shows it.
    """

    workspace: QpWorkspace
    n_equal: int
    size: float
    is_feasible: bool | None


@dataclass(frozen=True)
class QpResult:
    """What a family of programs gave.

    Attributes:
        programs: Number of programs.
        wrong: Wrong answers, by solver: an answer that violates a row, is not the minimum, or is denied where there is one.
        times: (programs,) least time of each program [us], by solver.
    """

    programs: int
    wrong: Mapping[str, int]
    times: Mapping[str, Vector]


def solve_by_daqp(program: Program) -> tuple[Vector | None, int]:
    """Return the answer of daqp, None where it has none, and how long it took [ns].

    Its pivot tolerance is absolute, so the objective is scaled before; it does not check its answer, so the violation is measured after.

    Args:
        program: The program.
    """
    qp = program.workspace
    sense = np.zeros(len(qp.lower), dtype=np.intc)
    sense[: program.n_equal] = EQUALITY
    start = perf_counter_ns()
    scale = len(qp.f) / float(qp.H.trace())
    limits = {"primal_tol": TOLERANCE * program.size, "eps_prox": 0.0, "iter_limit": MOST_STEPS}
    H, f = scale * qp.H, scale * qp.f
    x, _, flag, _ = daqp.solve(H, f, qp.A, qp.upper, qp.lower, sense, **limits)
    y = qp.A @ x
    is_valid = flag == 1 and max((y - qp.upper).max(), (qp.lower - y).max()) < np.inf
    return (x if is_valid else None), perf_counter_ns() - start


def solve_by_active_set(program: Program) -> tuple[Vector | None, int]:
    """Return the answer of the compiled active set, None where it has none, and how long it took [ns].

    Args:
        program: The program.
    """
    start = perf_counter_ns()
    solution = program.workspace.solve()
    spent = perf_counter_ns() - start
    return (solution.x if solution.status is QpStatus.OPTIMAL else None), spent


SOLVERS: Mapping[str, Callable[[Program], tuple[Vector | None, int]]] = {
    OURS: solve_by_active_set,
    PEER: solve_by_daqp,
}


def build_program(
    H: Matrix,
    f: Vector,
    A: Matrix,
    lower: Vector,
    upper: Vector,
    n_equal: int = 0,
    *,
    size: float = 1.0,
    is_feasible: bool | None = None,
) -> Program:
    """Return a program; bounds of the first unknowns stand before those of A where there are more bounds than rows."""
    boxes = len(upper) - len(A)
    rows = np.vstack((np.eye(boxes, len(f)), A))
    order = np.argsort(~(lower == upper), kind="stable") if boxes else np.arange(len(rows))
    n_equal = int((lower == upper).sum()) if boxes else n_equal
    workspace = QpWorkspace(len(f), n_equal, len(rows), size)
    workspace.H[:], workspace.f[:], workspace.A[:] = H, f, rows[order]
    workspace.lower[:], workspace.upper[:] = lower[order], upper[order]
    return Program(workspace, n_equal, size, is_feasible)


def read_programs(path: Path | str) -> dict[str, list[Program]]:
    """Return the programs of a file by family, the first word of their names.

    Args:
        path: The file.
    """
    families: dict[str, list[Program]] = {}
    with np.load(path) as data:
        for name in sorted({key.rpartition("_")[0] for key in data}):
            n_equal, size = data.get(f"{name}_size", (0.0, 1.0))
            H, f, A, lower, upper = (data[f"{name}_{part}"] for part in PARTS)
            program = build_program(H, f, A, lower, upper, int(n_equal), size=float(size))
            families.setdefault(name.partition("_")[0], []).append(program)
    return families


def build_random(rng: np.random.Generator, kind: str) -> Program:
    """Return a random program of a family.

    Args:
        rng: Draws it.
        kind: ``random``; ``degenerate`` for many rows through one vertex, rows twice and mixtures of rows; ``ill`` for a Hessian of
            condition 1e9; ``infeasible`` for rows of which a positive combination cannot hold.
    """
    n = int(rng.integers(6, 60))
    L = rng.standard_normal((n, n))
    H = L @ L.T / n + 0.1 * np.eye(n)
    if kind == "ill":
        Q = np.linalg.qr(L)[0]
        H = (Q * np.logspace(0.0, -9.0, n)) @ Q.T
        H = 0.5 * (H + H.T)
    n_equal, m = int(rng.integers(0, n // 3 + 1)), 2 * n
    A = rng.standard_normal((n_equal + m, n))
    inside = rng.standard_normal(n)
    y = A @ inside
    upper = y + rng.exponential(0.5, len(y)) * (rng.random(len(y)) < 0.7)
    lower = np.where(rng.random(len(y)) < 0.5, -np.inf, y - rng.exponential(0.5, len(y)))
    lower[:n_equal] = upper[:n_equal] = y[:n_equal]
    if kind == "degenerate":
        upper[n_equal:] = y[n_equal:]
        mixture = rng.dirichlet(np.ones(m), 5)
        A = np.vstack((A, A[n_equal:], mixture @ A[n_equal:]))
        upper = np.concatenate((upper, upper[n_equal:], mixture @ upper[n_equal:]))
        lower = np.concatenate((lower, np.full(m + 5, -np.inf)))
    if kind == "infeasible":
        shares = rng.dirichlet(np.ones(m))
        A = np.vstack((A, -shares @ A[n_equal:]))
        upper = np.append(upper, -shares @ upper[n_equal:] - 10.0 ** rng.uniform(-4, 0))
        lower = np.append(lower, -np.inf)
    f = 3.0 * rng.standard_normal(n)
    return build_program(H, f, A, lower, upper, n_equal, is_feasible=kind != "infeasible")


def build_families(files: Sequence[Path | str] = (TICKS,)) -> dict[str, list[Program]]:
    """Return all programs by family.

    Args:
        files: Files with programs.
    """
    families: dict[str, list[Program]] = {}
    for path in files:
        families.update(read_programs(path))
    rng = np.random.default_rng(SEED)
    for kind in ("random", "degenerate", "ill", "infeasible"):
        families[kind] = [build_random(rng, kind) for _ in range(EACH)]
    return families


def measure_miss(program: Program, x: Vector | None) -> tuple[float, float]:
    """Return the largest violation of a row of unit length, and the objective; infinite without an answer."""
    if x is None:
        return np.inf, np.inf
    qp = program.workspace
    y, lengths = qp.A @ x, np.linalg.norm(qp.A, axis=1)
    miss = np.maximum(y - qp.upper, qp.lower - y) / np.where(lengths > 0.0, lengths, 1.0)
    H = np.triu(qp.H) + np.triu(qp.H, 1).T
    return float(np.max(miss, initial=0.0)), float(0.5 * x @ H @ x + qp.f @ x)


def count_wrong(program: Program, answers: Mapping[str, Vector | None]) -> dict[str, bool]:
    """Return which solvers are wrong: beside the best valid answer of both, and what is known of the program."""
    wrong, valid, exact, costs = {}, {}, {}, {}
    for name, x in answers.items():
        miss, costs[name] = measure_miss(program, x)
        length = float(np.linalg.norm(x)) if x is not None else 0.0
        valid[name] = miss <= WRONG * max(program.size, length)
        exact[name] = miss <= EXACT * max(program.size, length)
    chosen = exact if any(exact.values()) else valid
    best = min((costs[name] for name in answers if chosen[name]), default=np.inf)
    is_feasible = best < np.inf if program.is_feasible is None else program.is_feasible
    for name, x in answers.items():
        short = costs[name] - best > WRONG * max(abs(best), 1e-12)
        wrong[name] = (not valid[name] or short) if is_feasible else x is not None
    return wrong


def run_race(programs: Sequence[Program], looks: int = LOOKS) -> QpResult:
    """Return how right and how fast the solvers are.

    Args:
        programs: What they solve.
        looks: How often each is timed.
    """
    wrong = dict.fromkeys(SOLVERS, 0)
    times = {name: np.zeros((looks, len(programs))) for name in SOLVERS}
    for program in programs:
        found = {name: solve(program)[0] for name, solve in SOLVERS.items()}
        for name, is_wrong in count_wrong(program, found).items():
            wrong[name] += is_wrong
    with one_core(), no_collection():
        for look in range(looks):
            for number, program in enumerate(programs):
                for name, solve in list(SOLVERS.items())[:: 1 if look % 2 else -1]:
                    times[name][look, number] = solve(program)[1] / MICROSECOND
    least = {name: spent.min(axis=0) for name, spent in times.items()}  # without preemption
    return QpResult(len(programs), wrong, least)


def build_qp() -> Race:
    """Return both solvers on programs of ticks.

    Returns:
        The race; wrong answers are counted on all families.
    """
    families = build_families()
    ticks = [*families["inverse"], *families["filter"]]
    now = ticks[:1]

    def use(number: int) -> None:
        now[0] = ticks[number % len(ticks)]

    def measure(times: Mapping[str, Timing]) -> dict[str, Measurement]:
        results = {name: run_race(programs) for name, programs in families.items()}
        wrong = {name: sum(each.wrong[name] for each in results.values()) for name in SOLVERS}
        tails = {
            name: float(
                np.percentile(
                    [*results["inverse"].times[name], *results["filter"].times[name]], TAIL
                )
            )
            for name in SOLVERS
        }
        note = f"{PEER}: {wrong[PEER]} wrong"
        return {
            f"{PATH}.wrong": Measurement(wrong[OURS], note=note),
            f"{PATH}.tail": Measurement(tails[OURS] / tails[PEER], tails[OURS], tails[PEER]),
            f"{PATH}.median": compare(times[OURS], times[PEER]),
        }

    contenders = [
        Contender(name, partial(_solve_now, solve, now)) for name, solve in SOLVERS.items()
    ]
    return Race(PATH, contenders, measure, use)


def _solve_now(solve: Callable[[Program], object], now: Sequence[Program]) -> None:
    solve(now[0])


def main(files: Sequence[str]) -> None:
    """Print the table."""
    for name, programs in build_families((TICKS, *files)).items():
        result = run_race(programs)
        cells = [
            f"{solver}: {result.wrong[solver]} wrong, median {np.median(spent):.1f}, p99.9 {np.percentile(spent, TAIL):.1f} us"
            for solver, spent in result.times.items()
        ]
        sys.stdout.write(f"{name} ({result.programs}): {'; '.join(cells)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
