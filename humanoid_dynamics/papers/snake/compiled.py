# SPDX-License-Identifier: Apache-2.0
"""The kernels of the snake, compiled by numba at first use."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from humanoid_dynamics.papers.snake import kane, lagrange, newton_euler, passes, turning, unfolded
from humanoid_dynamics.spatial.compiling import Kernel, choose_compiler, compile_known, functions_of

PARTS = tuple(
    part
    for module in (kane, lagrange, newton_euler, passes, turning, unfolded)
    for part in functions_of(module)
)


def select_kernel(kernel: Kernel, compiled: bool | None = None) -> Kernel:
    """Return a kernel in the form it will run.

    Args:
        kernel: A kernel of ``unfolded.py``, ``kane.py`` or a comparator.
        compiled: False for the interpreter, whose time grows with the operations of the paper; numba otherwise.

    Returns:
        The kernel itself or its compiled form.
    """
    return compile_kernel(kernel) if choose_compiler(compiled) else kernel


def silence(kernel: Kernel) -> Kernel:
    """Keep numpy from warning about numbers that are not finite; the answer has a status for them.

    Args:
        kernel: A kernel that runs interpreted.

    Returns:
        The same without warnings.
    """

    def silent(*arguments: Any) -> Any:
        with np.errstate(all="ignore"):
            return kernel(*arguments)

    return silent


@cache
def compile_kernel(kernel: Kernel) -> Kernel:
    """Return a kernel compiled by numba; it takes the same arguments and gives the same answer.

    Args:
        kernel: A kernel written in the part of Python that numba reads.

    Returns:
        The compiled kernel; each type of argument is compiled at its first call and kept on disk.
    """
    _register_parts()
    return compile_known(kernel, PARTS, order_is_free=False)


@cache
def _register_parts() -> None:
    """Make the functions that kernels call known to the compiler; they stay what they are for everyone else."""
    extending = import_module("numba.extending")
    inlined: tuple[Kernel, ...] = (turning.turn_a_little, *unfolded.PARTS)
    called: tuple[Kernel, ...] = (*kane.PARTS, *lagrange.PARTS, *newton_euler.PARTS)
    for part in inlined:  # of the O(n) kernel, where a call costs as much as ten links
        extending.register_jitable(forceinline=True)(part)
    for part in called:
        extending.register_jitable(part)
    extending.overload(turning.turn, jit_options={"forceinline": True})(turning.choose_turn)
    for written, in_one_pass in passes.PASSES:
        extending.overload(written, jit_options=passes.PASS_OPTIONS, strict=False)(
            _choose(in_one_pass)
        )


def _choose(in_one_pass: Kernel) -> Kernel:
    """What numba asks for the form to compile, whatever the types: always the one pass."""
    return lambda *_types: in_one_pass
