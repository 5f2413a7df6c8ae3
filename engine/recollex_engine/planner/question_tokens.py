"""The tokens of a question: names of the agent, times, predicates, and cues.

Names are those that a visible fact has as its subject or object, by any of their names. What is
left after names, times, predicates and cues is unknown, and the planner does not guess at it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import Literal

import numpy as np

from recollex_engine.clock import from_micros
from recollex_engine.dates.calendar_dates import YEAR_AFTER
from recollex_engine.dates.english_words import MONTHS, SHORT_MONTHS
from recollex_engine.dates.time_range import TimeRange, find_range
from recollex_engine.domain.literals import ENTITY, KINDS
from recollex_engine.facts.fact_view import FactView
from recollex_engine.planner.cue_words import (
    AUXILIARIES,
    CLARIFYING,
    HAVING,
    ORDINALS,
    POSSESSIVES,
    longest_phrase,
    phrases,
)
from recollex_engine.planner.event_nouns import places_of_verb
from recollex_engine.planner.predicates import Mention, find_mentions
from recollex_engine.state.chain import NONE

Kind = Literal["name", "time", "predicate", "cue", "unknown"]
LONGEST_NAME = 8
"""Words of a name."""
MOST_TIMES = 6

_WORD = re.compile(r"'s\b|\w+(?:[-.&]\w+)*|[^\s\w]")
_QUOTES = str.maketrans("\u2019\u2018\u201c\u201d", "''\"\"")
_NAMES_A_MONTH = frozenset({*MONTHS, *SHORT_MONTHS, "of"})
_YEAR = re.compile(r"\b\d{4}\b|\d[/.]\d+[/.]\d|\b(?:this|last|next) ", re.I)
_MONTH = re.compile(rf"\b(?:{'|'.join([*MONTHS, *SHORT_MONTHS])})\b|\d[/.]\d", re.I)
_ROUGH_WORDS = """
around about circa roughly approximately ca early mid middle late end beginning start
"""
_ROUGH = frozenset(_ROUGH_WORDS.split())
"""With these words a time is not exact."""
_AS_OF_A_YEAR = re.compile(r"\bas of(?= \d{4}\b)", re.I)
_YEARS = re.compile(r"(?<!\w)(\w++) (?=\d{4} ?[-\u2013] ?\d{4} ?(?:[.,?;)]|$))")
"""A word before two years that end a clause."""
_LED_BY = YEAR_AFTER | {"between", "by"}
_EITHER = re.compile(r"(\d{4}) or (?:in )?(\d{4})", re.I)
_REACHING = {
    **dict.fromkeys(("before", "prior"), "before"),
    **dict.fromkeys(("after", "following"), "after"),
    **dict.fromkeys(("since",), "since"),
    **dict.fromkeys(("until", "till", "by", "up"), "until"),
}


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a question. text: as it stands there.

    name: of the entity, as the view calls it, or a text that is an object. span: of a time, in
    microseconds; reach: "before", "after", "since" or "until" where the time is only a bound, and
    named: the time itself; "as of" where what was so then may be meant, or all until then.
    cue: see `cue_words`; number: of an ordinal. lower: the single word. note: what was assumed.
    """

    kind: Kind
    text: str
    lower: str = ""
    cue: str = ""
    name: str = ""
    literal: bool = False
    span: tuple[int, int] = (0, 0)
    reach: str = ""
    named: tuple[int, int] = (0, 0)
    number: int = 0
    mention: Mention | None = None
    note: str = ""

    @property
    def is_auxiliary(self) -> bool:
        """Whether it is a form of "do", "be" or "have"."""
        return self.kind == "cue" and self.lower in AUXILIARIES

    @property
    def is_filler(self) -> bool:
        """Whether it is a word without an effect, such as "the"."""
        return self.kind == "cue" and self.cue == ""

    @property
    def is_verb(self) -> bool:
        """Whether it names a predicate that is a verb, such as "lives in"."""
        return self.mention is not None and self.mention.wordings[0].kind == "verb"

    @property
    def is_plural_noun(self) -> bool:
        """Whether it names a predicate in the plural: the directors of a firm."""
        if self.mention is None or self.is_verb:
            return False
        last = self.text.split()[-1].lower()
        return bool(re.search("[^s]s$", last)) and last not in self.mention.wordings[0].predicate

    @property
    def is_having(self) -> bool:
        """Whether it is a form of "have"."""
        return self.kind == "cue" and self.lower in HAVING

    @property
    def is_possessive(self) -> bool:
        """Whether it is "its" or "their"."""
        return self.kind == "cue" and self.lower in POSSESSIVES


@dataclass(frozen=True, slots=True)
class _Piece:
    start: int
    end: int
    text: str


def read_tokens(
    question: str, view: FactView, predicates: Sequence[str], now: int, month_first: bool = False
) -> list[Token]:
    """Return the tokens of a question about the facts of a view.

    month_first: whether 5/7/2023 is 7 May.
    """
    text = question.translate(_QUOTES)
    for clarifying in CLARIFYING:
        text = clarifying.sub(".", text)
    pieces = [_Piece(*each.span(), each[0]) for each in _WORD.finditer(text)]
    lowers = [each.text.lower() for each in pieces]
    mentions = find_mentions(lowers, predicates)
    said = {place for each in mentions for place in range(each.first, each.after)}
    taken: dict[int, tuple[int, Token]] = _names(text, pieces, view, said)
    masked = _mask(text, pieces, taken)
    taken |= _times(masked, pieces, now, month_first, taken)
    left = ["" if _covered(place, taken) else word for place, word in enumerate(lowers)]
    for mention in find_mentions(left, predicates):
        words = text[pieces[mention.first].start : pieces[mention.after - 1].end]
        taken[mention.first] = (
            mention.after,
            Token("predicate", words, mention=mention),
        )
        verb = mention.wordings[0].verb
        for place in places_of_verb(left, verb, mention.first, mention.after) if verb else ():
            taken.setdefault(place, (place + 1, Token("cue", pieces[place].text)))
    tokens: list[Token] = []
    place = 0
    while place < len(pieces):
        if place in taken:
            place, token = taken[place]
            tokens.append(token)
            continue
        place, token = _cue(place, pieces, lowers, taken)
        tokens.append(token)
    return tokens


def predicates_of(view: FactView) -> list[str]:
    """Return the predicates of the facts that a view shows. Cost: 3 ns for each fact."""
    versions = view.all()
    if not len(versions):
        return []
    numbers = np.flatnonzero(np.bincount(view.array("fact_predicate")[versions]))
    return [view.columns.known_label(number) for number in numbers.tolist()]


def find_name(view: FactView, words: str) -> tuple[str, bool] | None:
    """Return a subject or an object that is called so, and whether it is a text."""
    entity = view.entity(words)
    if entity is not None and _is_shown(view, entity):
        return view.entity_name(entity), False
    number = view.literal({"text": words})
    if number is None or number == NONE:
        return None
    objects, kinds = view.array("fact_object"), view.array("fact_kind")
    text = KINDS.index("text")
    if text != ENTITY and bool(np.any((objects == number) & (kinds == text))):
        return words, True
    return None


def _is_shown(view: FactView, entity: int) -> bool:
    members = view.members(entity)
    for keys, column in (("fact_subject", None), ("fact_entity", "fact_entity_fact")):
        for member in members:
            for entry in view.entries(keys, member):
                version = entry if column is None else int(view.data(column)[entry])
                if version < view.count and view.is_visible(version):
                    return True
    return False


def _names(
    text: str, pieces: Sequence[_Piece], view: FactView, said: set[int]
) -> dict[int, tuple[int, Token]]:
    """Return the names, the longest first: the first piece -> the piece after it, and the token."""
    found: dict[int, tuple[int, Token]] = {}
    used: set[int] = set()
    known = phrases()
    for size in range(min(LONGEST_NAME, len(pieces)), 0, -1):
        for first in range(len(pieces) - size + 1):
            after = first + size
            if not used.isdisjoint(range(first, after)):
                continue
            words = text[pieces[first].start : pieces[after - 1].end]
            if pieces[after - 1].text in ("'s", "'") or not words[0].isalnum():
                continue
            plain = words.islower() or (first == 0 and words[1:].islower())
            if plain and (
                tuple(words.lower().split()) in known
                or words.lower() in ORDINALS
                or all(place in said for place in range(first, after))
            ):
                continue
            called = find_name(view, words)
            if called is not None:
                name, literal = called
                found[first] = (after, Token("name", words, name=name, literal=literal))
                used.update(range(first, after))
    return found


def _covered(place: int, taken: dict[int, tuple[int, Token]]) -> bool:
    return any(first <= place < after for first, (after, _) in taken.items())


def _mask(text: str, pieces: Sequence[_Piece], taken: dict[int, tuple[int, Token]]) -> str:
    """Return a text without names, and without ordinals that are no day of a month.

    "As of 2006" becomes "in 2006", and a comma sets "2008-2012" off, so that both are times.
    """
    letters = list(text)
    for first, (after, _) in taken.items():
        for place in range(pieces[first].start, pieces[after - 1].end):
            letters[place] = "_"
    for place, piece in enumerate(pieces):
        near = {each.text.lower() for each in pieces[max(0, place - 1) : place + 3]}
        if piece.text.lower() in ORDINALS and near.isdisjoint(_NAMES_A_MONTH - {"of"}):
            letters[piece.start : piece.end] = "_" * (piece.end - piece.start)
    for as_of in _AS_OF_A_YEAR.finditer(text):
        letters[as_of.start() : as_of.end()] = "in".rjust(len(as_of[0]))
    for years in _YEARS.finditer(text):
        if years[1].lower() not in _LED_BY:
            letters[years.end(1)] = ","
    return "".join(letters)


def _times(
    text: str,
    pieces: Sequence[_Piece],
    now: int,
    month_first: bool,
    taken: dict[int, tuple[int, Token]],
) -> dict[int, tuple[int, Token]]:
    """Return the times of a text, as `_names` returns names."""
    found: dict[int, tuple[int, Token]] = {}
    for _ in range(MOST_TIMES):
        read = find_range(text, now, UTC, month_first)
        if read is None:
            break
        start, end = read.span
        places = [
            place for place, each in enumerate(pieces) if each.start < end and each.end > start
        ]
        text = text[:start] + "_" * (end - start) + text[end:]
        if not places or any(_covered(place, taken) for place in places):
            continue
        words = read.text.lower().split()
        first = places[0]
        ahead = pieces[first - 1].text.lower() if first else ""
        if ahead == "of" and first > 1 and pieces[first - 2].text.lower() == "as":
            first, ahead = first - 2, "as of"
            if any(each.text.lower() in HAVING for each in pieces):
                continue  # "had she met as of 2006": until then
        several = {"and", "or", ","} & set(words) and words[0] != "between"
        if (either := _EITHER.fullmatch(read.text)) and int(either[2]) == int(either[1]) + 1:
            several = set()
        parts = set(re.split(r"[\s-]+", read.text.lower()))  # "mid-2006" has two
        rough = not _ROUGH.isdisjoint(parts) or (
            "winter" in parts and re.search(r"\d{4}", read.text)
        )
        if ahead in _ROUGH or several or rough:
            continue  # not exact, or several times: the words stay unknown
        reach = "as of" if ahead == "as of" else _REACHING.get(words[0], "")
        token = Token(
            "time",
            read.text,
            span=(read.start, read.end),
            reach=reach,
            named=read.named or (read.start, read.end),
            note=_assumed_year(read),
        )
        found[first] = (places[-1] + 1, token)
    return found


def _assumed_year(read: TimeRange) -> str:
    """Return which year was taken for a month or day without one: "in September"."""
    if _YEAR.search(read.text) or not _MONTH.search(read.text):
        return ""
    first, last = (from_micros(at).date() for at in (read.start, read.end - 1))
    return f"I read {read.text!r} as {first}" + (f" to {last}" if last > first else "")


def _cue(
    place: int,
    pieces: Sequence[_Piece],
    lowers: Sequence[str],
    taken: dict[int, tuple[int, Token]],
) -> tuple[int, Token]:
    """Return the longest phrase that begins at a piece, or the piece as an unknown word."""
    known = phrases()
    room = next((each for each in range(place, len(pieces)) if each in taken), len(pieces))
    for size in range(min(longest_phrase(), room - place), 0, -1):
        cue = known.get(tuple(lowers[place : place + size]))
        if cue is not None:
            lower = lowers[place] if size == 1 else ""
            words = " ".join(each.text for each in pieces[place : place + size])
            return place + size, Token("cue", words, lower, cue, number=ORDINALS.get(lower, 0))
    word = pieces[place].text
    number = ORDINALS.get(lowers[place], 0)
    if number:
        return place + 1, Token("cue", word, lowers[place], "nth", number=number)
    return place + 1, Token("unknown", word, lowers[place])
