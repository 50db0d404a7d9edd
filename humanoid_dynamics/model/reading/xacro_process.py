# SPDX-License-Identifier: Apache-2.0
"""Expands one xacro file in a process of its own; started by ``source`` as a script, never imported.

Macros are programs: they can loop for ever, and their expressions can be talked into any Python there is.  So the process that runs them
may compute and read files, and nothing else: whatever else it tries is refused by an audit hook, and the kernel bounds its time, its
memory and what it writes.

Reads from standard input, as JSON: ``path`` (where Python finds xacro), ``file``, ``arguments``, ``seconds``, ``bytes``.
Writes to standard output, as JSON, the ``text`` of the URDF or the ``problem`` that was met.
"""

import importlib
import json
import os
import resource
import signal
import sys
from types import TracebackType
from typing import Any

USED_LATER = (
    "yaml",
    "xacro.substitution_args",
    "ament_index_python.packages",
    "rospkg",
    "encodings.utf_16",
    "encodings.latin_1",
)
REHEARSAL = '<robot xmlns:xacro="http://www.ros.org/wiki/xacro">${1 + 1}</robot>'


def expand(request: dict[str, Any]) -> str:
    """Return the URDF text of a xacro file; only reading and computing is possible from then on."""
    import xacro

    for name in USED_LATER:
        try:
            importlib.import_module(name)
        except ImportError:
            continue
    rehearsed = xacro.parse(REHEARSAL)  # imports what it needs while it may
    xacro.process_doc(rehearsed)
    rehearsed.toprettyxml()
    signal.setitimer(
        signal.ITIMER_PROF, request["seconds"]
    )  # ends the process, also within one long computation
    most = int(request["seconds"]) + 10
    resource.setrlimit(resource.RLIMIT_CPU, (most, most + 1))
    resource.setrlimit(resource.RLIMIT_AS, (request["bytes"], request["bytes"]))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    sys.addaudithook(refuse)
    return str(
        xacro.process_file(request["file"], mappings=request["arguments"]).toprettyxml(indent="  ")
    )


def refuse(event: str, arguments: tuple[Any, ...]) -> None:
    """Refuse every audited event but reading and computing.

    No name is looked up here, since an expression that has got hold of Python can give any name another meaning; the flags are those
    of Linux for writing only, reading and writing, creating and truncating.

    Raises:
        PermissionError: Naming the event.
    """
    if event == "open" and not arguments[2] & (0o1 | 0o2 | 0o100 | 0o1000):
        return
    if event in (
        "compile",
        "exec",
        "builtins.id",
        "object.__getattr__",
        "sys._getframe",
        "sys.excepthook",
    ):
        return
    if event in ("os.listdir", "os.scandir", "glob.glob", "glob.glob/2"):
        return
    raise PermissionError(
        f"received a macro that attempts {event}, expected computations and file reads only"
    )


def answer(**answer: str) -> None:
    """Say it and end, without the tear-down of modules, which the audit hook would watch."""
    sys.stdout.write(json.dumps(answer))
    sys.stdout.flush()
    os._exit(0)


def report(kind: type[BaseException], problem: BaseException, _: TracebackType | None) -> None:
    """Answer in one line what went wrong; xacro wraps what an expression raised."""
    cause: BaseException | None = problem
    while cause is not None:
        if isinstance(cause, RecursionError):
            answer(problem="it never ends")
        if isinstance(cause, MemoryError):
            answer(problem="it needs more memory than a robot may")
        cause = cause.__context__
    answer(problem=" ".join(str(problem).split()) or kind.__name__)


if __name__ == "__main__":
    sys.excepthook = report
    request = json.load(sys.stdin)
    sys.path[:] = request["path"]
    answer(text=expand(request))
