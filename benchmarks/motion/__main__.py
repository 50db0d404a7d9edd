# SPDX-License-Identifier: Apache-2.0
"""Motion benchmark: ``python -m benchmarks.motion``."""

from humanoid_dynamics.program import use_one_blas_thread

if __name__ == "__main__":
    use_one_blas_thread()
    from benchmarks.motion.command import EXAMPLES, bench_motion
    from humanoid_dynamics.cli.app import run_command

    run_command(bench_motion, "python -m benchmarks.motion", EXAMPLES)
