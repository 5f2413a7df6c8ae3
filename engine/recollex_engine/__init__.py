"""The engine under the `recollex` package: import concepts from their modules."""

from typing import Any

from recollex_kernels import machine


def _cache_of(kernel: str, **options: bool) -> Any:
    from recollex_engine.compiled_code import cache_of  # imports numba, as kernels do

    return cache_of(kernel, **options)


machine.cache_of = _cache_of
