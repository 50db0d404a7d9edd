# SPDX-License-Identifier: Apache-2.0
"""Kernels written in plain arrays, which numba compiles at first use."""

from __future__ import annotations

import gc
from functools import cache
from importlib import import_module
from typing import Any, TypeVar

from humanoid_dynamics.jit import (
    CompilationCount,
    Kernel,
    compile_named,
    count_compilations,
    digest_functions,
    find_callees,
    functions_of,
    is_inlined,
    is_rare,
    options_of,
)
from humanoid_dynamics.spatial import fours
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.parts_compiler import build_parts_compiler

__all__ = [
    "CompilationCount",
    "Kernel",
    "compile_kernel",
    "count_compilations",
    "digest_functions",
    "functions_of",
]
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


def find_parts(kernel: Kernel, parts: tuple[Kernel, ...]) -> tuple[Kernel, ...]:
    """Return all functions that are compiled into a kernel.

    Args:
        kernel: A function in the part of Python that numba reads.
        parts: Functions that it calls.
    """
    return find_callees(kernel, parts, {borrow, as_matrix, *functions_of(fours)})


def compile_known(kernel: Kernel, parts: tuple[Kernel, ...], *, order_is_free: bool) -> Kernel:
    """Return a kernel compiled by numba, which knows its parts.

    Args:
        kernel: A function in the part of Python that numba reads.
        parts: Functions that it calls.
        order_is_free: Whether sums may be added in another order.
    """
    _keep_litter_meanwhile()
    _teach_to_borrow()
    fours.teach_fours()
    return compile_named(kernel, (*parts, *functions_of(fours)), order_is_free=order_is_free)


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
    compiler = build_parts_compiler(is_rare(part))
    options = options_of(part) | ({"pipeline_class": compiler} if compiler else {})
    import_module("numba.extending").register_jitable(forceinline=is_inlined(part), **options)(part)
