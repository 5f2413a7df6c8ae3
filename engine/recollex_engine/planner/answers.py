"""The answer to a `Form`: exact, or a reason why it cannot be decided.

Where two readings of a word lead to different facts, or a time is not known precisely enough,
`OutsideError` says so; nothing is chosen. An empty answer means that the facts hold none.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from recollex_engine.clock import OPEN_END
from recollex_engine.domain.intervals import OPEN_START
from recollex_engine.domain.said_precision import Unit
from recollex_engine.facts.entities import read_entity
from recollex_engine.facts.fact_view import FactView
from recollex_engine.facts.facts import Fact, read_fact
from recollex_engine.planner import tenures
from recollex_engine.planner.forms import Form
from recollex_engine.planner.pattern import OBJECT, SUBJECT, OutsideError, Pattern
from recollex_engine.planner.predicates import stem
from recollex_engine.planner.selection import (
    anchored,
    bounded,
    came_before,
    check_order,
    check_state,
    events_of,
    is_point,
    matching,
    of_now,
    part_of,
    picked,
)
from recollex_engine.planner.tenures import Tenure

Value = str | int | bool
NAMED_UNITS = {"year": "year", "month": "month", "week": "week", "day": "day", "moment": "day"}


@dataclass(frozen=True, slots=True)
class Found:
    """What a form comes to. values: names, times in ISO 8601, or one number; text: in words."""

    values: tuple[Value, ...]
    text: str
    facts: tuple[Fact, ...] = ()
    notes: tuple[str, ...] = field(default=())


def answer(form: Form, view: FactView, now: int) -> Found:
    """Return the answer to a form. Raises `OutsideError` if it cannot be decided."""
    read = {
        "which": _which,
        "when": _when,
        "count": _count,
        "duration": _duration,
        "timeline": _timeline,
        "since": _since,
        "whether": _whether,
        "overlap": _overlap,
        "happened": _happened,
    }
    return read[form.name](_oriented(form, view), view, now)


def _oriented(form: Form, view: FactView) -> Form:
    """Return a form in which "the spouse of Ann" is read as the facts have it."""
    form = replace(form, pattern=_turned(form.pattern, view))
    anchor = form.anchor
    if anchor is None:
        return form
    event = _turned(anchor.pattern, view)
    if anchor.other is not None and matching(anchor.other, view):
        if matching(event, view):
            raise OutsideError("the event that it counts from may be of the one or the other name")
        event = anchor.other
    form = replace(form, anchor=replace(anchor, pattern=event, other=None))
    if form.pattern.subject is not None or form.pattern.object is not None:
        return form
    return _of_the_same(form, event, view)


def _of_the_same(form: Form, event: Pattern, view: FactView) -> Form:
    """Return a form about what the event's facts are of: of Acme, if Ann was director of Acme."""
    known = matching(event, view)
    objects = {each.object for each in known}
    if not objects:
        raise OutsideError("the facts do not hold the event that it counts from")
    if len(objects) > 1:
        raise OutsideError(f"of several things {event.subject} is {event.wordings[0].predicate}")
    is_text = known[0].fact.kind == "text"
    pattern = replace(form.pattern, object=objects.pop(), literal=is_text)
    same = replace(pattern, subject=event.subject, asked=None)
    assert form.anchor is not None
    return replace(form, pattern=pattern, anchor=replace(form.anchor, pattern=same))


def _turned(pattern: Pattern, view: FactView) -> Pattern:
    if not pattern.is_either or not matching(turned := pattern.turned(), view):
        return pattern
    if matching(pattern, view):
        name = pattern.wordings[0].predicate
        raise OutsideError(f"it may ask for the subject or the object of {name}")
    return turned


def _which(form: Form, view: FactView, now: int) -> Found:
    known = matching(form.pattern, view)
    chosen = bounded(known, form, now)
    check_state(known, chosen, form)
    if form.anchor is not None:
        chosen = anchored(chosen, form, view)
    part = part_of(form)
    left = [each for each in chosen if getattr(each, part) not in form.others]
    if form.choices:
        left = [each for each in left if getattr(each, part) in form.choices]
        for name in form.choices:
            if all(getattr(each, part) != name for each in left):
                raise OutsideError(f"the facts do not hold it of {name}")
    left = picked(left, form.pick, form.number)
    several = form.anchor or form.times or form.pick or form.is_plural or form.others
    if form.is_present and not (form.anchor or form.times or form.pick):
        left = of_now(left, form, now)
    elif not several and len({getattr(each, part) for each in left}) > 1:
        raise OutsideError("several held at different times: it names no time")
    return _names(left, form, view)


def _names(chosen: Sequence[Tenure], form: Form, view: FactView) -> Found:
    """Return the names of facts, each once, in the order in which they began."""
    part = part_of(form)
    ordered = tenures.by_start(chosen)
    names = tuple(dict.fromkeys(getattr(each, part) for each in ordered))
    kept, notes = _of_kind(names, form.kind, view)
    facts = tuple(each.fact for each in ordered if getattr(each, part) in kept)
    return Found(kept, ", ".join(kept), facts, (*form.notes, *notes))


def _of_kind(
    names: tuple[str, ...], kind: str, view: FactView
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names that are of a kind, such as "company", by the types of their entities."""
    if not kind or not names:
        return names, ()
    types = {}
    for name in names:
        entity = read_entity(view, name)
        types[name] = {stem(each) for each in entity.types} if entity is not None else set()
    if not any(types.values()):
        return names, (f"no types are recorded: each is taken for one of {kind!r}",)
    if not all(types.values()):
        raise OutsideError(f"the types of some are not recorded, and it asks for a {kind}")
    return tuple(name for name in names if stem(kind) in types[name]), ()


def _meant(form: Form, view: FactView, now: int) -> list[Tenure]:
    """Return the facts whose time is asked for: of those within its times, the picked ones."""
    chosen = matching(form.pattern, view)
    if form.times:
        chosen = bounded(chosen, form, now)
    return picked(chosen, form.pick, form.number)


def _when(form: Form, view: FactView, now: int) -> Found:
    chosen = tenures.by_start(_meant(form, view, now))
    values: list[str] = []
    for each in chosen:
        start = _edge(each, "start") if form.edge != "end" else ""
        end = _edge(each, "end") if form.edge != "start" else ""
        if form.edge:
            values.append(start or end)
        else:
            values.append(_span(start, end))
    if "" in values:
        which = "start" if form.edge == "start" else "end"
        raise OutsideError(f"its {which} is not recorded")
    return Found(
        tuple(dict.fromkeys(values)),
        ", ".join(dict.fromkeys(values)),
        tuple(each.fact for each in chosen),
        form.notes,
    )


def _span(start: str, end: str) -> str:
    if not start or not end:
        return f"since {start}" if start else f"until {end}" if end else ""
    return start if start == end else f"{start} to {end}"


def _edge(tenure: Tenure, edge: str) -> str:
    """Return when a fact began or ended, as precise as it is known; "" if that is open."""
    if edge == "start":
        return "" if tenure.start == OPEN_START else tenures.spelled(tenure.start, tenure.begins)
    if tenure.end == OPEN_END:
        return ""
    at = tenure.end if tenure.ends == "moment" else tenure.last
    return tenures.spelled(at, tenure.ends)


def _chosen(form: Form, view: FactView, now: int) -> list[Tenure]:
    """Return the facts within a form's times, before or after its event."""
    chosen = bounded(matching(form.pattern, view), form, now)
    return chosen if form.anchor is None else anchored(chosen, form, view)


def _count(form: Form, view: FactView, now: int) -> Found:
    chosen = _chosen(form, view, now)
    facts = tuple(each.fact for each in tenures.by_start(chosen))
    if form.repeats:
        return Found((len(chosen),), str(len(chosen)), facts, form.notes)
    if form.is_present and not (form.anchor or form.times):
        chosen = of_now(chosen, form, now)
    named = _names(
        [each for each in chosen if getattr(each, part_of(form)) not in form.others], form, view
    )
    count = len(named.values)
    own = form.kind and stem(form.kind) in {stem(str(each).split()[-1]) for each in named.values}
    if own and count != len(chosen):  # "how many prizes", and two of the Prize
        raise OutsideError(f"{form.kind!r} may count each name once or each time")
    return Found((count,), str(count), named.facts, named.notes)


def _duration(form: Form, view: FactView, now: int) -> Found:
    meant = _meant(form, view, now)
    if not meant:
        return Found((), "", (), form.notes)
    if len(meant) > 1:
        raise OutsideError(f"it held {len(meant)} times: it does not say which time is meant")
    tenure = meant[0]
    if is_point(tenure):
        raise OutsideError(f"it names one {tenure.begins}, and not how long it lasted")
    unit: Unit = form.unit or ("day" if tenure.begins == "moment" else tenure.begins)
    lasted = tenures.lasted(tenure, unit)
    if lasted is None:
        if tenure.start == OPEN_START or tenure.end == OPEN_END:
            raise OutsideError("its start or its end is not recorded")
        raise OutsideError(
            f"from {_edge(tenure, 'start')} to {_edge(tenure, 'end')} are no whole "
            f"{unit}s that are known"
        )
    return Found((lasted,), _units(lasted, unit), (tenure.fact,), form.notes)


def _timeline(form: Form, view: FactView, now: int) -> Found:
    chosen = _chosen(form, view, now)
    check_order(chosen)
    ordered = tenures.by_start(chosen)
    part = part_of(form)
    starts = {each.start for each in ordered}
    tied = len(starts) < len(ordered)
    names = tuple(getattr(each, part) for each in ordered)
    _, notes = _of_kind(names, form.kind, view)
    lines = [f"{getattr(each, part)} ({_edge(each, 'start') or '?'})" for each in ordered]
    notes = (*form.notes, *notes, *(("some began at the same time",) if tied else ()))
    return Found(names, ", ".join(lines), tuple(each.fact for each in ordered), notes)


def _happened(form: Form, view: FactView, now: int) -> Found:
    known = matching(form.pattern, view, [each.span for each in form.times])
    chosen = picked(bounded(known, form, now), form.pick, form.number)
    ordered = tenures.by_start(each for each in chosen if each.start != OPEN_START)
    names_subject = form.pattern.subject is None
    told = [f"{each.subject} {_said(each)}" if names_subject else _said(each) for each in ordered]
    names = tuple(dict.fromkeys(told))
    return Found(names, ", ".join(names), tuple(each.fact for each in ordered), form.notes)


def _said(tenure: Tenure) -> str:
    return f"{tenure.fact.predicate.replace('_', ' ')} {tenure.object}"


def _since(form: Form, view: FactView, now: int) -> Found:
    chosen = _meant(form, view, now)
    if len(chosen) != 1:
        if not chosen:
            return Found((), "", (), form.notes)
        raise OutsideError(f"it held {len(chosen)} times: it does not say which time is meant")
    tenure = chosen[0]
    edges = [form.edge] if form.edge else ["start"]
    if not form.edge and not is_point(tenure) and tenure.end <= now:
        edges.append("end")
    found = {_passed(tenure, edge, form, now) for edge in edges}
    if len(found) > 1:
        raise OutsideError("it does not say whether its start or its end is meant")
    passed, unit = found.pop()
    return Found((passed,), _units(passed, unit), (tenure.fact,), form.notes)


def _passed(tenure: Tenure, edge: str, form: Form, now: int) -> tuple[int, Unit]:
    """Return how many units have passed since a fact began, or ended."""
    at, named = (tenure.start, tenure.begins) if edge == "start" else (tenure.end, tenure.ends)
    if at in (OPEN_START, OPEN_END):
        raise OutsideError(f"its {edge} is not recorded")
    if at > now:
        raise OutsideError(f"its {edge} is still to come")
    unit: Unit = form.unit or ("day" if named == "moment" else named)
    if tenures.is_finer(unit, named):
        raise OutsideError(f"its {edge} is only known by the {named}")
    first = tenures.period_start(tenure.last if edge == "end" else at, named)
    return tenures.elapsed(first, tenures.period_start(now, named), unit), unit


def _whether(form: Form, view: FactView, now: int) -> Found:
    known = [matching(each, view) for each in _each_of(form)]
    if not all(known):
        return Found((), "", (), form.notes)
    if form.anchor is not None:
        return _whether_beside(form, known[0], view)
    chosen = [bounded(each, form, now) for each in known]
    for all_of, some in zip(known, chosen, strict=True):
        check_state(all_of, some, form)
    if form.is_present and not form.times:
        chosen = [of_now(each, form, now) for each in chosen]
    shown = [tenure for each in (chosen if any(chosen) else known) for tenure in each]
    return _yes_or_no(all(chosen), shown, form)


def _whether_beside(form: Form, known: list[Tenure], view: FactView) -> Found:
    """Return whether what is asked about was before, after or during another event."""
    anchor = form.anchor
    assert anchor is not None
    if anchor.relation == "while":
        held = anchored(known, form, view)
        return _yes_or_no(bool(held), held or known, form)
    events = events_of(anchor, view)
    pairs = [((each, form.edge), (event, anchor.edge)) for each in known for event in events]
    if anchor.relation == "after":
        pairs = [(event, each) for each, event in pairs]
    told = {came_before(*one, *other) for one, other in pairs}
    if len(told) > 1:
        raise OutsideError("some of them were before it and some after")
    return _yes_or_no(told.pop(), [*known, *events], form)


def _yes_or_no(is_so: bool, shown: Sequence[Tenure], form: Form) -> Found:
    facts = tuple(each.fact for each in tenures.by_start(shown))
    return Found((is_so,), "yes" if is_so else "no", facts, form.notes)


def _each_of(form: Form) -> list[Pattern]:
    """Return the pattern of a form, or one for each of both names that it asks about."""
    if not form.both:
        return [form.pattern]
    part = SUBJECT if form.pattern.part(SUBJECT) in form.both else OBJECT
    return [form.pattern.with_part(part, name) for name in form.both]


def _overlap(form: Form, view: FactView, now: int) -> Found:
    one, other = (matching(each, view) for each in _each_of(form))
    if not one or not other:
        return Found((), "", (), form.notes)
    pairs = [(a, b) for a in one for b in other if a.start < b.end and b.start < a.end]
    facts = tuple(dict.fromkeys(each.fact.version for pair in pairs for each in pair))
    shown = tuple(read_fact(view, version) for version in facts)
    for a, b in pairs:
        if tenures.holding([b], (a.start, a.end)) is None:
            raise OutsideError("whether they overlap is not known precisely enough")
    if form.repeats:
        return Found((bool(pairs),), "yes" if pairs else "no", shown, form.notes)
    if len(pairs) != 1:
        raise OutsideError(f"they overlap {len(pairs)} times")
    a, b = pairs[0]
    late, soon = max((a, b), key=lambda x: x.start), min((a, b), key=lambda x: x.end)
    shared = Tenure(a.fact, "", "", late.start, soon.end, late.begins, soon.ends)
    unit: Unit = form.unit or ("day" if shared.begins == "moment" else shared.begins)
    lasted = tenures.lasted(shared, unit)
    if lasted is None:
        raise OutsideError(f"their overlap is no whole number of {unit}s that is known")
    return Found((lasted,), _units(lasted, unit), shown, form.notes)


def _units(number: int, unit: Unit) -> str:
    return f"{number} {NAMED_UNITS[unit]}{'' if number == 1 else 's'}"
