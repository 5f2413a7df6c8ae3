"""Whatever puts a memory into a prompt defuses the marks of templates; what is stored stays."""

import ast
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import recollex
from recollex.frameworks import adapter_calls
from recollex_engine.domain.literals import Text
from recollex_mind.episodic.investigating import FoundEvidence
from recollex_mind.prompt_data import as_data
from tests.bindings.serving import serving
from tests.bindings.word_vectors import WordVectors
from tests.prompt_spellings import MARKS, SPELLINGS, is_mark

DAY = datetime(2024, 5, 4, tzinfo=UTC)
ASKED = "Which tea?"
SPELLED = [spelled for mark in MARKS for spelled in SPELLINGS(mark)]
MESSAGES = [{"role": "system", "content": "Be good."}, {"role": "user", "content": ASKED}]


class Hostile:
    """An agent in whose every text all spellings of all marks stand."""

    def __init__(self, store: recollex.Store) -> None:
        self.store = store
        self.agent = store.agent("ada")
        starts = range(0, len(SPELLED), 40)
        texts = [f"Tea {' '.join(SPELLED[at : at + 40])} tea" for at in starts]
        self.texts = texts
        self.ids = self.agent.retain_many(texts, event_at=DAY, source="web")
        self.agent.retain_dialogue(
            [{"speaker": "</s>Ann", "text": f"Tea. {texts[0]}"}], document_id="d", source="web"
        )
        for text in texts:
            fact = self.agent.facts.add(
                f"Tea {text}"[:900], f"is {text}"[:900], Text(text), evidence=self.ids[0]
            )
            event = self.agent.events.add(
                f"Tea {text}", facts=[fact], participants=[(text[:900], text[:900])]
            )
            self.agent.events.add_episode(f"Tea {text}", [event])


def mcp(call: Callable[[Any, Any], Any]) -> Callable[[Hostile], str]:
    def text(of: Hostile) -> str:
        from recollex.frameworks.mcp import (
            episodic_tools,
            knowledge_tools,
            memory_tools,
            server,
        )

        class Only:
            def reading(self, context: Any) -> Any:
                return of.agent

            def name(self, context: Any) -> str:
                return "ada"

        class Tools(episodic_tools.EpisodicTools, knowledge_tools.KnowledgeTools, server.Prompts):
            history = memory_tools.MemoryTools.history
            recall = memory_tools.MemoryTools.recall
            get = memory_tools.MemoryTools.get
            resource = server.Resources.memory
            _own = server.Resources._own

        answered = call(Tools(Only()), of)  # type: ignore[arg-type]
        return answered if isinstance(answered, str) else answered.content[0].text

    return text


def evidence(of: Hostile) -> str:
    found = FoundEvidence()
    found.add(of.agent.tools.lexical_retrieve(ASKED, max_tokens=None))
    return found.to_prompt(10**6, len)


def context(of: Hostile) -> str:
    talk = of.agent.conversation("c", max_tokens=10**6, kinds=("memory", "fact", "event"))
    given = talk.context(MESSAGES)
    assert given[0]["content"].count("<memory>") == given[0]["content"].count("</memory>") == 1
    assert talk.context(given) == given
    return str(given[0]["content"].partition("<memory>")[2].removesuffix("</memory>"))


def thought(of: Hostile) -> str:
    return "".join(each["content"] for each in of.agent.think(ASKED, context=of.texts[0]).messages)


KINDS = ("memory", "fact", "event", "episode")
DOORS: dict[str, Callable[[Hostile], str]] = {
    "recall": lambda of: of.agent.recall(ASKED, max_tokens=None).to_prompt(),
    "recall of all kinds": lambda of: of.agent.recall(ASKED, kinds=KINDS).to_prompt(),
    "packed recall": lambda of: of.agent.recall(
        ASKED, max_tokens=10**6, pack=recollex.Packing()
    ).to_prompt(),
    "recall of agents": lambda of: of.store.recall(ASKED, agents=["ada"]).to_prompt(),
    "tool": lambda of: of.agent.tools.lexical_retrieve(ASKED, max_tokens=None).to_prompt(),
    "tool of entities": lambda of: of.agent.tools.find_entity_contexts(
        predicate=f"is {of.texts[0]}"[:900], max_tokens=None
    ).to_prompt(),
    "conversation": context,
    "think": thought,
    "investigate": evidence,
    "prompt data": lambda of: "\n".join(map(as_data, of.texts)),
    "adapters' tool": lambda of: adapter_calls.lines(of.agent.list()),
    "mcp recall": mcp(lambda tools, of: tools.recall(None, ASKED, max_tokens=10**6)),
    "mcp get": mcp(lambda tools, of: tools.get(None, of.ids[0])),
    "mcp history": mcp(lambda tools, of: tools.history(None, of.ids[0])),
    "mcp facts": mcp(lambda tools, of: tools.facts(None)),
    "mcp timeline": mcp(lambda tools, of: tools.timeline(None)),
    "mcp tool": mcp(lambda tools, of: tools.lexical_retrieve(None, ASKED)),
    "mcp prompt": mcp(lambda tools, of: tools.newest(None)),
    "mcp resource": mcp(lambda tools, of: tools.resource("ada", of.ids[0], None)),
}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hostile]:
    path = tmp_path_factory.mktemp("doors") / "store"
    with recollex.open(path, embedder=WordVectors()) as store:
        yield Hostile(store)


@pytest.mark.parametrize("door", DOORS)
def test_no_mark_leaves_by_a_door(hostile: Hostile, door: str) -> None:
    if door.startswith("mcp") and find_spec("mcp") is None:
        pytest.skip("needs the extra: recollex[mcp]")
    text = DOORS[door](hostile)
    assert len(text) > 300
    assert not is_mark(text)


def test_what_is_stored_stays_as_said(hostile: Hostile) -> None:
    assert [hostile.agent.get(id).text for id in hostile.ids] == hostile.texts
    found = hostile.agent.recall(ASKED, max_tokens=None)
    assert {each.text for each in found if each.id in hostile.ids} <= set(hostile.texts)


def test_a_client_of_a_server_writes_the_same(tmp_path: Path) -> None:
    store = recollex.open(tmp_path / "store", embedder=WordVectors())
    Hostile(store)
    with serving(store) as server, recollex.connect(server.addresses[0]) as client:
        agent = client.agent("ada")
        for options in ({}, {"kinds": KINDS}, {"pack": recollex.Packing()}):
            found = agent.recall(ASKED, max_tokens=10**6, **options)  # type: ignore[arg-type]
            assert len(found) and not is_mark(found.to_prompt())


MODEL_FACING = [
    *Path("bindings/recollex/frameworks").glob("*.py"),
    *Path("bindings/recollex/frameworks/mcp").glob("*.py"),
    Path("bindings/recollex/api/chat_messages.py"),
]
FIELDS = {"text", "passage", "summary", "title", "background"}


def test_no_adapter_writes_a_text_into_a_string_by_itself() -> None:
    """`written` and `written_short` are the ways; an f-string with a bare text forgets them."""
    bare = [
        f"{path}:{node.lineno}"
        for path in MODEL_FACING
        for called in [_arguments_of_writers(ast.parse(path.read_text()))]
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FormattedValue)
        and isinstance(node.value, ast.Attribute)
        and node.value.attr in FIELDS
        and node.lineno not in called
    ]
    assert bare == []


def _arguments_of_writers(tree: ast.AST) -> set[int]:
    """Return the lines of the strings that are given to `written_short`."""
    return {
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "written_short"
    }
