"""A client with a token is served beside 500 slow or broken ones, at most three times slower."""

import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import numpy as np
import pytest

from tests.bindings.remote.http.test_http_limits import TOKENS, WRITER, bearer

FILES = 512
"""Files that the server may open: fewer than there are clients."""
CALLS = 1_000
TRIES = 3
"""Turns of both measurements: other work on the machine can spoil one."""


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    tokens = folder / "tokens.toml"
    tokens.write_text(TOKENS)
    tokens.chmod(0o600)
    command = [
        *(sys.executable, "-c", "from recollex.cli import main; raise SystemExit(main())"),
        *("serve", "--store", str(folder / "store"), "--http", "127.0.0.1:0"),
        *("--tokens", str(tokens), "--embedder", "given:8", "--workers", "0"),
    ]
    limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES))  # noqa: E731
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=limit) as server:
        assert server.stdout is not None
        try:
            yield next(line.split()[-1] for line in server.stdout if "http://" in line)
        finally:
            server.terminate()


@contextmanager
def slow_clients(url: str, count: int) -> Iterator[None]:
    command = [sys.executable, "-m", "tests.bindings.remote.http.slow_clients", url.split(":")[-1]]
    with subprocess.Popen([*command, str(count)], stdout=subprocess.PIPE, text=True) as clients:
        assert clients.stdout is not None
        try:
            assert clients.stdout.readline() == "connected\n"
            yield
        finally:
            clients.kill()


def p99(client: httpx.Client) -> float:
    """Return the seconds in which 99 % of calls are answered; each of them is."""
    took = []
    for _ in range(CALLS):
        began = time.perf_counter()
        assert client.get("/api/agents/a/memories").status_code == 200
        took.append(time.perf_counter() - began)
    return float(np.percentile(took, 99))


@pytest.mark.slow
@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="the clients need a core of their own")
def test_a_client_with_a_token_is_served_beside_500_slow_ones(tmp_path: Path) -> None:
    with serving(tmp_path) as url, httpx.Client(base_url=url, headers=bearer(WRITER)) as client:
        body = {"text": "Bob likes tea.", "embedding": [1.0] * 8}
        assert client.post("/api/agents/a/memories", json=body).status_code == 200
        p99(client)
        ratios = []
        for _ in range(TRIES):
            alone = p99(client)
            with slow_clients(url, 500):
                ratios.append(p99(client) / alone)
                with httpx.Client(base_url=url, headers=bearer(WRITER)) as new:
                    assert new.get("/api/agents").status_code == 200
            if ratios[-1] <= 3:
                return
        raise AssertionError(f"p99 beside slow clients, in terms of that alone: {ratios}")
