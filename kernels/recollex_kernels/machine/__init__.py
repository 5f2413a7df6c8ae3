"""What every kernel stands on: the decorator, prefetching, bit masks, ordering."""

from collections.abc import Callable
from typing import Any

cache_of: Callable[..., Any] | None = None
"""Returns numba's cache of a kernel, given its name and ``called_by_kernels``.

The engine sets it before a kernel is imported. While it is None, kernels are compiled in memory.
"""
