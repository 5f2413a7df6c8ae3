"""What do the words of a question say about the answer? Cues that need no model.

A cue says whom the question addresses and whom it is about, whether it asks for a time or for the
present, and whether it wants the latest or the first. Cues are read from the words alone, once a
recall. They are English; a question in another language has no cues, and is answered by its meaning
and its words alone.
"""

import re
from dataclasses import dataclass

from recollex_engine.text.naming_words import naming_words

_HEARER = re.compile(
    r"\b(?:we|we're|we've|we'll|we'd|our|ours|us|let's|lets"
    r"|you|you're|you've|you'll|you'd|your|yours|i'm|i've|i'll|i'd)\b"
    r"|^\s*(?:(?:hi|hello|hey|good (?:morning|afternoon|evening))\b"
    r"|(?:alright|okay|ok|thanks|thank you|great|excellent|perfect)\s*[,.!])"
)
_ASKS_WHEN = re.compile(
    r"(?:(?:^|[.?!,;:]\s)\W*(?:(?:and|but|so)\s+)?(?:(?:since|until|till|by|from|around)\s+)?"
    r"(?:when(?=[ ,]*(?:(?:exactly|roughly|approximately|precisely|else)[ ,]+)?"
    r"(?:did|do|does|is|are|am|was|were|will|would|has|have|had|can|could|should|shall|must|may"
    r"|might|won't|didn't|isn't|wasn't|\?|$)(?:\W|$))|when'(?:s|d|ll|re)\b|how long\b"
    r"|(?:(?:in|on|at|by) )?(?:which|what) (?:date|day|month|year|time)\b"
    r"(?! (?:trip|off|job|care))))"
    r"|\b(?:you (?:know|remember|recall)|tell me|find out)(?: exactly| roughly)? when\b"
).search
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
_SECOND_PERSON = re.compile(
    r"\b(?:(?:did|didn't|have|haven't|had|hadn't|was|were|weren't) you\b|you've\b"
    r"|you (?:(?:[a-z]+ly|have|had|were|just|also|once|first|last|ever|never) )*"
    r"(?:[a-z]+[^\We]ed|said|told|gave|given|made|wrote|written|found|sent|thought|chose|put"
    r"|showed|shown|brought|taught|meant|drew|drawn|led|set|did)\b"
    r"|your|yours|yourself)\b"
)
_ONE_SENTENCE = re.compile(r"[^.!?]*\?*\s*")
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
_LATIN_ADDITIONAL = range(0x1E00, 0x1F00)  # Vietnamese
_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_RUN = re.compile(r"[^\W_]+")
_JOINED = bytes(code if chr(code).isalnum() or code in b"'-" else 32 for code in range(128)) + (
    b" " * 128
)

# Runs of letters and digits. A text that holds none of a set cannot match the set's regular
# expression, which is then not tried.
_OF_HEARER = frozenset(
    {
        *("we", "our", "ours", "us", "let", "lets", "you", "your", "yours", "i"),
        *("hi", "hello", "hey", "good", "alright", "okay", "ok", "thanks", "thank"),
        *("great", "excellent", "perfect"),
    }
)
_OF_FIRST_PERSON = frozenset({"i", "me", "my", "mine", "myself"})
_OF_SECOND_PERSON = frozenset({"you", "your", "yours", "yourself"})
_OF_WHEN = frozenset(("when", "long", "date", "day", "month", "year", "time"))
_OF_SUPPOSES = frozenset(
    {
        *("would", "could", "might", "should", "wouldn", "couldn", "mightn", "shouldn"),
        *("likely", "probably", "potentially"),
    }
)
_OF_PRESENT = frozenset(
    {
        *("now", "nowadays", "currently", "presently", "current", "still", "days", "moment"),
        *("present", "anymore"),
    }
)
_OF_LAST = frozenset(
    ("latest", "most", "recently", "recent", "currently", "current", "nowadays", "last", "newest")
)
_OF_FIRST = frozenset(
    ("first", "earliest", "initially", "originally", "began", "begin", "start", "started")
)
_OF_ANY = frozenset().union(
    *(_OF_HEARER, _OF_FIRST_PERSON, _OF_SECOND_PERSON, _OF_WHEN, _OF_SUPPOSES, _OF_PRESENT),
    *(_OF_LAST, _OF_FIRST),
)


@dataclass(slots=True)  # made in each recall: a frozen class costs three times as long
class Cues:
    """The cues of a question.

    addressed: it speaks to its hearer ("what did we settle on?", "Hi, I'm back."), so it is a turn
    of a running conversation rather than a question about the past.
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


def _words_and_runs(folded: str) -> tuple[set[str], set[str]]:
    """Return the words of a text, without 's, and its runs of letters and digits."""
    if not folded.isascii():
        return {_bare(word) for word in _WORD.findall(folded)}, set(_RUN.findall(folded))
    # To translate bytes and to split at spaces takes a quarter of a regular expression's time.
    pieces = folded.encode().translate(_JOINED).decode().split()
    if "'" not in folded and "-" not in folded:
        words = set(pieces)
        return words, words
    words, runs = set(), set()
    for piece in pieces:
        if piece.isalnum():
            words.add(piece)
            runs.add(piece)
        else:
            words.update(map(_bare, _WORD.findall(piece)))
            runs.update(_RUN.findall(piece))
    return words, runs


def _bare(word: str) -> str:
    return word.removesuffix("'s")


def _present(folded: str) -> str:
    """Return the words by which a question asks for the present, empty if it does not."""
    match = _PRESENT.search(folded)
    if match is None or not _ONE_SENTENCE.fullmatch(folded) or _PAST.search(folded):
        return ""
    asks = folded.rstrip().endswith("?") or _QUESTION_WORD.match(folded) is not None
    return match["said"] if asks else ""


def _foreign(text: str) -> bool:
    """Return whether most letters are of another script than the Latin one."""
    letters = [ord(letter) for letter in text if letter.isalpha()]
    other = sum(code > _LATIN_END and code not in _LATIN_ADDITIONAL for code in letters)
    return 2 * other > len(letters)


def read_cues(text: str) -> Cues:
    """Return the cues of a question.

    Cost: 4 us for a question of 30 to 60 characters, 10 us for one of 90 to 150, 23 us for one of
    200 to 350 (medians), and twice that within a recall, where caches are cold.
    """
    folded = text.lower().replace("\u2019", "'")
    words, all_runs = _words_and_runs(folded)
    runs = all_runs & _OF_ANY
    foreign = not folded.isascii() and _foreign(folded)
    if not runs:
        named = naming_words(text, words)
        return Cues(False, False, False, False, False, "", 0, named, foreign)
    last = not _OF_LAST.isdisjoint(runs) and _LAST.search(folded) is not None
    second_person = (
        not _OF_SECOND_PERSON.isdisjoint(runs) and _SECOND_PERSON.search(folded) is not None
    )
    first_person = (
        not second_person
        and not _OF_FIRST_PERSON.isdisjoint(runs)
        and _FIRST_PERSON.search(folded) is not None
    )
    first = not _OF_FIRST.isdisjoint(runs) and _FIRST.search(folded) is not None
    supposes = not _OF_SUPPOSES.isdisjoint(runs) and _SUPPOSES.search(folded) is not None
    return Cues(
        not _OF_HEARER.isdisjoint(runs) and _HEARER.search(folded) is not None,
        not _OF_WHEN.isdisjoint(runs) and _ASKS_WHEN(folded) is not None,
        supposes,
        first_person,
        second_person,
        "" if supposes or _OF_PRESENT.isdisjoint(runs) else _present(folded),
        last - first,
        naming_words(text, words),
        foreign,
    )
