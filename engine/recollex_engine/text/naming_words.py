"""Which words of a question may name a person? The capital and the place in a sentence tell.

"When will the bakery open?" does not ask about Will, "in May" not about May, "a bakery" not about
a speaker "A". A word that is no ordinary English word counts in any case ("what did caroline
say"). An ordinary word counts

- inside a sentence if it has a capital ("What did Will say?"), except a month or weekday that
  is read as a date ("in May"), and a letter after a noun ("vitamin A");
- at the start of a sentence, where every word has a capital, if what follows it fits only a name:
  a comma, an 's, or a verb such as "said" ("Will, where is it?", "May said what?");
- never in a text that is all capitals or has a capital on each word.

The role of a chat's speaker ("user", "assistant", "tool") also counts in lower case where a person
stands: "What does the user like?", "the user's sister", not "the user interface" or "my travel
agent".
"""

import re

from recollex_engine.text.names import starts_sentence
from recollex_engine.text.word_lists import CALENDAR, COMMON_WORDS, NOT_NAMES, STOP_WORDS

_FIRST_NAMES = """
amber angel autumn basil bill bud chase cliff crystal dale dawn dean destiny drew eve fern flora
forest frank gale gay ginger grace grant hazel heather herb holly hunter iris ivy jade jasmine jay
jean lance laurel lily mac mark mason max merry mercy miles misty norm olive opal page pat pearl
penny pierce poppy prince prudence ray reed rob robin rod roman rose ruby rusty sage sandy scout
skip sonny star sterling storm sue sunny tanner trace tucker van violet ward warren will willow
"""
_PEOPLE = """
brother dad daddy doctor father friend grandma grandpa husband ma mama mom mommy mother mum mummy
papa parent sis sister teacher uncle wife
"""
ROLES = frozenset(("agent", "ai", "assistant", "bot", "tool", "user"))
"""Words for roles that are no `COMMON_WORDS`."""
ORDINARY = (
    COMMON_WORDS | NOT_NAMES | STOP_WORDS | CALENDAR | ROLES | frozenset(_FIRST_NAMES.split())
) - frozenset(_PEOPLE.split())
"""Words, in lower case, that name a person only where their capital says so."""

_NEVER_NAMES = """
ah alright am and are as but can could did do does for had has have hello hey hi how i if is it just
let my no now of ok okay or please right should so thank thanks that the they this was we were what
when where which who whom whose why would yeah yes you your
"""
_JUDGED = frozenset(word.capitalize() for word in ORDINARY - frozenset(_NEVER_NAMES.split()))
_CAPITALISED = re.compile(r"[A-Z](?<![\w-].)[a-z]*(?![\w-])").findall
_WITHIN_WORD = re.compile(r"[\w-]").match
_WORDS = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
_SMALL_IN_TITLES = frozenset(
    ("a", "an", "and", "at", "by", "for", "from", "in", "of", "on", "or", "the", "to", "with")
)
_LONG_SMALL_WORD = re.compile(r"\b[a-z]{5}").search
_TITLE = 4
"""Number of words from which a text may be a title."""
_BEFORE = 24
"""Number of characters before a word that are read."""
_SAID = (
    r"\s+(?:said|says|told|tells|asked|asks|thinks|thought|wants|wanted|likes|liked|loves|loved"
    r"|went|goes|came|comes|got|gets|made|took|gave|gives|felt|knows|knew|mentioned|bought|moved"
    r"|left|met|saw|wrote|spoke|lives|lived|worked)\b"
)
_AFTER_NAME = re.compile(
    rf"{_SAID}|['\u2019]s\b|\s*[,?!.]|\s+(?:and|or|&)\s+[A-Z]"
    r"|\s+(?:is|was|has|had|did|does|isn't|wasn't|hasn't|hadn't|didn't|doesn't)\b"
).match
_ROLE_AS_PERSON = re.compile(
    # after an auxiliary: "did the agent say", "does user like"
    r"\b(?:(?:did|do|does|has|have|had|is|are|was|were|will|would|should|can|could)\s+the\s+"
    rf"(?P<role>{'|'.join(sorted(ROLES))})"
    r"|(?:did|does|has|had)\s+(?P<bare>assistant|user))\s+(?=[a-z])"
    r"(?!(?:access|accounts?|base|calls?|data|experience|feedback|groups?|guides?|ids?|inputs?"
    r"|interactions?|interfaces?|journey|lists?|logins?|management|manual|menu|names?|outputs?"
    r"|preferences?|profiles?|ratings?|records?|reviews?|settings?|stories|story|tables?)\b)"
    # before a verb or 's: "the user said", "user's sister"
    rf"|(?:\A|\bthe\s+)(?P<subject>assistant|bot|user)(?:['\u2019]s\b|{_SAID}"
    r"|\s+(?:is|was|has|had)\b)"
).finditer
_AFTER_MONTHLY_NAME = re.compile(rf"{_SAID}|,\s+[a-z]").match
_SAYING = re.compile(_SAID).match
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|[a-z]day)"
)
_BEFORE_DATE = re.compile(
    r"(?:\b(?:in|of|since|until|till|by|during|last|next|this|each|every|early|late|mid|through"
    rf"|from|between|before|after|on|for|around)|\d(?:st|nd|rd|th)?|{_MONTH},?"
    rf"(?:\s+(?:and|or|to|through|until))?|[-\u2013])\s*\Z",
    re.IGNORECASE,
).search
_AFTER_MONTH = re.compile(r"[\s,]*(?:the\s+)?['\u2019]?\d|\s*[-\u2013]").match
_LAST_WORD = re.compile(rf"([^\W\d_]{{1,{_BEFORE}}})\s{{1,{_BEFORE}}}\Z").search
_BEFORE_LETTER = frozenset(("person", "speaker", "user", "participant"))
_HONORIFICS = ("Mr. ", "Mrs. ", "Ms. ", "Dr. ", "Prof. ")


def naming_words(text: str, words: set[str]) -> frozenset[str]:
    """Return those of ``words`` that may be the name of a person in ``text``.

    words: the words of the text in lower case, without 's. Cost: about 2 us.

    >>> sorted(naming_words("When will Grace see may?", {"when", "will", "grace", "see", "may"}))
    ['grace']
    """
    found = words - ORDINARY
    if not ROLES.isdisjoint(words):
        roles = _ROLE_AS_PERSON(text.lower())
        found.update(match[match.lastgroup or 0] for match in roles)
    judged = _JUDGED.intersection(_CAPITALISED(text))
    named = [word.lower() for word in judged if _is_named(text, word)]
    if named and _has_case(text):
        found.update(named)
    return frozenset(found)


def _is_named(text: str, capital: str) -> bool:
    """Return whether an ordinary word with a capital stands somewhere in ``text`` as a name."""
    small = capital.lower()
    start = text.find(capital)
    while start >= 0:
        end = start + len(capital)
        if not (_WITHIN_WORD(text, end) or (start and _WITHIN_WORD(text, start - 1))):
            if not starts_sentence(text, start) or text.endswith(_HONORIFICS, 0, start):
                named = _is_name_inside(text, start, end, small)
            else:
                fits = _AFTER_MONTHLY_NAME if small in CALENDAR else _AFTER_NAME
                named = fits(text, end) is not None
            if named:
                return True
        start = text.find(capital, end)
    return False


def _is_name_inside(text: str, start: int, end: int, small: str) -> bool:
    """Return whether an ordinary word with a capital inside a sentence is a name."""
    if small in CALENDAR and _SAYING(text, end) is None:
        return (
            _AFTER_MONTH(text, end) is None
            and _BEFORE_DATE(text, max(0, start - _BEFORE), start) is None
        )
    if len(small) == 1:
        before = _LAST_WORD(text, max(0, start - _BEFORE), start)
        word = before[1].lower() if before else ""
        return not word or word in STOP_WORDS or word in NOT_NAMES or word in _BEFORE_LETTER
    return True


def _has_case(text: str) -> bool:
    """Return whether capitals tell names: not in a text of capitals, or with one on each word."""
    if _LONG_SMALL_WORD(text):
        return True
    words = _WORDS.findall(text)
    if len(words) < _TITLE:
        return True
    return any(word[0].islower() and word not in _SMALL_IN_TITLES for word in words)
