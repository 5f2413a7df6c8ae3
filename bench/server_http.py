"""How much longer does a recall take over HTTP?

Claim: at most 1.5 ms more than an embedded one (p50), at 10,000 memories, one client.

Command: python -m bench.server_http [--rows 10000] [--json] [--out FILE]

Check: before the clock starts, every question has the same answer over HTTP as in the embedded
store: ids, order, scores and texts.

The server is a process of its own (`--serve FOLDER`), and the embedded agent reads the same store.
Memories are sentences of words drawn from a Zipf distribution (`bench.lib.chat.made_up`). A text's
vector is the mean of its words' vectors, which costs little, so that the added time can be seen.
The time of an embedded recall includes reading its memories, since an answer over HTTP holds them;
the same applies to the client of `recollex.connect`. Requests are raw HTTP/1.1 on one connection,
and their JSON is parsed. The ways alternate, question by question.
"""

import asyncio
import http.client
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import recollex
from bench.lib.chat import WordVectors, made_up
from bench.lib.drawing import Plot
from bench.lib.latency import Bound, Page, Section, claim, finish, parse
from bench.lib.rundata import percentiles
from recollex.remote.http.http_server import start_http
from recollex.remote.server.server import freeze_heap, run
from recollex.remote.server.service import Service
from recollex.remote.server.telemetry import Telemetry

AGENT = "talk"
QUESTIONS = 200
REPEATS = 5
TOKENS = 512
BOUND_MS = 1.5


def main() -> None:
    parser = parse(__doc__)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--serve", type=Path, help="serve the store in this folder, and no more")
    arguments = parser.parse_args()
    if arguments.serve is not None:
        serve(arguments.serve)
        return
    with tempfile.TemporaryDirectory() as folder:
        questions = build(Path(folder), arguments.rows)
        rows, added = measure(Path(folder), questions)
    finish(page(rows, added, arguments.rows), arguments)


def build(folder: Path, rows: int) -> list[str]:
    """Make the store, and return questions about it."""
    lines = list(islice(made_up(), rows + QUESTIONS))
    with recollex.open(folder, embedder=WordVectors()) as store:
        agent = store.agent(AGENT)
        agent.retain_many(
            [line.text for line in lines[:rows]], event_at=[line.at for line in lines[:rows]]
        )
        agent.checkpoint()
    return [line.text for line in lines[rows:]]


def serve(folder: Path) -> None:
    """Serve a store over HTTP at a free port, and print the port."""

    async def main(stopping: asyncio.Event) -> None:
        telemetry = Telemetry()
        service = Service(recollex.open(folder, embedder=WordVectors()), observer=telemetry)
        server = await start_http(service, telemetry.metrics, "127.0.0.1", 0)
        freeze_heap()
        print(server.address[1], flush=True)
        await stopping.wait()
        await server.close()
        await service.stop()

    run(main)


def measure(folder: Path, questions: list[str]) -> tuple[list[dict[str, Any]], float]:
    """Return one row for each way to ask, and the milliseconds that HTTP adds (p50)."""
    command = [sys.executable, "-m", "bench.server_http", "--serve", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            port = int(server.stdout.readline())
            with recollex.open(folder, embedder=WordVectors(), read_only=True) as store:
                return asked(store.agent(AGENT), port, questions)
        finally:
            server.terminate()


def asked(
    embedded: recollex.Agent, port: int, questions: list[str]
) -> tuple[list[dict[str, Any]], float]:
    """Ask every question in every way, check the answers, and return their times."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    remote = recollex.connect(f"http://127.0.0.1:{port}")
    agent = remote.agent(AGENT)

    def over_http(question: str) -> list[dict[str, Any]]:
        body = json.dumps({"query": question, "max_tokens": TOKENS})
        path = f"/api/agents/{AGENT}/search"
        connection.request("POST", path, body, {"Content-Type": "application/json"})
        found: list[dict[str, Any]] = json.loads(connection.getresponse().read())["memories"]
        return found

    ways: dict[str, Callable[[str], Any]] = {
        "embedded": lambda question: list(embedded.recall(question, max_tokens=TOKENS)),
        "HTTP": over_http,
        "connect http": lambda question: list(agent.recall(question, max_tokens=TOKENS)),
    }
    sizes = []
    for question in questions:
        expected, told, received = (ask(question) for ask in ways.values())
        assert [memory.to_dict() for memory in expected] == told
        assert received == expected
        sizes.append(len(expected))
    times: dict[str, list[float]] = {way: [] for way in ways}
    for question in questions * REPEATS:
        for way, ask in ways.items():
            start = time.perf_counter()
            ask(question)
            times[way].append((time.perf_counter() - start) * 1e3)
    remote.close()
    connection.close()
    found = {way: percentiles(values) for way, values in times.items()}
    each = {"memories each": sum(sizes) / len(sizes)}
    rows = [{"way": way, **values, **each} for way, values in found.items()]
    return rows, found["HTTP"]["p50"] - found["embedded"]["p50"]


def page(rows: list[dict[str, Any]], added: float, memories: int) -> Page:
    return Page(
        "server_http",
        claim(__doc__),
        "python -m bench.server_http",
        [Section("Recalls that are read, ms", rows, Plot("bars", "way", "p50", unit="p50 ms"))],
        [Bound("HTTP added, p50 ms", added, BOUND_MS)],
        [],
        ("starlette", "uvicorn"),
        {"memories": memories, "questions": QUESTIONS, "repeats": REPEATS, "tokens": TOKENS},
    )


if __name__ == "__main__":
    main()
