# SPDX-License-Identifier: Apache-2.0
"""Four numbers at once: what a computer adds and multiplies in one go, for kernels that numba compiles.

numba adds sums that are written side by side one by one, and a loop over a few numbers looks first whether any memory overlaps.  Four
numbers that are taken, added and put back as one value need neither.  Without numba they are an array of four.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from humanoid_dynamics.spatial.arrays import Matrix, Vector

FOUR = 4
ALIGNED = 8  # bytes; numbers begin anywhere


def four_alike(number: float) -> Vector:
    """Return four times a number."""
    return np.full(FOUR, number)


def four_of(d: Vector, k: int) -> Vector:
    """Return four entries of a vector from a place on."""
    return d[k : k + FOUR].copy()


def four_in(A: Matrix, row: int, k: int) -> Vector:
    """Return four entries of a row from a place on."""
    return A[row, k : k + FOUR].copy()


def put_four(d: Vector, k: int, numbers: Vector) -> None:
    """Write four entries of a vector from a place on."""
    d[k : k + FOUR] = numbers


def put_four_in(A: Matrix, row: int, k: int, numbers: Vector) -> None:
    """Write four entries of a row from a place on."""
    A[row, k : k + FOUR] = numbers


def add_four(one: Vector, factor: float, other: Vector) -> Vector:
    """Return four numbers and a multiple of four others."""
    return one + factor * other


def add_products(one: Vector, other: Vector, third: Vector) -> Vector:
    """Return four numbers and the products of two times four others."""
    return one + other * third


def larger_four(one: Vector, other: Vector) -> Vector:
    """Return of each pair the first number where it is larger, otherwise the second, also where the first is none."""
    return np.where(one > other, one, other)


def sum_four(numbers: Vector) -> float:
    """Return the sum of four numbers: first of two and two."""
    one, two, three, last = numbers
    return float((one + two) + (three + last))


def sum_each(one: Vector, two: Vector, three: Vector, last: Vector) -> Vector:
    """Return the sums of four times four numbers, each first of two and two."""
    return np.array([sum_four(one), sum_four(two), sum_four(three), sum_four(last)])


def largest_of_four(numbers: Vector) -> float:
    """Return the largest of four numbers, of which none may be none."""
    return float(max(numbers))


@cache
def teach_fours() -> None:
    """Tell numba what four numbers are: one value, as wide as a computer adds at once."""
    types, extending = import_module("numba").types, import_module("numba.extending")
    kind = _build_type(types, extending)
    for function, generate, returned in (
        (four_alike, _spread, kind),
        (four_of, _take, kind),
        (four_in, _take, kind),
        (put_four, _put, types.void),
        (put_four_in, _put, types.void),
        (add_four, _add, kind),
        (add_products, _add, kind),
        (larger_four, _choose, kind),
        (sum_four, _add_up, types.float64),
        (sum_each, _add_each, kind),
        (largest_of_four, _find_largest, types.float64),
    ):
        _teach(extending, function, generate, returned)


def _build_type(types: Any, extending: Any) -> Any:
    """Return the type of four numbers."""
    model = import_module("numba.core.datamodel.models").PrimitiveModel
    four_type = type("FourType", (types.Type,), {})

    def hold(self: Any, manager: Any, held: Any) -> None:
        model.__init__(self, manager, held, _numbers())

    extending.register_model(four_type)(type("FourModel", (model,), {"__init__": hold}))
    return four_type(name="four")


def _numbers() -> Any:
    ir = import_module("llvmlite.ir")
    return ir.VectorType(ir.DoubleType(), FOUR)


def _point(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    """Return where the numbers are; no place is counted from the end."""
    kind, arrays, codes = (
        signature.args[0],
        import_module("numba.np.arrayobj"),
        import_module("numba.core.cgutils"),
    )
    array = arrays.make_array(kind)(context, builder, values[0])
    shape, strides = (
        codes.unpack_tuple(builder, array.shape),
        codes.unpack_tuple(builder, array.strides),
    )
    places = values[1 : 1 + kind.ndim]
    pointer = codes.get_item_pointer2(
        context, builder, array.data, shape, strides, kind.layout, places
    )
    return builder.bitcast(pointer, _numbers().as_pointer())


def _take(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    loaded = builder.load(_point(context, builder, signature, values), typ=_numbers())
    loaded.align = ALIGNED
    return loaded


def _put(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    builder.store(values[-1], _point(context, builder, signature, values), align=ALIGNED)
    return context.get_dummy_value()


def _spread(_: Any, builder: Any, __: Any, values: Any) -> Any:
    ir, numbers = import_module("llvmlite.ir"), _numbers()
    nothing, place = ir.Constant(numbers, ir.Undefined), ir.IntType(32)
    first = builder.insert_element(nothing, values[0], ir.Constant(place, 0))
    return builder.shuffle_vector(
        first, nothing, ir.Constant(ir.VectorType(place, FOUR), [0] * FOUR)
    )


def _add(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    one, factor, other = values
    if signature.args[1] != signature.args[0]:
        factor = _spread(context, builder, signature, [factor])
    return builder.fadd(one, builder.fmul(factor, other, flags=["contract"]), flags=["contract"])


def _choose(_: Any, builder: Any, __: Any, values: Any) -> Any:
    return builder.select(builder.fcmp_ordered(">", *values), *values)


def _part(builder: Any, values: Any, number: int) -> Any:
    ir = import_module("llvmlite.ir")
    return builder.extract_element(values[0], ir.Constant(ir.IntType(32), number))


def _add_up(_: Any, builder: Any, __: Any, values: Any) -> Any:
    one, two, three, last = (_part(builder, values, number) for number in range(FOUR))
    return builder.fadd(builder.fadd(one, two), builder.fadd(three, last))


def _add_each(_: Any, builder: Any, __: Any, values: Any) -> Any:
    """Add neighbours of two and two, then halves: the sums need not be taken apart."""
    pairs = [
        _add_picked(builder, pair, (0, 4, 2, 6), (1, 5, 3, 7)) for pair in (values[:2], values[2:])
    ]
    return _add_picked(builder, pairs, (0, 1, 4, 5), (2, 3, 6, 7))


def _add_picked(builder: Any, pair: Any, first: tuple[int, ...], second: tuple[int, ...]) -> Any:
    """Add four of the eight numbers of a pair to four others of them."""
    ir = import_module("llvmlite.ir")
    picks = [
        ir.Constant(ir.VectorType(ir.IntType(32), FOUR), list(places)) for places in (first, second)
    ]
    return builder.fadd(*(builder.shuffle_vector(*pair, pick) for pick in picks))


def _find_largest(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    one, two, three, last = (_part(builder, values, number) for number in range(FOUR))
    larger = [_choose(context, builder, signature, pair) for pair in ((one, two), (three, last))]
    return _choose(context, builder, signature, larger)


def _teach(extending: Any, function: Any, generate: Any, returned: Any) -> None:
    """Tell numba what to write for a function; it goes by the number of arguments."""
    last = function.__code__.co_argcount - 1
    typed = (
        lambda _, a: (returned(a), generate),
        lambda _, a, b: (returned(a, b), generate),
        lambda _, a, b, c: (returned(a, b, c), generate),
        lambda _, a, b, c, d: (returned(a, b, c, d), generate),
    )
    written = extending.intrinsic(typed[last])
    called = (
        lambda a: lambda a: written(a),  # noqa: ARG005
        lambda a, b: lambda a, b: written(a, b),  # noqa: ARG005
        lambda a, b, c: lambda a, b, c: written(a, b, c),  # noqa: ARG005
        lambda a, b, c, d: lambda a, b, c, d: written(a, b, c, d),  # noqa: ARG005
    )
    extending.overload(function)(called[last])
