"""The adapter for the OpenAI Agents SDK against the SDK's own session in SQLite."""

import asyncio
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

import recollex
import recollex.aio
from recollex_engine.errors import InputError
from tests.bindings.word_vectors import WordVectors
from tests.imported_later import imported_later

agents = imported_later("agents", reason="openai-agents is not installed")
adapter = imported_later("recollex.frameworks.openai_agents", reason="as above")

ITEMS = [
        {"role": "user", "content": "I moved to Oslo."},
        {"role": "user", "content": [{"type": "input_text", "text": "Look!"}, {"type": "x"}]},
        {"role": "developer", "content": " "},
        {"role": "critic", "content": "No."},
        {"type": "message", "role": "assistant", "id": "m1", "status": "completed",
         "content": [{"type": "output_text", "text": "How is it?", "annotations": []}]},
        {"type": "function_call", "name": "look", "arguments": '{"n": 1}', "call_id": "c"},
        {"type": "function_call_output", "call_id": "c", "output": "rain"},
        {"type": "reasoning", "id": "r", "summary": []},
        {"type": "computer_call", "action": {"type": "click", "x": 1.5}},
        ]  # fmt: skip
SESSIONS = st.sampled_from(["one", "other"])


class Sessions(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.open()
        self.theirs = {name: agents.SQLiteSession(name) for name in ("one", "other")}

    def open(self):
        path = Path(self.folder.name) / "s"
        self.store = recollex.open(path, embedder=WordVectors(), durability="off")
        self.agent = self.store.agent("a")
        self.ours = {n: adapter.RecollexSession(n, self.agent) for n in ("one", "other")}

    def both(self, name, method, *args):
        ours, theirs = self.ours[name], self.theirs[name]

        async def run():
            return await getattr(ours, method)(*args), await getattr(theirs, method)(*args)

        one, other = asyncio.run(run())
        assert one == other

    @rule(name=SESSIONS, places=st.lists(st.integers(0, len(ITEMS) - 1), max_size=3))
    def add(self, name, places):
        self.both(name, "add_items", [ITEMS[place] for place in places])

    @rule(name=SESSIONS, limit=st.sampled_from([None, 0, 1, 2, 99, -1]))
    def get(self, name, limit):
        self.both(name, "get_items", limit)

    @rule(name=SESSIONS)
    def pop(self, name):
        self.both(name, "pop_item")

    @rule(name=SESSIONS)
    def clear(self, name):
        self.both(name, "clear_session")

    @rule()
    def reopen(self):
        self.store.close()
        self.open()

    def teardown(self):
        for name in self.ours:
            self.both(name, "get_items")
            self.theirs[name].close()
        self.store.close()
        self.folder.cleanup()


TestSessions = Sessions.TestCase
TestSessions.settings = settings(max_examples=15, stateful_step_count=12, deadline=None)


def test_an_agent_of_asyncio_serves_it_and_tasks_pop_each_item_once(tmp_path):
    async def run():
        async with recollex.aio.open(tmp_path / "s", embedder=WordVectors()) as store:
            session = adapter.RecollexSession("one", await store.agent("a"))
            items = [{"role": "user", "content": f"Message {n}."} for n in range(6)]
            await session.add_items(items)
            popped = await asyncio.gather(*(session.pop_item() for _ in range(4)))
            assert sorted(item["content"] for item in popped) == [
                f"Message {n}." for n in range(2, 6)
            ]
            assert await session.get_items() == items[:2]

    asyncio.run(run())


def test_what_was_said_is_recalled_with_its_role_and_source(tmp_path):
    with recollex.open(tmp_path / "s", embedder=WordVectors()) as store:
        agent = store.agent("a")
        session = adapter.RecollexSession("one", agent)
        call = {"type": "function_call", "name": "look", "arguments": "{}", "call_id": "c"}
        rain = {"type": "function_call_output", "call_id": "c", "output": "rain in Oslo"}
        asyncio.run(session.add_items([{"role": "user", "content": "And Oslo?"}, call, rain]))
        found = agent.recall("rain in Oslo")[0]
        assert (found.text, found.role, found.source) == ("tool: rain in Oslo", "tool", "tool")
        assert [memory.text for memory in agent.list(roles="assistant")] == [
            "assistant: [tool: look {}]"
        ]


def test_an_item_too_long_for_metadata_comes_back_whole(tmp_path):
    with recollex.open(tmp_path / "s", embedder=WordVectors()) as store:
        session = adapter.RecollexSession("one", store.agent("a"))
        long = {"type": "function_call_output", "call_id": "c", "output": "é" * 120_000}
        asyncio.run(session.add_items([{"role": "user", "content": "Look."}, long]))
        assert asyncio.run(session.get_items(1)) == [long]
        assert asyncio.run(session.pop_item()) == long


def test_the_limit_of_the_settings_holds_where_none_is_given(tmp_path):
    with recollex.open(tmp_path / "s", embedder=WordVectors()) as store:
        kept = agents.SessionSettings(limit=1)
        session = adapter.RecollexSession("one", store.agent("a"), session_settings=kept)
        items = [{"role": "user", "content": f"Message {n}."} for n in range(3)]
        asyncio.run(session.add_items(items))
        assert asyncio.run(session.get_items()) == items[2:]
        assert asyncio.run(session.get_items(2)) == items[1:]
        with pytest.raises(InputError, match="not JSON"):
            asyncio.run(session.add_items([{"role": "user", "content": object()}]))
        with pytest.raises(InputError, match="1,000,000 characters"):
            asyncio.run(session.add_items([{"role": "user", "content": "a" * 1_000_001}]))
        assert asyncio.run(session.get_items(9)) == items


def test_a_run_of_an_agent_keeps_its_turns(tmp_path):
    """The SDK's runner reads and writes the session around a model."""
    from agents.items import ModelResponse
    from agents.models.interface import Model
    from agents.usage import Usage
    from openai.types.responses import ResponseOutputMessage, ResponseOutputText

    class Echo(Model):
        async def get_response(self, system_instructions, input, *args, **options):
            heard = [item["content"] for item in input if item.get("role") == "user"]
            text = ResponseOutputText(type="output_text", text=f"I heard {heard}.", annotations=[])
            message = ResponseOutputMessage(
                id="m", type="message", role="assistant", status="completed", content=[text]
            )
            return ModelResponse(output=[message], usage=Usage(), response_id=None)

        async def stream_response(self, *args, **options):
            raise AssertionError("not streamed")
            yield

    async def run():
        async with recollex.aio.open(tmp_path / "s", embedder=WordVectors()) as store:
            session = adapter.RecollexSession("one", await store.agent("a"))
            echo = agents.Agent(name="echo", model=Echo())
            quiet = agents.RunConfig(tracing_disabled=True)
            for said in ("I drink tea.", "And milk."):
                done = await agents.Runner.run(echo, said, session=session, run_config=quiet)
            assert done.final_output == "I heard ['I drink tea.', 'And milk.']."
            assert len(await session.get_items()) == 4

    asyncio.run(run())
