"""Half an emoji in one of many messages does not stop the others, by any door that takes a talk."""

import asyncio
import io
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recollex
import recollex.aio
from recollex.errors import InputError
from recollex.frameworks.adapter_calls import kept_message, kept_turn
from tests.bindings.serving import serving
from tests.bindings.word_vectors import WordVectors

HALF = "Result: done \ud83d"
MENDED = "Result: done ?"
BAD: dict[str, dict[str, Any]] = {
    "content": {"role": "tool", "content": HALF, "tool_call_id": HALF},
    "part": {"role": "user", "content": [{"type": "text", "text": HALF}]},
    "result": {"role": "user", "content": [{"type": "tool_result", "content": HALF}]},
    "name": {"role": "user", "name": HALF, "content": HALF},
    "arguments": {
        "role": "assistant",
        "content": HALF,
        "tool_calls": [{"function": {"name": HALF, "arguments": HALF}}],
    },
    "input": {
        "role": "assistant",
        "content": [
            {"type": "text", "text": HALF},
            {"type": "tool_use", "name": "look", "input": {HALF: [HALF]}},
        ],
    },
}


def talk_with(bad: dict[str, Any]) -> list[dict[str, Any]]:
    talk = [{"role": "user", "content": f"Question {number}?"} for number in range(20)]
    return [*talk[:10], bad, *talk[11:]]


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[recollex.Agent]:
    with recollex.open(tmp_path / "store", embedder=WordVectors()) as store:
        yield store.agent("ada")


def check(agent: Any) -> None:
    texts = [each.text for each in agent.list()]
    assert len(texts) == 20 and sum(text.endswith("?") for text in texts) >= 19
    assert sum(MENDED in text for text in texts) == 1


@pytest.mark.parametrize("kind", BAD)
def test_a_dialogue_keeps_the_others_and_says_so(
    agent: recollex.Agent, caplog: pytest.LogCaptureFixture, kind: str
) -> None:
    with caplog.at_level(logging.WARNING, "recollex"):
        agent.retain_dialogue(talk_with(BAD[kind]), document_id="d")
    check(agent)
    (said,) = [each.getMessage() for each in caplog.records if each.name == "recollex"]
    assert said.startswith("1 of 20 turns of 'd'") and said.endswith("turns[10]")


@pytest.mark.parametrize("kind", BAD)
def test_a_loop_goes_on_and_counts(agent: recollex.Agent, kind: str) -> None:
    talk = talk_with(BAD[kind])
    with agent.conversation("d") as chat:
        json.dumps(chat.context(talk), ensure_ascii=False).encode()
        assert chat.mended == 1
        chat.retain(talk)
        assert chat.retain({"role": "user", "content": f"More {HALF}"}) and chat.mended == 2
        assert chat.context(talk[:3]) and chat.mended == 0
    before = agent.head()
    with agent.conversation("d") as chat:  # the same messages, in another process
        chat.context(talk)
    assert agent.head() == before
    agent.forget(agent.list()[-1].id)
    check(agent)


def test_a_question_with_half_a_pair_is_asked(agent: recollex.Agent) -> None:
    agent.retain("The tea is done.")
    chat = agent.conversation("d")
    chat.context([{"role": "user", "content": f"Tea {HALF}"}])
    assert chat.recalled is not None and chat.recalled.query == f"Tea {MENDED}"
    chat.context([{"role": "user", "content": "Tea?"}], query=f"Tea {HALF}")
    assert chat.recalled.query == f"Tea {MENDED}"


def test_metadata_and_captions_of_turns_are_mended_and_ids_refused(agent: recollex.Agent) -> None:
    turn = {"speaker": HALF, "text": "Look!", "caption": HALF, "metadata": {HALF: {"a": [HALF]}}}
    (id,) = agent.retain_dialogue([turn], document_id="d")
    memory = agent.get(id)
    assert memory.text == f"{MENDED}: Look! [picture: {MENDED}]"
    assert memory.metadata == {MENDED: {"a": [MENDED]}}
    with pytest.raises(InputError, match=r"turns\[0\]\['id'\] has a lone surrogate"):
        agent.retain_dialogue([turn | {"id": HALF}], document_id="d")


def test_clients_and_asyncio_mend_too(tmp_path: Path) -> None:
    served = recollex.open(tmp_path / "served", embedder=WordVectors())
    with serving(served) as server, recollex.connect(server.addresses[0]) as store:
        agent = store.agent("ada")
        agent.retain_dialogue(talk_with(BAD["content"]), document_id="d")
        check(agent)
        with agent.conversation("e") as chat:
            chat.context(talk_with(BAD["arguments"]))

    async def talk() -> int:
        async with recollex.aio.open(tmp_path / "own", embedder=WordVectors()) as store:
            ada = await store.agent("ada")
            async with ada.conversation("d") as chat:
                await chat.context(talk_with(BAD["name"]))
            return len(await ada.list())

    assert asyncio.run(talk()) == 20


def test_a_frameworks_message_is_kept_mended(agent: recollex.Agent) -> None:
    turn = kept_turn({"content": HALF}, "user", HALF)
    (id,) = agent.retain_dialogue([turn], document_id="d")
    assert kept_message(agent.get(id)) == {"content": MENDED}


@pytest.mark.parametrize(
    "line",
    [
        {"text": HALF},
        {"text": MENDED, "tags": [HALF]},
        {"text": MENDED, "metadata": {HALF: HALF}},
        {"text": MENDED, "context": HALF},
    ],
)
def test_a_line_of_a_file_is_mended_and_counted(
    agent: recollex.Agent, line: dict[str, Any]
) -> None:
    lines = [{"text": "One?"}, line, {"text": "Two?"}]
    file = io.StringIO("\n".join(json.dumps(each) for each in lines))
    done = recollex.ingest(agent, file)
    assert done.stored == 3 and done.left_out == {"line with broken characters": 1}
    assert MENDED in [each.text for each in agent.list()]


def test_what_a_program_writes_by_itself_is_refused(agent: recollex.Agent) -> None:
    for call in (
        lambda: agent.retain(HALF),
        lambda: agent.retain_many(["Tea.", HALF]),
        lambda: agent.retain("Tea.", tags=[HALF]),
        lambda: agent.recall(HALF),
        lambda: agent.facts.add(HALF, "likes", "tea"),
        lambda: agent.retain_dialogue([], document_id=HALF),
    ):
        with pytest.raises(InputError, match="surrogate"):
            call()
    assert agent.head().op == 0
