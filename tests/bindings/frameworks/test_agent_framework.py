"""The adapters for Microsoft's Agent Framework against its `InMemoryHistoryProvider`."""

import asyncio

import pytest

import recollex
import recollex.aio
from tests.bindings.word_vectors import WordVectors

framework = pytest.importorskip("agent_framework", reason="agent-framework-core is not installed")
adapter = pytest.importorskip("recollex.frameworks.agent_framework", reason="as above")

Content, Message = framework.Content, framework.Message


def said():
    call = Content.from_function_call("c1", "look", arguments={"n": 1})
    return [
        Message("user", ["Is it raining?"], message_id="m1"),
        Message("assistant", ["Let me look.", call], author_name="helper"),
        Message("tool", [Content.from_function_result("c1", result="rain")]),
        Message("assistant", ["Yes."], additional_properties={"n": 1}),
    ]


def plain(messages):
    return [message.to_dict() for message in messages]


def test_a_history_holds_what_theirs_holds(tmp_path):
    async def run():
        async with recollex.aio.open(tmp_path / "s", embedder=WordVectors()) as store:
            agent = await store.agent("a")
            ours, theirs = (
                adapter.RecollexHistoryProvider(agent),
                framework.InMemoryHistoryProvider(),
            )
            state = {}
            for part in (said()[:2], said()[2:], []):
                await ours.save_messages("one", part)
                await theirs.save_messages("one", part, state=state)
                expected = plain(await theirs.get_messages("one", state=state))
                assert plain(await ours.get_messages("one")) == expected
            await ours.save_messages("one", said()[:1])  # with its id
            assert plain(await ours.get_messages("one")) == expected
            await ours.save_messages(None, said()[3:])
            assert plain(await ours.get_messages(None)) == expected[3:]
            newest = adapter.RecollexHistoryProvider(agent, newest=2)
            assert plain(await newest.get_messages("one")) == expected[2:]
            told = [(each.role, each.text) for each in await agent.list(document_id="one")]
            assert told[1:3] == [
                ("assistant", 'assistant: Let me look.\n[tool: look {"n":1}]'),
                ("tool", "tool: rain"),
            ]

    asyncio.run(run())


class Echo:
    """Stands in for a client of a model."""

    additional_properties = {}  # noqa: RUF012

    def __init__(self):
        self.heard = []

    async def get_response(self, messages, *, stream=False, **options):
        self.heard.append([message.text for message in messages])
        return framework.ChatResponse(messages=[Message("assistant", ["I see."])])


def test_a_run_recalls_and_retains(tmp_path):
    with recollex.open(tmp_path / "s", embedder=WordVectors()) as store:
        memory = store.agent("a")
        memory.retain("Ann has a red boat.", document_id="before")
        client = Echo()
        provider = adapter.RecollexContextProvider(memory)
        helper = framework.Agent(client=client, context_providers=[provider])

        async def run():
            session = helper.create_session(session_id="now")
            await helper.run("Who has a boat?", session=session)

        asyncio.run(run())
        assert any("Ann has a red boat." in text for text in client.heard[0])
        assert client.heard[0][-1] == "Who has a boat?"
        held = [(each.role, each.text) for each in memory.list(document_id="now")]
        assert held == [("user", "user: Who has a boat?"), ("assistant", "assistant: I see.")]


def test_what_is_added_names_the_sessions_that_it_comes_from(tmp_path):
    with recollex.open(tmp_path / "s", embedder=WordVectors()) as store:
        memory = store.agent("a")
        quiet = adapter.RecollexContextProvider(memory, retain=False)

        def context(*texts):
            messages = [Message("user", [text]) for text in texts]
            return framework.SessionContext(session_id="now", input_messages=messages)

        def before(asked):
            options = {"agent": None, "session": None, "context": asked, "state": {}}
            asyncio.run(quiet.before_run(**options))
            asyncio.run(quiet.after_run(**options))
            return asked.get_messages()

        assert before(context("Who has a boat?")) == [] and before(context(" ")) == []
        memory.retain("Ann has a red boat.", document_id="before")
        (added,) = before(context("Who has a boat?"))
        origin = added.additional_properties["_attribution"]["origin_session_ids"]
        assert origin == ["before"] and memory.count() == 1
