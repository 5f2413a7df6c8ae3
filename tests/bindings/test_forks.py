"""A process that forks beside a server, or beside a client of asyncio."""

import asyncio
from pathlib import Path

import pytest

from recollex import aio
from recollex.remote.server.access import LOCAL
from recollex.remote.server.server import Server
from tests.bindings.serving import given, serving
from tests.forked import in_child

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")


def test_a_child_refuses_an_inherited_server_and_leaves_its_socket(tmp_path: Path) -> None:
    where = tmp_path / "socket"

    async def main() -> None:
        async with Server(given(tmp_path / "memory")) as server:
            await server.listen(f"unix://{where}")
            call = lambda: asyncio.run(server.service.call(LOCAL, "agents", None, {}))  # noqa: E731
            again = lambda: asyncio.run(server.listen(f"unix://{tmp_path}/other"))  # noqa: E731
            for work in (call, again):
                said = in_child(work)
                assert said.startswith("ClosedError") and "before this process was forked" in said
            assert in_child(lambda: asyncio.run(server.stop())) == "None"
            assert where.exists()
            async with aio.connect(f"unix://{where}") as store:
                assert await store.agents() == []

    asyncio.run(main())


def test_a_child_of_a_client_of_asyncio_connects_anew(tmp_path: Path) -> None:
    with serving(tmp_path / "memory") as server:

        async def main() -> None:
            async with aio.connect(server.addresses[0]) as store:
                await store.ping()
                assert in_child(lambda: asyncio.run(store.agents())) == "[]"
                assert await store.agents() == []

        asyncio.run(main())


def test_a_child_of_a_client_of_asyncio_may_close_its_store(tmp_path: Path) -> None:
    with serving(tmp_path / "memory") as server:

        async def main() -> None:
            async with aio.connect(server.addresses[0]) as store:
                await store.ping()
                assert in_child(lambda: asyncio.run(store.close())) == "None"
                assert await store.agents() == []

        asyncio.run(main())
