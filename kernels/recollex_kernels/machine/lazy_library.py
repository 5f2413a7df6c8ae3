"""Compiles a tree of kernels at its root: what only kernels call gets no machine code of its own.

Numba optimises each function of a tree by itself and generates machine code for it, then links it
into its callers and optimises it again with each of them. Only the roots, which Python calls, are
ever run. Here the others stay as they were lowered until a root links and optimises them; numba's
own functions that a kernel calls do, too. The root's code is as fast: the optimiser sees the same
functions. It is faster to make, see docs/decisions/search.md.

Numba's lock is held while it compiles, so that all of this happens on one thread at a time.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import binding as llvm
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

_Library: Any = JITCodeLibrary
_Compiler: Any = Compiler

DEAD = ("dead_code_elimination", "global_dead_code_eliminate")
"""Steps that remove the addresses of called kernels: they are loaded but not used.

With these addresses code cannot be kept for another process.
"""
BEFORE_INLINING = ("sroa", "simplify_cfg", "instruction_combine", "refprune")
"""Steps that bring functions as they were lowered into the form that numba's optimiser expects.

Local variables become values, and of the counting of references what cancels out goes. Without them
a recall takes 4 to 6 % longer.
"""


class LazyLibrary(_Library):  # type: ignore[misc]
    """The code of one function, compiled for the machine when its address is asked for.

    The address is that of the function by which Python calls it. What has none is only linked into
    its callers.
    """

    _compiled_for_machine = False

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        """Optimise what is linked; numba calls it, and `get_pointer_to_function` once more."""
        module = self._final_module
        machine = self._codegen._tm
        if not self._compiled_for_machine:
            _run(module, machine, DEAD)
            return
        if not _run(module, machine, BEFORE_INLINING):
            super()._optimize_functions(module)
        super()._optimize_final_module()

    def _finalize_final_module(self) -> None:
        """Give each function's constants, its environment, a place that numba can fill."""
        self._finalize_dynamic_globals()
        engine = self._codegen._engine
        names = (variable.name for variable in self._final_module.global_variables)
        places = [
            f'@"{name}" = common global i8* null'
            for name in names
            if name.startswith("_ZN08NumbaEnv") and not engine.is_symbol_defined(name)
        ]
        if places:
            engine.add_module(llvm.parse_assembly("\n".join(places)))
            engine.finalize_object()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return the address of a function, which is compiled now; 0 if none has the name."""
        self._ensure_finalized()
        try:
            self._final_module.get_function(name)
        except NameError:
            return 0
        if not self._compiled_for_machine:
            self._compiled_for_machine = True
            self._optimize_final_module()
            self._dynamic_globals.clear()  # those that the optimiser left are found again
            self._final_module.verify()
            super()._finalize_final_module()
        return int(super().get_pointer_to_function(name))

    def serialize_using_object_code(self) -> tuple[str, str, Any]:
        """Return what is kept on disk: machine code if there is any, otherwise code to link."""
        self._ensure_finalized()
        if self._compiled_for_machine:
            kept: tuple[str, str, Any] = super().serialize_using_object_code()
            return kept
        return self.name, "bitcode", self._final_module.as_bitcode()


def _run(module: Any, machine: Any, steps: tuple[str, ...]) -> bool:
    """Run steps of LLVM's optimiser on a module; False if llvmlite, before 0.45, has not all."""
    passes: Any = llvm.create_new_module_pass_manager()
    if not all(hasattr(passes, f"add_{step}_pass") for step in steps):
        return False
    for step in steps:
        getattr(passes, f"add_{step}_pass")()
    options = llvm.create_pipeline_tuning_options()
    passes.run(module, llvm.create_pass_builder(machine, options))
    return True


@contextmanager
def lazily(codegen: Any) -> Iterator[None]:
    """Make every library that numba creates while the body runs a `LazyLibrary`."""
    before = codegen._library_class
    codegen._library_class = LazyLibrary
    try:
        yield
    finally:
        codegen._library_class = before


class TreeCompiler(_Compiler):  # type: ignore[misc]
    """Numba's compiler, which gives a kernel and all that it calls lazy libraries."""

    def compile_extra(self, function: Any) -> Any:
        """Compile a function, as numba does."""
        with lazily(self.state.targetctx.codegen()):
            return super().compile_extra(function)
