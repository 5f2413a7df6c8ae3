"""recollex top, for a running server."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import recollex
from recollex.cli import main
from recollex.remote.server.access import Access
from recollex.remote.server.telemetry import Telemetry
from tests.bindings.remote.http.http_service import HashedWords, Served, served
from tests.bindings.serving import serving

SECRET = "a secret that is long enough"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    tokens = tmp_path / "tokens.toml"
    tokens.write_text(f'[[token]]\nname = "ops"\nsecret = "{SECRET}"\nscope = "write"\n')
    tokens.chmod(0o600)
    with served(tmp_path / "store", access=Access.from_file(tokens)) as running:
        yield running


def test_top_shows_calls_and_stages(
    server: Served, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with server.http(headers={"Authorization": f"Bearer {SECRET}"}) as client:
        items = [{"content": "Bob likes tea."}]
        body = {"agent_id": "bob", "items": items}
        assert client.post("/api/memories/batch", json=body).status_code == 200
        question = {"agent_id": "bob", "query": "tea"}
        assert client.post("/api/search", json=question).status_code == 200
    file = tmp_path / "secret"
    file.write_text(SECRET + "\n")
    code = main(["top", server.url, "--once", "--every", "0.1", "--token-file", str(file)])
    out = capsys.readouterr().out
    assert code == 0
    rows = [line.split()[0] for line in out.splitlines() if line]
    assert {"recall", "retain_many", "embed", "total"} <= set(rows)
    assert "tea" not in out


def test_top_looks_through_a_socket_as_well(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    address = f"unix://{tmp_path}/socket"
    here = recollex.open(tmp_path / "store", embedder=HashedWords())
    with serving(here, address=address, observer=Telemetry()):
        with recollex.connect(address) as store:
            store.agent("bob").retain("Bob likes tea.")
        assert main(["top", address, "--once", "--every", "0.1"]) == 0
    assert any(line.startswith("retain ") for line in capsys.readouterr().out.splitlines())


def test_top_says_what_is_wrong(
    server: Served, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RECOLLEX_TOKEN", raising=False)
    for words, says in [
        ([server.url], "asks for a token: --token-file"),
        (["http://127.0.0.1:1"], "no server listens at http://127.0.0.1:1"),
        (["127.0.0.1:8080"], "begins with no known scheme"),
        (["unix:///nowhere/at.all"], "no server listens"),
        ([server.url, "--every", "0"], "[0.1, 3600]"),
    ]:
        assert main(["top", *words]) == 2
        assert says in capsys.readouterr().err
