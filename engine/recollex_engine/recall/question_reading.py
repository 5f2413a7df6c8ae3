"""What do the words of a question say? Its cues, its terms and its quotes."""

from dataclasses import dataclass

from recollex_engine.dates.time_parser import EnglishDates, in_locale
from recollex_engine.text.analyzer import Analyzer, ParsedQuery
from recollex_engine.text.question_cues import Cues, read_cues


@dataclass(frozen=True, slots=True)
class Reading:
    """What the words of a question say.

    searched: the terms of ``parsed`` that are searched. A word that only asks for the present
    ("now") is no word of the answer, and is left out.
    """

    cues: Cues
    parsed: ParsedQuery
    searched: tuple[str, ...]


def read_question(analyzer: Analyzer, text: str) -> Reading:
    """Return what the words of a question say.

    >>> read_question(Analyzer(), "Where does Ann live now?").searched
    ('ann', 'live')
    """
    cues = read_cues(text)
    parsed = analyzer.query(text)
    searched = parsed.terms
    if cues.present not in ("", "current"):
        said = analyzer.query(cues.present).terms
        searched = tuple(term for term in searched if term not in said)
    return Reading(cues, parsed, searched)


def named_time(text: str, now: int, locale: str) -> tuple[int, int] | None:
    """Return the time [start, end) that a question asked at ``now`` names; None for none.

    >>> from recollex_engine.clock import from_micros
    >>> start, end = named_time("Who came in May 2023?", 1_763_000_000_000_000, "en-GB")
    >>> from_micros(start).date().isoformat(), from_micros(end).date().isoformat()
    ('2023-05-01', '2023-06-01')
    """
    found = in_locale(EnglishDates(), locale).find(text, now)
    return None if found is None else (found.start, found.end)
