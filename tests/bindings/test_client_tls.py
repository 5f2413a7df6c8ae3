import asyncio
import gc
import socket
import ssl
import threading
import time
import warnings
from pathlib import Path

import pytest

import recollex
import recollex.aio
from recollex.remote.client import async_connection
from recollex.remote.server.access import Access
from recollex.remote.wire import messages
from recollex.remote.wire.codec import encode
from recollex_engine import errors
from tests.bindings.serving import serving
from tests.bindings.word_vectors import WordVectors

SECRET = "a secret of sixteen characters and more"


@pytest.fixture
def access(tmp_path: Path) -> Access:
    path = tmp_path / "tokens.toml"
    path.write_text(
        f'[[token]]\nname = "one"\nsecret = "{SECRET}"\nagents = ["alice"]\nscope = "write"\n'
        f'[[token]]\nname = "two"\nsecret = "{SECRET[::-1]}"\nscope = "read"\n'
    )
    path.chmod(0o600)
    return Access.from_file(path)


def test_a_token_is_asked_for_and_bounds_what_may_be_done(tmp_path: Path, access: Access) -> None:
    store = recollex.open(tmp_path / "memory", embedder=WordVectors())
    with serving(store, address="tcp://127.0.0.1:0", access=access) as server:
        (address,) = server.addresses
        for wrong in (None, "nobody's secret, of some length"):
            with pytest.raises(errors.UnauthorizedError, match="token"):
                recollex.connect(address, token=wrong)
        with recollex.connect(address, token=SECRET) as client:
            client.agent("alice").retain("Ann likes tea.")
            with pytest.raises(errors.ForbiddenError, match="does not reach agent 'bob'"):
                client.agent("bob")
        with recollex.connect(address, token=SECRET[::-1]) as client:
            alice = client.agent("alice")
            assert alice.stats().memories == 1
            with pytest.raises(errors.ForbiddenError, match="may read, and not write"):
                alice.retain("Ann likes milk.")
            assert client.agents() == ["alice"]


def test_tls_is_spoken_with_whom_one_trusts(
    tmp_path: Path, access: Access, certificate: tuple[Path, Path]
) -> None:
    chain, key = certificate

    async def awaited(address: str) -> int:
        async with recollex.aio.connect(address, token=SECRET, certificates=chain) as client:
            return (await (await client.agent("alice")).stats()).memories

    store = recollex.open(tmp_path / "memory", embedder=WordVectors())
    with serving(
        store,
        address="tls://localhost:0",
        certificate=str(chain),
        key=str(key),
        access=access,
    ) as server:
        address = "tls://localhost:" + server.addresses[0].rpartition(":")[2]
        with pytest.raises(errors.DisconnectedError, match="is not trusted"):
            recollex.connect(address, token=SECRET)
        with recollex.connect(address, token=SECRET, certificates=chain) as client:
            alice = client.agent("alice")
            ids = alice.retain_many(["Ann likes tea."] * 500)
            assert [memory.id for memory in alice.list(limit=1000)] == ids
            alice.forget(ids[0])  # looks whether the connection is there before it is sent
        assert asyncio.run(awaited(address)) == 499
        with pytest.raises(errors.DisconnectedError):
            recollex.connect(address.replace("tls", "tcp"), token=SECRET, timeout=2)


def test_a_client_that_awaits_has_said_goodbye_when_it_is_closed(
    tmp_path: Path, certificate: tuple[Path, Path], caplog: pytest.LogCaptureFixture
) -> None:
    chain, key = certificate

    async def awaited(address: str) -> None:
        async with recollex.aio.connect(address, certificates=chain) as client:
            await client.ping()

    store = recollex.open(tmp_path / "memory", embedder=WordVectors())
    with serving(
        store, address="tls://localhost:0", certificate=str(chain), key=str(key)
    ) as server:
        address = "tls://localhost:" + server.addresses[0].rpartition(":")[2]
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            for _ in range(20):
                asyncio.run(awaited(address))
            gc.collect()
    assert not warned
    assert not [record for record in caplog.records if record.name == "asyncio"]


def test_a_server_that_says_no_goodbye_is_not_waited_for(
    certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    chain, key = certificate
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(chain, key)
    monkeypatch.setattr(async_connection, "GOODBYE", 0.1)
    left = threading.Event()

    def serve(listening: socket.socket) -> None:
        with listening.accept()[0] as plain, context.wrap_socket(plain, server_side=True) as made:
            made.recv(1 << 16)
            made.sendall(messages.response(0, encode({"protocol": 1, "instance": "one"})))
            left.wait(10)

    async def awaited(address: str) -> None:
        store = await recollex.aio.connect(address, certificates=chain)
        await store.close()

    with socket.create_server(("localhost", 0)) as listening:
        thread = threading.Thread(target=serve, args=[listening])
        thread.start()
        try:
            began = time.monotonic()
            asyncio.run(awaited(f"tls://localhost:{listening.getsockname()[1]}"))
            assert 0.1 <= time.monotonic() - began < 5
        finally:
            left.set()
            thread.join()


def test_certificates_that_cannot_be_read_are_said_to_be(tmp_path: Path) -> None:
    with pytest.raises((errors.InputError, errors.DisconnectedError)):
        recollex.connect("tls://localhost:1", certificates=tmp_path / "none.pem")
