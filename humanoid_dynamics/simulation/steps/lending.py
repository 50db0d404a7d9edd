# SPDX-License-Identifier: Apache-2.0
"""Arrays that compiled functions hand on without counting who holds them.

Compiled code counts the holders of every array at every call, which costs more than a short sum.  Whoever calls from Python holds the
arrays anyway, until the call is over: inside, they are only lent.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any, TypeVar

T = TypeVar("T")


def lend(array: T) -> T:
    """Return an array whose holders compiled code does not count; outside of compiled code, the array as it is.

    Args:
        array: An array that lives longer than the call.
    """
    return array


@cache
def teach_lending() -> None:
    """Tell numba how to lend an array."""
    extending, cgutils = import_module("numba.extending"), import_module("numba.core.cgutils")

    def lend_compiled(_: Any, array: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            view = context.make_array(signature.args[0])(context, builder, arguments[0])
            view.meminfo = cgutils.get_null_value(view.meminfo.type)
            view.parent = cgutils.get_null_value(view.parent.type)
            return view._getvalue()

        return array(array), generate

    borrow = extending.intrinsic(lend_compiled)

    def choose(array: Any) -> Any:  # noqa: ARG001
        def hand_on(array: Any) -> Any:
            return borrow(array)

        return hand_on

    extending.overload(lend)(choose)
