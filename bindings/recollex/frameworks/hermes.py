"""Hermes Agent: a `MemoryProvider` that recalls before each turn and retains it afterwards.

Needs ``pip install 'recollex[hermes]'``. A plugin of Hermes is a folder: ``__init__.py`` in
``$HERMES_HOME/plugins/recollex`` has the line ::

    from recollex.frameworks.hermes import RecollexMemoryProvider, register  # a MemoryProvider
"""

import json
from pathlib import Path
from typing import Any

import recollex
from recollex.frameworks import adapter_calls as tools
from recollex.frameworks.adapter_calls import SOURCES
from recollex_engine.domain.checks import mended
from recollex_engine.errors import InputError, RecollexError

try:
    from agent.memory_provider import MemoryProvider
except ImportError as error:
    raise ImportError(
        "recollex.frameworks.hermes needs hermes-agent: pip install 'recollex[hermes]'"
    ) from error

_TEXT = {"type": "string"}
_SCHEMAS = {
    "memory_retain": (tools.RETAIN, ("text",)),
    "memory_recall": (tools.RECALL, ("query",)),
    "memory_correct": (tools.CORRECT, ("id", "text", "why")),
    "memory_forget": (tools.FORGET, ("id", "why")),
}
"""Tool -> what it does, and the arguments that it needs."""


class RecollexMemoryProvider(MemoryProvider):
    """The memory of a Hermes agent, in ``recollex`` within its home, or in a given agent.

    agent: of `recollex.open` or `recollex.connect`; None for one in the home, with the name of the
    agent's identity. max_tokens: of what `prefetch` returns.

    Sessions of subagents, of cron and of a flush write nothing. What the built-in memory tool adds
    is retained too.

    >>> import recollex, tempfile
    >>> provider = RecollexMemoryProvider(recollex.open(tempfile.mkdtemp()).agent("ann"))
    >>> provider.initialize("talk-1")
    >>> provider.sync_turn("I moved to Oslo.", "How is it there?")
    >>> print(provider.prefetch("Where do I live?").splitlines()[0])
    [...] user: I moved to Oslo.
    """

    def __init__(self, agent: Any = None, *, max_tokens: int = 1000) -> None:
        self.agent: Any = agent
        self.max_tokens: int = max_tokens
        self._session = "session"
        self._writes = True
        self._store: Any = None

    @property
    def name(self) -> str:
        """The provider's name in Hermes' configuration."""
        return "recollex"

    def is_available(self) -> bool:
        """Return True: it needs no service and no key."""
        return True

    def initialize(self, session_id: str, **options: Any) -> None:
        """Open the memory for a session; options: hermes_home, agent_identity, agent_context."""
        self._session = session_id or self._session
        self._writes = options.get("agent_context", "primary") in ("primary", "", None)
        if self.agent is None:
            if not (home := options.get("hermes_home")):
                raise InputError("initialize needs hermes_home, or the provider an agent")
            self._store = recollex.open(Path(home) / "recollex")
            self.agent = self._store.agent(options.get("agent_identity") or "default")

    def system_prompt_block(self) -> str:
        """Say that there is a memory."""
        return "You have a long-term memory, recollex. Use its tools memory_* when they help."

    def prefetch(self, query: str, *, session_id: str = "") -> str:
        """Return what bears on a query, as lines; "" if nothing does. It takes about 2 ms."""
        if not query.strip():
            return ""
        return str(self.agent.recall(mended(query), max_tokens=self.max_tokens).to_prompt())

    def sync_turn(
        self,
        user_content: str,
        assistant_content: str,
        *,
        session_id: str = "",
        messages: Any = None,
    ) -> None:
        """Retain what the user and the agent said."""
        said = (("user", user_content), ("assistant", assistant_content))
        turns = [{"role": role, "content": text} for role, text in said if text and text.strip()]
        if self._writes and turns:
            document = session_id or self._session
            self.agent.retain_dialogue(turns, document_id=document, source=SOURCES)

    def get_tool_schemas(self) -> list[dict[str, Any]]:
        """Return the tools; sessions that write nothing have `memory_recall` alone."""
        return [
            {
                "name": name,
                "description": about,
                "parameters": {
                    "type": "object",
                    "properties": dict.fromkeys(needed, _TEXT),
                    "required": list(needed),
                },
            }
            for name, (about, needed) in _SCHEMAS.items()
            if self._writes or name == "memory_recall"
        ]

    def handle_tool_call(self, tool_name: str, args: dict[str, Any], **options: Any) -> str:
        """Call a tool; return its result, or its error, as JSON."""
        try:
            return json.dumps({"result": self._call(tool_name, args)}, ensure_ascii=False)
        except RecollexError as error:
            return json.dumps({"error": str(error)}, ensure_ascii=False)

    def on_session_switch(self, new_session_id: str, **options: Any) -> None:
        """Write to another session from now on."""
        self._session = new_session_id or self._session

    def on_memory_write(self, action: str, target: str, content: str, metadata: Any = None) -> None:
        """Retain what the built-in memory tool adds or puts in the place of something."""
        if self._writes and action in ("add", "replace") and content and content.strip():
            self.agent.retain(content, tags=[target], source="assistant")

    def shutdown(self) -> None:
        """Close the store that `initialize` opened."""
        if self._store is not None:
            self._store.close()
            self._store = self.agent = None

    def _call(self, name: str, args: dict[str, Any]) -> str:
        if name not in {schema["name"] for schema in self.get_tool_schemas()}:
            raise InputError(f"there is no tool {name!r}: {', '.join(_SCHEMAS)}")
        needed = _SCHEMAS[name][1]
        if missing := [each for each in needed if each not in args]:
            raise InputError(f"{name} needs {', '.join(missing)}")
        given = [args[each] for each in needed]
        if name == "memory_retain":
            return f"remembered as {self.agent.retain(*given, source='assistant')}"
        if name == "memory_recall":
            return tools.lines(self.agent.recall(*given, max_tokens=self.max_tokens))
        if name == "memory_correct":
            id, text, why = given
            self.agent.correct(id, text, why=why, by="hermes", source="assistant")
            return "corrected"
        self.agent.forget(given[0], why=given[1], by="hermes")
        return "forgotten"


def register(context: Any) -> None:
    """Register the provider with Hermes, which calls this for a plugin."""
    context.register_memory_provider(RecollexMemoryProvider())
