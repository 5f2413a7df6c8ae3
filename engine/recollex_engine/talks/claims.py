"""What does a turn claim, by grammar? Subject, predicate, value: precise rather than many.

English sentences of a few forms are read ("I moved to Rome", "my boss is Carla", "the call was
moved to Friday", "no, it is Tuesday"); every other sentence claims nothing. Questions, quotations,
reports of others ("Ben thinks"), wishes, plans, conditions and negations claim nothing either.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from recollex_engine.talks.claim_forms import FORMS, Form
from recollex_engine.talks.claim_values import NAME, folded, kinds_of, trimmed
from recollex_engine.text.word_lists import NOT_NAMES

Effect = Literal["states", "begins", "ends"]
"""How a claim changes what was so. "states": it is so. "begins": it is so from now on, and what was
so before is over. "ends": it is no longer so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One claim of a turn.

    subject: a name such as "Ann" or "Ann's sister"; None for a pronoun, or without a subject.
    owned: whether it is a person, or belongs to one: "the meeting" does not. predicates: the one
    claimed; for an end, those that it may end; empty if the sentence names none. value: None if
    the sentence names none ("I got divorced"). against: the value that it denies ("not Monday").
    marked: whether words of correction ("no", "actually", "I meant") stand before it. sentence: the
    sentence as written.
    """

    subject: str | None
    owned: bool
    predicates: tuple[str, ...]
    value: str | None
    effect: Effect
    marked: bool
    against: str | None
    sentence: str

    @property
    def predicate(self) -> str:
        """The predicate of what is claimed."""
        return self.predicates[0] if self.predicates else "is"


_CONTRACTIONS = [
    (re.compile(pattern, re.IGNORECASE), full)
    for pattern, full in (
        (r"\b(I)'m\b", r"\1 am"),
        (r"\b(we|they|you)'re\b", r"\1 are"),
        (r"\b(it|that|he|she|this|there)'s\b", r"\1 is"),
        (r"\b(I|we|they|you)'ve\b", r"\1 have"),
        (r"\bcan't\b", "can not"),
        (r"\bwon't\b", "will not"),
        (r"n't\b", " not"),
    )
]
_SENTENCE = re.compile(
    r"(?<!\bMr\.)(?<!\bMs\.)(?<!\bDr\.)(?<!\bSt\.)(?<!\bMrs\.)(?<=[.!?;])\s+|\n+"
)
_QUOTED = re.compile(r"\"[^\"]*\"|\u201c[^\u201d]*\u201d|\[[^\]]*\]")
_FILLER = re.compile(
    r"(?:well|so|oh|hey|hi|guess what|by the way|btw|um+|uh+|hmm+|look|listen|you know|and|but|also"
    r"|as of today|just so you know|fyi|good news|bad news|to be clear|unfortunately|sadly|anyway)"
    r"\b[,!:]?\s+",
    re.IGNORECASE,
)
_MARKER = re.compile(
    r"(?:(?:no|nope|nah)(?: wait)?(?:[,.!:;]|\s(?=(?:it|they|she|he|we|my|the|our|i)\b)|$)"
    r"|(?:wait|sorry|excuse me|oops|whoops|my bad|my mistake|correction|actually|scratch that"
    r"|i misspoke|i was wrong|i was mistaken|that is (?:wrong|incorrect|not right|not true)"
    r"|not quite|i changed my mind|let me correct (?:that|myself)|strike that)\b[,.!:;]?)\s*",
    re.IGNORECASE,
)
_MEANT = re.compile(r"(?:i|we) (?:meant|mean)\b(?!,)(?: to say)?\s*", re.IGNORECASE)
_UNREAL = re.compile(
    r"\b(?:if|whether|unless|wish|hope[sd]?|hoping|might|could|would|should|shall|will|wants?"
    r"|wanted|plan(?:s|ned|ning)? to|thinking|thinks?|thought|says?|said|told|tells?|believes?"
    r"|heard|reckons?|almost|nearly|maybe|perhaps|probably|imagine|dreams?|dreamed|pretend|suppose"
    r"|supposed|never|used to|going to|gonna|before that|had moved|had left|like to|trying"
    r"|may(?! \d)|can)\b|'ll\b"
    r"|^(?:If|Maybe|Perhaps|Before|When|Once|Unless|Probably|Imagine|Suppose)\b"
)
_BY_NOW = re.compile(r"\b(?:now|nowadays|these days|from now on|as of \w+)\b", re.IGNORECASE)
_NOT = re.compile(r"\b(?:not|no longer|neither|nor)\b", re.IGNORECASE)
_PREPOSITION = r"(?:(?:in|on|at) )?"
_DENIAL = re.compile(rf"(?:, (?:and )?not|,? instead of|,? rather than) {_PREPOSITION}([^,]+)$")
_NOT_BUT = re.compile(rf"^[Nn]ot {_PREPOSITION}([^,]+?)(?:,| but|, but) {_PREPOSITION}([^,]+)$")
_CUES = re.compile(
    r"\b(?:i am|we are|is|are|am|lives?|lived|living|works?|working|worked|moved?|quit|left|sold"
    r"|drives?|joined|started|became|promoted|hired|fired|laid|resigned|graduated|dropped|finished|gave"
    r"|crashed|returned|scrapped|up|divorced|separated|split|broke|divorce|cancell?ed|called"
    r"|relocated|switched|got|transferred|enrolled|married|postponed?|rescheduled?|push(?:ed)?"
    r"|delay(?:ed)?|shift(?:ed)?|forward|off|changed|went|rose|increased|fell|raised|lowered"
    r"|reduced|cut|stud(?:y|ies)|dating|born|owns?|lost|goes|costs?|starts?|leaves?|opens?|begins?"
    r"|closes?|departs?|arrives?|ends?|due|(?:mon|tues|wednes|thurs|fri|satur|sun)days)\b",
    re.IGNORECASE,
)
"""Words without which a sentence has none of the `FORMS`."""
_ADVERBS = re.compile(
    r"(?<=\w) (?:just|now|recently|finally|currently|already|officially|really|both)"
    r"(?= (?!(?:and|to|in|on|at)\b)[a-z]+)"
)
LONGEST_TURN = 4_000
"""Characters of a turn that are read for claims and deeds; what stands after them claims nothing.
The expressions of the grammar take the square of a sentence's length, so both have a bound."""
LONGEST_SENTENCE = 500
"""Characters of a sentence that may claim something."""
_BARE_SUBJECTS = frozenset({"it", "that", "this", "they", "he", "she", "these", "those"})


def read_claims(text: str, speaker: str | None) -> list[Claim]:
    """Return the claims of a turn, in order; ``text`` may begin with "speaker: ".

    >>> [claim] = read_claims("I moved to Rome.", "Ann")
    >>> claim.subject, claim.predicate, claim.value, claim.effect
    ('Ann', 'lives in', 'Rome', 'begins')
    >>> read_claims("Did you move to Rome? I might, too.", "Ann")
    []
    """
    found: list[Claim] = []
    carried = False
    for written in _sentences(text, speaker):
        if written.endswith("?"):
            carried = False
            continue
        rest, marked, meant = _opened(_expanded(written.rstrip(".!; \u2026")))
        marked = marked or carried
        carried = marked and not rest
        if rest and not _UNREAL.search(rest):
            found += _claims(rest, speaker, marked, meant, written)
    return found


def plain_sentences(text: str, speaker: str | None) -> Iterator[tuple[str, str]]:
    """Yield the sentences that tell what was so: without their opening words, and as written.

    Questions, conditions, plans, reports of others and negations are left out.
    """
    for written in _sentences(text, speaker):
        rest = _opened(_expanded(written.rstrip(".!; \u2026")))[0]
        if rest and not (written.endswith("?") or _UNREAL.search(rest) or _NOT.search(rest)):
            yield rest, written


def _sentences(text: str, speaker: str | None) -> Iterator[str]:
    said = text.removeprefix(f"{speaker}: ") if speaker is not None else text
    said = _QUOTED.sub(" \u2026 ", said[:LONGEST_TURN].replace("\u2019", "'"))
    sentences = (part.strip() for part in _SENTENCE.split(said))
    return (part for part in sentences if 0 < len(part) <= LONGEST_SENTENCE)


def _expanded(sentence: str) -> str:
    if "'" not in sentence:
        return sentence
    for pattern, full in _CONTRACTIONS:
        sentence = pattern.sub(full, sentence)
    return sentence


def _opened(sentence: str) -> tuple[str, bool, bool]:
    """Return a sentence without what opens it, and whether that corrects, or says "I meant"."""
    marked = meant = False
    while True:
        if filler := _FILLER.match(sentence):
            sentence = sentence[filler.end() :]
        elif marker := _MARKER.match(sentence):
            marked, sentence = True, sentence[marker.end() :]
        elif intended := _MEANT.match(sentence):
            marked = meant = True
            sentence = sentence[intended.end() :]
        else:
            break
    inner = re.sub(r",? \bactually\b,?", "", sentence)
    return inner.strip(), marked or inner != sentence, meant


def _claims(rest: str, speaker: str | None, marked: bool, meant: bool, written: str) -> list[Claim]:
    """Return the claims of one sentence, at most one of each clause."""
    if (both := _NOT_BUT.match(rest)) is not None:
        return [_bare(trimmed(both[2])[0], trimmed(both[1])[0], written)]
    against = None
    if (denial := _DENIAL.search(rest)) is not None:
        against, rest = trimmed(denial[1])[0], rest[: denial.start()]
        bare = trimmed(rest)[0]
        if kinds_of(bare) != {"word"} and not re.search(r" (?:is|are|am|was) ", rest):
            return [_bare(bare, against, written)]
    if meant and kinds_of(value := trimmed(rest)[0]) != {"word"}:
        return [_bare(value, None, written)]
    if _CUES.search(rest) is None:
        return _marked_value(rest, marked, against, written)
    by_now = _BY_NOW.search(rest) is not None
    plain = _ADVERBS.sub("", _ADVERBS.sub("", rest))
    core = trimmed(plain)[0] if plain[:1].islower() or " " in plain else plain
    tries = (core,) if core == plain else (core, plain)
    denies = _NOT.search(plain) is not None
    for form in FORMS:
        for tried in tries:
            match = form.pattern.fullmatch(tried)
            if match is None or (denies and form.effect != "ends"):
                continue
            claim = _read(form, match.groupdict(), speaker, by_now, marked, against, written)
            if claim is not None:
                return [claim]
    return _marked_value(rest, marked, against, written)


def _marked_value(rest: str, marked: bool, against: str | None, written: str) -> list[Claim]:
    """Return the claim of a value that stands alone after words of correction: "Sorry, 11 am."."""
    if not marked:
        return []
    bare = trimmed(rest)[0]
    return [_bare(bare, against, written)] if not kinds_of(bare) & _NO_VALUE_ALONE else []


_NO_VALUE_ALONE = frozenset({"word", "name", "place"})


def _bare(value: str, against: str | None, written: str) -> Claim:
    return Claim(
        subject=None,
        owned=False,
        predicates=(),
        value=value,
        effect="states",
        marked=True,
        against=against,
        sentence=written,
    )


def _read(
    form: Form,
    groups: dict[str, str | None],
    speaker: str | None,
    by_now: bool,
    marked: bool,
    against: str | None,
    written: str,
) -> Claim | None:
    """Return the claim of a sentence of a form, None if a part of it does not fit."""
    subject = subject_of(groups.get("s"), speaker)
    if subject is None:
        return None
    name, owned = subject
    value = groups.get("v") or groups.get("w")
    if value is not None:
        value = trimmed(value)[0]
        if not value or not form.accepts(value):
            return None
    predicates = form.predicates
    if form.predicates_of is not None:
        found = form.predicates_of(groups, value or "")
        if found is None:
            return None
        predicates = (found,)
    if form.split_owner and name is not None and owned and groups.get("p") is None:
        owner, _, attribute = name.rpartition("'s ")
        if not owner or not form.attribute_accepts(attribute, value or ""):
            return None
        if predicates == ("is",):
            name, predicates = owner, (attribute,)
    elif (
        form.split_owner
        and name is not None
        and not owned
        and not form.attribute_accepts(name, value or "")
    ):
        return None
    if name is None and form.effect == "states" and not (marked or against is not None):
        return None
    effect = form.effect
    if effect == "states" and by_now and not marked:
        effect = "begins"
    return Claim(
        subject=name,
        owned=owned,
        predicates=predicates if name is not None or not form.split_owner else (),
        value=value,
        effect=effect,
        marked=marked,
        against=against,
        sentence=written,
    )


_ADJECTIVES = re.compile(r"^(?:new|current|own)\s+")


def subject_of(phrase: str | None, speaker: str | None) -> tuple[str | None, bool] | None:
    """Return the name of a subject, and whether it is owned; None if it cannot be one.

    >>> subject_of("my sister", "Ann"), subject_of("The meeting", "Ann"), subject_of("she", "Ann")
    (("Ann's sister", True), ('meeting', False), (None, False))
    """
    if phrase is None or phrase.lower() in ("i", "we"):
        return None if speaker is None else (speaker, True)
    if phrase.lower() in _BARE_SUBJECTS:
        return None, False
    first, _, rest = phrase.partition(" ")
    rest = _ADJECTIVES.sub("", rest)
    if first.lower() == "my":
        return None if speaker is None or not rest else (f"{speaker}'s {rest}", True)
    if first.lower() in ("the", "our", "this", "that"):
        return (rest, False) if rest else None
    if first.lower() in ("his", "her", "their", "your", "its", "a", "an", "there", "what", "who"):
        return None
    if folded(phrase) in NOT_NAMES:
        return None
    if re.fullmatch(rf"{NAME}(?:'s [\w ]+)?", phrase):
        return phrase, True
    return None
