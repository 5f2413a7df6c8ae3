"""What do the words of a question say about the answer? Cues that need no model.

A cue says whom the question addresses and whom it is about, whether it asks for a time or for the
present, and whether it wants the latest or the first. Cues are read from the words alone, once a
recall. They are English; a question in another language has no cues, and is answered by its meaning
and its words alone.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from recollex_engine.text.naming_words import naming_words

_HEARER = re.compile(
    r"\b(?:we|we're|we've|we'll|we'd|our|ours|us|let's|lets"
    r"|you|you're|you've|you'll|you'd|your|yours|i'm|i've|i'll|i'd)\b"
    r"|^\s*(?:(?:hi|hello|hey|good (?:morning|afternoon|evening))\b"
    r"|(?:alright|okay|ok|thanks|thank you|great|excellent|perfect)\s*[,.!])"
)
_ASKS_WHEN = re.compile(
    r"(?:(?:^\W*+|[.?!,;:]\s\W{0,16}+)(?:(?:and|but|so)\s+)?(?:(?:since|until|till|by|from|around)\s+)?"
    r"(?:when(?=[ ,]*(?:(?:exactly|roughly|approximately|precisely|else)[ ,]+)?"
    r"(?:did|do|does|is|are|am|was|were|will|would|has|have|had|can|could|should|shall|must|may"
    r"|might|won't|didn't|isn't|wasn't|\?|$)(?:\W|$))|when'(?:s|d|ll|re)\b|how long\b"
    r"|(?:(?:in|on|at|by) )?(?:which|what) (?:date|day|month|year|time)\b"
    r"(?! (?:trip|off|job|care))))"
    r"|\b(?:you (?:know|remember|recall)|tell me|find out)(?: exactly| roughly)? when\b"
)
_SUPPOSES = re.compile(r"\b(?:(?:would|could|might|should)(?:n't)?|likely|probably|potentially)\b")
_LAST = re.compile(
    r"\b(?:latest|most recent|most recently|recently|recent|currently|current|nowadays"
    r"|last time|newest"
    r"|(?:the|my|our|your|his|her|their) last (?:e-?mail|mail|message|text|note|call|letter|photo"
    r"|picture|meeting|event|appointment|conversation|chat|talk|visit|entry|post|order|invoice"
    r"|payment|purchase|trip))\b"
)
_FIRST = re.compile(r"\b(?:first|earliest|initially|originally|began|begin|start|started)\b")
_FIRST_PERSON = re.compile(
    r"\b(?:i(?!\.)|i'm|i've|i'll|i'd|my(?! memory\b)|mine|myself)\b"
    r"|(?<!tell )(?<!remind )(?<!show )(?<!give )(?<!help )(?<!let )(?<!walk )\bme\b"
)
# "you" as the one who said or did it: not "can you tell me", not "what did I tell you".
# It begins with a letter and looks back from there, so that `re` skips to that letter.
_SECOND_PERSON = re.compile(
    r"y(?<!\w.)ou(?:'ve\b|r\b|rs\b|rself\b"
    r"| (?:(?:[a-z]+ly|have|had|were|just|also|once|first|last|ever|never) )*"
    r"(?:[a-z]+[^\We]ed|said|told|gave|given|made|wrote|written|found|sent|thought|chose|put"
    r"|showed|shown|brought|taught|meant|drew|drawn|led|set|did)\b"
    r"|(?:(?<=\b(?:did|had|was) you)|(?<=\b(?:have|were) you)|(?<=\b(?:didn't|hadn't) you)"
    r"|(?<=\b(?:haven't|weren't) you))\b)"
)
_ONE_SENTENCE = re.compile(r"[^.!?]*\?*\s*")
_SENTENCE_END = re.compile(r"[.!?](?!\S)")
SENTENCES = 3
"""The least number of sentences of a turn that tells more than it asks."""
_PRESENT = re.compile(
    r"\b(?:(?<!until )(?<!till )(?<!by )(?<!before )(?<!from )(?<!even )(?P<said>now"
    r"|nowadays|currently|presently|current|still|these days|at the moment|at present|anymore))\b"
    r"(?! (?:that|and then|life)\b)"
)
_PAST = re.compile(r"\b(?:did|was|were|had|been)\b|\bdidn't\b|\bwasn't\b|\bweren't\b")
_QUESTION_WORD = re.compile(
    r"\s*(?:who|whom|whose|what|which|where|how|is|isn't|are|aren't|am|do|don't|does|doesn't|has"
    r"|have|can|can't)\b|\s*(?:who|what|where|how)'s\b"
)
_LATIN_END = 0x24F  # of Latin Extended-B
_ONLY_LATIN = re.compile("[\x00-\u024f]*").fullmatch
_LATIN_ADDITIONAL = range(0x1E00, 0x1F00)  # Vietnamese
_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_RUN = re.compile(r"[^\W_]+")
_INNER_MARK = re.compile(r"[.?!,;:]\s").finditer
_BEFORE_WHEN = tuple(
    phrase + how
    for phrase in ("you know", "you remember", "you recall", "tell me", "find out")
    for how in ("", " exactly", " roughly")
)

# For each cue the runs of letters and digits that match its expression by themselves, and those of
# which each other match has one. A text without any of them needs no search.
_RUNS = {
    "asks": ("", "when how which what"),  # no cue: "when" needs one of these as well
    "hearer": (
        "we our ours us lets you your yours",
        "hi hello hey good alright okay ok thanks thank great excellent perfect",
    ),
    "when": ("", "when long date day month year time"),
    "supposes": (
        "would could might should likely probably potentially",
        "wouldn couldn mightn shouldn",
    ),
    "first person": ("i my mine myself", "me"),
    "second person": ("your yours yourself", "you"),
    "present": (
        "",
        "now nowadays currently presently current still days moment present anymore",
    ),
    "last": ("latest recently recent currently current nowadays newest", "last"),
    "first": ("first earliest initially originally began begin start started", ""),
}
_OF_APOSTROPHE = frozenset(("i", "let"))
"""Runs that speak to the hearer with an apostrophe: "I'm", "let's"."""
_BITS = {cue: 1 << place for place, cue in enumerate(_RUNS)}
_ALONE = len(_RUNS)
"""How far the bit of a run that matches by itself is to the left of its cue's bit."""
_SIGNS: dict[str, int] = {}
for _name, (_alone, _others) in _RUNS.items():
    for _run in _alone.split():
        _SIGNS[_run] = _SIGNS.get(_run, 0) | _BITS[_name] | _BITS[_name] << _ALONE
    for _run in _others.split():
        _SIGNS[_run] = _SIGNS.get(_run, 0) | _BITS[_name]


@dataclass(slots=True)  # made in each recall: a frozen class costs three times as long
class Cues:
    """The cues of a question.

    addressed: it speaks to its hearer ("what did we settle on?", "Hi, I'm back."), so it is a turn
    of a running conversation rather than a question about the past.
    tells: it is addressed and has at least `SENTENCES` sentences, so it tells more than it asks:
    "I", "you" and the times that it names are mostly part of the news, not of a question.
    asks_when: its answer is a time.
    supposes: it asks what would be or may be so ("Would Ann like Oslo?"); no time answers that.
    first_person: it asks about the asker ("Where do I live?", "Have I ever met Bo?"), and not about
    what the hearer said or did.
    second_person: it asks what the hearer said or did ("What did you suggest?", "your advice"); not
    if it only requests something ("Can you tell me ...").
    present: the words by which it asks for what is so at present ("now", "these days"), empty if it
    does not. A question of several sentences, of the past or of what would be does not.
    order: 1 if it wants the latest, -1 if it wants the first, 0 for neither.
    words: its words, in lower case, that may name a person; see `naming_words`.
    foreign: most of its letters are not Latin.

    >>> read_cues("Where do I live these days?").present
    'these days'
    >>> cues = read_cues("When did Ann first visit Oslo?")
    >>> cues.asks_when, cues.order, cues.addressed, sorted(cues.words)
    (True, -1, False, ['ann', 'oslo', 'visit'])
    """

    addressed: bool
    tells: bool
    asks_when: bool
    supposes: bool
    first_person: bool
    second_person: bool
    present: str
    order: int
    words: frozenset[str]
    foreign: bool


def first_name(person: str) -> str | None:
    """Return the first word of a name in the form of `Cues.words`, None for a name without words.

    >>> first_name("Anne-Marie Dubois")
    'anne-marie'
    """
    match = _WORD.search(person.lower().replace("\u2019", "'"))
    return match[0] if match else None


def signs_of(folded: str) -> int:
    """Return the bits by which the runs of a text, in lower case, may decide its cues.

    Those of a text are those of its words together.
    """
    runs = _RUN.findall(folded)
    signs = 0
    for run in runs:
        signs |= _SIGNS.get(run, 0)
    if "'" in folded and not _OF_APOSTROPHE.isdisjoint(runs):
        signs |= _BITS["hearer"]
    return signs


def signs_of_word(word: str) -> int:
    """Return `signs_of` a word of a-z."""
    return _SIGNS.get(word, 0)


def _hides_runs(folded: str) -> bool:
    """Return whether an underscore joins a run that may decide a cue to another: "your_name"."""
    return any("_" in word and signs_of(word) for word in folded.split())


def words_of(folded: str) -> set[str]:
    """Return the words of a text in lower case, without 's."""
    return {word.removesuffix("'s") for word in _WORD.findall(folded)}


def _present(folded: str) -> str:
    """Return the words by which a question asks for the present, empty if it does not."""
    if not _ONE_SENTENCE.fullmatch(folded):
        return ""
    match = _PRESENT.search(folded)
    if match is None or _PAST.search(folded):
        return ""
    asks = folded.rstrip().endswith("?") or _QUESTION_WORD.match(folded) is not None
    return match["said"] if asks else ""


def _foreign(text: str) -> bool:
    """Return whether most letters are of another script than the Latin one."""
    if _ONLY_LATIN(text):
        return False
    letters = [ord(letter) for letter in text if letter.isalpha()]
    other = sum(code > _LATIN_END and code not in _LATIN_ADDITIONAL for code in letters)
    return 2 * other > len(letters)


def _asks_when(folded: str) -> bool:
    """Return whether `_ASKS_WHEN` matches: at the start, after a mark or in "tell me when"."""
    if _ASKS_WHEN.match(folded):
        return True
    if any(_ASKS_WHEN.match(folded, mark.start()) for mark in _INNER_MARK(folded)):
        return True
    at = folded.find(" when")
    while at >= 0:
        if folded.endswith(_BEFORE_WHEN, 0, at):
            return _ASKS_WHEN.search(folded) is not None
        at = folded.find(" when", at + 1)
    return False


def _speaks_to_hearer(folded: str) -> bool:
    """Return whether `_HEARER` matches: at the start, or a word with an apostrophe ("i'm")."""
    return _HEARER.match(folded) is not None or (
        "'" in folded and _HEARER.search(folded) is not None
    )


def _wants_latest(folded: str) -> bool:
    """Return whether `_LAST` matches about a "last"."""
    return _LAST.search(folded, max(0, folded.find("last") - len("their "))) is not None


_Search = Callable[[str], object]
_SEARCHES: tuple[tuple[int, _Search, _Search], ...] = (
    (_BITS["hearer"], _HEARER.search, _speaks_to_hearer),
    (_BITS["when"], _asks_when, _asks_when),
    (_BITS["supposes"], _SUPPOSES.search, _SUPPOSES.search),
    (_BITS["second person"], _SECOND_PERSON.search, _SECOND_PERSON.search),
    (_BITS["first person"], _FIRST_PERSON.search, _FIRST_PERSON.search),
    (_BITS["last"], _LAST.search, _wants_latest),
    (_BITS["first"], _FIRST.search, _FIRST.search),
)
"""The bit of each cue; what tells whether its expression matches; the same, more quickly, of a text
without the runs that match by themselves."""
_HEARER_BIT, _WHEN_BIT, _SUPPOSES_BIT, _SECOND_BIT, _FIRST_PERSON_BIT, _LAST_BIT, _FIRST_BIT = (
    bit for bit, _, _ in _SEARCHES
)
_ASKS_BIT = _BITS["asks"]
_PRESENT_BIT = _BITS["present"]
_EVERY = (1 << _ALONE) - 1
_CUE_BITS = _EVERY & ~_ASKS_BIT


def cues_of(folded: str, signs: int, named: frozenset[str], foreign: bool = False) -> Cues:
    """Return the cues of a question in lower case with straight apostrophes.

    signs: `signs_of` the question. named: its words that may name a person.
    """
    if signs <= _ASKS_BIT:
        return Cues(False, False, False, False, False, False, "", 0, named, foreign)
    if hidden := "_" in folded and _hides_runs(folded):
        signs &= _EVERY  # a run may stand where the expression does not match
    elif "i." in folded or "my memory" in folded:
        signs &= ~(_FIRST_PERSON_BIT << _ALONE)
    found = signs >> _ALONE
    if unsure := signs & ~found & _CUE_BITS:
        if not signs & _ASKS_BIT:
            unsure &= ~_WHEN_BIT
        for bit, search, quick_search in _SEARCHES:
            if unsure & bit and (search if hidden else quick_search)(folded):
                found |= bit
    addressed = found & _HEARER_BIT != 0
    second_person = found & _SECOND_BIT != 0
    supposes = found & _SUPPOSES_BIT != 0
    return Cues(
        addressed,
        addressed and len(_SENTENCE_END.findall(folded)) >= SENTENCES,
        found & _WHEN_BIT != 0,
        supposes,
        not second_person and found & _FIRST_PERSON_BIT != 0,
        second_person,
        "" if supposes or not signs & _PRESENT_BIT else _present(folded),
        (found & _LAST_BIT != 0) - (found & _FIRST_BIT != 0),
        named,
        foreign,
    )


def read_cues(text: str) -> Cues:
    """Return the cues of a question.

    Cost: 8 us for a question of 60 characters; a recall reads the words of most questions once for
    all that it needs (see `question_reading`).
    """
    folded = text.lower().replace("\u2019", "'")
    foreign = not folded.isascii() and _foreign(folded)
    return cues_of(folded, signs_of(folded), naming_words(text, words_of(folded)), foreign)
