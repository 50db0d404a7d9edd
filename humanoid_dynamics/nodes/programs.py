"""The programs a robot starts: what comes before numpy and ROS are imported."""

from __future__ import annotations

import signal

from humanoid_dynamics.program import use_one_blas_thread

ENDING = (signal.SIGINT, signal.SIGTERM)


def hold_signals() -> None:
    """Keep SIGINT and SIGTERM pending until the program asks for them, so that they never break anything half way."""
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)


def standing_torques() -> None:
    """Run the node ``standing_torques``."""
    hold_signals()
    use_one_blas_thread()
    from humanoid_dynamics.nodes.standing_torques import main

    main()
