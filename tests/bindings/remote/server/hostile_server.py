"""A server to attack, in a process of its own: `python hostile_server.py FOLDER`.

It prints its two addresses and the id of its process, and ends when its input does.
"""

import asyncio
import json
import os
import resource
import sys
from pathlib import Path

import recollex
from recollex.remote.http.http_server import start_http
from recollex.remote.server.limits import ServerLimits
from recollex.remote.server.logs import Log
from recollex.remote.server.reader_process import Opener
from recollex.remote.server.server import Server
from recollex.remote.server.telemetry import Telemetry
from tests.bindings.remote.http.http_service import HashedWords

LIMITS = ServerLimits(
    drain=3.0,
    handshake=1.0,
    stall=1.0,
    idle=600.0,
    message_bytes=1 << 20,
    open_agents=32,
    connections=12_000,
)
READERS = 2
READY_WITHIN = 120.0
"""Seconds for the reader processes; on a machine that is busy they take tens of seconds."""
TEXTS = [
    f"Note {number}: {place} has {thing}."
    for number, (place, thing) in enumerate(
        (place, thing)
        for place in ("the shed", "the attic", "the cellar", "the garden")
        for thing in ("a ladder", "a lamp", "two chairs", "a bicycle", "paint")
    )
]


async def serve(folder: Path) -> None:
    store = recollex.open(folder / "store", embedder=HashedWords(), durability="off")
    store.agent("victim").retain_many(TEXTS, id=[f"n{n}" for n in range(len(TEXTS))])
    store.agent("victim").recall("Where is the ladder?")
    with (folder / "log.jsonl").open("w") as log:
        telemetry = Telemetry(log=Log(log, "info"))
        opener = Opener(
            "tests.bindings.remote.server.reader_openers:hashed",
            {"path": str(folder / "store")},
            READERS,
        )
        async with Server(store, limits=LIMITS, observer=telemetry, opener=opener) as server:
            await server.listen(f"unix://{folder}/socket")
            http = await start_http(server.service, telemetry.metrics, "127.0.0.1", 0)
            async with asyncio.timeout(READY_WITHIN):
                while len(server.service.reader_pool or ()) < READERS:
                    await asyncio.sleep(0.05)
            told = {"socket": str(folder / "socket"), "http": http.address, "pid": os.getpid()}
            print(json.dumps(told), flush=True)
            await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
            await http.close()


if __name__ == "__main__":
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    asyncio.run(serve(Path(sys.argv[1])))
