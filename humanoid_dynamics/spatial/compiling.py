"""numba, where it is installed: kernels written in plain arrays, compiled at first use."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from humanoid_dynamics.errors import MissingExtraError

Kernel = Callable[..., Any]


def is_compiler_installed() -> bool:
    """Whether numba can be imported; it is not imported to find out."""
    return find_spec("numba") is not None


def choose_compiler(compiled: bool | None) -> bool:
    """Return whether to compile: as asked, or where numba is installed if None.

    Args:
        compiled: What was asked for.

    Raises:
        MissingExtraError: If numba is asked for and not installed.
    """
    if compiled and not is_compiler_installed():
        raise MissingExtraError("numba", "speed", "a compiled tick")
    return is_compiler_installed() if compiled is None else compiled


@cache
def compile_kernel(kernel: Kernel, parts: tuple[Kernel, ...] = ()) -> Kernel:
    """Return a kernel compiled by numba; sums may be added in another order, numbers that are none stay what they are.

    Args:
        kernel: A function in the part of Python that numba reads.
        parts: Functions that it calls.

    Returns:
        The compiled kernel, kept on disk where there is a place for it.  It is compiled at its first call.
    """
    numba = import_module("numba")
    extending = import_module("numba.extending")
    order_is_free = {"reassoc", "contract"}
    for part in parts:
        extending.register_jitable(part)
    kernel = _name_by_parts(kernel, parts)
    try:
        return numba.njit(cache=True, error_model="numpy", fastmath=order_is_free)(kernel)  # type: ignore[no-any-return]
    except RuntimeError:  # no place on disk to keep compiled code: compile in memory
        return numba.njit(error_model="numpy", fastmath=order_is_free)(kernel)  # type: ignore[no-any-return]


def functions_of(module: ModuleType) -> tuple[Kernel, ...]:
    """Return the plain functions that a module defines itself.

    Args:
        module: The module.
    """
    return tuple(f for f in vars(module).values() if isinstance(f, FunctionType) and f.__module__ == module.__name__)


def _name_by_parts(kernel: Kernel, parts: tuple[Kernel, ...]) -> Kernel:
    """Return the kernel under a name that changes with the files its parts are in: what numba keeps on disk goes by name and own file."""
    files = sorted({part.__code__.co_filename for part in parts} - {kernel.__code__.co_filename})
    if not files:
        return kernel
    digest = sha256(b"".join(Path(file).read_bytes() for file in files if Path(file).is_file())).hexdigest()
    named = FunctionType(kernel.__code__, kernel.__globals__, kernel.__name__, kernel.__defaults__, kernel.__closure__)
    named.__qualname__ = f"{kernel.__qualname__}_{digest[:12]}"
    return named
