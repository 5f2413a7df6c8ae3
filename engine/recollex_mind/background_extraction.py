"""Facts follow in the background, after each write of an agent of a store.

Whatever is complete is read at once; a talk that goes on is read when a chunk of it is full, and
what is left of it once it has rested (`chunks.REST`). Closing the store ends this after the chunk
that is being read: what is left follows when the agent is opened again.
"""

import threading
from weakref import WeakSet

from recollex_engine import fork
from recollex_engine.agents.agent import Agent
from recollex_engine.clock import SECOND
from recollex_engine.errors import ClosedError, LanguageModelError
from recollex_mind.chunks import REST
from recollex_mind.extraction import Wanted, extract
from recollex_mind.extraction_log import Mode

_WAIT = REST / SECOND + 1


class BackgroundExtraction:
    """Extracts the facts of a store's agents after they are written.

    Threads: any number may call `wake`.
    """

    def __init__(self, mode: Mode) -> None:
        self.mode = mode
        self._lock = fork.lock()
        self._running: dict[Agent, int] = {}  # agent -> the thread that reads for it, 0 before
        self._again: set[Agent] = set()
        self._timers: dict[Agent, threading.Timer] = {}
        self._tried: dict[str, set[str]] = {}
        self._opened: WeakSet[Agent] = WeakSet()

    def opened(self, agent: Agent) -> None:
        """Go on with what an earlier process has left, once for each agent."""
        if agent not in self._opened:
            self._opened.add(agent)
            if not agent.context.read_only and agent.files.are_there:
                self.wake(agent)

    def wake(self, agent: Agent) -> None:
        """Read what an agent has retained, in the background. Cost: 20 us."""
        work = agent.context.work
        with self._lock:
            if work.closing or self._running.get(agent) == threading.get_ident():
                return
            if agent in self._running:
                self._again.add(agent)
                return
            self._running[agent] = 0
        what = f"extracting the facts of {agent.name}"
        work.start(agent.name, what, lambda: self._run(agent))

    def _run(self, agent: Agent) -> None:
        work = agent.context.work
        tried = self._tried.setdefault(agent.name, set())
        wanted = Wanted(self.mode, unasked=True, tried=tried, stopping=lambda: work.closing)
        self._running[agent] = threading.get_ident()
        try:
            while not work.closing:
                extract(agent, wanted)
                with self._lock:
                    if agent not in self._again:
                        break
                    self._again.discard(agent)
        except ClosedError:
            return  # the agent was closed or deleted meanwhile
        except LanguageModelError as error:
            if error.reason != "cancelled":
                raise
        finally:
            with self._lock:
                self._again.discard(agent)
                del self._running[agent]
        self._wake_later(agent)

    def _wake_later(self, agent: Agent) -> None:
        """Read what has rested, after a while, if no write comes before."""
        with self._lock:
            if (timer := self._timers.pop(agent, None)) is not None:
                timer.cancel()
            if agent.context.work.closing:
                return
            timer = self._timers[agent] = threading.Timer(_WAIT, self.wake, (agent,))
            timer.daemon = True
            timer.start()

    def close(self) -> None:
        """Wake for no later time; what runs ends by itself, see `BackgroundWork.closing`."""
        with self._lock:
            for timer in self._timers.values():
                timer.cancel()
            self._timers.clear()
