"""How much information has a turn? Its features, found without a model, and one number from them.

MemoTrace ("Write triggers", 2) names recency, question and decision flags, personal slots,
frequency across sessions, temporal specificity and centrality, and gives no formula. The features
here are: names, numbers, a time, first-person words, length, the share of questions, how new the
turn is compared with what is stored, and whether its words state an event. The word lists are
English; in another language a turn has names, numbers and novelty only.
"""

import re
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
