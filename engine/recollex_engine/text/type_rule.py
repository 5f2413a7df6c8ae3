"""What does a name name? A rule for it, of the name's own words first, of its sentence then.

No model reads the text. The rule is English, as `names.find_names` is; the lists of places and of
given names serve other languages too. A name that says nothing of itself in a sentence that says
nothing of it is `OTHER`.
"""

import re

from recollex_engine.text.entity_types import (
    CONCEPT,
    LOCATION,
    ORGANIZATION,
    OTHER,
    PERSON,
    PRODUCT,
    EntityType,
)
from recollex_engine.text.names import fold_name
from recollex_engine.text.typed_words import (
    CONCEPT_ENDS,
    CONCEPTS,
    GIVEN_NAMES,
    HONORIFICS,
    LOCATION_ENDS,
    LOCATION_STARTS,
    ORGANIZATION_ENDS,
    ORGANIZATIONS,
    PLACES,
    PRODUCTS,
    RELATIVES,
)

_REACH = 40
"""Characters before and after a name that are looked at."""
_CUES: tuple[tuple[str, EntityType], ...] = (
    (r"work(?:s|ed|ing)? (?:at|for)|hired by|employed by|job at|internship at", ORGANIZATION),
    (r"(?:ceo|founder|cto|head) of|applied to|interview (?:at|with)", ORGANIZATION),
    (
        r"play(?:s|ed|ing)?|watch(?:ed|es|ing)?|read(?:s|ing)?|finished|rewatch(?:ed|ing)?",
        PRODUCT,
    ),
    (r"us(?:e|es|ed|ing)|install(?:ed|ing)?|download(?:ed|ing)?|bought (?:a|an|the)", PRODUCT),
    (
        r"(?:book|movie|film|game|song|album|show|series|app|novel|track)s?(?: called| named)?",
        PRODUCT,
    ),
    (r"(?:live|lives|lived|living|born|based|arrived|stay|stayed|staying) in", LOCATION),
    (
        r"(?:move|moved|moving|travel|traveled|travelled|trip|flew|fly|flight|went|going) to",
        LOCATION,
    ),
    (
        r"visit(?:s|ed|ing)?|tour of|back from|all over|capital of|near|across|explore[ds]?",
        LOCATION,
    ),
    (r"in|around", LOCATION),
    (r"hi|hey|hello|thanks|thank you|congrats|congratulations|dear|bye|yeah|sure|wow", PERSON),
    (rf"(?:my|our|his|her|their|a) (?:\w+ )?(?:{'|'.join(sorted(RELATIVES))})", PERSON),
    (r"with|by|met|meet|told|texted|married|thank", PERSON),
)
"""What may stand before a name, and the type that it shows. Of two that fit, one is longer, and has
the type of the shorter one or comes before it."""
_BEFORE = re.compile(rf"(?<!\w)(?:{'|'.join(f'({cue})' for cue, _ in _CUES)})\W{{0,3}}\Z", re.I)
_ARTICLE = re.compile(r"\b(?:the|a|an) \Z", re.I)
_AFTER = re.compile(
    r"\W{0,2}(?:said|says|told|asked|thinks|loves|likes|hates|wants|and i\b|is my|was my|smiled|"
    r"laughed|married|called|texted|emailed|replied|invited|helped|moved|joined|works|lives|"
    r"'s (?:wife|husband|mother|mom|father|dad|brother|sister|son|daughter|birthday|wedding))",
    re.I,
)


def find_type(name: str, text: str) -> EntityType:
    """Return what a name in ``text`` names.

    Cost: 1 us if the name itself says it, else 10 us.

    >>> find_type("Bob Chen", "I met Bob Chen."), find_type("Stanford University", "")
    ('PERSON', 'ORGANIZATION')
    >>> find_type("Woodhaven", "We moved to Woodhaven."), find_type("Zorbo", "Zorbo.")
    ('LOCATION', 'OTHER')
    """
    words = fold_name(name).split()
    found = _by_words(words)
    return _by_sentence(name, text) if found is None and words else found or OTHER


def _by_words(words: list[str]) -> EntityType | None:
    """Return the type that the words of a name show by themselves."""
    if not words:
        return None
    whole = " ".join(words)
    first = words[0]
    last = words[-1]
    for known, kind in (
        (PLACES, LOCATION),
        (ORGANIZATIONS, ORGANIZATION),
        (PRODUCTS, PRODUCT),
        (CONCEPTS, CONCEPT),
    ):
        if whole in known:
            return kind
    if first in HONORIFICS and len(words) > 1:
        return PERSON
    if len(words) > 1:
        if last in ORGANIZATION_ENDS or "university of" in whole:
            return ORGANIZATION
        if last in LOCATION_ENDS or first in LOCATION_STARTS:
            return LOCATION
        if last in CONCEPT_ENDS:
            return CONCEPT
    elif last in LOCATION_ENDS:
        return LOCATION
    if first in GIVEN_NAMES and len(words) <= 4:
        return PERSON
    return None


def _by_sentence(name: str, text: str) -> EntityType:
    """Return the type that the words around a name show."""
    start = text.find(name)
    if start < 0:
        return OTHER
    end = start + len(name)
    before = text[max(0, start - _REACH) : start]
    after = text[end : end + _REACH]
    before = _ARTICLE.sub("", before)
    if before.rstrip(" ")[-1:] in "\"'\u201c\u2018*_" and before.strip():
        return PRODUCT
    cue = _BEFORE.search(before) if before else None
    if cue is not None and cue.lastindex is not None:
        return _CUES[cue.lastindex - 1][1]
    return PERSON if _AFTER.match(after) else OTHER
