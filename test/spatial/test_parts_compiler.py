# SPDX-License-Identifier: Apache-2.0
"""Parts of kernels: taken into the kernel, compiled once, and never turned into machine code by themselves."""

from types import FunctionType

import numpy as np
import pytest

from humanoid_dynamics.spatial import compiling, parts_compiler

pytest.importorskip("numba", reason="numba is not installed")

APART = ("climb",)  # the one that is not copied to where it is called


def square(x):
    return x * x


def climb(x, steps):
    for k in range(len(x)):
        x[k] += square(x[k]) * steps
    return x.sum()


def twice(x):
    return climb(x, 2) + square(climb(x, 2))


def once(x):
    return climb(x, 1) + square(x[0])


def start():
    return np.array([0.5, -1.0, 2.0])


def watch(kernel):
    """Return the answer of a kernel for ``start``, and the parts that were compiled for it."""
    event = pytest.importorskip("numba.core.event")
    with event.install_recorder("numba:compile") as seen:
        answer = kernel(start())
    names = [
        record.data["dispatcher"].py_func.__name__ for _, record in seen.buffer if record.is_start
    ]
    return answer, [name for name in names if name in ("square", "climb")]


@pytest.fixture
def kernels(monkeypatch, tmp_path):
    """Both kernels, twice, of parts that nothing was compiled of before."""
    numba = pytest.importorskip("numba")
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    own = dict(globals())
    own |= {
        f.__name__: FunctionType(f.__code__, own, f.__name__) for f in (square, climb, twice, once)
    }
    parts = own["square"], own["climb"]
    for part in parts:
        compiling._make_known(part)
    return [
        [
            compiling.compile_known(own[name], parts, order_is_free=False)
            for name in ("twice", "once")
        ]
        for _ in range(2)
    ]


def test_a_part_is_compiled_once_whoever_calls_it(kernels):
    """Copied to where it is called or not, from a kernel or from another part; and the answer is that of Python."""
    told = [watch(kernel) for kernel in kernels[0]]
    assert [answer for answer, _ in told] == [twice(start()), once(start())]
    assert sorted(name for _, parts in told for name in parts) == ["climb", "square"]


def test_what_is_kept_on_disk_is_whole(kernels):
    """A kernel that is loaded finds its parts inside."""
    first, again = ([kernel(start()) for kernel in both] for both in kernels)
    assert first == again
    assert all(sum(kernel.stats.cache_hits.values()) == 1 for kernel in kernels[1])


def test_another_numba_compiles_parts_as_it_compiles_everything(monkeypatch):
    def refuse(*_):
        raise AttributeError

    monkeypatch.setattr(parts_compiler, "_build_library", refuse)
    parts_compiler.build_parts_compiler.cache_clear()
    try:
        assert parts_compiler.build_parts_compiler() is None
    finally:
        parts_compiler.build_parts_compiler.cache_clear()


def test_this_numba_takes_the_compiler_of_parts():
    assert parts_compiler.build_parts_compiler() is not None


IN_ORDER = ("total",)  # whose sum is added as it is written


def total(x):
    so_far = 0.0
    for k in range(len(x)):
        so_far += x[k]
    return so_far


def total_freely(x):
    so_far = 0.0
    for k in range(len(x)):
        so_far += x[k]
    return so_far


def both(x):
    return total(x), total_freely(x)


def test_a_part_is_written_short_where_its_module_says_so(monkeypatch, tmp_path):
    """The compiler is told of one part not to write loops down several times over, and of the other nothing."""
    event = pytest.importorskip("numba.core.event")
    monkeypatch.setattr(pytest.importorskip("numba").config, "CACHE_DIR", str(tmp_path))
    own = dict(globals()) | {"RARE": ("climb",), "APART": ("climb", "square")}
    own |= {f.__name__: FunctionType(f.__code__, own, f.__name__) for f in (square, climb, once)}
    kernel = compiling.compile_kernel(own["once"], (own["square"], own["climb"]))
    with event.install_recorder("numba:compile") as seen:
        assert kernel(start()) == once(start())
    texts = {}
    for _, record in seen.buffer:
        part = record.data["dispatcher"]
        texts[part.py_func.__name__] = "".join(
            found.library.get_llvm_str() for found in part.overloads.values()
        )
    assert "optsize" in texts["climb"]
    assert "optsize" not in texts["square"]


def test_a_part_adds_in_order_where_its_module_says_so():
    """A kernel that is free to add in another order does so, but not within such a part: ones get lost in the order of Python only."""
    x = np.tile([1e17, 1.0, 1.0, -1e17, 1.0, 1.0, 1.0], 32)
    in_order, freely = compiling.compile_kernel(both, (total, total_freely))(x)
    assert in_order == total(x)
    assert freely != total(x)
