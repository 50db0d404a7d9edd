# SPDX-License-Identifier: Apache-2.0
"""Speed benchmarks: ``python -m benchmarks``."""

from humanoid_dynamics.program import use_one_blas_thread

if __name__ == "__main__":
    use_one_blas_thread()
    from benchmarks.command import EXAMPLES, bench
    from humanoid_dynamics.cli.app import run_command

    run_command(bench, "python -m benchmarks", EXAMPLES)
