# SPDX-License-Identifier: Apache-2.0
"""On what it was measured: what a reader needs to compare two runs."""

from __future__ import annotations

import os
import platform
import sys
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks.interleave import one_core
from humanoid_dynamics.program import BLAS_VARIABLES

PACKAGES = (
    "humanoid_dynamics",
    "pin",
    "numpy",
    "scipy",
    "numba",
    "mujoco",
    "tsid",
    "placo",
    "example-robot-data",
)
CPU_INFO = Path("/proc/cpuinfo")


def describe_machine() -> dict[str, Any]:
    """Return processor, system, versions and load as plain data, ready for JSON.

    Returns:
        The facts; None where something is not installed or not known.
    """
    with one_core() as core:
        pinned = core
    return {
        "time": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "core": pinned,
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": sys.version.partition(" ")[0],
        "packages": {package: _version(package) for package in PACKAGES},
        "blas_threads": {variable: os.environ.get(variable) for variable in BLAS_VARIABLES},
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _processor() -> str | None:
    lines = CPU_INFO.read_text(encoding="utf-8").splitlines() if CPU_INFO.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or None
