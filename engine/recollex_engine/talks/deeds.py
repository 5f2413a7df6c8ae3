"""Who did what, and when? Sentences that tell a dated deed, by grammar: precise rather than many.

"We visited the Louvre last Friday" tells (Ann, visited, Louvre), true on that day. A deed needs a
subject that is a name or the speaker, a verb of `_VERBS` in the past, and a time that can be read.
What claims nothing (`claims`) tells no deed either.
"""

import re
from dataclasses import dataclass

from recollex_engine.dates.time_range import find_event_range
from recollex_engine.domain.qualifiers import read_period
from recollex_engine.talks.claim_values import NAME, VALUE, trimmed
from recollex_engine.talks.claims import plain_sentences, subject_of
from recollex_engine.text.word_lists import EVENT_NOUNS

_VERBS = (
    r"(?:visited|went to|flew to|drove to|travell?ed to|hiked|climbed|attended|joined|signed up for"
    r"|bought|sold|adopted|met|called|started|finished|completed|ran|won|lost|watched|read|saw"
    r"|cooked|baked|painted|built|planted|repaired|fixed|wrote|published|graduated from|moved to"
    r"|moved into|celebrated|hosted|organi[sz]ed|played|ordered|booked|received|donated"
    r"|volunteered at|interviewed at|applied (?:for|to)|presented|recorded|performed at"
    r"|camped (?:at|in)|made)"
)
_EVENTS = (
    rf"(?:(?:took|made|had|gave|paid|went on|attended) (?:an? )?(?:{'|'.join(sorted(EVENT_NOUNS))})"
    r" (?:to|with|at|of|about))"
)
_DEED = re.compile(
    rf"(?P<s>I|[Ww]e|[Mm]y [\w'-]+(?: [\w'-]+)?|{NAME})(?: (?:just|also|finally|recently))?"
    rf" (?P<a>{_EVENTS}|{_VERBS}) (?P<v>{VALUE})"
)
_LONGEST = 8  # words of an object
_OPENING = 4  # characters before a time that opens a sentence: "On Friday I met Eve."
_BEFORE_TIME = re.compile(
    r"(?:(?:^|\s+)(?:in|on|at|during|since|back|for|about|around|almost|over))+$"
)
_ABOUT = re.compile(r"\b(?:about|around|almost|over|nearly|roughly)\s+$", re.IGNORECASE)
_AND_MORE = re.compile(
    r" and (?:\w+ed|\w+ing|i|we|it|then|got|had|was|were|caught|sat|saw|went|came|took|made|met"
    r"|felt|found|ate|did|left|brought|bought|ran|wrote)\b.*$| - .*$",
    re.IGNORECASE,
)
_POSSESSIVE = re.compile(r"^(?:my|our) ", re.IGNORECASE)
_NO_OBJECT = re.compile(
    r"(?:it|that|this|them|him|her|his|their|there|so|to|by|off|up|out|some|in|on|at|with|for|from"
    r"|one|ones|working|work)\b"
    r"|.*\u2026",  # words in quotes, which were taken out
    re.I,
)


@dataclass(frozen=True, slots=True)
class Deed:
    """What somebody did. start, end: microseconds, [start, end). precision: how well known."""

    subject: str
    predicate: str
    value: str
    start: int
    end: int
    precision: str
    sentence: str


def read_deeds(
    text: str, speaker: str | None, said_at: int, month_first: bool = False
) -> list[Deed]:
    """Return the dated deeds that a turn tells, in order; ``text`` may begin with "speaker: ".

    >>> [deed] = read_deeds("Ann: We visited the Louvre in May 2023!", "Ann", 1_700_000_000_000_000)
    >>> deed.subject, deed.predicate, deed.value, deed.end - deed.start
    ('Ann', 'visited', 'Louvre', 2678400000000)
    >>> read_deeds("We will visit the Louvre in May 2024.", "Ann", 1_700_000_000_000_000)
    []
    """
    found = []
    for sentence, written in plain_sentences(text, speaker):
        time = find_event_range(sentence, said_at, month_first=month_first)
        if time is None or time.start > said_at:
            continue
        opening = sentence[: time.span[1]] if time.span[0] <= _OPENING else ""
        match = _DEED.match(sentence[len(opening) :].lstrip(" ,"))
        match = match or _DEED.match(sentence)
        subject = None if match is None else subject_of(match["s"], speaker)
        if match is None or subject is None or subject[0] is None:
            continue
        value = match["v"]
        at = value.find(time.text)
        if at >= 0:  # the words of the time, and what follows them, are no part of the object
            value = _BEFORE_TIME.sub("", value[:at].rstrip())
        value = _POSSESSIVE.sub("", trimmed(_AND_MORE.sub("", value))[0])
        if not value or len(value.split()) > _LONGEST or _NO_OBJECT.match(value):
            continue
        whole = read_period(time)
        precision = f"parsed: {time.text}" if whole is None else f"to the {whole}"
        if _ABOUT.search(sentence[: time.span[0]]):
            precision = f"approximate: {time.text}"
        found.append(Deed(subject[0], match["a"], value, time.start, time.end, precision, written))
    return found
