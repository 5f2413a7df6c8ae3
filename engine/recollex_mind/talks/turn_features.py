"""What is in a turn: how much information, and which parts should not be stored?

MemoTrace ("Write triggers", 2) names recency, question and decision flags, personal slots,
frequency across sessions, temporal specificity and centrality, and gives no formula. The features
here are: names, numbers, a time, first-person words, length, the share of questions, how new the
turn is compared with what is stored, and whether its words state an event. The word lists are
English; in another language a turn has names, numbers and novelty only.

Which parts of a text should not be stored, or not for long? Rules find them, without a model.
There are five kinds: `secret` (passwords, PINs, keys, tokens, US social security numbers), `card`
(payment cards and IBANs, by their check digits), `email`, `phone`, `address` (an English street and
number). A rule finds a form, not a meaning: it finds neither a password that is only hinted at nor
a number written in words.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from recollex_engine.dates.time_range import find_event_range
from recollex_engine.text.names import find_names, fold_name
from recollex_engine.text.word_lists import NOT_NAMES, STOP_WORDS

EVENTS = ("correction", "update", "decision", "preference", "identity", "schedule")
"""The kinds of event that a turn may state (MemoTrace, "Write triggers", 1): knowledge update and
correction, commitments and decisions, long-term preferences, changes of identity and of
schedule."""

_ME = r"(?:i|we)"
_STATING = {
    "correction": re.compile(
        r"\b(?:actually|correction|i meant|i mean|i was wrong|that was wrong|that's wrong"
        r"|i misspoke|my mistake|scratch that|not true|turns out|rather than|no longer|not anymore"
        r"|any ?more|changed (?:my|our|her|his|their) mind|instead of|used to)\b"
    ),
    "update": re.compile(
        r"\b(?:moved (?:to|in|out|back|from)|moving to|switched to|changed (?:jobs?|to|my|our)"
        r"|started (?:at|as|a|my|working|studying|learning)|joined|quit|left (?:my|the|our)"
        r"|got (?:a new|promoted|married|engaged|divorced|hired|fired|accepted|into)|was promoted"
        r"|gave birth|was born|passed away|died|broke up|retired|graduated|adopted|bought|sold"
        r"|now (?:live|work|own|have)|just (?:finished|moved|started|bought|got)"
        r"|(?:new|first) (?:job|house|home|apartment|car|puppy|dog|cat|baby|phone|address))\b"
    ),
    "decision": re.compile(
        r"\b(?:decided|promise[ds]?|agreed to|committed to|signed up|applied (?:for|to)|booked"
        rf"|enrolled|{_ME}(?:'m|'re| am| are) (?:going to|planning)|{_ME} plan(?:ned)? to)\b"
    ),
    "preference": re.compile(
        rf"\b{_ME} (?:really |absolutely |always |just )?(?:love|hate|prefer|adore|dislike|enjoy"
        r"|can't stand|cannot stand|never (?:eat|drink)|don't (?:eat|drink|like))\b"
        r"|\b(?:favou?rite|allergic to|vegetarian|vegan|big fan of)\b"
    ),
    "identity": re.compile(
        r"\bmy (?:\w+ )?(?:name|birthday|wife|husband|partner|girlfriend|boyfriend|son|daughter"
        r"|mother|mom|mum|father|dad|brother|sister|job|boss|hometown|degree|major|religion) "
        r"(?:is|was|works?|lives?)\b|\bcall me\b"
        rf"|\b{_ME}(?:'m| am) (?:a|an|from|married|single|divorced|pregnant|\d\d)\b"
        rf"|\b{_ME} (?:live|work|study|grew up|come) (?:in|at|for|as|from)\b"
    ),
    "schedule": re.compile(
        r"\b(?:appointment|deadline|flight|reservation|rescheduled|postponed|cancell?ed|due on"
        r"|interview on|meeting (?:on|at|is)|moved the \w+ to|starts? (?:on|at)"
        r"|(?:every|each) (?:day|morning|evening|night|week|month|year|(?:mon|tues|wednes|thurs|fri"
        r"|satur|sun)day))\b"
    ),
}
_SENTENCE = re.compile(r"[^.?!\n]+[.?!\n]*")
_PERSONAL = re.compile(r"\b(?:i|i'm|i've|i'd|i'll|my|mine|we|we're|we've|we'd|we'll|our|ours)\b")
_NUMBER = re.compile(
    r"\d+|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty"
    r"|hundred|thousand|million|dozen|twice|half)\b"
)
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")


@dataclass(frozen=True, slots=True)
class Features:
    """The features of one turn.

    names: number of names in it, without the speaker's. numbers: number of figures and number
    words. dated: whether it names a time that can be parsed. personal: whether the speaker speaks
    of themselves. asking: the share of its sentences that are questions. words: number of words
    that are neither stop words nor interjections. events: the kinds of event that it states, in the
    order of `EVENTS`.
    """

    names: int
    numbers: int
    dated: bool
    personal: bool
    asking: float
    words: int
    events: tuple[str, ...]


class SalienceWeights(NamedTuple):
    """The weight of each feature in `salience`; the weights need not add up to 1."""

    names: float
    numbers: float
    dated: float
    personal: float
    words: float


NAMES_ENOUGH = 3
NUMBERS_ENOUGH = 1
WORDS_ENOUGH = 20
"""The counts at which names, numbers and words reach their full weight. With the weights of a
default `WritePolicy`, a turn that is evidence for an answer of LoCoMo has a higher salience than a
turn that is not with probability 0.80 (conversations 1 to 5, on which they were chosen) and 0.82 (6
to 10); by length alone, 0.74 and 0.76.
"""


def read_features(text: str, speaker: str | None, said_at: int) -> Features:
    """Return the features of a turn; ``text`` may begin with "speaker: ". Cost: about 60 us.

    >>> read_features("Ann: Actually, I moved to Oslo in May 2023.", "Ann", 0)
    Features(names=1, numbers=1, dated=True, personal=True, asking=0.0, words=4, \
events=('correction', 'update'))
    >>> read_features("Ben: Where to?", "Ben", 0).asking
    1.0
    """
    said = text.removeprefix(f"{speaker}: ") if speaker is not None else text
    folded = said.lower().replace("\u2019", "'")
    sentences = [part for part in _SENTENCE.findall(folded) if _WORD.search(part)]
    stated = " ".join(part for part in sentences if not part.rstrip().endswith("?"))
    own = fold_name(speaker) if speaker is not None else None
    content = (word for word in _WORD.findall(folded) if word not in STOP_WORDS)
    return Features(
        sum(fold_name(name) != own for name in find_names(said)),
        len(_NUMBER.findall(folded)),
        find_event_range(said, said_at) is not None,
        _PERSONAL.search(folded) is not None,
        sum(part.rstrip().endswith("?") for part in sentences) / max(1, len(sentences)),
        sum(word not in NOT_NAMES for word in content),
        tuple(kind for kind in EVENTS if _STATING[kind].search(stated)),
    )


def salience(
    features: Features,
    novelty: float,
    weights: SalienceWeights,
    novelty_share: float,
    question_factor: float,
) -> float:
    """Return how much information a turn has, in [0, 1].

    ::

        content = min(1, sum of weight * min(1, part / enough))
        salience = content * (1 - novelty_share * (1 - novelty))
                           * (1 - (1 - question_factor) * asking)

    novelty: 1 - the greatest cosine to a stored text, at least 0. So a repetition and a question
    are worth less than their content, and neither adds worth.
    """
    content = min(
        1.0,
        weights.names * min(1.0, features.names / NAMES_ENOUGH)
        + weights.numbers * min(1.0, features.numbers / NUMBERS_ENOUGH)
        + weights.dated * features.dated
        + weights.personal * features.personal
        + weights.words * min(1.0, features.words / WORDS_ENOUGH),
    )
    new = 1.0 - novelty_share * (1.0 - novelty)
    return content * new * (1.0 - (1.0 - question_factor) * features.asking)


KINDS = ("secret", "card", "email", "phone", "address")
"""If two slots overlap, the kind that stands first here is found."""

_KEY_BEGINS = re.compile(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----")
_KEY_ENDS = re.compile(r"-----END [A-Z ]{0,40}KEY-----")
_LONGEST_KEY = 8_000
_SECRETS = (
    re.compile(
        r"(?<!\w)(?:sk-[\w-]{16,200}|gh[opsu]_\w{20,200}|xox[abpr]-[\w-]{10,200}|AKIA[0-9A-Z]{16}"
        r"|eyJ(?:(?!-eyJ)[\w-]){8,2000}+\.[\w-]{8,4000}+\.[\w-]{8,2000})"
    ),
    re.compile(r"(?<![\w-])\d{3}-\d{2}-\d{4}(?![\w-])"),
)
_PASSWORD = re.compile(
    r"\b(?:password|passcode|passphrase|pass word|pin(?: code| number)?|login code)\b"
    r"(?: (?:for|to|of|at) (?:\w+ ){0,3}?\w+)?(?: is now| is| was| ?[:=])\s*[\"'“]?"
    r"([^\s\"'”,;]{3,200})",
    re.IGNORECASE,
)
_KEY = re.compile(
    r"\b(?:api[ _-]?key|access[ _-]?key|secret(?: key)?|token)\b"
    r"(?: (?:for|to|of) (?:\w+ ){0,3}?\w+)?(?: is now| is| was| ?[:=])\s*[\"'“]?"
    r"([^\s\"'”,;]{6,200})",
    re.IGNORECASE,
)
_NO_PASSWORDS = """
not the too very wrong right correct incorrect weak strong safe secure important missing required
needed expired changed different same still never always being there that this easy hard long short
"""
_NO_PASSWORD = frozenset(_NO_PASSWORDS.split())
_DIGITS = re.compile(r"(?<![\w.+-])\d(?:[ -]?\d){12,18}(?![\w-])")
_IBAN = re.compile(r"(?<!\w)[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?!\w)")
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?!\w)")
_PHONE = re.compile(
    r"(?<![\w.+/:-])(?:\+\d{1,3}[ .-]?)?(?:\(\d{1,5}\)[ .-]?)?"
    r"\d{1,5}(?:[ .-]\d{2,5}){1,5}(?![\w/:-])"
    r"|(?<![\w.+/:-])\+\d{8,15}(?!\w)"
)
_RUN_OF_DIGITS = re.compile(
    r"\b(?:phone|call|text|number|mobile|cell|tel|whatsapp)\b\D{0,20}?(\d{7,15})(?![\w-])",
    re.IGNORECASE,
)
_DATE_OR_YEARS = re.compile(
    r"(?:19|20)\d\d[-. ](?:0?[1-9]|1[0-2])[-. ](?:0?[1-9]|[12]\d|3[01])(?!\d)"
    r"|(?:(?:1[5-9]|20)\d\d[ .-]?)+$"
)
_ADDRESS = re.compile(
    r"(?<![\w.,/-])\d{1,5}[A-Za-z]?,? (?:(?:[NSEW]|North|South|East|West)\.? )?"
    r"(?:[A-Z0-9][\w'\u2019.-]{0,30} ){1,4}?"
    r"(?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Boulevard|Blvd|Drive|Dr|Court|Ct|Place|Pl|Square|Sq"
    r"|Way|Terrace|Crescent|Close|Gardens|Mews|Highway|Hwy|Parkway|Pkwy)\b\.?"
    r"(?:,? (?:Apartment|Apt|Suite|Unit|Flat|No|#)\.? ?\w{1,6})?"
    r"|\bP\.? ?O\.? Box \d{1,8}"
)  # fmt: skip


class Slot(NamedTuple):
    """A sensitive part of a text: its kind, and [start, end) in characters."""

    kind: str
    start: int
    end: int


def find_slots(text: str) -> list[Slot]:
    """Return the sensitive parts of ``text``, in order and without overlap.

    Never raises on any text. Cost: a few regular expressions, about 15 us for 25 words.

    >>> find_slots("My card is 4111 1111 1111 1111, mail ann@example.org.")
    [Slot(kind='card', start=11, end=30), Slot(kind='email', start=37, end=52)]
    >>> find_slots("In 2019 she paid 4,500 for 3 of them.")
    []
    """
    found: list[Slot] = []
    taken = bytearray(len(text))  # 1 for each character of a slot
    for slot in _candidates(text):
        if not any(taken[slot.start : slot.end]):
            found.append(slot)
            taken[slot.start : slot.end] = b"\1" * (slot.end - slot.start)
    return sorted(found, key=lambda slot: slot.start)


def masked(text: str, slots: Sequence[Slot]) -> str:
    """Return ``text`` with each of ``slots`` (in order, without overlap) replaced by its kind.

    >>> masked("Mail ann@example.org today.", find_slots("Mail ann@example.org today."))
    'Mail [email] today.'
    """
    parts = []
    end = 0
    for slot in slots:
        parts += [text[end : slot.start], f"[{slot.kind}]"]
        end = slot.end
    return "".join([*parts, text[end:]])


def passes_luhn(digits: str) -> bool:
    """Return whether a number's check digit, the last, is right (ISO/IEC 7812-1, annex B).

    >>> passes_luhn("4111111111111111"), passes_luhn("4111111111111112")
    (True, False)
    """
    doubled = (int(digit) * 2 for digit in digits[-2::-2])
    total = sum(map(int, digits[-1::-2])) + sum(two - 9 if two > 9 else two for two in doubled)
    return total % 10 == 0


def passes_iban(written: str) -> bool:
    """Return whether an IBAN's check digits are right: the number modulo 97 is 1 (ISO 13616).

    >>> passes_iban("GB82 WEST 1234 5698 7654 32")
    True
    """
    plain = written.replace(" ", "")
    moved = plain[4:] + plain[:4]
    return 15 <= len(plain) <= 34 and int("".join(str(int(sign, 36)) for sign in moved)) % 97 == 1


def _candidates(text: str) -> Iterator[Slot]:
    """Yield the parts that look sensitive, kind by kind; they may overlap."""
    if "@" in text or any(sign.isdigit() for sign in text) or "KEY" in text:
        yield from _private_keys(text)
        for pattern in _SECRETS:
            yield from (Slot("secret", *match.span()) for match in pattern.finditer(text))
    for match in _PASSWORD.finditer(text):
        if match[1].rstrip(".!?").lower() not in _NO_PASSWORD:
            yield Slot("secret", match.start(1), match.start(1) + len(match[1].rstrip(".!?")))
    for match in _KEY.finditer(text):
        if any(sign.isdigit() for sign in match[1]):
            yield Slot("secret", match.start(1), match.start(1) + len(match[1].rstrip(".!?")))
    for match in _IBAN.finditer(text):
        if passes_iban(match[0]):
            yield Slot("card", *match.span())
    for match in _DIGITS.finditer(text):
        digits = re.sub("[ -]", "", match[0])
        if digits.isascii() and passes_luhn(digits) and len(set(digits)) > 1:
            yield Slot("card", *match.span())
    if "@" in text:
        yield from (Slot("email", *match.span()) for match in _EMAIL.finditer(text))
    for match in _PHONE.finditer(text):
        if _is_phone(match[0]):
            yield Slot("phone", *match.span())
    for match in _RUN_OF_DIGITS.finditer(text):
        yield Slot("phone", *match.span(1))
    yield from (Slot("address", *match.span()) for match in _ADDRESS.finditer(text))


def _private_keys(text: str) -> Iterator[Slot]:
    """Yield the private keys, each up to the first end after its beginning."""
    end = None
    after = 0
    for begin in _KEY_BEGINS.finditer(text):
        if begin.start() < after:
            continue
        if end is None or end.start() < begin.end():
            end = _KEY_ENDS.search(text, begin.end())
        if end is None:
            return
        if end.start() - begin.end() <= _LONGEST_KEY:
            after = end.end()
            yield Slot("secret", begin.start(), after)


def _is_phone(written: str) -> bool:
    """Return whether groups of digits are as long as a phone number, and no date or IP address."""
    digits = sum(sign.isdigit() for sign in written)
    if not (8 if written[0] == "+" else 9) <= digits <= 15 or _DATE_OR_YEARS.match(written):
        # seven digits are a local number only in the form of 555-0199
        return re.fullmatch(r"\d{3}-\d{4}", written) is not None
    groups = written.split(".")
    return not (len(groups) == 4 and all(g.isdigit() and int(g) < 256 for g in groups))
