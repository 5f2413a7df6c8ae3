"""What was asked of a language model, by operation: requests, tokens, seconds and cost."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from recollex_engine import fork
from recollex_mind.llm.exchange import Reply

Price = tuple[float, float]
"""Dollars for a million tokens of prompts, and of answers."""


@dataclass(frozen=True, slots=True)
class Usage:
    """The sum of one operation, such as "think" (the rows of TEMPR's Table 3).

    calls: answers that were asked for. requests: those sent, retries and repairs among them; an
    answer from the cache or a recording sends none. retries: requests repeated because the endpoint
    failed; repairs: because an answer did not fit its schema. failures: calls that got no answer.
    seconds: from the call to its end, the waiting included. cost: dollars; None without a price.
    estimated: whether some tokens were not counted by the endpoint.
    """

    calls: int = 0
    requests: int = 0
    retries: int = 0
    repairs: int = 0
    cached: int = 0
    failures: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0
    cached_tokens: int = 0
    seconds: float = 0.0
    cost: float | None = None
    estimated: bool = False


class Meter:
    """Counts what each operation uses. Threads: any number."""

    def __init__(self, price: Price | None) -> None:
        self._price = price
        self._lock = fork.lock()
        self._by_operation: dict[str, Usage] = {}

    def add(self, operation: str, **counts: float) -> None:
        """Add to the counts of an operation."""
        with self._lock:
            used = self._by_operation.get(operation) or Usage(
                cost=None if self._price is None else 0.0
            )
            sums = {name: getattr(used, name) + more for name, more in counts.items()}
            self._by_operation[operation] = replace(used, **sums)

    def add_reply(self, operation: str, reply: Reply) -> None:
        """Add the tokens of an answer that was sent, and their cost."""
        counts: dict[str, float] = {
            "prompt_tokens": reply.prompt_tokens,
            "answer_tokens": reply.answer_tokens,
            "cached_tokens": reply.cached_tokens,
        }
        if self._price is not None:
            asked, answered = self._price
            counts["cost"] = (reply.prompt_tokens * asked + reply.answer_tokens * answered) / 1e6
        self.add(operation, **counts)
        if reply.estimated:
            with self._lock:
                used = self._by_operation[operation]
                self._by_operation[operation] = replace(used, estimated=True)

    def read(self) -> Mapping[str, Usage]:
        """Return the sums of each operation, by name."""
        with self._lock:
            return dict(sorted(self._by_operation.items()))
