# SPDX-License-Identifier: Apache-2.0
"""Arrays on a shelf: one table of addresses, which a compiled function takes in place of the thirty arrays it works on.

To read an array that comes from Python costs a compiled function as much as a dozen short sums, at every call.  A shelf is one array; what
stands on it is read by its place, uncounted like what is lent.  Whoever makes a shelf holds its arrays for as long as it is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

ADDRESS, ROWS, COLUMNS = 0, 1, 2


def put_on_shelf(arrays: Sequence[Any]) -> Indices:
    """Return a shelf (n, 3): address, rows and columns of each array.

    Args:
        arrays: Vectors and matrices, row by row without gaps, of numbers or of whole numbers; they have to outlive the shelf.

    Raises:
        ShapeError: If one of them has gaps.
    """
    shelf = np.zeros((len(arrays), 3), dtype=np.intp)
    for k, array in enumerate(arrays):
        if not array.flags.c_contiguous or array.itemsize != shelf.itemsize:
            raise ShapeError(
                f"array {k} of a shelf",
                f"strides {array.strides} of {array.dtype}",
                "numbers of eight bytes row by row",
            )
        shelf[k] = array.ctypes.data, array.shape[0], array.shape[-1]
    return shelf


def take_matrix(shelf: Any, k: int) -> Matrix:
    """Return matrix k of a shelf; outside of compiled code, of a tuple of arrays.

    Args:
        shelf: The shelf.
        k: The place.
    """
    return shelf[k]  # type: ignore[no-any-return]


def take_vector(shelf: Any, k: int) -> Vector:
    """Return vector k of a shelf; outside of compiled code, of a tuple of arrays.

    Args:
        shelf: The shelf.
        k: The place.
    """
    return shelf[k]  # type: ignore[no-any-return]


def take_table(shelf: Any, k: int) -> Indices:
    """Return matrix k of a shelf, of whole numbers; outside of compiled code, of a tuple of arrays.

    Args:
        shelf: The shelf.
        k: The place.
    """
    return shelf[k]  # type: ignore[no-any-return]


def take_indices(shelf: Any, k: int) -> Indices:
    """Return vector k of a shelf, of whole numbers; outside of compiled code, of a tuple of arrays.

    Args:
        shelf: The shelf.
        k: The place.
    """
    return shelf[k]  # type: ignore[no-any-return]


@cache
def teach_shelves() -> None:
    """Tell numba how to take an array from a shelf."""
    extending, types = import_module("numba.extending"), import_module("numba").types
    for take, kind, axes in (
        (take_matrix, types.float64, 2),
        (take_vector, types.float64, 1),
        (take_table, types.intp, 2),
        (take_indices, types.intp, 1),
    ):
        extending.overload(take)(
            _build_taker(extending.intrinsic(_type_taken(types.Array(kind, axes, "C"))))
        )


def _build_taker(taken: Any) -> Any:
    def choose(shelf: Any, k: Any) -> Any:  # noqa: ARG001
        def take(shelf: Any, k: Any) -> Any:
            return taken(shelf, k)

        return take

    return choose


def _type_taken(kind: Any) -> Any:
    """Return how numba types and writes what takes an array of some kind."""
    arrays, codes = import_module("numba.np.arrayobj"), import_module("numba.core.cgutils")

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        shelf = arrays.make_array(signature.args[0])(context, builder, values[0])
        array = arrays.make_array(kind)(context, builder)
        first = builder.mul(values[1], values[1].type(3))
        address, *shape = (
            builder.load(builder.gep(shelf.data, [builder.add(first, first.type(n))]))
            for n in (ADDRESS, ROWS, COLUMNS)[: 1 + kind.ndim]
        )
        size = first.type(8)
        strides = [size] if kind.ndim == 1 else [builder.mul(shape[1], size), size]
        place = {
            "shape": shape,
            "strides": strides,
            "itemsize": size,
            "meminfo": codes.get_null_value(array.meminfo.type),
        }
        arrays.populate_array(array, data=builder.inttoptr(address, array.data.type), **place)
        return array._getvalue()

    def type_taken(_: Any, shelf: Any, k: Any) -> Any:  # noqa: ARG001
        return kind(shelf, import_module("numba").types.intp), generate

    return type_taken
