# SPDX-License-Identifier: Apache-2.0
"""Xacro files, expanded in a process of their own that can do no harm."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from humanoid_dynamics.errors import SourceError

COMPUTING = 1.2  # seconds of computing; those of the environment variable where it is set
SECONDS_VARIABLE = "HUMANOID_DYNAMICS_XACRO_SECONDS"
LONGEST = 10  # seconds; twice as long is waited for the process, which may have to wait itself
LARGEST = 1_000_000_000  # bytes of memory
NO_WORKSPACE = (
    "it names a package by $(find ...), and no ROS workspace is sourced that could hold it"
)


def expand_xacro(path: Path, arguments: Mapping[str, str]) -> str:
    """Expand a xacro file into URDF text.

    Macros are programs, so they run in a process that may compute and read files but not start, write, load or fetch anything.

    Args:
        path: The file.
        arguments: Its arguments.

    Returns:
        URDF text.

    Raises:
        SourceError: If xacro is not installed, refuses the file, or does not come to an end.
    """
    if find_spec("xacro") is None:
        raise SourceError(f"{path}: reading it requires the package xacro: pip install xacro")
    words = {str(name): str(value) for name, value in arguments.items()}
    given = os.environ.get(SECONDS_VARIABLE, "")
    seconds = (
        max(float(given), 0.1) if given.replace(".", "", 1).isdigit() else min(COMPUTING, LONGEST)
    )
    waiting = 2 * max(LONGEST, seconds if given else 0)
    request = {
        "path": sys.path,
        "file": str(path),
        "arguments": words,
        "seconds": seconds,
        "bytes": LARGEST,
    }
    command = [sys.executable, str(Path(__file__).with_name("xacro_process.py"))]
    try:
        done = subprocess.run(  # noqa: S603
            command,
            input=json.dumps(request).encode(),
            capture_output=True,
            timeout=waiting,
            check=False,
        )
    except subprocess.TimeoutExpired as cause:
        raise SourceError(f"{path}: xacro exceeded {waiting:g} s") from cause
    if done.returncode in {-signal.SIGPROF, -signal.SIGXCPU}:
        raise SourceError(
            f"{path}: xacro exceeded {seconds:g} s of processor time; {SECONDS_VARIABLE} sets the limit"
        )
    if done.returncode != 0:
        last = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise SourceError(f"{path}: xacro ended with exit status {done.returncode}: {last:.500}")
    answer = json.loads(done.stdout)
    if "problem" in answer:
        problem = NO_WORKSPACE if "AMENT_PREFIX_PATH" in answer["problem"] else answer["problem"]
        raise SourceError(f"{path}: xacro cannot expand it: {problem:.500}")
    return str(answer["text"])
