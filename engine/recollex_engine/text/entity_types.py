"""The types of entities: TEMPR 2.3.1 and Memora 2.3.1 have these six."""

from typing import Literal, TypeAlias, get_args

from recollex_engine.errors import InputError

EntityType: TypeAlias = Literal["PERSON", "ORGANIZATION", "LOCATION", "PRODUCT", "CONCEPT", "OTHER"]
ENTITY_TYPES: tuple[EntityType, ...] = get_args(EntityType)
"""A type's index is its number in the column `type_code`: never reorder them, only append."""
PERSON, ORGANIZATION, LOCATION, PRODUCT, CONCEPT, OTHER = ENTITY_TYPES

_OTHER_WORDS: dict[str, EntityType] = {
    "PER": PERSON,
    "PEOPLE": PERSON,
    "ORG": ORGANIZATION,
    "ORGANISATION": ORGANIZATION,
    "COMPANY": ORGANIZATION,
    "GPE": LOCATION,
    "LOC": LOCATION,
    "FAC": LOCATION,
    "PLACE": LOCATION,
    "WORK_OF_ART": PRODUCT,
    "MISC": OTHER,
}
"""What else the six are called: by spaCy (OntoNotes), by callers."""
_BY_WORD: dict[str, EntityType] = {kind: kind for kind in ENTITY_TYPES} | _OTHER_WORDS


def known_type(word: str) -> EntityType | None:
    """Return the type that a word names, in any case; None if it names none.

    >>> known_type("person"), known_type("ORG"), known_type("poet")
    ('PERSON', 'ORGANIZATION', None)
    """
    upper = word.strip().upper().replace(" ", "_")
    return _BY_WORD.get(upper)


def check_type(word: object, name: str = "type") -> EntityType:
    """Return the type that a word names. Raises `InputError` if it names none of the six."""
    found = known_type(word) if isinstance(word, str) else None
    if found is None:
        raise InputError(f"{name} must be one of {', '.join(ENTITY_TYPES)}, got {word!r}")
    return found
