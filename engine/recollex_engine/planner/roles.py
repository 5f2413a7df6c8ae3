"""Which name of a clause is the subject of its predicate, and which the object?

They are told by the places of the names around the predicate.
"""

from collections.abc import Collection, Sequence

from recollex_engine.planner.event_nouns import is_form
from recollex_engine.planner.pattern import OutsideError
from recollex_engine.planner.predicates import PREPOSITIONS, Wording
from recollex_engine.planner.question_tokens import Token

_PLAIN = frozenset(
    {"", "first", "last", "nth", "direct", "before", "after", "predecessor", "successor", "as"}
)
"""What may stand between an owner and a noun: "Acme's first director"."""
_DOING = frozenset({"did", "does", "do", "has", "have", "had"})


def joined_names(kept: Sequence[Token], place: int) -> list[Token] | None:
    """Return the names that "and" joins on one side of a verb at ``place``; None without any."""
    left, right = _beside(kept, place)
    if not _joins(kept) or len(left) + len(right) < 2:
        return None
    return left if len(left) > 1 else right


def of_verb(
    kept: Sequence[Token], place: int, wording: Wording
) -> tuple[Token | None, Token | None]:
    """Return X and Y of "X worked for Y"; of "X and Z worked for Y", Z and Y."""
    left, right = _beside(kept, place)
    if _joins(kept) and len(left) + len(right) > 1:
        left, right = left[-1:], right[-1:]
    if len(left) > 1 or len(right) > 1:
        raise OutsideError("I cannot tell which of the names the question is about")
    pair = (left[0] if left else None, right[0] if right else None)
    passive = any(each.cue == "by" for each in kept)
    return pair[::-1] if passive != wording.passive else pair


def of_event(kept: Sequence[Token], place: int) -> tuple[Token | None, Token | None]:
    """Return X and Y of "X's trip to Y", "the trip to Y that X took".

    Raises `OutsideError` for another preposition ("on the trip"), which asks about something else,
    and for a name without a word that says its part: "the Y trip".
    """
    mention = kept[place].mention
    assert mention is not None
    own = mention.wordings[0].preposition
    subjects: list[Token] = []
    objects: list[Token] = []
    for at, token in enumerate(kept):
        before = kept[at - 1] if at else None
        if token.kind == "name":
            direct = at == place + 1 and mention.preposition == own
            if direct or (before is not None and before.lower == own):
                objects.append(token)
            elif _is_who_did_it(kept, at):
                subjects.append(token)
            else:
                raise OutsideError(f"I do not know what {token.text!r} means beside an event")
        elif is_stray(kept, at, (own, "of", "by")):
            raise OutsideError(f"I do not know what {token.text!r} means here")
    if len(subjects) > 1 or len(objects) > 1:
        raise OutsideError("I cannot tell which of the names the question is about")
    return (subjects[0] if subjects else None), (objects[0] if objects else None)


def is_stray(kept: Sequence[Token], at: int, known: Collection[str]) -> bool:
    """Return whether a token is a preposition that is neither ``known`` nor before a time."""
    token, follows = kept[at], kept[at + 1 : at + 2]
    is_before_time = any(each.kind == "time" for each in follows)
    is_preposition = token.kind == "cue" and token.lower in PREPOSITIONS
    return is_preposition and token.lower not in known and not is_before_time


def _is_who_did_it(kept: Sequence[Token], at: int) -> bool:
    """Return whether a name owns an event, or has a verb: "X's", "by X", "did X take", "X took"."""
    before = kept[at - 1].lower if at else ""
    after = kept[at + 1] if at + 1 < len(kept) else kept[at]
    if after.cue == "'s" or before in ("of", "by") or is_form(after.text):
        return True
    return after.kind != "predicate" and (before in _DOING or after.lower in _DOING)


def of_noun(kept: Sequence[Token], place: int) -> tuple[Token | None, Token | None]:
    """Return X and Y of "X is the director of Y"."""
    names = {i: each for i, each in enumerate(kept) if each.kind == "name"}
    given: int | None = None
    after = [i for i in range(place + 1, len(kept)) if kept[i].cue or kept[i].kind != "cue"]
    if len(after) > 1 and kept[after[0]].cue == "of" and kept[after[1]].kind == "name":
        given = after[1]
    owners = [i for i in names if i < place and i + 1 < len(kept) and kept[i + 1].cue == "'s"]
    between = kept[owners[-1] + 2 : place] if owners else ()
    if given is None and owners and all(each.cue in _PLAIN for each in between):
        given = owners[-1]
    having = [i for i, each in enumerate(kept) if each.is_having]
    owned = any(each.is_possessive for each in kept[:place])
    if given is None and having and (owned or len(names) == 1):
        has_main = [i for i in having if i + 1 >= len(kept) or kept[i + 1].lower != "been"]
        near = [i for i in names if has_main and abs(i - has_main[0]) <= 2]
        near = [i for i in near if all(each.cue != "as" for each in kept[i + 1 : i + 2])]
        given = near[-1] if near else None
    rest = [i for i in names if i != given]
    if len(rest) > 1:
        raise OutsideError("I cannot tell which of the names the question is about")
    return (names[rest[0]] if rest else None), (None if given is None else names[given])


def _beside(kept: Sequence[Token], place: int) -> tuple[list[Token], list[Token]]:
    """Return the names before and after a place."""
    left = [each for each in kept[:place] if each.kind == "name"]
    return left, [each for each in kept[place + 1 :] if each.kind == "name"]


def _joins(kept: Sequence[Token]) -> bool:
    return any(each.cue == "and" for each in kept)
