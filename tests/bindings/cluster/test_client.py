"""`connect("cluster://...")` against real nodes, of which one is killed."""

import asyncio
import signal
import time

import pytest

import recollex
from recollex.cluster import administration
from recollex.cluster.layout import create_cluster
from recollex_engine.errors import DisconnectedError, InputError, UnknownIdError
from tests.bindings.cluster.chaos import Nodes, said, vector

AGENTS = [f"user-{number}" for number in range(6)]


def ids(answers):
    return sorted(id for id, _, _ in answers)


@pytest.fixture(scope="module")
def nodes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cluster")
    url = f"file://{folder}/bucket"
    create_cluster(url, 4)
    with Nodes(url, folder, ["a", "b"]) as nodes:
        for name in nodes.names:
            nodes.start(name)
        nodes.wait()
        yield nodes


def test_a_node_is_killed_and_nothing_acknowledged_is_lost(nodes):
    with recollex.connect(nodes.address, patience=60) as store:
        agents = {name: store.agent(name) for name in AGENTS}
        for name, agent in agents.items():
            agent.retain_many(
                [f"note {n} of {name}" for n in range(5)],
                id=[f"m{n}" for n in range(5)],
                embedding=[vector(name, n) for n in range(5)],
            )
        assert store.agents() == AGENTS
        with pytest.raises(InputError, match="stats"):
            store.agents(counts=True)
        expected = {name: said(agent, name) for name, agent in agents.items()}

        joint = store.recall("note 1", agents=AGENTS, query_embedding=vector("x", 1), limit=8)
        assert len(joint) == 8
        assert {memory.agent for memory in joint} <= set(AGENTS)
        scores = [memory.score for memory in joint]
        assert scores == sorted(scores, reverse=True)
        assert joint.to_prompt()

        async def recalled():
            async with recollex.aio.connect(nodes.address) as store:
                agent = await store.agent(AGENTS[2])
                found, names = await asyncio.gather(agent.get("m1"), store.agents())
                return found.text, names

        assert asyncio.run(recalled()) == (f"note 1 of {AGENTS[2]}", AGENTS)
        nodes.signal("a", signal.SIGKILL)
        began = time.monotonic()
        for name, agent in agents.items():
            agent.retain("after the kill", id="late", embedding=vector(name, 9))
            assert agent.get("m4").text == f"note 4 of {name}"
        assert time.monotonic() - began < 40
        for agent in agents.values():
            agent.forget("late")  # a write that is not made twice
            with pytest.raises(UnknownIdError):
                agent.get("nothing")
        now = {name: said(agent, name) for name, agent in agents.items()}
        assert [ids(each) for each in now.values()] == [ids(each) for each in expected.values()]
        agents[AGENTS[0]].facts.add("Ann", "lives in", "Rome")
        assert agents[AGENTS[0]].facts.search("Ann", query_embedding=vector("x", 1))
        store.delete_agent(AGENTS[1])
        assert store.agents() == [AGENTS[0], *AGENTS[2:]]
    nodes.processes["b"].terminate()
    assert nodes.processes["b"].wait(40) == 0
    assert administration.verify(nodes.url).ok
    assert administration.live_nodes(nodes.url) == {}


def test_without_nodes_a_call_says_so_within_its_patience():
    began = time.monotonic()
    with pytest.raises(DisconnectedError):
        recollex.connect("cluster://127.0.0.1:1,127.0.0.1:2", patience=0.2)
    assert time.monotonic() - began < 5
    with pytest.raises(InputError):
        recollex.connect("cluster://")
