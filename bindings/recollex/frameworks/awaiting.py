"""Calls a method of an agent from a coroutine, whether the agent is of asyncio or not."""

import asyncio
import inspect
from collections.abc import Callable
from functools import partial
from typing import Any


async def awaited(method: Callable[..., Any], /, *args: Any, **options: Any) -> Any:
    """Return what a method returns; one that is no coroutine function runs in a thread.

    So an adapter takes agents of `recollex.open` and `recollex.connect` as well as those of
    `recollex.aio`.
    """
    if inspect.iscoroutinefunction(method):
        return await method(*args, **options)
    return await asyncio.get_running_loop().run_in_executor(None, partial(method, *args, **options))
