# SPDX-License-Identifier: Apache-2.0
"""How numba compiles the parts of kernels: as far as they are needed within a kernel, and no farther.

numba makes of every function that another one calls a whole program: optimized, turned into machine code, ready to be called by itself.
The caller then takes the function's text into its own and does all that again, and so does the caller's caller.  Parts are never called
by themselves: here, only the kernel at the top is optimized and turned into machine code, once, with all its parts inside.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any


@cache
def build_parts_compiler(short: bool = False) -> type | None:
    """Return the compiler of parts, as ``numba.njit`` takes it by ``pipeline_class``.

    Args:
        short: Whether loops are written down once, and not several times over so that they run faster.

    Returns:
        The compiler; None where this numba is built in another way, and parts are compiled as everything is.
    """
    try:
        return _build_compiler(_build_lowering(_build_library(), short))
    except (ImportError, AttributeError):
        return None


def _build_library() -> type:
    """Return a library of code that is only ever taken into others."""
    base: Any = import_module("numba.core.codegen").JITCodeLibrary

    def optimize(library: Any) -> None:
        """Leave that to the kernel."""

    def finalize(library: Any) -> None:
        """Count as ready to be taken into others."""
        library._finalize_dynamic_globals()
        library._finalized = True

    replaced = {"_optimize_final_module": optimize, "_finalize_final_module": finalize}
    for name in (*replaced, "_finalize_dynamic_globals"):
        getattr(base, name)
    return type("PartLibrary", (base,), replaced)


def _build_lowering(library_class: type, short: bool) -> type:
    """Return the pass that writes a part into such a library, and makes it known to those who call it."""
    base: Any = import_module("numba.core.typed_passes").NativeLowering
    make_function = import_module("numba._dynfunc").make_function
    register = import_module("numba.core.compiler_machinery").register_pass
    # The llvmlite of numba before 0.68 gives the attributes of a function to its return value.
    short = short and int(import_module("numba").__version__.split(".")[1]) >= 68

    def run_pass(self: Any, state: Any) -> bool:
        flags, name = state.flags, state.func_id.func_qualname
        state.library = library_class(state.targetctx.codegen(), name)
        flags.forceinline, flags.no_compile, flags.no_cpython_wrapper, flags.no_cfunc_wrapper = (
            state.is_inlined,
            True,
            True,
            True,
        )
        base.run_pass(self, state)
        lowered = state["cr"]
        if short:
            state.library._final_module.get_function(
                lowered.fndesc.llvm_func_name
            ).add_function_attribute("optsize")
        # numba knows a function by what is called from Python; this one never is.
        known = make_function(
            lowered.fndesc.lookup_module(),
            name,
            "a part of a kernel",
            0,
            lowered.env,
            (state.library,),
        )
        state.targetctx.insert_user_function(known, lowered.fndesc, [state.library])
        state["cr"] = lowered._replace(cfunc=known)
        return True

    lowering = type(
        "PartLowering",
        (base,),
        {"_name": f"part_lowering_{'short' if short else 'fast'}", "run_pass": run_pass},
    )
    return register(mutates_CFG=True, analysis_only=False)(lowering)  # type: ignore[no-any-return]


def _build_compiler(lowering: type) -> type:
    """Return the usual compiler with another pass at its end."""
    compiler: Any = import_module("numba.core.compiler")
    base, usual = compiler.CompilerBase, import_module("numba.core.typed_passes").NativeLowering

    def start(self: Any, *arguments: Any) -> None:
        base.__init__(self, *arguments)
        # numba compiles a function anew for callers that are compiled with other options: while types are found, all have the same.
        flags = self.state.flags
        self.state.is_inlined, flags.forceinline, flags.no_cpython_wrapper = (
            flags.forceinline,
            False,
            False,
        )

    def define_pipelines(self: Any) -> list[Any]:
        manager = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
        manager.passes = [
            (lowering if kind is usual else kind, told) for kind, told in manager.passes
        ]
        manager.finalize()
        return [manager]

    return type("PartsCompiler", (base,), {"__init__": start, "define_pipelines": define_pipelines})
