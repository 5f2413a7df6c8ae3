"""Paths of the server's disk stay there: no error, answer or header holds one."""

import inspect
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

import recollex
from recollex.frameworks.mcp.answers import said
from recollex.remote.http.problems import problem
from recollex.remote.wire.error_codec import ERRORS, encode_error
from recollex_engine import errors
from recollex_engine.domain.operations import UpsertEntity
from recollex_engine.errors import without_paths
from recollex_engine.trace import Trace
from tests.bindings.remote.http.http_service import HashedWords, Served, served
from tests.bindings.serving import serving

FOLDERS = ("plain", "two words/and (three)", "it's: odd")


def made(kind: type[errors.RecollexError], path: Path) -> errors.RecollexError:
    """Return an error of a class that holds a path wherever its class lets it."""
    if issubclass(kind, OSError) and not issubclass(kind, errors.ServiceError):
        return kind(13, f"cannot open {path}", str(path), None, path)
    values: dict[str, Any] = {
        "path": path,
        "retry_after": 1.0,
        "begun": True,
        "what": f"{path} is damaged",
        "cause": errors.CorruptError(path, "JSON", repr(path)),
    }
    own = inspect.signature(kind.__init__).parameters
    if "args" in own:
        return kind(f"{path} is damaged, see file://{path} and ({path})")
    names = [name for name in own if name != "self"]
    return kind(*(values.get(name, f"{path} as {name}") for name in names))


QUOTES = (errors.UnknownIdError, errors.MergeCycleError, errors.ForbiddenError)


@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.parametrize("kind", [kind for kind in ERRORS.values() if kind not in QUOTES])
def test_no_error_is_sent_with_a_path(
    tmp_path: Path, kind: type[errors.RecollexError], folder: str
) -> None:
    store = tmp_path / folder
    path = store / "agents" / "ann" / "log" / "1"
    error = made(kind, path)
    error.__cause__ = made(errors.CorruptError, path)
    for sent in (json.dumps(encode_error(error)), problem(error)[2].decode(), said(error)):
        assert str(tmp_path) not in sent
        assert "/ann/log/1" in sent or str(path) not in str(error)
    trace = Trace()
    trace.failed("embed", error)
    if folder == FOLDERS[0]:
        assert str(tmp_path) not in trace.errors["embed"]


@pytest.mark.parametrize(
    "text",
    [
        "there is no /openapi",
        "https://example.org/usr/v1",
        "a/usr/b",
        "1/2 or and/or",
        "~/usr",
        "/",
    ],
)
def test_what_is_no_path_stays(text: str) -> None:
    assert without_paths(text) == text


def test_the_words_of_a_caller_stay() -> None:
    error = errors.UnknownIdError("/usr/share/notes.md", "/usr")
    assert encode_error(error)[1:] == [str(error), vars(error)]


Damage = Callable[[Path], None]


def a_byte_of_the_log(agent: Path) -> None:
    file = max((agent / "log").iterdir())
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


def the_log(agent: Path) -> None:
    for file in (agent / "log").iterdir():
        file.unlink()


def the_head(agent: Path) -> None:
    (agent / "HEAD").write_bytes(b"{}")


def the_vectors(agent: Path) -> None:
    (agent / "vectors.f16").write_bytes(b"no vectors")


def the_kind_of_a_file(agent: Path) -> None:
    (agent / "vectors.f16").unlink()
    (agent / "vectors.f16").mkdir()


def the_key(agent: Path) -> None:
    (agent / "KEY").write_bytes(b"{}")


DAMAGES = (a_byte_of_the_log, the_log, the_head, the_vectors, the_kind_of_a_file, the_key)


@contextmanager
def locked(store: Path) -> Iterator[None]:
    with recollex.open(store, embedder=HashedWords()) as other:
        other.agent("ann").retain("Ann holds the lock.")
        yield


CALLS = (
    ("GET", "memories", None),
    ("POST", "memories", {"text": "Ann likes ale."}),
    ("POST", "search", {"query": "Ale?"}),
    ("GET", "health", None),
    ("POST", "erase", {"everything": True}),
    ("POST", "expire", None),
)


def asked_of_all(server: Served, store: Path) -> list[httpx.Response]:
    """Call what reads and writes, over HTTP and its RPC; no answer may name the store's folder."""
    with server.http() as http:
        answers = [
            http.request(verb, f"/api/agents/ann/{path}", json=body) for verb, path, body in CALLS
        ]
    for answer in answers:
        told = answer.text + str(answer.headers)
        assert str(store.parent) not in told and not re.search(r"[\"' (]/(home|tmp|usr)/", told)
    with recollex.connect(server.url) as client:
        ask(client, store)
    return answers


def ask(client: Any, store: Path) -> None:
    for call in (
        lambda: client.agent("ann").list(),
        lambda: client.agent("ann").verify(),
        lambda: client.agent("ann").recall(
            "Ale?", query_embedding=HashedWords().embed_query("ale")
        ),
        lambda: client.agent("ann").retain(
            "Ann likes ale.", embedding=HashedWords().embed_query("ale")
        ),
        lambda: client.agent("ann").apply([UpsertEntity("Ann", "person")]),
    ):
        try:
            told = str(call())
        except errors.RecollexError as error:
            told = f"{error} {vars(error)} {error.__cause__} {getattr(error, 'filename', None)}"
        assert str(store.parent) not in told, told


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_no_damage_tells_the_folder_of_the_store(tmp_path: Path, damage: Damage) -> None:
    store = tmp_path / "store"
    with recollex.open(store, embedder=HashedWords()) as opened:
        opened.agent("ann").retain("Ann likes tea.")
    damage(store / "agents" / "ann")
    with served(store) as server:
        assert any(answer.status_code >= 400 for answer in asked_of_all(server, store))


def test_a_problem_that_verify_finds_does_not_tell_it(tmp_path: Path) -> None:
    store = tmp_path / "store"
    with recollex.open(store, embedder=HashedWords()) as opened:
        ann = opened.agent("ann")
        ann.retain("Ann likes tea.")
        ann.checkpoint()
        for file in (store / "agents" / "ann" / "log").iterdir():
            file.write_bytes(b"[" + file.read_bytes()[1:])
        problems = ann.verify().problems
    assert any("agents/ann/log/" in each for each in problems)
    assert str(tmp_path) not in str(problems)


def test_a_lock_does_not_tell_it_either(tmp_path: Path) -> None:
    store = tmp_path / "store"
    with locked(store), served(store) as server:
        answers = asked_of_all(server, store)
    assert [answer.status_code for answer in answers[:2]] == [423, 423]
    assert "agents/ann/LOCK is open for writing" in answers[1].json()["detail"]


def test_a_socket_does_not_tell_it(tmp_path: Path) -> None:
    store = tmp_path / "store"
    with recollex.open(store, embedder=HashedWords()) as opened:
        opened.agent("ann").retain("Ann likes tea.")
    a_byte_of_the_log(store / "agents" / "ann")
    opened = recollex.open(store, embedder=HashedWords())
    with (
        serving(opened, address="tcp://127.0.0.1:0") as server,
        recollex.connect(server.addresses[0]) as client,
    ):
        ask(client, store)
