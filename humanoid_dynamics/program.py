"""What every program of the package does first; importing the library does none of it."""

from __future__ import annotations

import os
from pathlib import Path

READY = "HUMANOID_DYNAMICS_READY"  # names the file that a program makes once it is ready
BLAS_VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def use_one_blas_thread() -> None:
    """Ask BLAS for one thread, unless the user has asked for more; to be called before numpy is imported.

    The matrices of a robot are small: a pool of threads makes every product slower and its time uneven.
    """
    for variable in BLAS_VARIABLES:
        os.environ.setdefault(variable, "1")


def tell_ready() -> None:
    """Tell whoever started this program that it is ready, where it wants to know."""
    mark = os.environ.get(READY)
    if mark:
        Path(mark).touch()
