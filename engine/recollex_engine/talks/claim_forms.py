"""The forms of sentences that claim something: patterns, and the predicates that they claim."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from recollex_engine.talks.claim_values import NAME, VALUE, kinds_of

PARTNER = ("married to", "engaged to", "dating")
PARTNERS = (*PARTNER, "wife", "husband", "partner", "girlfriend", "boyfriend", "fianc\u00e9e")
HELD = ("owns", "drives", "has")
MANY = frozenset({"is", "owns", "has"})
"""The predicates of claims that may have several values at once: another value corrects none."""
WHEN = ("is on", "is at", "is due", "starts at", "leaves at", "opens at", "closes at", "ends at")

_OCCUPATION = re.compile(
    r"(?:[\w-]+ ){0,2}(?:\w+(?:eer|ician|ologist|grapher|keeper|maker|worker|ist|ctor|tor|cher"
    r"|ncipal)|nurse|lawyer|driver|baker|cook|chef|student|waiter|waitress|doctor|painter|writer"
    r"|programmer|developer|designer|manager|officer|singer|dancer|farmer|plumber|carpenter|soldier"
    r"|pilot|judge|clerk|assistant|accountant|consultant|architect|dentist|librarian|barista|nanny"
    r"|teacher|lecturer|researcher|trainer|coach|police officer|firefighter|mechanic|surgeon|vet)"
)
_NO_OCCUPATION = frozenset({"tourist", "realist", "optimist", "pessimist", "factor", "actor's"})
_TRAIT = re.compile(
    r"vegetarian|vegan|pescatarian|single|retired|pregnant|unemployed|diabetic|left-handed|divorced"
    r"|allergic to [\w ]+|widowed|teetotal|lactose intolerant|coeliac"
)
_WORDY = re.compile(
    r"(?:favou?rite [\w ]+|[\w ]*colou?r|[\w ]*hobby|major|job|profession|nickname|[\w ]*hint"
    r"|diet|religion|instrument|motto|star sign|blood type|middle name|username)",
    re.IGNORECASE,
)
"""Attributes whose value may be a common word: "my boss is late" tells of no attribute."""


def is_occupation(value: str) -> bool:
    """Return whether a value names an occupation.

    >>> is_occupation("school principal"), is_occupation("mother")
    (True, False)
    """
    return _OCCUPATION.fullmatch(value) is not None and value not in _NO_OCCUPATION


def _any(value: str) -> bool:
    return len(value.split()) <= 6


def _of(*kinds: str) -> Callable[[str], bool]:
    return lambda value: not kinds_of(value).isdisjoint(kinds)


def _employer(value: str) -> bool:
    if len(value.split()) > 5 or re.match(r"(?:home|night|least|all|me|it|us|myself|now)\b", value):
        return False
    return "name" in kinds_of(value) or kinds_of(value) == {"word"}


def _attribute(attribute: str, value: str) -> bool:
    return kinds_of(value) != {"word"} or _WORDY.fullmatch(attribute) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """One form of sentences.

    pattern: its groups are s (the subject), v (the value), and others for ``predicates_of``.
    effect: see `claims.Effect`. accepts: whether a value fits. predicates_of: returns the predicate
    of groups and value, None if the form does not fit. split_owner: "Ann's boss is Carla" claims
    the boss of Ann.
    """

    pattern: re.Pattern[str]
    effect: Literal["states", "begins", "ends"]
    predicates: tuple[str, ...] = ()
    accepts: Callable[[str], bool] = _any
    predicates_of: Callable[[dict[str, str | None], str], str | None] | None = None
    split_owner: bool = False
    attribute_accepts: Callable[[str, str], bool] = _attribute


_I = r"(?P<s>I|[Ww]e)"
_PERSON = rf"(?P<s>I|[Ww]e|[Hh]e|[Ss]he|[Tt]hey|[Mm]y [\w'-]+(?: [\w'-]+)?|{NAME})"
_THING = r"(?P<s>(?:[Mm]y|[Oo]ur|[Tt]he|[Tt]his|[Tt]hat) [\w'&-]+(?: [\w'&-]+){0,6}?)"
_PRONOUN_OR_THING = (
    r"(?P<s>[Ii]t|[Tt]hat|[Tt]his|[Tt]hey|[Hh]e|[Ss]he"
    rf"|(?:[Mm]y|[Oo]ur|[Tt]he|[Tt]his|[Tt]hat) [\w'&-]+(?: [\w'&-]+){{0,6}}?|{NAME}'s [\w -]+?)"
)
_V = rf"(?P<v>{VALUE})"
_ENDED = r"(?:was|were|is|are|has been|have been|got|am|had to be)"
_MORE = r"(?: any ?more| any longer)?"
_PARTED = r"(?:broke up|got divorced|are divorced|split up|separated|divorced|got separated)"


def _is_day(groups: dict[str, str | None], value: str) -> str | None:
    """Return the predicate of "X is [preposition] value"."""
    kinds, preposition = kinds_of(value), groups.get("p")
    if "day" in kinds:
        return "is on"
    if preposition == "at" and "clock" in kinds:
        return "is at"
    if preposition in ("on", "at", "in", "from"):
        return f"is {preposition}" if not kinds.isdisjoint({"name", "room", "code"}) else None
    return "is"


def _habit(groups: dict[str, str | None], value: str) -> str | None:
    words = str(groups["a"]).split()
    return None if words[0] in ("am", "is", "was", "do", "does") else f"{' '.join(words)} on"


def _worked(groups: dict[str, str | None], value: str) -> str | None:
    if _TRAIT.fullmatch(value):
        return "is"
    return "works as" if groups["a"] is not None and is_occupation(value) else None


def _verb(groups: dict[str, str | None], value: str) -> str | None:
    verb = str(groups["a"])
    return {"costs": "costs", "cost": "costs"}.get(verb, f"{_S.sub('', verb)}s at")


_S = re.compile(r"s$")


def _form(pattern: str, effect: Literal["states", "begins", "ends"], *predicates: str) -> Form:
    return Form(pattern=re.compile(pattern), effect=effect, predicates=predicates)


def _fitting(
    pattern: str,
    effect: Literal["states", "begins", "ends"],
    accepts: Callable[[str], bool],
    *predicates: str,
) -> Form:
    return Form(pattern=re.compile(pattern), effect=effect, predicates=predicates, accepts=accepts)


_NAMED = _of("name")
_TIMED = _of("day", "clock")
_HAVE = r"(?: have| has)?"

FORMS = (
    # what is over
    _form(rf"{_PERSON} (?:no longer lives?|do(?:es)? not live) in {_V}{_MORE}", "ends", "lives in"),
    _form(rf"{_PERSON} moved (?:away from|out of) {_V}", "ends", "lives in"),
    _form(
        rf"{_PERSON} (?:no longer works?|do(?:es)? not work|stopped working) as {_V}{_MORE}",
        "ends",
        "works as",
        "is",
    ),
    _form(
        rf"{_PERSON} (?:no longer works?|do(?:es)? not work|stopped working) (?:at|for) {_V}"
        rf"{_MORE}",
        "ends",
        "works at",
    ),
    _form(
        rf"{_PERSON}{_HAVE} (?:quit(?: (?:my|his|her|the) job at)?|resigned from"
        rf"|(?:was|got|were) (?:laid off|fired|let go) (?:from|by)) {_V}",
        "ends",
        "works at",
    ),
    _form(
        rf"{_PERSON}{_HAVE} (?:quit (?:my|his|her) job|resigned|lost (?:my|his|her) job"
        r"|(?:was|got) (?:laid off|fired))",
        "ends",
        "works at",
    ),
    _form(
        rf"{_PERSON}{_HAVE} (?:graduated from|dropped out of|finished at) {_V}",
        "ends",
        "studies at",
    ),
    _fitting(rf"{_PERSON}{_HAVE} left {_V}", "ends", _NAMED, "works at", "studies at", "lives in"),
    _form(
        rf"{_PERSON} (?:am|is|are) (?:no longer {_V}|not (?P<w>{VALUE}?) (?:any ?more|any longer))",
        "ends",
        "is",
        "works as",
    ),
    _form(
        rf"{_PERSON}{_HAVE} (?:sold|gave away|crashed|returned|scrapped) (?:my|our|the) {_V}",
        "ends",
        *HELD,
    ),
    _form(rf"(?P<v>{NAME}) and (?P<s>I) {_PARTED}", "ends", *PARTNERS),
    _form(rf"{_I} (?:broke up with|divorced|left|split up with) {_V}", "ends", *PARTNERS),
    _form(rf"{_I} (?:got divorced|am divorced|am single again|got a divorce)", "ends", *PARTNERS),
    _form(
        rf"{_THING} {_ENDED} (?:cancell?ed|called off|scrapped)", "ends", *WHEN, "is in", "is from"
    ),
    # what begins
    _fitting(
        rf"{_PERSON}{_HAVE} (?:moved|relocated)(?: back| over)?(?: from {NAME})? to {_V}",
        "begins",
        _NAMED,
        "lives in",
    ),
    _fitting(
        rf"{_PERSON}{_HAVE} (?:joined|started(?: working| work| a new job| a job)? (?:at|for|with)"
        rf"|(?:was|got|were) hired by|got a (?:new )?job (?:at|with)|switched to) {_V}",
        "begins",
        _NAMED,
        "works at",
    ),
    _fitting(
        rf"{_PERSON}{_HAVE} (?:became|(?:was|got) promoted to) {_V}",
        "begins",
        is_occupation,
        "works as",
    ),
    _fitting(
        rf"{_PERSON}{_HAVE} (?:transferred to|enrolled at|started at) {_V}",
        "begins",
        _NAMED,
        "studies at",
    ),
    _fitting(rf"{_PERSON}{_HAVE} (?:got married to|married) {_V}", "begins", _NAMED, "married to"),
    _fitting(
        rf"{_THING} {_ENDED} (?:moved|postponed|rescheduled|pushed(?: back)?|delayed|shifted"
        rf"|brought forward|put off|changed) (?:to|until) {_V}",
        "begins",
        _TIMED,
        *WHEN,
    ),
    _fitting(
        r"(?:[Tt]hey|[Ww]e|I)(?: have| had to| decided to)? (?:moved?|postponed?|rescheduled?"
        r"|pushe?d?|delay(?:ed)?|shift(?:ed)?|put off|brought forward)(?: back)? "
        rf"(?P<s>(?:the|my|our) [\w' -]+?) (?:to|until) {_V}",
        "begins",
        _TIMED,
        *WHEN,
    ),
    _fitting(
        rf"{_THING}{_HAVE} (?:went (?:up|down)|rose|increased|dropped|fell|(?:was|were|got)"
        rf" (?:raised|lowered|increased|reduced|cut)) to {_V}",
        "begins",
        _of("money", "number"),
        "is",
        "costs",
    ),
    # what is so
    _fitting(
        rf"{_PERSON} (?:lives? in|(?:am|is|are) (?:living|based) in|(?:have|has) been living in"
        rf"|(?:have|has) lived in(?=.* since )) {_V}",
        "states",
        _NAMED,
        "lives in",
    ),
    _fitting(
        rf"{_PERSON} (?:works? (?:at|for)|(?:am|is|are|have been|has been) working (?:at|for)"
        rf"|(?:have|has) worked (?:at|for)(?=.* since )) {_V}",
        "states",
        _employer,
        "works at",
    ),
    _form(rf"{_PERSON} works? as {_V}", "states", "works as"),
    _fitting(
        rf"{_PERSON} (?:stud(?:y|ies)|(?:am|is) studying) at {_V}", "states", _NAMED, "studies at"
    ),
    *(_fitting(rf"{_PERSON} (?:am|is) {words} {_V}", "states", _NAMED, words) for words in PARTNER),
    _fitting(
        rf"{_PERSON} (?:was|were) born in {_V}",
        "states",
        _of("name", "number", "clock", "day"),
        "born in",
    ),
    _form(rf"{_PERSON} drives? (?:a|an|my) {_V}", "states", "drives"),
    _form(rf"{_PERSON} owns? (?:a|an|the) {_V}", "states", "owns"),
    _fitting(
        r"(?P<s>I|[Hh]e|[Ss]he|[Mm]y [\w'-]+(?: [\w'-]+)?) (?:am|is) (?P<v>\d{1,3})(?: years old)?",
        "states",
        _any,
        "age",
    ),
    _fitting(
        rf"{_PERSON} (?:(?:am|is) called|goes by|(?:am|is) named) {_V}", "states", _NAMED, "name"
    ),
    Form(
        pattern=re.compile(rf"{_PERSON} (?:am|is) (?P<a>an? )?{_V}"),
        effect="states",
        predicates_of=_worked,
    ),
    Form(
        pattern=re.compile(
            r"(?P<s>I|[Ww]e|[Mm]y \w+) (?P<a>[a-z]+(?: [a-z]+){0,4}?) on "
            r"(?P<v>(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days)"
        ),
        effect="states",
        predicates_of=_habit,
    ),
    Form(
        pattern=re.compile(
            rf"{_PRONOUN_OR_THING} (?P<a>costs?|starts?|leaves?|opens?|begins?|closes?|departs?"
            rf"|arrives?|ends?)(?: at| on)? {_V}"
        ),
        effect="states",
        accepts=_of("day", "clock", "money"),
        predicates_of=_verb,
    ),
    _fitting(
        rf"{_PRONOUN_OR_THING} (?:is|are) due(?: on| by| at)? {_V}", "states", _TIMED, "is due"
    ),
    Form(
        pattern=re.compile(rf"{_PRONOUN_OR_THING} (?:is|are)(?: (?P<p>on|at|in|from))? {_V}"),
        effect="states",
        predicates_of=_is_day,
        split_owner=True,
    ),
)
