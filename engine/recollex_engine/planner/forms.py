"""Which of its forms is a question in? Its clauses become one `Form`, which `answers` asks.

Every cue of a question must be read by its form: a question with a word that the form does not use
is outside, because that word may change what is asked.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from recollex_engine.domain.said_precision import Unit
from recollex_engine.planner.anchors import (
    NEUTRAL,
    PERSONS,
    PICKS,
    Anchor,
    Edge,
    read_anchor,
    resolved,
)
from recollex_engine.planner.clauses import (
    Clause,
    read_clause,
    split,
    unread,
)
from recollex_engine.planner.pattern import OBJECT, SUBJECT, OutsideError, Pattern
from recollex_engine.planner.predicates import wording
from recollex_engine.planner.question_tokens import Token
from recollex_engine.planner.roles import is_stray

FormName = Literal[
    "which",
    "when",
    "count",
    "duration",
    "timeline",
    "since",
    "whether",
    "overlap",
    "happened",
]

_UNITS: dict[str, Unit] = {f"unit:{unit}": unit for unit in ("year", "month", "week", "day")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """What a question asks.

    pick: "first", "last" or "nth", then ``number`` says which. times: that bound the facts. edge:
    which end of the facts is meant. others: names that are left out. both: two names that are asked
    about, or whose facts overlap. choices: names to choose from. repeats: each fact counts, not
    each different name.
    """

    name: FormName
    pattern: Pattern
    pick: str = ""
    number: int = 0
    times: tuple[Token, ...] = ()
    anchor: Anchor | None = None
    edge: Edge = ""
    unit: Unit | None = None
    others: tuple[str, ...] = ()
    both: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    repeats: bool = False
    is_plural: bool = False
    is_present: bool = False
    kind: str = ""
    notes: tuple[str, ...] = ()


def read_form(tokens: Sequence[Token], known: Sequence[str]) -> Form:
    """Return the form of a question. Raises `OutsideError`; ``known``: predicates, to name some."""
    words, subordinate = split(tokens)
    main = read_clause(words)
    if not subordinate and (happened := _happened(main, words, known)) is not None:
        return happened
    if any(each.lower == "then" for each in words) and not (main.times or subordinate):
        raise OutsideError("it does not say when 'then' is")
    left_out = [tokens for marker, tokens in subordinate if marker.cue == "besides"]
    clauses = [
        read_clause(resolved(tokens, main, words), marker.cue)
        for marker, tokens in subordinate
        if marker.cue != "besides"
    ]
    if len(clauses) > 1:
        raise OutsideError("it counts from several events at once")
    sub = clauses[0] if clauses else None
    event = None if sub is None else sub.pattern
    if main.pattern is None and sub is not None and event is not None:
        if main.cues.keys() & {"how_long", "how_many"}:
            main, sub = _joined(main, sub), None
        elif main.cues.keys() <= NEUTRAL:
            raise OutsideError("its main clause names no predicate")
        else:
            main.pattern = _inherited(event)
    if main.pattern is None:
        shown = ", ".join(sorted(known)[:8]) or "none"
        raise OutsideError(f"it names no predicate of the facts; there are: {shown}")
    others = tuple(token.name for tokens in left_out for token in tokens if token.kind == "name")
    if any(each.kind not in ("name", "cue") for tokens in left_out for each in tokens):
        raise OutsideError("what is left out must be names")
    main.pattern = _seeking(main.pattern, main, sub)
    anchor = read_anchor(main, sub)
    form = _form(main, anchor)
    if form.name == "whether" and anchor is not None and sub is not None:
        if "direct" in sub.cues:
            raise OutsideError(f"I cannot read {sub.cues['direct']!r} here")
        if sub.pattern is None:  # "did Ann stop working before Ben": before he stopped
            anchor = replace(anchor, edge=form.edge)
    if sub is not None and sub.times:
        raise OutsideError("a clause that is counted from names a time of its own")
    if "else" in main.cues and anchor is not None and not others:
        part = main.pattern.asked
        same = anchor.pattern.part(part) if part else None
        others = (same,) if same else ()
    if ("else" in main.cues) != bool(others):
        raise OutsideError("it asks who else, and does not name who is left out")
    if sub is not None and sub.pattern is None and anchor is not None:
        others += tuple(each.name for each in sub.names if anchor.relation == "while")
    return replace(
        form,
        others=others,
        anchor=anchor,
        kind=main.kind,
        notes=(*main.notes, *(sub.notes if sub else ())),
    )


def _happened(main: Clause, words: Sequence[Token], known: Sequence[str]) -> Form | None:
    """Return the form of "What happened in 2020?", "What did Ann do last?"; None for another.

    What began then is meant, of any predicate.
    """
    does = [place for place, each in enumerate(words) if each.lower == "do"]
    is_done = bool(does) and words[does[0] - 1].kind == "name" and words[0].lower == "what"
    if main.pattern is not None or not known or not (is_done or "happened" in main.cues):
        return None
    if len(main.names) > 1 or (is_done and all(each.lower != "did" for each in words)):
        raise OutsideError("I cannot tell whose deeds are asked for")
    for place, token in enumerate(words):
        if is_stray(words, place, ("to",)):
            raise OutsideError(f"I do not know what {token.text!r} means here")
    unread(main, {"who", "ask", "all", "happened", *PICKS, "during"})
    if main.cues.get("who", "what").lower() not in ("what", "which"):
        raise OutsideError("it asks who, and names no predicate")
    if not main.times and not main.pick:
        raise OutsideError("it asks what happened, and names no time")
    return Form(
        name="happened",
        pattern=Pattern(
            tuple(map(wording, known)),
            subject=main.names[0].name if main.names else None,
            asked=OBJECT,
        ),
        pick=main.pick,
        number=main.number,
        times=tuple(main.times),
        edge="start",
        notes=tuple(main.notes),
    )


def _seeking(pattern: Pattern, main: Clause, sub: Clause | None) -> Pattern:
    """Return what "Who was the director before Ann?" asks: for another of what Ann directed."""
    counts = "neighbour" in main.cues or (sub is not None and sub.pattern is None)
    asks = not main.cues.keys().isdisjoint(("who", "how_many"))
    names_none = pattern.subject is None and pattern.object is None
    if names_none and counts and pattern.wordings[0].kind == "noun" and asks:
        return replace(pattern, asked=SUBJECT)
    return pattern


def _joined(main: Clause, event: Clause) -> Clause:
    """Return "when X was the director of Y, how long was that?" as one clause."""
    if main.names or event.marker not in ("when", "while"):
        raise OutsideError("its main clause names no predicate")
    main.pattern, main.number = event.pattern, event.number or main.number
    main.cues |= event.cues
    main.times += event.times
    return main


def _inherited(pattern: Pattern) -> Pattern:
    """Return what "who took over next?" asks, after a clause with a pattern."""
    if pattern.wordings[0].kind != "noun" or pattern.object is None or pattern.subject is None:
        raise OutsideError("its main clause names no predicate")
    return replace(pattern, subject=None, asked=SUBJECT)


def _form(main: Clause, anchor: Anchor | None) -> Form:
    assert main.pattern is not None
    cues, pattern = main.cues, main.pattern
    if pattern.subject is None and pattern.object is None and pattern.asked is None:
        raise OutsideError(f"it names neither who nor what {pattern.wordings[0].predicate} is of")
    if len(picks := [cues[each] for each in sorted(PICKS & cues.keys())]) > 1:
        raise OutsideError(f"I cannot read {' and '.join(map(repr, picks))} together")
    units = [unit for cue, unit in _UNITS.items() if cue in cues]
    edge: Edge = "start" if "start" in cues or pattern.begins else "end" if "end" in cues else ""
    times = tuple(main.times)
    if "inclusive" in cues:
        times = _counted_in(main)
        edge = ""
    base = Form(
        name="which",
        pattern=pattern,
        pick=main.pick,
        number=main.number,
        times=times,
        edge=edge,
        unit=units[0] if units else None,
        is_plural=main.plural or "all" in cues,
        is_present=main.is_present,
        choices=main.choices,
    )
    joins = "and" in cues and not {"start", "end"} <= cues.keys()  # not "the start and the end"
    both = tuple(each.name for each in main.names) if joins else ()
    for read in (_when, _since, _duration, _count, _overlap, _timeline, _whether):
        found = read(main, base, both)
        if found is not None:
            if anchor is not None and found.name not in ("count", "timeline", "whether"):
                raise OutsideError(f"it asks {found.name!r} and counts from an event")
            if anchor is not None and found.name == "whether" and (found.times or found.both):
                raise OutsideError("it names a time or a second name, and counts from an event")
            return found
    return _which(main, base, anchor)


def _full(form: Form) -> None:
    if form.pattern.is_event:  # "When was the second trip after June?"
        return
    if form.pattern.asked is not None:
        raise OutsideError(f"it lacks a {form.pattern.asked}")
    if form.times:
        raise OutsideError("it bounds by a time what it asks the time of")


def _when(main: Clause, base: Form, both: tuple[str, ...]) -> Form | None:
    asks = {"when", "since_when", "until_when"} & main.cues.keys()
    if not asks:
        return None
    unread(main, {*NEUTRAL, *PICKS, *asks, "start", "end"})
    if main.cues.get("who", "").lower() in PERSONS:
        raise OutsideError("it asks who and when at once")
    _full(base)
    edge: Edge = "start" if "since_when" in asks else "end" if "until_when" in asks else base.edge
    if {"since_when", "until_when"} <= asks:
        edge = ""
    if base.edge and base.edge != edge:
        raise OutsideError("it asks for a start and an end at once")
    return replace(base, name="when", edge=edge)


def _since(main: Clause, base: Form, both: tuple[str, ...]) -> Form | None:
    cues = main.cues
    if not cues.keys() & {"how_long_ago", "how_long_since", "ago", "since"}:
        return None
    unread(
        main,
        {*NEUTRAL, *PICKS, *_UNITS, "how_long_ago", "how_long_since", "how_long", "how_many"}
        | {"ago", "since", "start", "end", "passed"},
    )
    _full(base)
    return replace(base, name="since")


def _duration(main: Clause, base: Form, both: tuple[str, ...]) -> Form | None:
    cues = main.cues
    if "how_long" not in cues and not ("how_many" in cues and base.unit):
        return None
    if "overlap" in cues or both:
        unread(main, {*NEUTRAL, *_UNITS, "how_long", "how_many", "overlap", "both", "and"})
        if len(both) != 2 or base.pattern.asked is not None:
            raise OutsideError("an overlap is of two names")
        return replace(base, name="overlap", both=both)
    spans = {"start", "end", "passed", "and", "during"}
    unread(main, {*NEUTRAL, *PICKS, *_UNITS, "how_long", "how_many"} | spans)
    if ("start" in cues) != ("end" in cues):
        raise OutsideError("it asks how long a start or an end took")
    if base.pick == "first" and "spell" not in cues:
        raise OutsideError("I cannot read 'first' here")
    _full(base)
    return replace(base, name="duration", edge="")


def _count(main: Clause, base: Form, both: tuple[str, ...]) -> Form | None:
    cues = main.cues
    often = "how_often" in cues
    if "how_many" not in cues and not often:
        return None
    unread(
        main,
        {*NEUTRAL, "how_many", "how_often", "distinct", "start", "end", "else"}
        | ({"inclusive", "those", "or", "and"} if "inclusive" in cues else set()),
    )
    if base.pattern.is_event and "distinct" in cues:
        raise OutsideError(f"I cannot tell which of them are {cues['distinct']!r}")
    repeats = often or base.pattern.is_event
    if base.pattern.asked is None and not repeats:
        raise OutsideError("it names both the subject and the object of what is counted")
    return replace(base, name="count", repeats=repeats)


def _counted_in(main: Clause) -> tuple[Token, ...]:
    """Return the time of "from A to B, counting those that ended in A or began in B".

    That is how facts are counted in any case. Raises `OutsideError` if it says something else.
    """
    if len(main.times) != 3 or not {"start", "end", "or"} <= main.cues.keys():
        raise OutsideError(f"I cannot read {main.cues['inclusive']!r} here")
    span, first, last = main.times
    if (first.span[0], last.span[1]) != span.span:
        raise OutsideError("it counts what began or ended at another time than it asks about")
    return (span,)


def _overlap(main: Clause, base: Form, both: tuple[str, ...]) -> Form | None:
    if not (main.is_asked and len(both) == 2 and "overlap" in main.cues):
        return None
    unread(main, {*NEUTRAL, "overlap", "both", "and"})
    if base.pattern.asked is not None or base.times:
        raise OutsideError("an overlap is of two names that have both a subject and an object")
    return replace(base, name="overlap", both=both, repeats=True)


def _timeline(main: Clause, base: Form, both: tuple[str, ...]) -> Form | None:
    if "timeline" not in main.cues:
        return None
    unread(main, {*NEUTRAL, "timeline", "start"})
    if base.pattern.asked is None:
        raise OutsideError("it names both the subject and the object of what is listed")
    return replace(base, name="timeline", pick="", edge="")


def _whether(main: Clause, base: Form, both: tuple[str, ...]) -> Form | None:
    if not main.is_asked or base.pattern.asked is not None:
        return None
    unread(main, {*NEUTRAL, "start", "end", *(("both", "and") if len(both) == 2 else ())})
    if any(" or " in each.text for each in base.times):
        raise OutsideError("it may ask in which of two years")
    return replace(base, name="whether", both=both)


def _which(main: Clause, base: Form, anchor: Anchor | None) -> Form:
    cues = main.cues
    if base.pattern.asked is None:
        raise OutsideError("it names both the subject and the object, and asks for neither")
    if base.pattern.is_event:
        asks_person = cues.get("who", "").lower() in PERSONS
        is_person = base.pattern.asked == SUBJECT
        is_with = base.pattern.wordings[0].preposition == "with"
        if asks_person != is_person and not (asks_person and is_with):
            raise OutsideError("I cannot tell what is asked for")
    read = {*NEUTRAL, *PICKS, "distinct", "now", "else", "start", "end"}
    if main.choices:
        read.add("or")
        if base.pick not in ("first", "last") or anchor is not None or base.times:
            raise OutsideError(f"I cannot read {cues['or']!r} here")
    if base.pick and "spell" in cues:
        raise OutsideError(f"{cues['spell']!r} may count what each did, or what all did")
    if anchor is None:
        unread(main, read)
        if base.pick and base.edge == "end":
            raise OutsideError(f"it asks for the {cues[base.pick]} to end, not to begin")
        return replace(base, is_present=base.is_present or "now" in cues)
    if "neighbour" in cues:
        read |= {"neighbour", "precede", "succeed", "predecessor", "successor", "take_from", "from"}
    unread(main, read | {"direct", "before", "after"})
    near = {"before": "last", "after": "first"}.get(anchor.relation)
    if base.pick and (base.pick != near or base.pick == "nth"):
        raise OutsideError(f"I cannot read {cues[base.pick]!r} here")
    for cue in {"before", "after"} & cues.keys():
        if cue != anchor.relation:
            raise OutsideError(f"I cannot read {cues[cue]!r} here")
    if base.edge == "end" or (base.edge and anchor.relation == "while"):
        raise OutsideError("it asks what began or ended at another event")
    return replace(base, pick="", number=0, edge="")
