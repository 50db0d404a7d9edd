# SPDX-License-Identifier: Apache-2.0
"""Ask inverse dynamics about wild states of some robots and tell what came of it.

    python tools/wild_states.py --states 100000 --seed 1 human28 talos_reduced g1_29

Ends with status 1 where an answer was wrong.
"""

from __future__ import annotations

import argparse
import sys
from time import perf_counter

from humanoid_dynamics.program import use_one_blas_thread


def main() -> int:
    """Run; return the exit status."""
    use_one_blas_thread()
    from benchmarks.wild import run_wild
    from humanoid_dynamics.model.load import load_robot

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("robots", nargs="+", help="catalogue names or URDF files")
    parser.add_argument("--states", type=int, default=10_000, help="states of each robot")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    bad = 0
    for name in asked.robots:
        start = perf_counter()
        report = run_wild(load_robot(name), asked.states, asked.seed)
        sys.stdout.write(
            f"{name}: {asked.states} states, {report.answers} answers, {len(report.faults)} faults, "
        )
        sys.stdout.write(
            f"{perf_counter() - start:.0f} s, largest residual of an answer that is ok {report.residual:.1e} of the weight\n"
        )
        sys.stdout.write(f"  {dict(report.statuses)}\n  {dict(report.paths)}\n")
        for fault in report.faults:
            sys.stdout.write(f"  {fault}\n")
        sys.stdout.flush()
        bad += len(report.faults)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
