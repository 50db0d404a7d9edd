# SPDX-License-Identifier: Apache-2.0
"""Kernels written in plain arrays, which numba compiles at first use."""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib import import_module
from types import CodeType, FunctionType, ModuleType
from typing import Any, TypeVar

from humanoid_dynamics.spatial import fours
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.parts_compiler import build_parts_compiler

PACKAGE = "humanoid_dynamics."
Kernel = Callable[..., Any]
_KERNELS: list[
    tuple[Any, frozenset[str]]
] = []  # all of this process, and the files they are made of
T = TypeVar("T")


def borrow(array: T) -> T:
    """Return an array as it is; within a compiled kernel, one that nobody counts the users of.

    numba counts the users of every array wherever one is handed on, which takes longer than the small sums it is handed on for.  What is
    borrowed must live for as long as the kernel runs: arguments do.

    Args:
        array: An argument of a kernel, or a part of one.
    """
    return array


def as_matrix(vector: Vector, rows: int, columns: int) -> Matrix:
    """Return a vector as a matrix, row by row; nothing is copied, and within a compiled kernel nothing checked, nor done if not used.

    Args:
        vector: (rows * columns,) numbers.
        rows: How many rows.
        columns: How many columns.
    """
    return vector.reshape(rows, columns)


def choose_compiler(compiled: bool | None) -> bool:
    """Return whether kernels run compiled: everywhere except where ``compiled`` is False.

    Args:
        compiled: What the caller asked for; None leaves the choice to the package.
    """
    return compiled is not False


@cache
def compile_kernel(
    kernel: Kernel, parts: tuple[Kernel, ...] = (), *, order_is_free: bool = True
) -> Kernel:
    """Return a kernel compiled by numba; numbers that are none stay what they are.

    Args:
        kernel: A function in the part of Python that numba reads.
        parts: Functions that it calls; what these call in turn is found.
        order_is_free: Whether sums may be added in another order.

    Returns:
        The compiled kernel, kept on disk where there is a place for it.  It is compiled at its first call.
    """
    parts = find_parts(kernel, parts)
    for part in parts:
        _make_known(part)
    return compile_known(kernel, parts, order_is_free=order_is_free)


def compile_where_possible(
    kernel: Kernel, parts: tuple[Kernel, ...] = (), **options: bool
) -> Kernel:
    """Return a compiled kernel; the former name of ``compile_kernel``.

    Args:
        kernel: A function in the part of Python that numba reads.
        parts: Functions that it calls.
        options: Of ``compile_kernel``.
    """
    return compile_kernel(kernel, parts, **options)


def find_parts(kernel: Kernel, parts: tuple[Kernel, ...]) -> tuple[Kernel, ...]:
    """Return the parts of a kernel, and behind them whatever of this package it or they call besides.

    A kernel is then compiled alike whatever was compiled before, and its name changes with all it is made of.

    Args:
        kernel: A function in the part of Python that numba reads.
        parts: Functions that it calls.
    """
    taught: set[object] = {kernel, borrow, as_matrix, *functions_of(fours)}
    found, waiting = dict.fromkeys(parts), [kernel, *parts]
    while waiting:
        caller = waiting.pop()
        named = (caller.__globals__.get(name) for name in caller.__code__.co_names)
        ours = [
            f for f in named if isinstance(f, FunctionType) and f.__module__.startswith(PACKAGE)
        ]
        new = [f for f in ours if f not in found and f not in taught]
        found.update(dict.fromkeys(new))
        waiting.extend(new)
    return tuple(found)


def compile_known(kernel: Kernel, parts: tuple[Kernel, ...], *, order_is_free: bool) -> Kernel:
    """Return a kernel compiled by numba, whose parts numba already knows.

    What numba keeps on disk goes by the name of the kernel and the date of its file.  The name given to it here changes with all that
    the parts are made of, the constants they read included, so that nothing outdated is ever run.

    Args:
        kernel: A function in the part of Python that numba reads.
        parts: Functions that it calls.
        order_is_free: Whether sums may be added in another order.

    Returns:
        The compiled kernel, kept on disk where there is a place for it.
    """
    numba = import_module("numba")
    _keep_litter_meanwhile()
    _teach_to_borrow()
    fours.teach_fours()
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
    named.__qualname__ = (
        f"{kernel.__qualname__}_{digest_functions((kernel, *parts, *functions_of(fours)))}"
    )
    try:
        compiled = numba.njit(cache=True, **options)(named)
    except RuntimeError:  # no place on disk to keep compiled code: compile in memory
        compiled = numba.njit(**options)(named)
    _KERNELS.append((compiled, frozenset(f.__code__.co_filename for f in (kernel, *parts))))
    return compiled  # type: ignore[no-any-return]


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


def count_compilations() -> CompilationCount:
    """Return how many kernels of this process were loaded and compiled, and where they come from."""
    stats = [kernel.stats for kernel, _ in _KERNELS]
    return CompilationCount(
        sum(sum(each.cache_hits.values()) for each in stats),
        sum(sum(each.cache_misses.values()) for each in stats),
        tuple(sorted({each.cache_path for each in stats if each.cache_path})),
        tuple(sorted({file for _, files in _KERNELS for file in files})),
    )


def functions_of(module: ModuleType) -> tuple[Kernel, ...]:
    """Return the plain functions that a module defines itself.

    Args:
        module: The module.
    """
    return tuple(
        f
        for f in vars(module).values()
        if isinstance(f, FunctionType) and f.__module__ == module.__name__
    )


def digest_functions(functions: tuple[Kernel, ...]) -> str:
    """Return a short text that changes with the code of some functions and with the constants they read.

    Args:
        functions: The functions.
    """
    digest = sha256()
    for function in functions:
        code, names = function.__code__, function.__globals__
        constants = [constant for constant in code.co_consts if not isinstance(constant, CodeType)]
        read = [(name, _describe_constant(names[name])) for name in code.co_names if name in names]
        told = (
            function.__qualname__,
            _is_inlined(function),
            _is_rare(function),
            _options_of(function),
            constants,
            code.co_names,
            read,
        )
        digest.update(code.co_code + repr(told).encode())
    return digest.hexdigest()[:12]


def _describe_constant(value: object) -> object:
    """Return a number or a tuple as it is, a kind of record by its fields, and nothing for what has code of its own."""
    if isinstance(value, bool | int | float | complex | str | tuple):
        return value
    return getattr(value, "_fields", None)


@cache
def _keep_litter_meanwhile() -> None:
    """Have Python look for litter after a kernel is compiled, not all the while: a third of the time went there, and little was found."""
    event = import_module("numba.core.event")

    class Pause(event.Listener):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            self.depth, self.was_on = 0, False

        def on_start(self, _: object) -> None:
            if self.depth == 0:
                self.was_on = gc.isenabled()
                gc.disable()
            self.depth += 1

        def on_end(self, _: object) -> None:
            self.depth -= 1
            if self.depth == 0 and self.was_on:
                gc.enable()

    event.register("numba:compile", Pause())


@cache
def _teach_to_borrow() -> None:
    """Tell numba what ``borrow`` and ``as_matrix`` are: the same array without the record of who uses it, and the same in rows."""
    extending, arrays, codes = (
        import_module(name)
        for name in ("numba.extending", "numba.np.arrayobj", "numba.core.cgutils")
    )

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        array = arrays.make_array(signature.args[0])(context, builder, values[0])
        array.meminfo, array.parent = (
            codes.get_null_value(part.type) for part in (array.meminfo, array.parent)
        )
        return array._getvalue()

    def type_borrowed(_: Any, array: Any) -> Any:
        return array(array), generate

    def shape(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        vector = arrays.make_array(signature.args[0])(context, builder, values[0])
        matrix = arrays.make_array(signature.return_type)(context, builder)
        size, null = vector.itemsize, codes.get_null_value(vector.meminfo.type)
        place = {
            "shape": values[1:],
            "strides": (builder.mul(values[2], size), size),
            "itemsize": size,
        }
        arrays.populate_array(matrix, data=vector.data, **place, meminfo=null)
        return matrix._getvalue()

    def type_matrix(_: Any, vector: Any, rows: Any, columns: Any) -> Any:
        return vector.copy(ndim=2)(vector, rows, columns), shape

    borrowed, shaped = extending.intrinsic(type_borrowed), extending.intrinsic(type_matrix)
    extending.overload(borrow)(lambda array: lambda array: borrowed(array))  # noqa: ARG005 - numba goes by the name
    extending.overload(as_matrix)(
        lambda vector, rows, columns: lambda vector, rows, columns: shaped(vector, rows, columns)  # noqa: ARG005
    )


@cache
def _make_known(part: Kernel) -> None:
    compiler = build_parts_compiler(_is_rare(part))
    options = _options_of(part) | ({"pipeline_class": compiler} if compiler else {})
    import_module("numba.extending").register_jitable(forceinline=_is_inlined(part), **options)(
        part
    )


def _options_of(part: Kernel) -> dict[str, Any]:
    """Return what numba is told of a part: that sums are added as they are written, where its module names it in ``IN_ORDER``.

    Such a part writes several sums side by side, as many as a computer adds at once.  If free to, the compiler would rather add many
    numbers of one sum at once, and gather them from all over the memory.
    """
    return (
        {"fastmath": {"contract"}} if part.__name__ in part.__globals__.get("IN_ORDER", ()) else {}
    )


def _is_inlined(part: Kernel) -> bool:
    """Whether a part is copied to wherever it is called: where its module says which are not, by ``APART``.

    A call hands on every array as seven numbers and more, and every record of arrays as all of them, which takes longer than small sums.
    To copy takes longer to compile.
    """
    return part.__name__ not in part.__globals__.get("APART", (part.__name__,))


def _is_rare(part: Kernel) -> bool:
    """Whether a part is written as short as can be: where its module names it in ``RARE``.

    What seldom runs is not at hand when it does, and is fetched from farther away the longer it is.
    """
    return part.__name__ in part.__globals__.get("RARE", ())
