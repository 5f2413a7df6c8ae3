"""Which words does the planner know, and what does each do in a question?

A cue is what a word or phrase does: "first", "before", "how_many". Words without an effect on the
meaning have the cue "". A question with any other word is outside the planner's forms, because an
unknown word may change what is asked.
"""

import re
from functools import cache

_CUES = {
    "": """
        the a an please you me us i we need to know it there that this these those then ever
        actually exactly respectively for at on also well still
        be been being is are was were am had has have do did does doing
        relation relations relationship fact facts event events thing things one ones point case
        can you|could you|would you|will you|would like|want to know|like to know|
        at the position of|in the position of|the position of|the post of|the role of|
        the office of|the job of|the title of|as well|
        moment of time|in time|at any point|at any time|at some point|at one point|at least once|
        over time|of time|throughout time|what is the|what was the|so far|within|in|into|its|their|
        his|her|in the years|over the years|during the years|in the period|over the period|
        during the period|within the period|back in
    """,
    "who": "who whom whoever whomever which what whose",
    "where": "where",
    "when": """
        when|at what time|at which time|what time|what date|which date|on what date|on which date|
        in what year|in which year|what year|which year|in what month|in which month|what month|
        which month|what day|which day|on what day|on which day|the date|the time at which|
        the date on which|the year in which|the month in which|the day on which|the time when|
        the date when|the year when|the moment when|year in which|month in which|day on which|
        date on which|in which period|in what period|over which period|over what period|
        during which period|the period in which|the period during which|time period during which|
        in which years|during which years|between which years|over which years|
        what are the start and end years|what were the start and end years
    """,
    "since_when": """
        since when|from when|from when on|since what year|since which year|from what year on|
        from which year on|starting when|starting from which year|starting in which year|
        starting year|start year|beginning year|first year in which
    """,
    "until_when": """
        until when|till when|up to when|until what year|until which year|up to which year|
        up to what year|ending year|end year|final year|last year in which
    """,
    "while": """
        while|whilst|at the time when|at the time that|at the time|at the moment when|
        at the moment that|at the moment|at the point when|by the time|during the time when|
        during the time that|during the time|at the same time as|in the time when|at the time of|
        the moment|the moment when|the day|the day when
    """,
    "once": "once|as soon as",
    "how_many": """
        how many|what number of|the number of|number of|the count of|count of|count|
        the total number of|total number of|what is the number of|what is the total number of|
        in total|total|tally
    """,
    "how_often": """
        how often|how many times|the number of times|number of times|on how many occasions
    """,
    "how_long": """
        how long|for how long|the duration of|duration|what length of time|how much time|length|
        the length of time|for what length of time
    """,
    "how_long_ago": "how long ago",
    "how_long_since": "how long since|how long is it since|how long has it been since|"
    "how much time has passed since|how long since",
    "since": "since|has it been since|have passed since|has passed since|it is since",
    "ago": "ago",
    "distinct": "different distinct unique separate individual various",
    "first": """
        first earliest initial initially original originally
        came first|the very first|very first|first of all|come first|at first|to begin with
    """,
    "last": """
        last latest final finally newest lastly
        most recent|most recently|the very last|very last|came last|come last|last of all
    """,
    "before": """
        before|prior to|preceding|previous to|ahead of|earlier than|previously|previous|prior|
        beforehand|leading up to|in advance of
    """,
    "after": """
        after|following|next|subsequently|subsequent to|subsequent|later than|afterwards|
        thereafter|next after|coming after
    """,
    "direct": "immediately right directly just straight direct immediate",
    "precede": "precede precedes preceded preceding",
    "succeed": """
        succeed succeeds succeeded succeeding follow follows followed replace replaces replaced
        replacing
    """,
    "predecessor": "predecessor predecessors forerunner",
    "successor": "successor successors replacement",
    "take_from": """
        take over from|takes over from|took over from|taken over from|inherit from|inherited from
    """,
    "start": """
        start starts started starting begin begins began beginning begun become becomes became
        becoming commence commenced commencing come came coming assume assumed enter entered
        take over|takes over|took over|taken over|taking over|take up|took up|taking up|
        come in|came in|take office|took office|get to be|got to be|turned into|start to|began to|
        appointed|installed|named as|was named|been named|marked the start of|
        marked the beginning of|took the role|take the role|took on the role|take on the role
    """,
    "end": """
        stop stops stopped stopping cease ceases ceased ceasing end ends ended ending quit quits
        quitting finish finishes finished finishing leave leaves left leaving resign resigned
        resigning retire retired retiring conclude concluded conclude concluding depart departed
        departing
        step down|steps down|stepped down|stepping down|no longer|give up|gave up|giving up|
        not any more|come to an end|came to an end|come to a close|came to a close|
        marked the end of|cease to|ceased to|go out of office
    """,
    "stay": """
        serve serves served serving hold holds held holding act acts acted acting function
        functioned remain remained stay stayed occupy occupied occupying spend spends spent
        spending keep kept
        work as|works as|worked as|working as
        position post office role title job seat capacity
        last for|lasted|lasts|lasting|continue|continued|go on|went on
    """,
    "passed": """
        pass passed passes passing elapse elapsed
        went by|gone by|lie between|lay between
    """,
    "happened": """
        happened occurred
        took place|did happen|did occur|has happened|have happened|had happened|was going on
    """,
    "spell": "time times occasion occasions stint stints term terms tenure tenures spell spells",
    "timeline": """
        in chronological order|chronological order|chronologically|in order of time|in order|
        in sequence|sequence|timeline|chronology|succession|the succession of|order|sort|arrange|
        rank|earliest first|oldest first|from first to last|from the first to the last|
        from earliest to latest|from the earliest to the latest|from earliest to last|put|
        sorted|ordered|arranged|ranked|in the order in which they started|
        in the order in which they began|by year|by start year|by starting year|
        by date|by time|by start|by when they started|by when they began|by start date|
        by start time|by their start|by the time they started|starting with the first|
        starting with the earliest|one after another|in temporal order|in time order|
        according to time|by the date they started|chronologically ordered
    """,
    "ask": """
        tell give find name show say state identify determine provide calculate compute
        write down|note down
    """,
    "all": "list every each all everyone everybody anyone anybody",
    "else": "else other others",
    "besides": "besides|apart from|other than|except|except for|aside from|in addition to|than|"
    "along with|together with|alongside",
    "overlap": "at the same time|simultaneously|together|overlap|overlapped|overlapping|"
    "concurrently|in common",
    "both": "both",
    "from": "from",
    "and": "and",
    "or": "or",
    "by": "by",
    "of": "of",
    "as": "as",
    "during": "during|throughout",
    "inclusive": "including|counting|inclusive|inclusive of|included|include|with those",
    "those": "those who|those that|any who|any that|ones who|ones that",
    "now": "now|currently|current|incumbent|at present|presently|today|at the moment now|"
    "these days|nowadays",
    "bound": "at the latest|at the earliest|at latest|at earliest|no later than|no earlier than",
    "unit:year": "year years",
    "unit:month": "month months",
    "unit:week": "week weeks",
    "unit:day": "day days",
    "'s": "'s '",
    ",": ", ; :",
    ".": '. ? ! ( ) "',
}
_KINDS = """
    entity entities person people individual individuals somebody
"""
_NO_NOUNS = """
not never no nobody nothing neither nor hardly always only usually often sometimes already
yet even just merely almost nearly perhaps maybe probably too very more most less least than
without except if unless whether but changes change switches transitions successions handovers
"""
NO_NOUNS = frozenset(_NO_NOUNS.split())
"""Words that may stand where a noun does, and change what is asked."""
KINDS = frozenset(_KINDS.split())
"""Nouns that everything or everybody is called by."""
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth"
ORDINALS = {
    word: number
    for number, words in enumerate(_ORDINALS.split(), 1)
    for word in (words, f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number, 'th') }")
} | {f"{number}th": number for number in range(11, 21)}
_AUXILIARIES = """
did do does was were is are am has have had can could will would be been
"""
AUXILIARIES = frozenset(_AUXILIARIES.split())
HAVING = frozenset(("has", "have", "had"))
POSSESSIVES = frozenset(("its", "their", "his", "her"))
CLARIFYING = (
    re.compile(
        r"[.?!]\s+Relations? that ended in [^.?!]+ or started in [^.?!]+ must be counted"
        r" as well\.?",
        re.I,
    ),
    re.compile(
        r"[.?!]\s+The duration can be computed by subtracting the start time from the end time\.?",
        re.I,
    ),
)
"""Sentences that say how an answer is counted, as the planner counts it anyway."""


@cache
def phrases() -> dict[tuple[str, ...], str]:
    """Return every phrase and its cue."""
    found: dict[tuple[str, ...], str] = {}
    for cue, written in _CUES.items():
        for line in re.split(r"\n", written):
            parts = line.split("|") if "|" in line else line.split()
            for part in parts:
                if words := tuple(part.split()):
                    found.setdefault(words, cue)
    return found


@cache
def longest_phrase() -> int:
    """Return the number of words of the longest phrase."""
    return max(map(len, phrases()))
