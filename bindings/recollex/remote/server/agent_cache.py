"""The open agents of a server: every one in use, and those used last."""

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

from recollex.api.agent import Agent
from recollex.api.store import Store
from recollex.remote.server.calls import Observer
from recollex_engine.agents.folder_names import kept_name


class AgentCache:
    """Opens the agents of a store on first use, and keeps at most ``most`` open.

    An agent in use is never closed, so more agents are open while more are in use. An agent whose
    conversations a write policy hears is closed only when twice as many are open: the turns that
    wait in its tiers are kept in memory only.

    Threads: any number. Opening one agent does not wait for opening another.
    """

    def __init__(self, store: Store, most: int, observer: Observer) -> None:
        self.store: Store = store
        self._most = most
        self._observer = observer
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._used: OrderedDict[str, int] = OrderedDict()  # least recently used first
        self._agents: dict[str, Agent] = {}
        self._busy: set[str] = set()  # being opened or closed
        self._deleting = 0  # threads that wait until an agent is not in use

    def __len__(self) -> int:
        return len(self._agents)

    @contextmanager
    def using(self, name: str) -> Iterator[Agent]:
        """Give the agent, open until the body ends. Raises as `Store.agent` does."""
        name = kept_name(self.store.path, name)
        agent = self._take(name)
        try:
            yield agent
        finally:
            self._release(name)
            if len(self._agents) > self._most:
                self._close_idle()

    def delete(self, name: str) -> None:
        """Delete the agent, once no call uses it. Raises as `Store.delete_agent` does."""
        name = kept_name(self.store.path, name)
        with self._changed:
            self._deleting += 1
            self._changed.wait_for(lambda: name not in self._busy and not self._used.get(name))
            self._deleting -= 1
            was_open = self._agents.pop(name, None) is not None
            self._used.pop(name, None)
            self._busy.add(name)
        try:
            self.store.delete_agent(name)
        finally:
            with self._changed:
                self._busy.discard(name)
                self._changed.notify_all()
            if was_open:
                self._observer.closed(name, len(self._agents))

    def _take(self, name: str) -> Agent:
        with self._changed:
            self._changed.wait_for(lambda: name not in self._busy)
            if name in self._agents and not self._agents[name].engine.is_closed:
                self._used[name] += 1
                self._used.move_to_end(name)
                return self._agents[name]
            self._busy.add(name)
        agent: Agent | None = None
        try:
            agent = self.store.agent(name)
        finally:
            with self._changed:
                self._busy.discard(name)
                if agent is not None:
                    self._agents[name] = agent
                    self._used[name] = 1
                self._changed.notify_all()
        self._observer.opened(name, len(self._agents))
        return agent

    def _release(self, name: str) -> None:
        """Record that one user of an agent has finished with it."""
        with self._lock:
            self._used[name] -= 1
            if self._deleting and not self._used[name]:
                self._changed.notify_all()

    def _close_idle(self) -> None:
        """Close unused agents, the least recently used first, while too many are open."""
        while (name := self._idle()) is not None:
            try:
                self.store.close_agent(name)
            except Exception as error:  # the next call opens it again, and gets the error
                self._observer.failed(None, error)
            finally:
                with self._changed:
                    self._busy.discard(name)
                    self._changed.notify_all()
            self._observer.closed(name, len(self._agents))

    def _idle(self) -> str | None:
        """Take out an agent that may be closed; None if there is none or few enough are open."""
        with self._changed:
            if len(self._agents) <= self._most:
                return None
            idle = [name for name, users in self._used.items() if users == 0]
            quiet = (name for name in idle if not self._agents[name].sessions.heard)
            name = next(quiet, None)
            if name is None and len(self._agents) > 2 * self._most:
                name = next(iter(idle), None)
            if name is not None:
                del self._used[name], self._agents[name]
                self._busy.add(name)
            return name
