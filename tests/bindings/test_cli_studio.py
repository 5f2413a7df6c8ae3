"""`recollex studio` as a process: it prints an address with a token, and reads beside a writer."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx

import recollex
from tests.bindings.command_line import Shell


def test_it_shows_a_store_that_another_process_writes(tmp_path: Path) -> None:
    vectors = recollex.GivenVectors(8)
    code = "import sys; from recollex.cli import main; sys.exit(main(sys.argv[1:]))"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    path = str(tmp_path / "memory")
    with recollex.open(path, embedder=vectors) as store:
        ann = store.agent("ann*")
        ann.retain("Tea.", embedding=[1.0] * 8)
        store.agent("anna").retain("Rum.", embedding=[1.0] * 8)
        words = [
            "studio",
            path,
            "--agent",
            "ann*",
            "--view",
            "log",
            "--no-browser",
            "--embedder",
            "given:8",
        ]
        with subprocess.Popen(
            [sys.executable, "-c", code, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        ) as running:
            try:
                assert running.stdout is not None
                said = running.stdout.readline()
                url = urlsplit(said.split(" is at ")[1].strip())
                given = parse_qs(url.fragment)
                assert (url.hostname, url.path) == ("127.0.0.1", "/studio")
                assert (given["agent"], given["view"]) == (["ann*"], ["log"])
                token = {"Authorization": f"Bearer {given['token'][0]}"}
                with httpx.Client(base_url=f"http://{url.netloc}", timeout=60) as http:
                    assert http.get("/studio").status_code == 200
                    assert http.get("/api/summaries").status_code == 401
                    http.headers.update(token)
                    agents = http.get("/api/summaries").json()["agents"]
                    assert [each["id"] for each in agents] == ["ann*"]
                    assert http.get("/api/agents/anna/memories").status_code == 403
                    ann.retain("Coffee.", embedding=[1.0] * 8)  # by this process, meanwhile
                    listed = http.get("/api/agents/ann*/memories").json()["memories"]
                    assert [each["text"] for each in listed] == ["Tea.", "Coffee."]
                    refused = http.post("/api/agents/ann*/forget", json={"tags": ["x"]})
                    assert refused.status_code == 403
            finally:
                running.send_signal(signal.SIGINT)
                assert running.wait(60) == 0


def test_it_says_what_is_wrong(shell: Shell) -> None:
    assert shell("studio", "nowhere", "--no-browser") == (
        1,
        "",
        "recollex: there is no store at nowhere: recollex retain makes one\n",
    )
    with recollex.open("memory", embedder=recollex.GivenVectors(8)) as store:
        store.agent("alice").retain("Tea.", embedding=[1.0] * 8)
    code, _, err = shell("studio", "memory", "--agent", "alcie", "--embedder", "given:8")
    assert code == 1 and "there is no agent 'alcie' in memory: did you mean alice?" in err
    for listen, message in (
        ("0.0.0.0:80", "--listen must be an address of this machine alone"),
        ("example.org:80", "recollex serve --http has /studio"),
        ("7078", "--listen must be HOST:PORT"),
    ):
        code, _, err = shell("studio", "memory", "--listen", listen)
        assert code == 2 and message in err
