import asyncio
import socket

import pytest

from recollex.cluster.layout import ShardOwner, bucket, create_cluster
from recollex.cluster.membership import Heartbeats, Listed, owners, read_nodes


def node(name, address):
    return ShardOwner(name, address, f"start of {name}")


def nodes(count):
    return {f"n{number}": f"tcp://10.0.0.{number}:7077" for number in range(count)}


@pytest.mark.parametrize("count", [1, 2, 3, 10])
def test_a_new_node_moves_its_own_share_alone(count):
    shards = 4_096
    before, after = owners(nodes(count), shards), owners(nodes(count + 1), shards)
    moved = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    assert {new for _, new in moved} == {f"n{count}"}
    assert len(moved) == pytest.approx(shards / (count + 1), rel=0.15)


def test_without_a_node_no_shard_has_an_owner():
    assert owners({}, 3) == [None, None, None]


@pytest.fixture
def listening():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"tcp://127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture
def url(tmp_path):
    url = f"file://{tmp_path}/bucket"
    create_cluster(url, 4)
    return url


def test_nodes_see_each_other_until_one_leaves(url, listening):
    async def run():
        a = Heartbeats(url, node("a", listening))
        b = Heartbeats(url, node("b", listening))
        assert await a.live() == {"a": listening}
        assert await b.live() == {"a": listening, "b": listening}
        assert await a.live() == {"a": listening, "b": listening}
        await b.leave()
        assert await b.live() == {"b": listening}  # a late beat writes nothing
        assert await a.live() == {"a": listening}

    asyncio.run(run())


def test_a_node_is_dead_once_its_beat_is_old_or_nothing_listens(url, listening):
    async def run():
        a = Heartbeats(url, node("a", listening), dead=0.3)
        b = Heartbeats(url, node("b", listening), dead=0.3)
        await b.live()
        assert set(await a.live()) == {"a", "b"}
        await asyncio.sleep(0.35)
        assert set(await a.live()) == {"a"}
        await b.live()
        assert set(await a.live()) == {"a", "b"}
        gone = Heartbeats(url, node("c", "tcp://127.0.0.1:1"))
        await gone.live()
        assert set(await a.live()) == {"a", "b"}

    asyncio.run(run())


def test_a_heartbeat_that_is_being_written_is_no_node(url, listening):
    target = bucket(url)
    target.put("nodes/.a.x.tmp", lambda: b'{"name":"a","address":"tcp://10.0.0.1:1"}')
    target.put("nodes/half", lambda: b'{"name":"ha')
    target.flush()
    assert read_nodes(target) == {}


def test_of_a_list_those_live_that_listen(listening):
    listed = Listed("b", {"a": listening, "b": "tcp://127.0.0.1:1", "c": "tcp://127.0.0.1:1"})
    assert set(asyncio.run(listed.live())) == {"a", "b"}
