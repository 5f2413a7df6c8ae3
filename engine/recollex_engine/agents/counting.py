"""Which counter counts an agent's tokens? The one that its settings name, where it can be had."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from recollex_engine.domain.prompt_lines import LineCosts
from recollex_engine.models.embedder import is_of_bytes
from recollex_engine.text.token_counter import ENCODING, TokenCounter, open_counter
from recollex_engine.writing.store_context import StoreContext


class Counting:
    """The token counters of an agent by their names. Threads: may be shared."""

    def __init__(self, context: StoreContext) -> None:
        self._context = context
        self._counters: dict[str, TokenCounter] = {}
        self._costs: dict[str, LineCosts] = {}

    def counter(self, name: str | None) -> TokenCounter:
        """Return the counter of that name; None for the one of a new agent.

        Warns if the vocabulary of `ENCODING` is not on disk, so that the model's own counts.
        """
        wanted = ENCODING if name is None else name
        counter = self._counters.get(wanted)
        if counter is None:
            embedder = self._context.embedder
            counter = open_counter(
                lambda text: embedder().count_tokens(text), wanted, lambda: is_of_bytes(embedder())
            )
            if counter.name != wanted:
                warn()
            self._counters[wanted] = counter
        return counter

    def costs(self, name: str) -> LineCosts:
        """Return the tokens of a prompt's lines by the counter of that name."""
        if name not in self._costs:
            self._costs[name] = LineCosts(partial(self.counter, name), name)
        return self._costs[name]


_WARNING = "tokens are counted by the model's own tokenizer"


def warn() -> None:
    """Warn that the model's own tokenizer counts; Python shows a warning once a process."""
    warnings.warn(
        f"{_WARNING}: the vocabulary of {ENCODING} is not on "
        "disk. `recollex warmup` fetches it where there is a network; TIKTOKEN_CACHE_DIR may name "
        "a folder that holds it. `stats` says which counter an agent has",
        stacklevel=2,
    )


@contextmanager
def unwarned() -> Iterator[None]:
    """Do not warn in the body, whose store is thrown away."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", _WARNING)
        yield
