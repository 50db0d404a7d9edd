# SPDX-License-Identifier: Apache-2.0
"""The door to numba: kernels compiled under a name that changes with all that they are made of."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib import import_module
from types import CodeType, FunctionType, ModuleType
from typing import Any

PACKAGE = "humanoid_dynamics."
Kernel = Callable[..., Any]


@dataclass(frozen=True)
class CompilationCount:
    """What this process compiled.

    Attributes:
        loaded: Number of kernels that were loaded from the cache.
        compiled: Number of kernels that were compiled.
        folders: Folders of the cache.
        files: Files that the kernels are made of.
    """

    loaded: int
    compiled: int
    folders: tuple[str, ...]
    files: tuple[str, ...]


@cache
def _list_kernels() -> list[tuple[Any, frozenset[str]]]:
    """Return the kernels of this process with their files, to be appended to."""
    return []


def compile_named(kernel: Kernel, parts: tuple[Kernel, ...], *, order_is_free: bool) -> Kernel:
    """Return a kernel compiled by numba, which knows its parts.

    The cache of numba goes by the name of a kernel and the date of its file. The name given here changes with the code of all parts and
    the constants that they read, so that no outdated code runs.

    Args:
        kernel: A function in the part of Python that numba reads.
        parts: Functions that it calls, and those that these call.
        order_is_free: Whether sums may be added in another order.

    Returns:
        The compiled kernel, kept on disk where the folder of its file or the cache of the user can be written.
    """
    numba = import_module("numba")
    options: dict[str, Any] = {
        "error_model": "numpy",
        "fastmath": {"reassoc", "contract"} if order_is_free else False,
    }
    named = FunctionType(
        kernel.__code__,
        kernel.__globals__,
        kernel.__name__,
        kernel.__defaults__,
        kernel.__closure__,
    )
    named.__qualname__ = f"{kernel.__qualname__}_{digest_functions((kernel, *parts))}"
    try:
        compiled = numba.njit(cache=True, **options)(named)
    except RuntimeError:  # the cache cannot be written: compile in memory
        compiled = numba.njit(**options)(named)
    _list_kernels().append((compiled, frozenset(f.__code__.co_filename for f in (kernel, *parts))))
    return compiled  # type: ignore[no-any-return]


def count_compilations() -> CompilationCount:
    """Return how many kernels of this process were loaded and compiled, and where they come from."""
    stats = [kernel.stats for kernel, _ in _list_kernels()]
    return CompilationCount(
        sum(sum(each.cache_hits.values()) for each in stats),
        sum(sum(each.cache_misses.values()) for each in stats),
        tuple(sorted({each.cache_path for each in stats if each.cache_path})),
        tuple(sorted({file for _, files in _list_kernels() for file in files})),
    )


def find_callees(
    kernel: Kernel, parts: tuple[Kernel, ...], known: Collection[object] = ()
) -> tuple[Kernel, ...]:
    """Return the parts of a kernel, and all functions of this package that the kernel or they call.

    Args:
        kernel: A function in the part of Python that numba reads.
        parts: Functions that it calls.
        known: Functions that numba knows already; they are left out.
    """
    found, waiting = dict.fromkeys(parts), [kernel, *parts]
    while waiting:
        caller = waiting.pop()
        named = (caller.__globals__.get(name) for name in caller.__code__.co_names)
        ours = [
            f for f in named if isinstance(f, FunctionType) and f.__module__.startswith(PACKAGE)
        ]
        new = [f for f in ours if f not in found and f not in known and f is not kernel]
        found.update(dict.fromkeys(new))
        waiting.extend(new)
    return tuple(found)


def functions_of(module: ModuleType) -> tuple[Kernel, ...]:
    """Return the functions that a module defines itself."""
    name = module.__name__
    found = (f for f in vars(module).values() if isinstance(f, FunctionType))
    return tuple(f for f in found if f.__module__ == name)


def digest_functions(functions: tuple[Kernel, ...]) -> str:
    """Return a text that changes with the code of functions, their options and the constants they read."""
    digest = sha256()
    for function in functions:
        code, names = function.__code__, function.__globals__
        constants = [constant for constant in code.co_consts if not isinstance(constant, CodeType)]
        read = [(name, _describe_constant(names[name])) for name in code.co_names if name in names]
        options = is_inlined(function), is_rare(function), options_of(function)
        told = (function.__qualname__, *options, constants, code.co_names, read)
        digest.update(code.co_code + repr(told).encode())
    return digest.hexdigest()[:12]


def _describe_constant(value: object) -> object:
    """Return numbers and tuples as they are, named tuples by their fields, and nothing for what has code of its own."""
    if isinstance(value, bool | int | float | complex | str | tuple):
        return value
    return getattr(value, "_fields", None)


def options_of(part: Kernel) -> dict[str, Any]:
    """Return the options of a part: sums in the order they are written, where its module names it in ``IN_ORDER``."""
    in_order = part.__name__ in part.__globals__.get("IN_ORDER", ())
    return {"fastmath": {"contract"}} if in_order else {}


def is_inlined(part: Kernel) -> bool:
    """Return whether a part is copied to where it is called: where its module has ``APART``, only parts not in it."""
    return part.__name__ not in part.__globals__.get("APART", (part.__name__,))


def is_rare(part: Kernel) -> bool:
    """Return whether a part is compiled for size: where its module names it in ``RARE``."""
    return part.__name__ in part.__globals__.get("RARE", ())
