"""The table of an agent's entity names, and the rule that resolves a new name to one of them."""

import math
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias, get_args

from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from recollex_engine.errors import InputError
from recollex_engine.text.name_variants import plain_name
from recollex_engine.text.names import fold_name

EntityRule: TypeAlias = Literal["alike", "memora"]
"""When are two names one entity? "alike": Memora's sum, and the names are alike by themselves.
"memora": the sum as printed; names that the papers resolve are equal, see `name_variants`."""

# Memora 2.3.2
NAME_WEIGHT = 0.5
COMPANY_WEIGHT = 0.3
RECENCY_WEIGHT = 0.2
MATCH_THRESHOLD = 0.75
FULL_COMPANY = 10
"""Number of shared memories at which the company signal reaches its maximum, 1.0."""
RECENCY_US = 7 * 86_400_000_000
"""The time gap at which the recency signal has fallen to 1/e: 7 days."""

CANDIDATES = 32
"""Limit of the known names, per word of a new name, that it is scored against: the most similar."""
_LEAST_LIKENESS = 0.5
"""The name similarity below which the printed sum cannot reach `MATCH_THRESHOLD`."""
_ROUNDING = 1e-9  # bound of the difference between sums of the same terms in another order


class EntityTable:
    """The names of one agent's entities, in memory. A replay of the log rebuilds it by `add`.

    Threads: one writer at a time; callers of `resolve` hold the writer's lock too.
    Resolution depends on the names that were added before. So its outcome is recorded in the log
    and never computed again on replay.

    >>> table = EntityTable()
    >>> table.add("Bob Chen", 7)
    >>> table.resolve("bob chen", 0, [], lambda entity, others: 0, lambda entity: 0)
    7
    """

    def __init__(self, rule: EntityRule = "alike") -> None:
        self.rule: EntityRule = rule
        self._entity_of: dict[str, int] = {}
        self._as_written: dict[str, int] = {}  # cache by unfolded name: saves folding it again
        self._first: set[int] = set()  # entities whose first name is known
        self._block: dict[str, list[str]] = {}  # first three letters of a word -> first names
        self._variants: dict[str, list[int]] = {}  # plain form of a first name -> its entities
        self._names: list[str] = []  # all first names, for the printed rule

    def __len__(self) -> int:
        """Return the number of different names."""
        return len(self._entity_of)

    def add(self, surface: str, entity_id: int) -> None:
        """Record that `surface` names the entity. A name that is known already keeps its entity."""
        name = fold_name(surface)
        if name in self._entity_of:
            return
        self._entity_of[name] = entity_id
        if entity_id in self._first:
            return
        self._first.add(entity_id)
        if self.rule == "memora":
            self._variants.setdefault(plain_name(name), []).append(entity_id)
            self._names.append(name)
            return
        for key in {word[:3] for word in name.split()}:
            self._block.setdefault(key, []).append(name)

    def part(self, surface: str, entity_id: int) -> None:
        """Record that a known name is the first of a new entity from now on."""
        name = fold_name(surface)
        self._entity_of.pop(name, None)
        self._as_written = {}
        self.add(surface, entity_id)

    def get(self, surface: str) -> int | None:
        """Return the entity of a known name, whatever its case and accents; None if unknown."""
        entity = self._as_written.get(surface)
        if entity is None:
            entity = self._entity_of.get(fold_name(surface))
            if entity is not None:
                self._as_written[surface] = entity
        return entity

    def resolve(
        self,
        surface: str,
        at_us: int,
        others: Sequence[int],
        shared: Callable[[int, Sequence[int]], int],
        last_seen: Callable[[int], int],
    ) -> int | None:
        """Return the entity that `surface` names at `at_us`; None if the caller must make one.

        If the folded name is known, its entity is returned. Otherwise the best candidate with a
        score of at least `MATCH_THRESHOLD` is returned (Memora 2.3.2; ties: the lower id):

            score = 0.5 * (1 - levenshtein / longer length)
                  + 0.3 * min(1, shared(candidate, others) / 10)
                  + 0.2 * exp(-|at_us - last_seen(candidate)| / 7 days)

        `others` are the entities already resolved in this memory. None of them is a candidate: two
        names in one memory are distinct, as the paper's prose demands ("entities mentioned together
        frequently are likely distinct"). But the paper's formula *adds* the co-occurrence. If
        `shared` counted the memories of the candidate together with this name, the formula would
        say the opposite of the prose. So `shared` counts the candidate's memories together with
        another entity of this memory: the same company is evidence for the same person. With this
        formula the paper's own example, "Alice" on Monday and "Alice Chen" on Tuesday, scores at
        most 0.25 + 0.3 + 0.17 and stays below the paper's threshold.

        Candidates share the first three letters of some word with the name (so also any whole
        word). Only the first name of each candidate is compared, not the names that were resolved
        to it since: a guess that rests on another guess drifts away. A candidate whose name
        similarity is below the threshold is not scored, however good the company and however
        recent the time: the printed sum alone would merge "Greek" with "Greta" and "Wuhan Plaza"
        with "Wuhan City". Where many names are alike ("Name 123", "Name 124"), only the
        `CANDIDATES` most similar names of each word are scored. No candidate is sought without
        `others`: the sum of another name is below 0.7 then.

        With the rule "memora" the sum is the printed one: every known name is a candidate, without
        a threshold of its own. Names with the same plain form ("Google Inc" and "Google", "Bob" and
        "Robert") are equal, as both papers say of them, though their distance is far too great for
        the sum; of several such entities the one named last is returned.

        Cost: 0.1 us for each candidate, and the callbacks for those that may still be the best.
        """
        name = fold_name(surface)
        known = self._entity_of.get(name)
        if known is not None:
            return known
        if self.rule == "memora":
            same = [e for e in self._variants.get(plain_name(name), ()) if e not in others]
            if same:
                return max(same, key=lambda entity: (last_seen(entity), -entity))
        if not others:
            return None
        closest: dict[int, float] = {}
        for candidate, likeness in self._candidates(name):
            entity = self._entity_of[candidate]
            if entity not in others and likeness > closest.get(entity, 0.0):
                closest[entity] = likeness
        best: int | None = None
        best_score = MATCH_THRESHOLD
        for entity, likeness in sorted(closest.items(), key=lambda item: (-item[1], item[0])):
            named = NAME_WEIGHT * likeness
            if named + COMPANY_WEIGHT + RECENCY_WEIGHT < best_score:
                break
            recent = RECENCY_WEIGHT * math.exp(-abs(at_us - last_seen(entity)) / RECENCY_US)
            if named + COMPANY_WEIGHT + recent < best_score - _ROUNDING:
                continue
            company = min(1.0, shared(entity, others) / FULL_COMPANY)
            score = named + COMPANY_WEIGHT * company + recent
            if score > best_score or (score == best_score and (best is None or entity < best)):
                best = entity
                best_score = score
        return best

    def _candidates(self, name: str) -> list[tuple[str, float]]:
        """Return the first names that a new name is scored against, with their likeness."""
        if self.rule == "memora":
            lists = [self._names]
            least = _LEAST_LIKENESS
        else:
            lists = [self._block.get(key, []) for key in {word[:3] for word in name.split()}]
            least = MATCH_THRESHOLD
        return [
            (candidate, likeness)
            for names in lists
            for candidate, likeness, _ in process.extract(
                name,
                names,
                scorer=Levenshtein.normalized_similarity,
                limit=CANDIDATES,
                score_cutoff=least,
            )
        ]


def check_entity_rule(rule: object) -> None:
    """Raise `InputError` unless this is the name of a rule."""
    if rule not in get_args(EntityRule):
        raise InputError(
            f"entity_rule must be one of {', '.join(get_args(EntityRule))}, got {rule!r}"
        )
