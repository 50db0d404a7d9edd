"""The programs a robot starts: what comes before numpy and ROS are imported."""

from __future__ import annotations

from humanoid_dynamics.program import use_one_blas_thread


def standing_torques() -> None:
    """Run the node ``standing_torques``."""
    use_one_blas_thread()
    from humanoid_dynamics.nodes.standing_torques import main

    main()
