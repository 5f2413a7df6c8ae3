"""The clauses of a question: which predicate, whose subject or object is given, which is asked for?

"Who was the director of Acme when Ann became the editor of Time?" has a main clause and one that
says when. Each clause is read by the places of its names around its predicate::

    Ann was the director of Acme     Acme's director was Ann      a noun: the name after "of", or
                                                                  before "'s", is the object
    Ann worked for Acme              Which firm did Ann work for  a verb: the name before it is the
                                                                  subject, one after it the object

`OutsideError` says what a question has that is in none of these forms.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from recollex_engine.planner.cue_words import KINDS, NO_NOUNS
from recollex_engine.planner.pattern import OBJECT, SUBJECT, OutsideError, Pattern
from recollex_engine.planner.predicates import LOOSE, PREPOSITIONS, Mention, Wording
from recollex_engine.planner.question_tokens import Token
from recollex_engine.planner.roles import joined_names, of_event, of_noun, of_verb
from recollex_engine.planner.tense import is_present, is_state

MARKERS = frozenset({"before", "after", "while", "once", "during", "besides"})
_ADVERBS = frozenset(
    ["next", "previously", "subsequently", "afterwards", "thereafter", "beforehand"]
)
_ADJECTIVES = frozenset(["previous", "following", "prior", "preceding", "subsequent"])
_SLOTS = frozenset({"who", "how_many", "all", "ask", "first", "last", "nth", "timeline", "those"})
"""A noun after these says what is asked for: "which company", "the first city that"."""
_FORMER = frozenset({"retired", "resigned", "departed"})
_STANDING_IN = frozenset({"it", "this", "that", "these", "those", "there"})
"""After a verb, these stand for what another sentence has named."""
_ASKING = frozenset({"who", "where", "how_many", "how_often", "how_long", "since_when"})


@dataclass(slots=True)
class Clause:
    """A clause that was read. cues: what its words do, each with the word.

    kind: the noun that says what is asked for. names: of no role. choices: names to choose from,
    "Ann or Ben". marker: the cue that makes it subordinate.
    """

    pattern: Pattern | None = None
    cues: dict[str, str] = field(default_factory=dict)
    times: list[Token] = field(default_factory=list)
    number: int = 0
    kind: str = ""
    plural: bool = False
    names: list[Token] = field(default_factory=list)
    choices: tuple[str, ...] = ()
    marker: str = ""
    notes: list[str] = field(default_factory=list)
    is_present: bool = False
    is_asked: bool = False

    @property
    def pick(self) -> str:
        """The cue that chooses one of several facts: "nth", "first" or "last"; "" without one."""
        return next((each for each in ("nth", "first", "last") if each in self.cues), "")


def is_question_when(tokens: Sequence[Token]) -> bool:
    """Return whether "when" asks, rather than that it begins a clause."""
    places = [place for place, each in enumerate(tokens) if each.cue == "when"]
    if not places or any(each.cue in _ASKING for each in tokens):
        return False
    if tokens[0].is_auxiliary and any(each.mention for each in tokens[: places[0]]):
        return False  # "Was Ann the director when Ben moved to Rome?"
    asks = next((place for place, each in enumerate(tokens) if each.cue == "ask"), None)
    if asks is None:
        return True
    between = tokens[asks + 1 : places[0]]
    return all(each.is_filler for each in between)


def split(tokens: Sequence[Token]) -> tuple[list[Token], list[tuple[Token, list[Token]]]]:
    """Return the main clause, and the subordinate ones with the token that begins each."""
    asks_when = is_question_when(tokens)
    main: list[Token] = []
    others: list[tuple[Token, list[Token]]] = []
    place = 0
    while place < len(tokens):
        token = tokens[place]
        if not _begins_clause(tokens, place, asks_when):
            main.append(token)
            place += 1
            continue
        opens = all(each.cue in ("", "direct", ",") and each.kind == "cue" for each in main)
        after = _end_of_clause(tokens, place, opens)
        near = [main.pop()] if main and main[-1].cue == "direct" else []
        others.append((token, [*near, *tokens[place + 1 : after]]))
        place = after
    return main, others


def _begins_clause(tokens: Sequence[Token], place: int, asks_when: bool) -> bool:
    token = tokens[place]
    if token.cue == "when":
        return not asks_when
    if token.cue not in MARKERS or token.lower in _ADVERBS:
        return False
    following = [each for each in tokens[place + 1 :] if not each.is_filler]
    if not following or (token.cue == "during" and following[0].kind == "time"):
        return False
    return not (token.lower in _ADJECTIVES and following[0].kind in ("predicate", "unknown"))


def _after_fillers(tokens: Sequence[Token], place: int) -> int:
    """Return the first place from ``place`` on that holds no word without an effect."""
    while place < len(tokens) and tokens[place].is_filler:
        place += 1
    return place


def _end_of_clause(tokens: Sequence[Token], place: int, opens: bool) -> int:
    """Return the token after a clause that begins at ``place``."""
    first = _after_fillers(tokens, place + 1)
    if not opens and first < len(tokens) and tokens[first].kind == "name":
        after = first + 1
        while after + 1 < len(tokens) and tokens[after].cue == "and":
            if tokens[after + 1].kind != "name":
                break
            after += 2
        if after == len(tokens) or tokens[after].cue in (",", ".", "as", "of", "from"):
            return after
        if tokens[after].kind == "time" or tokens[place].cue == "besides":
            return after
    for after in range(first, len(tokens)):
        if tokens[after].cue in (",", "."):
            return after + 1 if opens else after
        if opens and tokens[after].cue in ("who", "where", "how_many", "how_long"):
            return after
    return len(tokens)


def read_clause(tokens: Sequence[Token], marker: str = "") -> Clause:
    """Return what a clause says; ``marker``: the cue that makes it subordinate."""
    clause = Clause(marker=marker)
    kept = _without_choices(clause, [each for each in tokens if each.cue not in (",", ".")])
    for place, token in enumerate(kept):
        _take(clause, kept, place, token)
    mentions = [place for place, each in enumerate(kept) if each.kind == "predicate"]
    cores = {kept[place].mention.wordings for place in mentions}  # type: ignore[union-attr]
    if len(cores) > 1:
        words = " and ".join(repr(kept[place].text) for place in mentions)
        raise OutsideError(f"one clause names several predicates: {words}")
    _check_places(kept)
    clause.names = [each for each in kept if each.kind == "name"]
    kept = _without_neighbour(clause, kept)
    if mentions:
        place = next(i for i, each in enumerate(kept) if each.kind == "predicate")
        clause.pattern = _pattern(clause, kept, place)
        clause.is_present = is_present(kept, place)
        clause.plural = clause.plural or kept[place].is_plural_noun
    return clause


def _take(clause: Clause, kept: Sequence[Token], place: int, token: Token) -> None:
    if token.kind == "time":
        clause.times.append(token)
        clause.notes += [token.note] if token.note else []
    elif token.kind == "unknown":
        _take_kind(clause, kept, place, token)
    elif token.kind == "cue" and token.cue:
        if token.cue == "during" and place + 1 < len(kept) and kept[place + 1].kind == "time":
            return
        if token.cue == "last" and clause.cues.keys() & {"how_long", "how_many", "nth"}:
            verb = "unit:" in " ".join(clause.cues) or "how_long" in clause.cues
            before = kept[place - 1] if place else token
            if verb and (place + 1 == len(kept) or before.lower in ("did", "it", "relation")):
                clause.cues.setdefault("stay", token.text)
                return
        if token.cue in ("nth", "first") and token.number:
            clause.number = token.number
        clause.cues.setdefault(token.cue, token.text)
    if token.kind == "cue" and place == 0 and token.is_auxiliary:
        clause.is_asked = True


def _take_kind(clause: Clause, kept: Sequence[Token], place: int, token: Token) -> None:
    plural = token.lower.endswith("s") or token.lower in ("people", "children")
    if token.lower in KINDS:
        clause.plural = clause.plural or plural
        return
    before = place - 1
    while before > 0 and (
        kept[before].kind == "cue"
        and (kept[before].cue in ("", "distinct", "of") or kept[before].is_auxiliary)
        and kept[before].cue not in _SLOTS
    ):
        before -= 1
    follows = kept[place + 1] if place + 1 < len(kept) else None
    noun = follows is not None and follows.mention is not None and follows.mention.wordings[0].kind
    fits = before >= 0 and kept[before].kind == "cue" and kept[before].cue in _SLOTS
    fits = fits and kept[before].lower not in ("who", "whom") and token.lower not in NO_NOUNS
    skipped = kept[before + 1 : place]
    if any(each.is_auxiliary for each in skipped) and skipped[-1].lower not in ("the", "a", "an"):
        fits = fits and skipped[-1].cue in ("first", "last", "nth", "distinct")
    if (
        not fits
        or token.text.isdigit()
        or clause.kind
        or noun in ("noun", "owned", "event")
        or (follows and follows.kind == "unknown")
    ):
        raise OutsideError(f"I do not know what {token.text!r} means here")
    clause.kind, clause.plural = token.lower, clause.plural or plural


def _check_places(kept: Sequence[Token]) -> None:
    """Raise `OutsideError` for a cue that qualifies its noun: "acting director", "end of 2006"."""
    for place, token in enumerate(kept[:-1]):
        follows = kept[place + 1]
        if token.cue in ("how_many", "distinct") and follows.is_verb:  # "how many visits"
            raise OutsideError(f"I cannot count {follows.text!r}, only who or what")
        if token.cue == "all" and follows.kind == "time":  # "every month of 2004"
            raise OutsideError(f"I cannot read {token.text!r} of {follows.text!r}")
        if token.cue not in ("start", "end", "stay") or token.kind != "cue":
            continue
        noun = follows.mention is not None and not follows.is_verb
        if noun and (token.lower.endswith("ing") or token.lower in _FORMER):
            raise OutsideError(f"I do not know what {token.text!r} means before {follows.text!r}")
        if follows.cue == "of" and place + 2 < len(kept) and kept[place + 2].kind == "time":
            raise OutsideError(f"I cannot read {token.text!r} of {kept[place + 2].text!r}")


def _without_choices(clause: Clause, kept: list[Token]) -> list[Token]:
    """Take the names of "Ann or Ben" out of a clause; "or" stays, so that its form must read it."""
    place = next((i for i, each in enumerate(kept) if each.cue == "or"), len(kept))
    after = _after_fillers(kept, place + 1)
    first = place
    while first and kept[first - 1].kind == "name":
        first -= 1
    if first == place or after >= len(kept) or kept[after].kind != "name":
        return kept
    chosen = [*kept[first:place], kept[after]]
    clause.choices = tuple(each.name for each in chosen)
    return [each for each in kept if all(each is not one for one in chosen)]


def _without_neighbour(clause: Clause, kept: list[Token]) -> list[Token]:
    """Take the name that "succeeded", "predecessor of" and the like relate to out of a clause."""
    takes = "from" in clause.cues and "start" in clause.cues  # "from whom did X take over"
    relations = ["precede", "succeed", "predecessor", "successor", "take_from"]
    for cue in [*relations, *(["start"] if takes else [])]:
        place = next((i for i, each in enumerate(kept) if each.cue == cue), None)
        if place is None:
            continue
        of_noun = cue in ("predecessor", "successor")
        passive = any(each.cue == "by" for each in kept)
        follows = place + 1
        while follows < len(kept) and kept[follows].cue in ("", "by", "of"):
            if kept[follows].kind != "cue" or (kept[follows].cue == "of" and not of_noun):
                break
            follows += 1
        is_after = follows < len(kept) and kept[follows].kind == "name"
        names = [i for i, each in enumerate(kept[:place]) if each.kind == "name"]
        found = follows if is_after else names[-1] if names else None
        if found is None:
            raise OutsideError(f"I do not see whose {kept[place].text!r} is asked for")
        acts = is_after == passive
        before = cue == "predecessor" if of_noun else acts != (cue == "precede")
        clause.cues["neighbour"] = "before" if before else "after"
        clause.names = [kept[found]]
        owned = found + 1 < len(kept) and kept[found + 1].cue == "'s"
        gone = {found, found + 1} if owned else {found}
        return [each for i, each in enumerate(kept) if i not in gone]
    return kept


def _pattern(clause: Clause, kept: Sequence[Token], place: int) -> Pattern:
    mention = kept[place].mention
    assert mention is not None
    if mention.note:
        clause.notes.append(mention.note)
    wordings = _fitting(mention, kept, place)
    follows = kept[place + 1 : place + 2]
    if kept[place].is_verb and any(each.lower in _STANDING_IN for each in follows):
        raise OutsideError(f"I do not know what {follows[0].text!r} stands for")
    kind = wordings[0].kind
    if kind == "verb":
        subject, given = of_verb(kept, place, wordings[0])
        clause.names = joined_names(kept, place) or clause.names
    elif kind == "event":
        subject, given = of_event(kept, place)
    else:
        subject, given = of_noun(kept, place)
        if kind == "owned":
            subject, given = given, subject
    asked = OBJECT if given is None else SUBJECT if subject is None else None
    if subject is None and given is None:
        asked = None
    asks_where = asked is not None and any(each.cue == "where" for each in kept)
    if asks_where and (asked == SUBJECT or not wordings[0].names_a_place):
        raise OutsideError(f"{wordings[0].predicate} does not say where")
    is_noun = wordings[0].is_noun_itself(kept[place].text.lower()) and (
        any(each.cue in ("of", "'s", "as") for each in kept)
        or any(each.is_auxiliary for each in follows)  # "what colour was it"
    )
    is_noun = is_noun or (kind == "verb" and any(each.cue == "of" for each in follows))
    is_mutual = kind == "event" and wordings[0].preposition == "with"
    lasting = is_state(kept, place)
    return Pattern(
        wordings,
        None if subject is None else subject.name,
        None if given is None else given.name,
        given is not None and given.literal,
        asked,
        mention.begins or _is_act(wordings[0], mention, kept),
        (lasting and not wordings[0].preposition) or is_noun or is_mutual,
        lasting,
    )


def _is_act(wording: Wording, mention: Mention, kept: Sequence[Token]) -> bool:
    """Return whether "marry" is what was done, rather than "was married", which lasts."""
    if (wording.core[-1], wording.preposition) not in LOOSE:
        return False
    if mention.preposition == wording.preposition:
        return False
    return not any(each.lower in ("is", "are", "was", "were", "been") for each in kept)


def _fitting(mention: Mention, kept: Sequence[Token], place: int) -> tuple[Wording, ...]:
    """Return the predicates that a mention names. Raises `OutsideError` unless they are alike."""
    words = {each.lower for each in kept[:place] if each.cue == "" or each.kind == "cue"}
    where = any(each.cue == "where" for each in kept)
    wordings = mention.wordings
    follows = kept[place + 1] if place + 1 < len(kept) else None
    if wordings[0].kind != "verb":
        said = kept[place].text.lower()
        wordings = tuple(
            each for each in wordings if each.kind != "verb" or each.is_noun_itself(said)
        )
    elif mention.preposition not in ("", "of", "by"):
        wordings = tuple(
            each
            for each in wordings
            if each.preposition == mention.preposition
            or (
                follows is not None
                and (each.preposition in ("", "by") or where or each.preposition in words)
            )
            or (each.core[-1], each.preposition) in LOOSE
        )
    else:
        wordings = tuple(
            each
            for each in wordings
            if each.kind != "verb"
            or each.preposition in ("", "by", mention.preposition)
            or each.preposition in words & PREPOSITIONS
            or (where and each.preposition in ("in", "at", "for", "on"))
            or (each.core[-1], each.preposition) in LOOSE
        )
    if not wordings:
        named = ", ".join(each.predicate for each in mention.wordings)
        raise OutsideError(f"{kept[place].text!r} is not how {named} is said")
    if len({(each.kind, each.preposition) for each in wordings}) > 1:
        named = ", ".join(each.predicate for each in wordings)
        raise OutsideError(f"{kept[place].text!r} may mean several predicates: {named}")
    return wordings


def unread(clause: Clause, read: Iterable[str]) -> None:
    """Raise `OutsideError` if a clause has a cue that its form does not read."""
    left = [word for cue, word in clause.cues.items() if cue not in read]
    if left:
        raise OutsideError(f"I cannot read {', '.join(map(repr, left))} here")
