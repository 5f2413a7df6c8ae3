"""A process that follows an agent which another process writes; run by test_reader_process."""

import json
import sys
import time
from datetime import datetime
from pathlib import Path

import recollex
from recollex_engine.models.embedder import GivenVectors
from recollex_engine.state import read_replica as reader


def main(folder: str, queries: str, reopen_rows: str) -> None:
    """Poll the view and report each change; recall where asked for.

    A change is (op, when it was seen, when the last look began that did not see it).
    """
    reader.REOPEN_ROWS = int(reopen_rows)
    store = recollex.open(folder, read_only=True, embedder=GivenVectors(16))
    agent = store.agent("a")
    asked = json.loads(Path(queries).read_text())
    agent.recall("warm", query_embedding=asked[0][1])
    print("ready", flush=True)
    seen = []
    command = sys.stdin
    for line in command:
        word, *rest = line.split()
        if word == "poll":  # until the operation is seen; meanwhile note when each one was
            until, at, looked = int(rest[0]), 0, 0
            while at < until:
                missed, looked = looked, time.monotonic_ns()
                view = agent.engine.view()
                if view is not None and view.op > at:
                    at = view.op
                    seen.append((at, time.monotonic_ns(), missed))
            print(json.dumps(seen), flush=True)
            seen = []
        elif word == "recall":  # now, or as of a recorded time
            then = agent.at(datetime.fromisoformat(rest[0])) if rest else agent
            recalls = [then.recall(text, query_embedding=vector) for text, vector in asked]
            print(
                json.dumps([[r.op, r.tokens, r.to_dict()["memories"]] for r in recalls]), flush=True
            )
        elif word == "quit":
            break
    store.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
