"""What does a server cost, and how much can it do?

Claim: on two cores, over a Unix socket, a server adds at most 100 us to an embedded recall (p50)
and 400 us (p99); a ping takes at most 25 us (p50); 16 clients get 25,000 small requests a second,
or 2,500 recalls of an agent with 10,000 memories, p99 25 ms; one client that asks 10,000 recalls at
once and reads nothing makes the others' p99 at most twice as long, and costs bounded memory; HTTP
adds at most 1.5 ms to an embedded recall (`bench.server_http`).

Command: python -m bench.server [--parts NAME ...] [--json] [--out FILE]

Check: before the clock starts, the server answers every question as the embedded store does, and
every peer gives back the bytes that it was sent.

Server and clients are two processes; the load of 16 clients comes from one process
(`bench.lib.server_load`), once the server's reader processes are ready. "server CPU" is that of the
server and its readers, for one answer: on a shared machine it varies less than a rate. The server's
telemetry is on, as in `recollex serve`. No model runs: a text's vector is the mean of its words'
vectors (`bench.lib.chat.WordVectors`). A recall's time includes reading its memories, up to 512
tokens, which is about 2 KB of text. "small" is `get` of one memory. The same loops also exchange
2 KB with a bare asyncio echo, FastAPI and gRPC (`bench.lib.server_peers`); recollex's own row there
is a `get` whose answer is 2 KB.

The time that a server adds to a recall is the difference between two programs: one asks the server,
and one has opened the store. So the two alternate in blocks of 50 questions, which are the same
for both. If they alternated at every question, each would find the processor's caches as the other
left them, and that does not happen to a program that uses only one of the two.
"""

import asyncio
import os
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import recollex
from bench import server_http
from bench.lib import server_load, server_peers
from bench.lib.chat import WordVectors, made_up
from bench.lib.drawing import Plot
from bench.lib.latency import Bound, Page, Section, claim, finish, parse
from bench.lib.rundata import percentiles
from recollex.remote.client.connection import hello
from recollex.remote.server.reader_process import Opener
from recollex.remote.server.server import Server, freeze_heap, run
from recollex.remote.server.telemetry import Telemetry
from recollex.remote.wire.messages import request

AGENT = "talk"
ROWS = 10_000
QUESTIONS = 200
BLOCK = 50
ROUNDS = 40
TOKENS = 512
CLIENTS = 16
SECONDS = 4.0
EXCHANGES = 5_000
ATTACK = 10_000
LONG = "long"


def main() -> None:
    parser = parse(__doc__)
    parser.add_argument("--parts", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--folder", type=Path, help="keep the store here, use it if there")
    parser.add_argument("--serve", nargs=2, metavar="PATH", help="serve a store, and no more")
    arguments = parser.parse_args()
    if arguments.serve is not None:
        serve(*arguments.serve)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary) / "store"
        questions = build(folder)
        found = {name: PARTS[name](folder, questions) for name in arguments.parts}
    finish(page(found), arguments)


def build(folder: Path) -> list[str]:
    """Make the store if it does not exist, and return questions about it."""
    lines = list(islice(made_up(), ROWS + QUESTIONS))
    if not folder.exists():
        with recollex.open(folder, embedder=WordVectors()) as store:
            agent = store.agent(AGENT)
            kept = lines[:ROWS]
            agent.retain_many([line.text for line in kept], event_at=[line.at for line in kept])
            agent.retain("Two kilobytes. " * 117, id=LONG)
            agent.checkpoint()
    return [line.text for line in lines[ROWS:]]


def serve(folder: str, path: str) -> None:
    """Serve a store on a Unix socket until SIGTERM."""

    async def main(stopping: asyncio.Event) -> None:
        opener = Opener("bench.server:reading", {"folder": folder}, os.cpu_count() or 1)
        store = recollex.open(folder, embedder=WordVectors())
        async with Server(store, opener=opener, observer=Telemetry()) as server:
            pool = server.service.reader_pool
            while pool is not None and len(pool) < opener.count:
                await asyncio.sleep(0.05)
            await server.listen(f"unix://{path}")
            freeze_heap()
            await stopping.wait()

    run(main)


def reading(folder: str) -> recollex.Store:
    """Open the store in one of the server's reader processes."""
    return recollex.open(folder, embedder=WordVectors(), read_only=True)


@contextmanager
def served(folder: Path) -> Any:
    """Serve the store from a process; yield its socket's path and the process's id."""
    with tempfile.TemporaryDirectory() as place:
        path = f"{place}/socket"
        command = [sys.executable, "-m", "bench.server", "--serve", str(folder), path]
        with server_peers.running(command, path) as process:
            yield path, process.pid


def timed(work: Callable[[], object], times: int, warm: int = 200) -> list[float]:
    """Return microseconds of each run."""
    found = []
    for number in range(warm + times):
        started = time.perf_counter()
        work()
        if number >= warm:
            found.append((time.perf_counter() - started) * 1e6)
    return found


# -- parts -------------------------------------------------------------------------------------


def ping(folder: Path, questions: list[str]) -> dict[str, Any]:
    with served(folder) as (path, _), recollex.connect(f"unix://{path}") as store:
        return {"us": percentiles(timed(store.ping, 4 * EXCHANGES))}


def recall(folder: Path, questions: list[str]) -> dict[str, Any]:
    """Ask the embedded store and the server, in blocks that alternate."""
    with (
        served(folder) as (path, _),
        recollex.connect(f"unix://{path}") as remote,
        recollex.open(folder, embedder=WordVectors(), read_only=True) as here,
    ):
        agents = {"embedded": here.agent(AGENT), "server": remote.agent(AGENT)}
        sizes = []
        for question in questions:
            expected, found = (listed(agent, question) for agent in agents.values())
            assert expected == found
            sizes.append(len(expected))
        times: dict[str, list[float]] = {name: [] for name in agents}
        for first in [*range(0, len(questions), BLOCK)] * ROUNDS:
            for name, agent in agents.items():
                times[name] += [
                    timed(partial(listed, agent, question), 1, 0)[0]
                    for question in questions[first : first + BLOCK]
                ]
    us = {name: percentiles(found) for name, found in times.items()}
    added = {p: us["server"][p] - us["embedded"][p] for p in ("p50", "p99")}
    return {"us": us, "added_us": added, "memories_each": sum(sizes) / len(sizes)}


def listed(agent: Any, question: str) -> list[Any]:
    """Return the memories of a recall, each of them read."""
    return list(agent.recall(question, max_tokens=TOKENS))


def small(folder: Path, questions: list[str]) -> dict[str, Any]:
    with served(folder) as (path, process):
        with recollex.connect(f"unix://{path}") as store:
            ids = [memory.id for memory in store.agent(AGENT).list(limit=QUESTIONS)]
        gets = [request(7, "get", AGENT, {"id": id}, {}) for id in ids]
        return {
            "get": loaded(path, process, gets),
            "ping": loaded(path, process, [request(7, "ping", None, {}, {})]),
        }


def recalls(folder: Path, questions: list[str]) -> dict[str, Any]:
    with served(folder) as (path, process):
        loaded(path, process, asked(questions))  # warm
        return loaded(path, process, asked(questions))


def fairness(folder: Path, questions: list[str]) -> dict[str, Any]:
    """Measure 15 clients alone, and beside one more that asks much and reads nothing."""
    with served(folder) as (path, process):
        others = CLIENTS - 1
        requests = asked(questions)
        loaded(path, process, requests, others)
        alone = loaded(path, process, requests, others)
        before = memory_of(process)
        with greeted(path) as greedy:
            greedy.setblocking(True)
            everything = b"".join(
                request(number, "recall", AGENT, {"query": questions[number % QUESTIONS]}, {})
                for number in range(ATTACK)
            )
            thread = threading.Thread(target=send_until_closed, args=(greedy, everything))
            thread.start()
            time.sleep(0.5)
            beside = loaded(path, process, requests, others)
            after = memory_of(process)
            greedy.shutdown(socket.SHUT_RDWR)
            thread.join()
    ratio = beside["ms"]["p99"] / alone["ms"]["p99"]
    return {"alone": alone, "beside": beside, "p99_ratio": ratio, "memory_grew": after - before}


def over_http(folder: Path, questions: list[str]) -> dict[str, Any]:
    rows, added = server_http.measure(folder, questions)
    return {"rows": rows, "added_ms": added}


def peers(folder: Path, questions: list[str]) -> dict[str, Any]:
    """Exchange 2 KB with the peers and with recollex, from one client and from many."""
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as place:
        for name, client in server_peers.CLIENTS.items():
            path = f"{place}/{name}"
            with server_peers.peer(name, path):
                with client(path) as exchange:
                    assert exchange() == server_peers.PAYLOAD
                    one = percentiles(timed(exchange, EXCHANGES))
                found[name] = {"us": one, "a_second": rate_of(name, path)}
    with served(folder) as (path, process):
        with recollex.connect(f"unix://{path}") as store:
            agent = store.agent(AGENT)
            one = percentiles(timed(lambda: agent.get(LONG).text, EXCHANGES))
        many = loaded(path, process, [request(7, "get", AGENT, {"id": LONG}, {})])
        found["recollex"] = {"us": one, "a_second": many["a_second"]}
    return found


def rate_of(name: str, path: str) -> float:
    """Return a peer's exchanges per second with all clients."""
    if name == "grpc":
        return asyncio.run(server_peers.grpc_rate(path, CLIENTS, SECONDS))
    message = server_peers.PAYLOAD if name == "echo" else server_peers.http_request()
    with server_peers.connected(path) as probe:
        probe.sendall(message)
        time.sleep(0.2)
        length = len(probe.recv(server_load.CHUNK))
    return server_load.load(
        lambda: server_peers.connect(path),
        [message],
        lambda: server_load.Length(length),
        CLIENTS,
        SECONDS,
    )[0]


PARTS: dict[str, Callable[[Path, list[str]], dict[str, Any]]] = {
    "ping": ping,
    "recall": recall,
    "small": small,
    "recalls": recalls,
    "fairness": fairness,
    "http": over_http,
    "peers": peers,
}


# -- clients -----------------------------------------------------------------------------------


def asked(questions: list[str]) -> list[bytes]:
    return [
        request(7, "recall", AGENT, {"query": question, "max_tokens": TOKENS}, {})
        for question in questions
    ]


def loaded(
    path: str, process: int, requests: list[bytes], clients: int = CLIENTS
) -> dict[str, Any]:
    before = cpu_of(process)
    rate, times = server_load.load(
        lambda: greeted(path), requests, server_load.Messages, clients, SECONDS
    )
    each = (cpu_of(process) - before) / len(times) * 1e6
    return {"a_second": rate, "ms": percentiles(times), "clients": clients, "server_us": each}


def cpu_of(process: int) -> float:
    """Return the seconds of CPU that a server and its reader processes have taken."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    stats = [Path(f"/proc/{each}/stat").read_text() for each in (process, *children)]
    ticks = (stat.rpartition(")")[2].split()[11:13] for stat in stats)
    return sum(int(user) + int(system) for user, system in ticks) / os.sysconf("SC_CLK_TCK")


def greeted(path: str) -> socket.socket:
    """Return a connected socket after the greeting."""
    made = server_peers.connect(path)
    made.sendall(request(0, "hello", None, hello(None), {}))
    whole = server_load.Messages()
    while not whole(made.recv(server_load.CHUNK)):
        pass
    return made


def send_until_closed(made: socket.socket, data: bytes) -> None:
    try:
        made.sendall(data)
    except OSError:  # the socket is closed when the others are done
        return


def memory_of(process: int) -> int:
    """Return the resident memory of a process in bytes."""
    status = Path(f"/proc/{process}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) * 1024


# -- the table ---------------------------------------------------------------------------------


def page(parts: dict[str, Any]) -> Page:
    """Return the table of the parts that were measured."""
    alone: list[dict[str, Any]] = []
    many: list[dict[str, Any]] = []
    bounds: list[Bound] = []
    sections = [Section("One client, us", alone), Section(f"{CLIENTS} clients, ms", many)]
    if "ping" in parts:
        alone.append({"exchange": "ping", **parts["ping"]["us"]})
        bounds.append(Bound("ping, p50 us", parts["ping"]["us"]["p50"], 25))
    if "recall" in parts:
        found = parts["recall"]
        each = {"memories": found["memories_each"]}
        alone += [
            {"exchange": f"recall that is read, {way}", **us, **each}
            for way, us in found["us"].items()
        ]
        for p, limit in (("p50", 100), ("p99", 400)):
            bounds.append(Bound(f"recall added, {p} us", found["added_us"][p], limit))
    if "small" in parts:
        many += [loads(f"{name} of one", found) for name, found in parts["small"].items()]
        least = parts["small"]["get"]["a_second"]
        bounds.append(Bound("small requests a second", least, 25_000, least=True))
    if "recalls" in parts:
        found = parts["recalls"]
        many.append(loads("recalls", found))
        bounds.append(Bound("recalls a second", found["a_second"], 2_500, least=True))
        bounds.append(Bound("recalls, p99 ms", found["ms"]["p99"], 25))
    if "fairness" in parts:
        found = parts["fairness"]
        many.append(loads("recalls, one client fewer", found["alone"]))
        many.append(loads("beside one that reads nothing", found["beside"]))
        grew = f"memory grew by {found['memory_grew'] / 2**20:.1f} MB"
        bounds.append(Bound("p99 beside one that reads nothing", found["p99_ratio"], 2, note=grew))
    if "http" in parts:
        sections.append(Section("Recalls over HTTP, ms", parts["http"]["rows"]))
        bounds.append(Bound("HTTP added, p50 ms", parts["http"]["added_ms"], 1.5))
    if "peers" in parts:
        rows = [
            {"peer": name, **found["us"], f"a second, {CLIENTS} clients": found["a_second"]}
            for name, found in parts["peers"].items()
        ]
        sections.append(Section("An exchange of 2 KB, us", rows, Plot("bars", "peer", "p50")))
    return Page(
        "server",
        claim(__doc__),
        "python -m bench.server",
        [section for section in sections if section.rows],
        bounds,
        [],
        ("fastapi", "grpcio") if "peers" in parts else (),
        {"memories": ROWS, "questions": QUESTIONS, "tokens": TOKENS, "seconds of load": SECONDS},
    )


def loads(name: str, found: dict[str, Any]) -> dict[str, Any]:
    """Return the row of one load by many clients."""
    return {
        "requests": name,
        "a second": found["a_second"],
        **found["ms"],
        "server CPU, us": found["server_us"],
    }


if __name__ == "__main__":
    main()
