"""numba, where it is installed: the same kernels, compiled at first use."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from humanoid_dynamics.errors import MissingExtraError
from humanoid_dynamics.snake import kane, lagrange, newton_euler, passes, turning, unfolded

Kernel = Callable[..., Any]


def is_compiler_installed() -> bool:
    """Whether numba can be imported; it is not imported to find out."""
    return find_spec("numba") is not None


def select_kernel(kernel: Kernel, compiled: bool | None = None) -> Kernel:
    """Return a kernel in the form it will run.

    Args:
        kernel: A kernel of ``unfolded.py``, ``kane.py`` or a comparator.
        compiled: True for numba, False for the interpreter, None for numba where it is installed.

    Returns:
        The kernel itself or its compiled form.

    Raises:
        MissingExtraError: If numba is asked for and not installed.
    """
    if compiled is None:
        compiled = is_compiler_installed()
    return compile_kernel(kernel) if compiled else kernel


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
        The compiled kernel; each type of argument is compiled at its first call and kept on disk, by the date of the kernel's own file:
        who edits only a part it calls has to remove ``__pycache__``.

    Raises:
        MissingExtraError: If numba is not installed.
    """
    numba = _import_numba()
    _register_parts()
    try:
        return numba.njit(cache=True, error_model="numpy")(kernel)  # type: ignore[no-any-return]
    except RuntimeError:  # no place on disk to keep compiled code: compile in memory
        return numba.njit(error_model="numpy")(kernel)  # type: ignore[no-any-return]


def _import_numba() -> Any:
    try:
        return import_module("numba")
    except ImportError as cause:
        raise MissingExtraError("numba", "speed", "a compiled snake") from cause


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
        extending.overload(written, jit_options=passes.PASS_OPTIONS, strict=False)(_choose(in_one_pass))


def _choose(in_one_pass: Kernel) -> Kernel:
    """What numba asks for the form to compile, whatever the types: always the one pass."""
    return lambda *_types: in_one_pass
