"""Which way does a sentence look? Ahead, a date without a year is the coming one; back, the latest.

One reading of tense for statements and questions. English names the future in the present tense
where things are arranged: "My flight leaves on Sunday", "I have a dentist appointment on Monday",
"We're meeting Carol on Saturday", "See you on Sunday!". The clause in which the time stands
decides; where it has no verb that does, the sentence. In the order in which they count:

- words of the future ("will", "going to", "looking forward"), and what was arranged *for* a time
  ("I booked a table for Friday");
- a verb of the past, other than one after "is" or "are" ("The parcel is expected on Friday");
- a verb of arranging in the present: what starts, arrives, leaves, is due or is on a day, what one
  has, must or wants to do, is doing, or is told to do.

A time after "from" or "of" is part of a name ("the photos from Friday") and looks back.
"""

import re
from bisect import bisect_right

from recollex_engine.dates.english_words import Tokens
from recollex_engine.dates.expression_parser import Looking
from recollex_engine.fork import cached_property

_SENTENCE = re.compile(
    r"(?:[^.?!\n]++|\.(?=\S)|(?:(?<=\b[a-z])|(?<=\bmr|\bms|\bdr|\bst|\bno)|(?<=\bmrs))\.)*+"
    r"(?:[.?!\n]|$)",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"[,;:()\u2013\u2014]|\b(?:and|but|so|because|since|when|while|although|though|that|which|who"
    r"|where|if|until|or)\b",
    re.IGNORECASE,
)
_AHEAD = re.compile(
    r"\b(?:will|shall|gonna|won't|(?<!was )(?<!were )going to|plans? to|planning|hop(?:e|es|ing) to"
    r"|upcoming|scheduled|looking forward|can't wait|excited (?:for|about)|want(?:s|ing)? to|wanna"
    r"|(?:would|'d) (?:you )?(?:like|love|prefer) to|intends? to|about to|plans? (?:for|on)"
    r"|(?:decided|agreed|promised|offered) to"
    r"|next(?! to\b))\b|'ll\b",
    re.IGNORECASE,
)
_ARRANGED = re.compile(
    r"\b(?:booked|reserved|scheduled|rescheduled|planned|arranged|moved|postponed|delayed|invited"
    r"|registered|signed up|set|agreed|confirmed|ordered|bought|got|availability|appointment"
    r"|reservation|tickets?|booking|table|due)\b",
    re.IGNORECASE,
)
_DID = re.compile(r"\b(?:did|was|were|had)(?:n't)?\b", re.IGNORECASE)
_PAST = re.compile(
    r"\b(?:made|went|said|told|came|got|took|saw|met"
    r"|bought|ate|gave|found|left|kept|led|began|ran|wrote|held|thought|knew|became|spoke|chose"
    r"|sent|spent|paid|heard|felt|won|lost|broke|drove|flew|grew|slept|sold|stood|taught|wore|woke"
    r"|drank|fell|forgot|hid|rode|sang|swam|threw|sat|built|caught|brought|ago|fought|shook|dealt"
    r"|dug|fed|fled|froze|hung|lent|meant|rang|rose|sank|shot|stole"
    r"|struck|swore|tore|understood|wept|hurt"
    r"|(?!(?:need|schedul|book|plann|reserv|excit|unit|hundr)ed\b)\w{2,}(?<!e)ed)\b",
    re.IGNORECASE,
)
_PARTICIPLE = re.compile(
    r"(?:\b(?:is|are|am|be|been|being|have|has|haven't|hasn't|gets?|an?|the|for|of|with|my|our|your"
    r"|its|his|her|their|very|so|too|more|in|to|kinda)|'(?:s|re|m|ve))"
    r"\s(?:(?:\w+ly|not|now|already|all|just|also|never|been|kinda|really|too|so|very|quite"
    r"|pretty)\s){0,3}+(?:\w+ed|made|gone|got|met|left"
    r"|found|held|sent|paid|heard|won|lost|built|bought|said|told|set)\b",
    re.IGNORECASE,
)
"""What looks like a verb of the past and is none: a perfect, a passive of the present, an
adjective."""
_NOUN = (
    r"(?:an?|the|my|our|his|her|their|your|its|no|some|any(?:thing)?|something|nothing|another|two"
    r"|three|four|five|six|\d+|tickets|plans|dinner|lunch|breakfast|school|work|practice|training"
    r"|rehearsals?|class(?:es)?|yoga|guests|visitors|exams?|meetings?|appointments?|reservations?"
    r"|on)"
)
_ARRANGING = re.compile(
    # what is arranged
    r"\b(?:let's|let us|how about|why don't|aim for|see (?:you|ya|u)|catch you|talk to you"
    r"|don't forget|remember to|remind\w*"
    r"|make sure|deadline|itinerary|due|appointment|reserv\w*|availab\w*|cancel|postpone|schedul\w*"
    r"|reschedul\w*|book(?:ed|ing)?|trip|supposed to|in time for"
    r"|(?:delete|move|remove|change)\s[^.?!]{0,80}\b(?:meeting|appointment)s?"
    # what one must, can or wants
    r"|needs? to|must|(?:have|has|got) to|should(?! have)|ought to|can(?:'t|not)?|could you|might"
    # what starts, arrives, is on a day
    r"|starts?|begins?|opens?|closes?|(?<!the )ends?|finishes|arrives?|leaves?|departs?|comes?"
    r"|flies|lands?|returns?|launches|expires?|graduates?|gets? (?:back|here|home|married)"
    r"|visits?|takes place"
    r"|kicks off|departing|arriving|leaving|runs out|turns|is back|checks? (?:in|out)|picks? up"
    r"|moves? (?:in|out|to|into)"
    rf"|(?:have|has|got|'ve got|'ve) {_NOUN}|day off"
    r"|(?:'m|am|is|are|be|'re|'s) (?:free|off)"
    r"|(?:is|are|it's|that's|what's|who's|when's) (?:only |just |now |also |not |still )?"
    r"(?:on|in|at|due|set|planned|expected|moved|postponed|booked|cancell?ed|closed|open|coming"
    r"|arriving|leaving|this|today|tomorrow|mon|tues|wednes|thurs|fri|satur|sun)"
    # what is being done: a plan, where it has a time
    r"|(?:'m|'re|'s|am|is|are)(?: not| also| all| both| only| finally| you| we| they| i| he| she)?"
    r" (?!(?:during|morning|evening|nothing|something|anything|everything|boring|exciting|amazing"
    r"|interesting|missing|being|feeling|thinking|wondering|talking|referring|recovering|struggling"
    r"|remembering|loving|enjoying|asking|saying|looking at|looking for|king)\b)\w{2,}ing"
    # an order
    r")\b|(?:^|[.!?,;:])\W?(?:please |pls |then |also )?(?:pick|call|buy|bring|meet|send|submit"
    r"|return|take|get|pay|finish|join|come|mark|save|order|renew|prepare|email"
    r"|mail|text|visit|water|fix|check|ask|give|put|register|sign|vote|wake|leave|drop|deliver"
    r"|confirm"
    r"|invite|arrange|organi[sz]e|pack) (?!(?:was|were|did|had)\b)",
    re.IGNORECASE,
)
_ASKED_AHEAD = re.compile(r"\b(?:will|shall|going to|gonna)\b|'ll\b", re.IGNORECASE)
_COMING = re.compile(
    r"\b(?:plans? (?:for|to|on)|upcoming|coming up|due|free|available"
    r"|scheduled|planned|deadline|appointments?|meetings?|on my calendar|arrives?|arriving|leaves?"
    r"|leaving|comes?|coming|departs?|flies|flying|lands?|starts?|begins?|opens?|closes?|expires?"
    rf"|(?:have|has|'ve|got) {_NOUN}|need to|must|should|supposed to|can|could"
    r"|(?:am|are|is|'re|'s|'m)(?: \w+)? (?!during|being|feeling|thinking)\w{2,}ing"
    r"|(?:is|what's|what is|who's|who is|anything|something|what) on)\b",
    re.IGNORECASE,
)
_NAMED_BY = frozenset({"from", "of"})
"""Words before a time that is part of a name."""
_AIMED = frozenset({"for", "to", "until", "till", "by"})
"""Words before a time for which something was arranged."""
_STARTING = frozenset({"starting", "beginning", "commencing"})
"""Words before a time at which something starts."""
_BY = _NAMED_BY | _AIMED | _STARTING


class _Verbs:
    """What the verbs of a clause or a sentence say, each asked for once."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _ahead(self) -> bool:
        return _AHEAD.search(self._text) is not None

    @cached_property
    def _arranged(self) -> bool:
        return _ARRANGED.search(self._text) is not None

    @cached_property
    def _past(self) -> bool:
        return _is_past(self._text)

    @cached_property
    def _arranging(self) -> bool:
        return _ARRANGING.search(self._text) is not None

    def looking(self, by: str) -> Looking | None:
        """Return how it looks at a time after the word ``by``; None if no verb says it."""
        if by in _STARTING or self._ahead or (by in _AIMED and self._arranged):
            return "future"
        if self._past:
            return "past"
        return "future" if by not in _NAMED_BY and self._arranging else None

    def asked(self) -> Looking | None:
        """Return how it looks if it is asked, or told with a question; None if no verb says it."""
        if _DID.search(self._text):
            return "past"
        asks = self._text.rstrip().endswith("?")
        neutral: Looking | None = "past" if asks else None
        ahead: Looking | None = None
        if (_ASKED_AHEAD if asks else _AHEAD).search(self._text):
            ahead = "future"
        elif (_COMING if asks else _ARRANGING).search(self._text):
            ahead = "coming" if asks else "future"
        if (ahead or not asks) and _is_past(self._text):
            return "past"
        return ahead or neutral


def _is_past(said: str) -> bool:
    if _DID.search(said):
        return True
    return _PAST.search(said) is not None and _PAST.search(_PARTICIPLE.sub(" ", said)) is not None


class Tense:
    """Says how the sentence of a token looks, of a statement or of a question.

    It is read when the first token is asked for: most times, such as "last week", are the same in
    any sentence. A question looks back unless it asks of what is to come. Where no verb says it, a
    statement looks ahead if another of its sentences does, else at the nearest time. Cost: linear
    in the text, however many times it names.

    >>> text = "The exam is on Friday, and I met Bob on Monday. Who came in May?"
    >>> [Tense(text, Tokens(text), False)(place) for place in (4, 11)]
    ['future', 'past']
    """

    __slots__ = ("_any_ahead", "_asks", "_clauses", "_read", "_starts", "_text", "_tokens")

    def __init__(self, text: str, tokens: Tokens, asks: bool) -> None:
        self._text = text
        self._tokens = tokens
        self._asks = asks
        self._any_ahead: bool | None = None
        self._starts: list[int] | None = None
        self._clauses: dict[int, list[int]] = {}
        self._read: dict[tuple[int, int], _Verbs] = {}

    def __call__(self, place: int | None) -> Looking:
        """Return how the sentence of a token looks; without a token, as one without a verb."""
        neutral: Looking = "past" if self._asks else "nearest"
        if place is None:
            return neutral
        if self._starts is None:
            self._text = self._text.replace("\u2019", "'")
            self._starts = [match.start() for match in _SENTENCE.finditer(self._text)]
        at = self._tokens.span(place, place)[0]
        start, end = _around(self._starts, at, len(self._text))
        found = self._said(start, end).asked() if self._asks else self._told(start, end, at, place)
        if found is None and self._any_ahead is None:
            self._any_ahead = _AHEAD.search(self._text) is not None
        return found or ("future" if self._any_ahead else neutral)

    def _told(self, start: int, end: int, at: int, place: int) -> Looking | None:
        """Return how the clause looks in which a time stands, else its sentence."""
        if start not in self._clauses:
            ends = [match.start() + start for match in _CLAUSE.finditer(self._text[start:end])]
            self._clauses[start] = [start, *ends]
        words = self._tokens.words
        by = words[place] if words[place] in _BY or not place else words[place - 1]
        clause = _around(self._clauses[start], at, end)
        return self._said(*clause).looking(by) or self._said(start, end).looking(by)

    def _said(self, start: int, end: int) -> _Verbs:
        said = self._read.get((start, end))
        if said is None:
            said = self._read[start, end] = _Verbs(self._text[start:end])
        return said


def _around(starts: list[int], at: int, end: int) -> tuple[int, int]:
    """Return the span that begins at the last of ``starts`` that is not after ``at``."""
    place = bisect_right(starts, at)
    return starts[place - 1], starts[place] if place < len(starts) else end
