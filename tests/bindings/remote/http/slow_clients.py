"""Clients that are slow or broken.

    python -m tests.bindings.remote.http.slow_clients PORT COUNT

Each connects, sends what `test_http_clocks.HELD` says, then a byte or a line every second, and
connects again when it is hung up on. It says "connected" once all have tried, and runs until it is
killed.
"""

import asyncio
import contextlib
import sys

from tests.bindings.remote.http.test_http_clocks import HELD


async def hold(port: int, first: bytes, then: bytes, begun: asyncio.Semaphore) -> None:
    while True:
        with contextlib.suppress(OSError):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(first)
            begun.release()
            while not reader.at_eof():
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(reader.read(65_536), 1.0)
                writer.write(then)
            writer.close()
        await asyncio.sleep(0.5)


async def main(port: int, count: int) -> None:
    begun, kinds = asyncio.Semaphore(0), list(HELD.values())
    tasks = [
        asyncio.create_task(hold(port, *kinds[number % len(kinds)], begun))
        for number in range(count)
    ]
    for _ in range(count):
        await begun.acquire()
    print("connected", flush=True)
    await asyncio.gather(*tasks)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2])))
