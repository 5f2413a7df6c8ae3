"""Which entities of an agent are one? Names are compared with each other, after they were retained.

While a text is retained, a new name is resolved by its likeness alone (`text.names`). This
job looks at the variants that likeness does not find: forms, initials, parts, short forms, slips
(`text.name_variants`). A pair scores Memora's sum (2.3.2)::

    score = 0.5 * likeness + 0.3 * apart + 0.2 * exp(-gap / 7 days)        same from 0.75 on
    apart = 1 - min(1, memories that name both / 10)
    gap   = the time between the nearest two memories that name them

The paper's formula adds the co-occurrence; its prose says that names which occur together are
mostly two, as "Alice" and "Alice Cooper". ``apart`` is the prose. By rule two are one only if, too,

- no memory names both, but for initials, and no type of theirs contradicts,
- the shorter name is so a variant of one entity, and not of two ("Alice Chen", "Alice Cooper"),
- a speaker's name is complete: it stands for no longer name,
- initials are named with what they stand for, or within a day of it, unless they are a known code,
- a part is the end of a name ("Wolves"), or the beginning of a person's ("Alice"), and no ordinary
  word ("Register", where a heading says "Risk Register"): such pairs are not even borderline,
- a short form is a person's, and no given name of its own ("Dan" is not "Dana").

Pairs that score enough and fail one of these, and names that are 0.75 alike, are borderline: a
language model decides them (TEMPR 2.3.2) where the store has one. Otherwise they stay two.
"""

import math
import re
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import Levenshtein

from recollex_engine.agents.readable_agent import ReadableAgent
from recollex_engine.domain.operations import MergeEntity
from recollex_engine.domain.schema import NONE
from recollex_engine.errors import LanguageModelError
from recollex_engine.facts.entities import all_entities
from recollex_engine.facts.fact_view import FactView
from recollex_engine.text.entity_types import OTHER, PERSON, EntityType
from recollex_engine.text.name_variants import (
    Variant,
    initials,
    is_first_part,
    plain_name,
    variant_of,
)
from recollex_engine.text.names import (
    COMPANY_WEIGHT,
    FULL_COMPANY,
    MATCH_THRESHOLD,
    NAME_WEIGHT,
    RECENCY_US,
    RECENCY_WEIGHT,
    fold_name,
)
from recollex_engine.text.type_rule import GIVEN_NAMES
from recollex_mind.llm.language_model import LanguageModel
from recollex_mind.llm.prompts import find_prompt
from recollex_mind.prompt_data import as_data

if TYPE_CHECKING:
    from pydantic import BaseModel

# Which words stand in lower case? Those of a heading, "Daily Risk Register", are no names.
_WORD = re.compile(r"(?<![\w'-])[a-z][\w'-]*")
_PARTS = re.compile(r"[^\w']+")


def ordinary_words(texts: Iterable[str]) -> set[str]:
    """Return the words that stand in lower case in one of the texts.

    Of scripts with such letters; a word with others is as it is written. Cost: 40 ms per million
    characters.

    >>> sorted(ordinary_words(["The risk is low.", "Daily Risk Register"]))
    ['is', 'low', 'risk']
    """
    found: set[str] = set()
    for text in texts:
        found.update(_WORD.findall(text))
    return found


def is_ordinary(name: str, words: set[str]) -> bool:
    """Return whether all words of a name are among such words.

    >>> is_ordinary("Risk Register", {"risk", "register"}), is_ordinary("Mama Put", {"put"})
    (True, False)
    """
    return all(word in words for word in _PARTS.split(fold_name(name)) if word)


PROMPT = "entities-1"
OPERATION = "entities"
MOST_ASKED = 50
"""Borderline pairs about which one call asks a model, the best scores first."""
_TEXTS = 3
_DAY_US = 86_400_000_000


@dataclass(frozen=True, slots=True)
class EntityMatch:
    """Two entities that were compared.

    source, target: their names; if they are one, the target's stands for both. way: how the names
    are variants: "form", "initials", "part", "short", "spelling" or "alike". score: Memora's sum.
    same: whether they are one; None if undecided. decided_by: "rule", "model" or None.
    reason: in words.
    """

    source: str
    target: str
    way: str
    score: float
    same: bool | None
    decided_by: str | None
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """Return the match as JSON values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class _KnownEntity:
    """An entity, with the memories that name it (ascending), and when these were said.

    ordinary: its words stand in lower case, too, and it begins with no given name.
    """

    number: int
    name: str
    folded: str
    type: EntityType
    memories: npt.NDArray[np.int64]
    said_at: npt.NDArray[np.int64]
    speaks: bool
    ordinary: bool


@dataclass(frozen=True, slots=True)
class _Pair:
    short: _KnownEntity
    full: _KnownEntity
    variant: Variant | None  # None: only alike
    together: int
    gap_us: int
    likeness: float

    @property
    def score(self) -> float:
        apart = 1 - min(1.0, self.together / FULL_COMPANY)
        near = math.exp(-self.gap_us / RECENCY_US)
        return NAME_WEIGHT * self.likeness + COMPANY_WEIGHT * apart + RECENCY_WEIGHT * near

    @property
    def way(self) -> str:
        return "alike" if self.variant is None else self.variant.way


def compare_entities(agent: ReadableAgent, model: LanguageModel | None = None) -> list[EntityMatch]:
    """Return the pairs of entities that may be one, decided; nothing is recorded.

    Only the pairs that are one, that a model decided, or that are borderline. ``model``: decides
    the borderline ones; one that fails is a warning, and leaves the others open.
    """
    view = agent.facts(None, None)
    known = _known(view)
    pairs = list(_pairs(known, _parted(view)))
    decided, open_pairs = _by_rule(pairs)
    open_pairs.sort(key=lambda each: (-each[0].score, each[0].short.number, each[0].full.number))
    for place, (pair, reason) in enumerate(open_pairs):
        match = _match(pair, None, None, reason)
        if model is not None and place < MOST_ASKED:
            try:
                match = _asked(model, agent, pair)
            except LanguageModelError as error:
                if error.reason == "cancelled":
                    raise
                warnings.warn(
                    f"borderline entities were left as they are: {error}",
                    RuntimeWarning,
                    stacklevel=3,
                )
                model = None
        decided.append(match)
    return decided


def merges_of(
    matches: Iterable[EntityMatch], model: LanguageModel | None = None
) -> list[tuple[MergeEntity, str]]:
    """Return the operations that make those one that are, each with its reason.

    ``model``: the one that decided the borderline pairs. Its own words are not in a reason: they
    may quote memories, and a merge stays when these are erased.
    """
    by_model = "" if model is None else f"model {model.name}, {PROMPT}"
    into: dict[str, str] = {}

    def root(name: str) -> str:
        while name in into:
            name = into[name]
        return name

    found = []
    for each in matches:
        if each.same and root(each.source) != root(each.target):
            into[root(each.source)] = root(each.target)
            by = f"rule: {each.reason}" if each.decided_by == "rule" else by_model
            why = f"{each.way}, score {each.score:.2f}, by {by}"
            found.append((MergeEntity(each.source, each.target), why))
    return found


def _by_rule(pairs: Sequence[_Pair]) -> tuple[list[EntityMatch], list[tuple[_Pair, str]]]:
    """Return the matches that the rule decides, and the borderline pairs with what is against."""
    decided: list[EntityMatch] = []
    borderline: list[tuple[_Pair, str]] = []
    one_of = {each.number: each.number for pair in pairs for each in (pair.short, pair.full)}

    def root(number: int) -> int:
        while one_of[number] != number:
            number = one_of[number]
        return number

    rest = []
    for pair in pairs:  # two writings of one name, first: they are one candidate for the others
        if pair.variant is None or pair.variant.way not in ("form", "spelling"):
            rest.append(pair)
            continue
        doubt = _doubt(pair)
        if doubt is None:
            decided.append(_match(pair, True, "rule", "two writings of one name"))
            one_of[root(pair.short.number)] = root(pair.full.number)
        else:
            borderline.append((pair, doubt))
    candidates: dict[int, set[int]] = defaultdict(set)
    for pair in rest:
        if pair.variant is not None and _doubt(pair) is None:
            candidates[pair.short.number].add(root(pair.full.number))
    for pair in rest:
        doubt = "only alike" if pair.variant is None else _doubt(pair)
        if doubt is None and len(candidates[pair.short.number]) > 1:
            doubt = "a variant of several names"
        if doubt is None:
            words = {"part": "a part of the name", "short": "a short form of the name"}
            decided.append(_match(pair, True, "rule", words.get(pair.way, "initials of the name")))
        else:
            borderline.append((pair, doubt))
    return decided, borderline


def _doubt(pair: _Pair) -> str | None:
    """Return what stands against two names being one; None if nothing does."""
    short = pair.short
    full = pair.full
    if pair.score < MATCH_THRESHOLD:
        return f"below {MATCH_THRESHOLD}"
    if pair.together and pair.way != "initials":  # "New York City (NYC)"
        return f"named together {pair.together} times"
    if OTHER not in (short.type, full.type) and short.type != full.type:
        return f"{short.type} and {full.type}"
    if pair.way == "initials" and pair.likeness < 1 and not pair.together and pair.gap_us > _DAY_US:
        return "initials that never stand beside the name"
    if pair.way in ("part", "short", "initials") and short.speaks:
        return "a speaker's name is complete"
    if pair.way == "part" and full.type != PERSON and is_first_part(short.folded, full.folded):
        return "the beginning of a name that is no person's"
    if pair.way == "short" and (full.type != PERSON or short.folded in GIVEN_NAMES):
        return "a given name of its own"
    if pair.way == "spelling" and full.type == PERSON:
        return "names of people often differ by a letter"
    return None


def _match(pair: _Pair, same: bool | None, by: str | None, reason: str) -> EntityMatch:
    return EntityMatch(
        pair.short.name, pair.full.name, pair.way, round(pair.score, 4), same, by, reason
    )


def _known(view: FactView) -> list[_KnownEntity]:
    """Return the entities that the view's open memories name, in the order of their numbers."""
    memories = view.memories
    if not memories:
        return []
    columns = view.columns
    counts = np.diff(columns.array("mention_offset")[: memories + 1].view(np.int64))
    is_open = columns.open_at(memories, view.op).astype(bool)
    of_mention = np.repeat(np.arange(memories), counts.astype(np.intp))
    shown = is_open[of_mention]
    entity = columns.array("mention_entity")[: len(of_mention)][shown].astype(np.int64)
    if view.identities:
        entity = view.identities.roots(columns.entities)[entity].astype(np.int64)
    if not len(entity):
        return []
    named = of_mention[shown]
    order = np.lexsort((named, entity))
    entity = entity[order]
    named = named[order]
    starts = np.flatnonzero(np.r_[True, entity[1:] != entity[:-1]])
    said_at = columns.array("said_at")
    speaker = columns.array("speaker")
    speakers = {
        fold_name(str(columns.label(int(label))))
        for label in np.unique(speaker[:memories][is_open])
        if label != NONE
    }
    types = {each.name: each.type for each in all_entities(view, mentioned=True)}
    words = ordinary_words(map(columns.text, np.flatnonzero(is_open).tolist()))
    found = []
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(entity)], strict=True):
        number = int(entity[start])
        name = view.entity_name(number)
        own = np.unique(named[start:end])
        if name in types:  # not erased
            folded = fold_name(name)
            plain = is_ordinary(name, words) and folded.split()[0] not in GIVEN_NAMES
            said = said_at[own]
            found.append(
                _KnownEntity(
                    number, name, folded, types[name], own, said, folded in speakers, plain
                )
            )
    return found


def _parted(view: FactView) -> set[frozenset[int]]:
    """Return the pairs of entities that somebody parted: these are not made one again."""
    merged = {
        frozenset((view.root(source), view.root(target)))
        for _, source, target, end in view.state.merges(view.op)
        if end is not None
    }
    before = view.columns.array("name_entity")
    named = {
        frozenset((view.root(int(before[name])), view.root(entity)))
        for name, entity, op in view.columns.parted_names
        if op <= view.op
    }
    return merged | named


def _pairs(known: Sequence[_KnownEntity], parted: set[frozenset[int]]) -> Iterator[_Pair]:
    """Yield the pairs that are variants, or alike, once each; names are compared within blocks."""
    blocks: dict[str, list[_KnownEntity]] = defaultdict(list)
    for each in known:
        for key in _keys(each.folded):
            blocks[key].append(each)
    met: set[tuple[int, int]] = set()
    for block in blocks.values():
        for place, one in enumerate(block):
            for other in block[place + 1 :]:
                ends = (min(one.number, other.number), max(one.number, other.number))
                if ends in met or frozenset(ends) in parted:
                    continue
                met.add(ends)
                if (pair := _compared(one, other)) is not None:
                    yield pair


def _keys(folded: str) -> set[str]:
    """Return the keys of the blocks that a name stands in."""
    words = folded.replace("-", " ").split()
    keys = {word[:2] for word in (*words, plain_name(folded))}  # "bob" stands beside "robert"
    return keys | {each[:2] for each in initials(words)}


def _compared(one: _KnownEntity, other: _KnownEntity) -> _Pair | None:
    """Return the pair of two entities, the shorter form first; None if they are not alike."""
    if len(one.memories) > len(other.memories) or (
        len(one.memories) == len(other.memories) and one.number < other.number
    ):
        one, other = other, one  # of two writings the one with more memories stands for both
    short = one
    full = other
    variant = variant_of(one.folded, other.folded)
    if variant is None:
        short = other
        full = one
        variant = variant_of(other.folded, one.folded)
    if variant is None:
        short = one
        full = other
        likeness = Levenshtein.normalized_similarity(one.folded, other.folded)
        if likeness < MATCH_THRESHOLD:
            return None
    elif variant.way == "part" and short.ordinary:
        return None
    else:
        likeness = variant.likeness
    together = len(np.intersect1d(short.memories, full.memories, assume_unique=True))
    return _Pair(short, full, variant, together, _gap(short.said_at, full.said_at), likeness)


def _gap(one: npt.NDArray[np.int64], other: npt.NDArray[np.int64]) -> int:
    """Return the least time between two memories, one of each."""
    times = np.sort(other)
    places = np.searchsorted(times, one)
    before = one - times[np.maximum(places - 1, 0)]
    after = times[np.minimum(places, len(times) - 1)] - one
    return int(np.minimum(np.abs(before), np.abs(after)).min())


def _asked(model: LanguageModel, agent: ReadableAgent, pair: _Pair) -> EntityMatch:
    """Return a pair as a model decides it. Raises `LanguageModelError`."""
    said = {}
    for which, each in (("first", pair.short), ("second", pair.full)):
        view = agent.facts(None, None)
        texts = [view.columns.text(memory) for memory in each.memories[-_TEXTS:].tolist()]
        said[which] = as_data(each.name)
        said[f"about_{which}"] = f"{each.type}, named by {len(each.memories)} memories"
        said[f"texts_{which}"] = "\n".join(f"- {as_data(text[:500])}" for text in texts)
    messages = find_prompt(PROMPT).render(
        likeness=f"{pair.likeness:.2f}",
        together=str(pair.together),
        days=f"{pair.gap_us / _DAY_US:.1f}",
        **said,
    )
    answer: Any = model.ask_for(_answer_type(), messages, operation=OPERATION, most_tokens=200)
    reason = " ".join(answer.reason.split())[:200]
    return _match(pair, bool(answer.same), "model", reason or "it gave none")


@cache
def _answer_type() -> "type[BaseModel]":
    import pydantic

    class SameEntity(pydantic.BaseModel):
        model_config = pydantic.ConfigDict(extra="forbid", strict=True)

        same: bool
        reason: str = pydantic.Field(max_length=500)

    return SameEntity
