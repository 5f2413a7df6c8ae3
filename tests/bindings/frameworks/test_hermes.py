"""The provider for Hermes Agent, driven by Hermes' own manager and plugin loader."""

import json

import pytest

import recollex
from recollex_engine.errors import InputError
from tests.bindings.word_vectors import WordVectors

managers = pytest.importorskip("agent.memory_manager", reason="hermes-agent is not installed")
adapter = pytest.importorskip("recollex.frameworks.hermes", reason="hermes-agent is not installed")


@pytest.fixture
def alice(tmp_path):
    with recollex.open(tmp_path / "s", embedder=WordVectors()) as store:
        yield store.agent("alice")


def test_its_manager_recalls_before_a_turn_and_retains_after_it(alice):
    manager = managers.MemoryManager()
    manager.add_provider(adapter.RecollexMemoryProvider(alice))
    manager.initialize_all("talk-1", platform="cli")
    assert "memory_*" in manager.build_system_prompt()
    assert manager.prefetch_all("Where do I live?") == ""
    manager.sync_all("I moved to Oslo.", "How is it there?", session_id="talk-1")
    manager.shutdown_all()
    held = [(each.role, each.document_id, each.source) for each in alice.list()]
    assert held == [("user", "talk-1", "user"), ("assistant", "talk-1", "assistant")]
    told = adapter.RecollexMemoryProvider(alice).prefetch("Where did I move to?")
    assert told.splitlines()[0].endswith("user: I moved to Oslo.")


def call(provider, name, **args):
    return json.loads(provider.handle_tool_call(name, args))


def test_its_tools_keep_a_memory(alice):
    provider = adapter.RecollexMemoryProvider(alice)
    provider.initialize("talk-1")
    names = [schema["name"] for schema in provider.get_tool_schemas()]
    assert names == ["memory_retain", "memory_recall", "memory_correct", "memory_forget"]
    id = call(provider, "memory_retain", text="Ann rows.")["result"].split()[-1]
    assert call(provider, "memory_recall", query="Who rows?")["result"].startswith(f"[{id}]")
    assert call(provider, "memory_correct", id=id, text="Ann sails.", why="new")["result"]
    assert alice.get(id).text == "Ann sails."
    assert call(provider, "memory_forget", id=id, why="asked") == {"result": "forgotten"}
    assert "needs why" in call(provider, "memory_forget", id=id)["error"]
    assert id in call(provider, "memory_forget", id=id, why="again")["error"]
    assert "no tool 'x'" in call(provider, "x")["error"]


def test_a_subagent_writes_nothing(alice):
    provider = adapter.RecollexMemoryProvider(alice)
    provider.initialize("talk-1", agent_context="subagent")
    provider.sync_turn("I moved.", "Did you?")
    provider.on_memory_write("add", "user", "Ann rows.")
    assert alice.count() == 0
    assert [schema["name"] for schema in provider.get_tool_schemas()] == ["memory_recall"]
    assert "no tool" in call(provider, "memory_retain", text="Ann rows.")["error"]


def test_it_follows_a_switch_of_session_and_the_built_in_memory(alice):
    provider = adapter.RecollexMemoryProvider(alice)
    provider.initialize("talk-1")
    provider.on_session_switch("talk-2", reset=True)
    provider.sync_turn("I moved.", "")
    provider.on_memory_write("add", "user", "Ann rows.")
    provider.on_memory_write("remove", "user", "Ann rows.")
    assert [(each.document_id, each.tags) for each in alice.list()] == [
        ("talk-2", ()),
        (None, ("user",)),
    ]


def test_a_plugin_of_two_lines_opens_a_store_in_the_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    plugin = tmp_path / "plugins" / "recollex"
    plugin.mkdir(parents=True)
    line = "from recollex.frameworks.hermes import RecollexMemoryProvider, register"
    (plugin / "__init__.py").write_text(f"{line}  # a MemoryProvider\n")
    from plugins.memory import load_memory_provider

    provider = load_memory_provider("recollex")
    assert provider.name == "recollex" and provider.is_available()
    with pytest.raises(InputError, match="hermes_home"):
        provider.initialize("talk-1")
    provider.initialize("talk-1", hermes_home=str(tmp_path), agent_identity="coder")
    provider.on_memory_write("add", "user", "Ann rows.")
    provider.shutdown()
    with recollex.open(tmp_path / "recollex") as store:
        assert store.agents() == ["coder"]
