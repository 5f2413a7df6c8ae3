"""Which temporal category has a question? By rule, after REMem's Table 17.

The paper lets GPT-4.1-mini sort LoCoMo's questions. A rule sorts by the question's words alone: it
sees that a question names a time or an order, not that an event is meant without either.
"""

import re

from recollex_engine.dates.time_range import find_range

CATEGORIES = (
    "Existence Check",
    "Event Timing",
    "Event Attributes",
    "Order",
    "Duration",
    "Aggregation",
    "Non-temporal",
)
PRINTED_COUNTS = {  # REMem, Table 17: of LoCoMo's 1,986 questions
    "Existence Check": 14,
    "Event Timing": 298,
    "Event Attributes": 302,
    "Order": 22,
    "Duration": 44,
    "Aggregation": 30,
    "Other": 6,
    "Non-temporal": 1270,
}

_NOW = 1_735_689_600_000_000  # 2025: a question's own words say whether it names a time
_UNITS = r"(?:hour|day|night|week|month|year)s?"
_TIMING = re.compile(
    rf"^(?:(?:in|on|at|by|since|until) )?(?:when|what time|(?:which|what) {_UNITS}|what date"
    r"|which date|what day)\b|\bwhat (?:date|time|year|month|day)\b|^how long ago\b",
    re.I,
)
_DURATION = re.compile(
    rf"^how long\b(?! ago)|\bhow many {_UNITS}\b|\bfor how long\b|\bduration\b", re.I
)
_AGGREGATION = re.compile(r"\bhow (?:many|often)\b|\bnumber of\b|\bhow much time\b", re.I)
_EXISTENCE = re.compile(r"^(?:did|does|do|was|were|is|are|has|have|had)\b", re.I)
_ORDER = re.compile(
    r"\b(?:before|after|first|last|latest|earliest|most recent|recently|prior to|following|then"
    r"|next|previous|earlier|later|while|since)\b",
    re.I,
)


def temporal_category(question: str) -> str:
    """Return one of `CATEGORIES`.

    >>> temporal_category("When did Ann paint a sunrise?")
    'Event Timing'
    >>> temporal_category("Where did Ann hide her bone?")
    'Non-temporal'
    """
    text = question.strip()
    timed = find_range(text, _NOW) is not None
    if _DURATION.search(text):
        return "Duration"
    if _TIMING.search(text):
        return "Event Timing"
    if _AGGREGATION.search(text) and (timed or re.search(r"\b(?:times|often)\b", text, re.I)):
        return "Aggregation"
    if timed:
        return "Existence Check" if _EXISTENCE.search(text) else "Event Attributes"
    return "Order" if _ORDER.search(text) else "Non-temporal"
