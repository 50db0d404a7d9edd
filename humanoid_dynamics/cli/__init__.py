# SPDX-License-Identifier: Apache-2.0
"""The command ``humanoid-dynamics``: one verb per file, each a thin layer over a library call."""

from humanoid_dynamics.program import use_one_blas_thread

__all__ = ["main"]


def main() -> None:
    """Run the command line."""
    use_one_blas_thread()
    from humanoid_dynamics.cli.app import run

    run()
