"""Names that differ in writing and are equal all the same: legal forms and English diminutives.

TEMPR and Memora (2.3.2 of both) resolve "Google Inc" to "Google" and "Bob" to "Robert" by the
Levenshtein distance. By that distance the names are 0.6 and 0.33 alike, too little for the
threshold that Memora prints. So the printed rule looks at these tables first.

In which way is one name a variant of another? By form, initials, a part, a short form, a letter.
TEMPR and Memora (2.3.2 of both) count on the Levenshtein distance for all of these. By it "Mel" and
"Melanie" are 0.43 alike, "LOTR" and "Lord of the Rings" 0.18: no threshold finds them and keeps
"Jana" and "Jane" (0.75) apart. So each way has a test of its own, and a likeness that stands for it
in Memora's sum.
"""

import re
from typing import Literal, NamedTuple

from rapidfuzz.distance import OSA

_LEGAL_FORMS = """
inc incorporated corp corporation co company ltd limited llc llp plc gmbh ag sa bv nv pty oy ab as
"""
_LEGAL = frozenset(_LEGAL_FORMS.split())
_FAMILIES = """
robert bob bobby rob robbie robby
william bill billy willy willie
richard dick rick ricky
james jim jimmy jimmie
john johnny jack
joseph joe joey
michael mike mikey mick
thomas tom tommy
charles charlie chuck
edward ed eddie ted
david dave davey
daniel dan danny
matthew matt
anthony tony
andrew andy drew
steven steve stephen stevie
kenneth ken kenny
ronald ron ronnie
donald don donnie
timothy tim timmy
gregory greg
jeffrey jeff
nicholas nick nicky
benjamin ben benny benji
peter pete
philip phil phillip
lawrence larry laurence
gerald gerry
raymond ray
frederick fred freddie freddy
henry hank harry
walter walt
leonard len lenny
douglas doug
zachary zach zack
nathaniel nate
joshua josh
jonathan jon
vincent vince vinny
theodore theo
elizabeth liz lizzie beth betty eliza
margaret maggie meg peggy
katherine kate katie kathy catherine cathy
jennifer jen jenny
susan sue suzie
deborah deb debbie
barbara barb
rebecca becky becca
dorothy dot dottie
victoria vicky
jessica jess jessie
christina tina christine
abigail abby
amanda mandy
cynthia cindy
judith judy
pamela pam
theresa terri tess
melanie mel
"""
_FORMAL = {
    short: formal
    for formal, *others in (family.split() for family in _FAMILIES.strip().splitlines())
    for short in others
}


def plain_name(folded: str) -> str:
    """Return the plain form of a name that `names.fold_name` made: two such names are equal.

    Legal forms at the end are left out. Else the first word becomes the formal name where it is a
    diminutive of one; diminutives of several names (Alex, Sam, Chris, Pat) stay.

    >>> plain_name("google inc"), plain_name("acme co ltd"), plain_name("bob chen")
    ('google', 'acme', 'robert chen')
    """
    words = folded.replace(",", " ").split()
    end = len(words)
    while end > 1 and words[end - 1] in _LEGAL:
        end -= 1
    if words and end == len(words):
        words[0] = _FORMAL.get(words[0], words[0])
    return " ".join(words[:end])


Way = Literal["form", "initials", "part", "short", "spelling"]

FORM = 1.0
"""The likeness of two writings of one name: "Google Inc", "Google"; "Bob Chen", "Robert Chen"."""
VARIANT = 0.85
"""The likeness of initials, parts and short forms. With it Memora's threshold holds for two names
that are never named together if they are named within 14.5 days of each other."""
CLEAR = 0.95
"""The likeness of three initials or more: enough for the threshold at any distance in time."""
LONG = 8
"""Letters from which on one wrong letter is a slip; shorter names often differ by one."""
_JOINING = frozenset({"of", "the", "and", "&", "de", "la"})
_CODES = (
    "al alabama|ak alaska|az arizona|ar arkansas|ca california|co colorado|ct connecticut|"
    "de delaware|fl florida|ga georgia|hi hawaii|id idaho|il illinois|in indiana|ia iowa|ks kansas|"
    "ky kentucky|la louisiana|me maine|md maryland|ma massachusetts|mi michigan|mn minnesota|"
    "ms mississippi|mo missouri|mt montana|ne nebraska|nv nevada|oh ohio|ok oklahoma|or oregon|"
    "pa pennsylvania|tn tennessee|tx texas|ut utah|vt vermont|va virginia|wa washington|"
    "wi wisconsin|wy wyoming|dc washington dc"
)
CODES = {tuple(each.split(" ", 1)) for each in _CODES.split("|")}
"""Codes of states that are no initials, with the states."""
_DIGIT = re.compile(r"\d")


class Variant(NamedTuple):
    """How a name is a variant of another: the way, and the likeness that it stands for."""

    way: Way
    likeness: float


def variant_of(name: str, full: str) -> Variant | None:
    """Return how ``name`` is a variant of ``full``; None if it is none. Both are folded names.

    >>> variant_of("google inc", "google"), variant_of("lotr", "lord of the rings")
    (Variant(way='form', likeness=1.0), Variant(way='initials', likeness=0.95))
    >>> variant_of("alice", "alice chen").way, variant_of("caro", "caroline").way
    ('part', 'short')
    >>> variant_of("alice chen", "alice") is variant_of("jana", "jane") is None
    True
    """
    one = plain_name(name)
    other = plain_name(full)
    if one == other:
        return Variant("form", FORM)
    words = other.replace("-", " ").split()
    own = one.split()
    if (one, other) in CODES:
        return Variant("initials", FORM)
    if one in initials(words):
        return Variant("initials", VARIANT if len(one) < 3 else CLEAR)
    if len(own) < len(words) and own in (words[: len(own)], words[-len(own) :]):
        return Variant("part", VARIANT)
    if len(own) == 1 and is_short(name, full.split()[0]):  # as written: "dan" is not "daniel" here
        return Variant("short", VARIANT)
    if is_slip(one, other):
        return Variant("spelling", OSA.normalized_similarity(one, other))
    return None


def is_short(short: str, first: str) -> bool:
    """Return whether a word is the beginning of a first name, perhaps with a letter added.

    >>> is_short("mell", "melanie"), is_short("debs", "deborah"), is_short("j", "joanna")
    (True, True, False)
    """
    stems = {short, short.removesuffix("s"), short[:-1] if short[-1:] == short[-2:-1] else short}
    return any(1 < len(stem) < len(first) and first.startswith(stem) for stem in stems)


def is_slip(one: str, other: str) -> bool:
    """Return whether two long names differ by one letter, or by two that changed places.

    >>> is_slip("san francsico", "san francisco"), is_slip("name 123", "name 124")
    (True, False)
    """
    shorter = min(len(one), len(other))
    if shorter < LONG or _DIGIT.search(one) or _DIGIT.search(other):
        return False
    return OSA.distance(one, other, score_cutoff=1) <= 1


def is_first_part(name: str, full: str) -> bool:
    """Return whether a name is the beginning of a longer one: "alice", and not "chen"."""
    own = plain_name(name).split()
    words = plain_name(full).replace("-", " ").split()
    return len(own) < len(words) and own == words[: len(own)]


def initials(words: list[str]) -> set[str]:
    """Return the initials of several words, with and without those that join; none of one word."""
    said = [word for word in words if word not in _JOINING]
    return {"".join(word[0] for word in some) for some in (words, said) if len(some) > 1}
