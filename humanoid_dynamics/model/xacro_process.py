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
import sys
from typing import Any

HARMLESS = frozenset(
    {"builtins.id", "compile", "exec", "glob.glob", "glob.glob/2", "object.__getattr__", "os.listdir", "os.scandir", "sys._getframe"}
)
USED_LATER = ("yaml", "xacro.substitution_args", "ament_index_python.packages", "rospkg", "encodings.utf_16", "encodings.latin_1")
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
    resource.setrlimit(resource.RLIMIT_CPU, (request["seconds"], request["seconds"] + 1))
    resource.setrlimit(resource.RLIMIT_AS, (request["bytes"], request["bytes"]))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    sys.addaudithook(refuse)
    return str(xacro.process_file(request["file"], mappings=request["arguments"]).toprettyxml(indent="  "))


def refuse(event: str, arguments: tuple[Any, ...]) -> None:
    """Refuse every audited event but reading and computing.

    Raises:
        PermissionError: Naming the event.
    """
    if event == "open" and isinstance(arguments[0], str | bytes) and not arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
        return
    if event not in HARMLESS:
        raise PermissionError(f"a macro may compute and read files; it tried {event}")


def main() -> dict[str, str]:
    """Answer the request on standard input."""
    request = json.load(sys.stdin)
    sys.path[:] = request["path"]
    try:
        return {"text": expand(request)}
    except Exception as cause:  # noqa: BLE001 - xacro lets anything through that an expression raises
        return {"problem": explain(cause, request["bytes"])}


def explain(problem: BaseException, memory: int) -> str:
    """Say in one line what went wrong; xacro wraps what an expression raised."""
    cause: BaseException | None = problem
    while cause is not None:
        if isinstance(cause, RecursionError):
            return "it never ends"
        if isinstance(cause, MemoryError):
            return f"it needs more than {memory / 1e9:g} GB"
        cause = cause.__context__
    return " ".join(str(problem).split()) or type(problem).__name__


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main()))
    sys.stdout.flush()
    os._exit(0)  # without the tear-down of modules, which the audit hook would watch
