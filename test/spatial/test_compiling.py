# SPDX-License-Identifier: Apache-2.0
"""What compiled kernels are kept under on disk."""

import importlib.util
import sys
from types import FunctionType

import numba

from humanoid_dynamics.control.whole_body_kernels import solve_rows, write_rows
from humanoid_dynamics.resolution import small
from humanoid_dynamics.simulation.contacts import cone_newton, thresholds
from humanoid_dynamics.simulation.contacts.approach_kernel import speed_at
from humanoid_dynamics.simulation.contacts.contact_build import select_points
from humanoid_dynamics.spatial import compiling, fours


def scale(x):
    return FACTOR * x


FACTOR = 2.0


def test_name_changes_with_a_constant_that_a_part_reads():
    other = FunctionType(scale.__code__, {**scale.__globals__, "FACTOR": 3.0}, "scale")
    assert compiling.digest_functions((scale, other)) != compiling.digest_functions((scale, scale))


def test_name_changes_with_the_code_of_a_part_and_not_with_the_run():
    names = {
        compiling.digest_functions((cone_newton.project, part))
        for part in (select_points, speed_at, scale)
    }
    assert len(names) == 3
    assert compiling.digest_functions((select_points,)) == compiling.digest_functions(
        (select_points,)
    )


def test_constants_of_other_files_count():
    globals_ = {**select_points.__globals__, "NEAR": 2.0 * thresholds.NEAR}
    edited = FunctionType(select_points.__code__, globals_, select_points.__name__)
    assert compiling.digest_functions((edited,)) != compiling.digest_functions((select_points,))


def test_a_kernel_with_an_edited_part_is_compiled_again():
    first = compiling.compile_known(scale, (), order_is_free=False)
    second = compiling.compile_known(
        FunctionType(scale.__code__, {**scale.__globals__, "FACTOR": 3.0}, "scale"),
        (),
        order_is_free=False,
    )
    assert (first(1.0), second(1.0)) == (2.0, 3.0)
    assert first.py_func.__qualname__ != second.py_func.__qualname__


def test_parts_of_parts_are_found():
    """However many steps away, so that a kernel is compiled alike whatever was compiled before."""
    parts = compiling.find_parts(solve_rows, (write_rows,))
    assert parts[0] is write_rows
    assert set(parts) >= {
        small.factor_cholesky,
        small.copy_row,
        small.solve_upper,
    }
    for part in parts:
        called = {
            part.__globals__.get(name)
            for name in part.__code__.co_names
            if isinstance(part.__globals__.get(name), FunctionType)
        }
        assert called <= {*parts, *compiling.functions_of(fours)}


def test_name_changes_with_the_order_that_a_part_is_bound_to():
    bound = FunctionType(scale.__code__, {**scale.__globals__, "IN_ORDER": ("scale",)}, "scale")
    assert compiling.digest_functions((bound,)) != compiling.digest_functions((scale,))


def test_name_changes_with_how_short_a_part_is_written():
    bound = FunctionType(scale.__code__, {**scale.__globals__, "RARE": ("scale",)}, "scale")
    assert compiling.digest_functions((bound,)) != compiling.digest_functions((scale,))


CALLEE = "FACTOR = {factor}\n\n\ndef scale(x):\n    return FACTOR * x + {offset}\n"
CALLER = (
    "from humanoid_dynamics.callee_of_test import scale\n\n\ndef kernel(x):\n    return scale(x)\n"
)


def load(folder, monkeypatch, name):
    spec = importlib.util.spec_from_file_location(
        f"humanoid_dynamics.{name}", folder / f"{name}.py"
    )
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    exec(compile(spec.loader.get_data(spec.origin), spec.origin, "exec"), module.__dict__)
    return module


def test_a_changed_callee_in_another_file_changes_the_answer(tmp_path, monkeypatch):
    """The file of the kernel is not touched, so numba alone would load the outdated code."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "caller_of_test.py").write_text(CALLER)
    answers = []
    for factor, offset in ((2.0, 1.0), (3.0, 1.0), (3.0, 5.0), (2.0, 1.0)):
        (tmp_path / "callee_of_test.py").write_text(CALLEE.format(factor=factor, offset=offset))
        load(tmp_path, monkeypatch, "callee_of_test")
        kernel = load(tmp_path, monkeypatch, "caller_of_test").kernel
        compiled = compiling.compile_kernel(kernel)
        answers.append(compiled(10.0))
    assert answers == [21.0, 31.0, 35.0, 21.0]
    assert sum(compiled.stats.cache_hits.values()) == 1, "the first version is loaded again"
