"""The facts that a form means: those of its pattern, within its times, before or after its event.

Where two readings of a word lead to different facts, or a time is not known precisely enough,
`OutsideError` says so.
"""

from collections.abc import Iterable, Sequence

from recollex_engine.clock import OPEN_END
from recollex_engine.domain.intervals import OPEN_START
from recollex_engine.domain.literals import Text
from recollex_engine.facts.fact_selection import FactConditions, select
from recollex_engine.facts.fact_view import FactView
from recollex_engine.facts.facts import read_fact
from recollex_engine.planner import tenures
from recollex_engine.planner.anchors import Anchor
from recollex_engine.planner.forms import Form
from recollex_engine.planner.pattern import OBJECT, SUBJECT, OutsideError, Pattern
from recollex_engine.planner.question_tokens import Token
from recollex_engine.planner.tenures import Tenure

MOST_FACTS = 20_000
"""The most facts of one pattern that are read; a question about more is declined."""


def matching(
    pattern: Pattern, view: FactView, spans: Sequence[tuple[int, int]] = ()
) -> list[Tenure]:
    """Return the facts of a pattern, in recorded order.

    Raises `OutsideError` for a fact whose time is only approximate. spans: it is left out if it is
    far from these times: further than it is long.
    """
    found: list[int] = []
    for wording in pattern.wordings:
        conditions = FactConditions(
            subject=pattern.subject,
            predicate=wording.predicate,
            object=Text(pattern.object) if pattern.literal and pattern.object else pattern.object,
        )
        found += select(view, conditions).tolist()
    if len(found) > MOST_FACTS:
        raise OutsideError(f"{len(found):,} facts bear on it; at most {MOST_FACTS:,} are read")
    facts = [read_fact(view, version) for version in sorted(found)]
    known = [tenures.tenure_of(fact) for fact in facts]
    rough = [each for each in known if tenures.is_rough(each.fact)]
    if any(not spans or _is_near(each, spans) for each in rough):
        raise OutsideError("a fact that bears on it has a time that is only approximate")
    return [each for each in known if each not in rough] if rough else known


def _is_near(tenure: Tenure, spans: Sequence[tuple[int, int]]) -> bool:
    """Return whether a fact, made longer by its length on both sides, overlaps one of the times."""
    length = tenure.end - tenure.start
    first, last = tenure.start - length, tenure.end + length
    return any(first < end and start < last for start, end in spans)


def picked(chosen: Sequence[Tenure], pick: str, number: int) -> list[Tenure]:
    """Return the first, the last or the nth of facts; all of them without a pick."""
    if not pick or not chosen:
        return list(chosen)
    check_order(chosen)
    if pick == "last":
        last = tenures.last_of(chosen)
        if last is None:
            raise OutsideError("the last to begin is not the last to end")
        return last
    ordered = tenures.by_start(chosen)
    if pick == "first" or number == 1:
        return tenures.first_of(ordered) or []
    if number > len(ordered):
        return []
    found = ordered[number - 1]
    if sum(each.start == found.start for each in ordered) > 1:
        raise OutsideError("several began at the same time")
    return [found]


def bounded(chosen: list[Tenure], form: Form, now: int) -> list[Tenure]:
    """Return the facts within the times of a form."""
    for time in form.times:
        if time.reach == "as of":
            chosen = _as_of(chosen, time, form)
        else:
            chosen = _at_edge(chosen, time, form.edge) if form.edge else _within(chosen, time)
    if form.edge == "end" and not form.times:
        return _ended(chosen, now)
    if not form.edge and form.name != "count":
        _check_lasting(chosen, form, now)
    return chosen


def _ended(chosen: list[Tenure], now: int) -> list[Tenure]:
    """Return the facts that are over: who "no longer lives in Rome", or "stopped living" there."""
    over = [each for each in chosen if each.end <= now]
    pairs = {(each.subject, each.object) for each in over}
    for each in chosen:
        if each.end > now and (each.subject, each.object) in pairs:
            raise OutsideError("some that ended went on later")
        if each.end > now >= each.ending[0] and each.ends != "moment" and each.end != OPEN_END:
            raise OutsideError(f"an end is only known by the {each.ends} of now")
    return over


def of_now(chosen: list[Tenure], form: Form, now: int) -> list[Tenure]:
    """Return the facts that hold now; of what ended ("no longer") all of them.

    Raises `OutsideError` if all are single days, months or years: that is not what is so now.
    """
    if form.edge == "end":
        return chosen
    held = held_in(chosen, (now, now + 1))
    if chosen and not held and all(map(is_point, chosen)):
        raise OutsideError("it asks what is so now, and the facts say what was done at some time")
    return held


def check_state(known: list[Tenure], chosen: list[Tenure], form: Form) -> None:
    """Raise `OutsideError` if a state is asked for, and the facts say what was done."""
    if form.pattern.is_state and known and not chosen and all(map(is_point, known)):
        raise OutsideError("it asks what was so, and the facts say what was done at some time")


def is_point(tenure: Tenure) -> bool:
    """Return whether a fact names one day, month or year, in which something was done."""
    return tenure.begins != "moment" and tenure.beginning == tenure.ending


def _as_of(chosen: list[Tenure], time: Token, form: Form) -> list[Tenure]:
    """Return the facts that held at a time, all of it. Raises `OutsideError` for what was done."""
    if form.edge or any(map(is_point, chosen)):
        raise OutsideError(f"it may ask for what was done until {time.text!r}")
    held = held_in(chosen, time.span)
    _check_touching(held, time.span, "what it asks about")
    return held


def _within(chosen: list[Tenure], time: Token) -> list[Tenure]:
    start, end = time.span
    if not time.reach:
        return held_in(chosen, time.span)
    if time.reach in ("before", "until"):
        held = held_in(chosen, (OPEN_START, end))
        over = [each for each in held if each.end <= end]
        word = "had begun"
    else:
        held = held_in(chosen, (start, OPEN_END))
        over = [each for each in held if each.start >= start]
        word = "went on"
    if len(held) != len(over):
        raise OutsideError(f"some {word} {time.text!r}, and were not over or had begun by then")
    return held


def _check_lasting(held: list[Tenure], form: Form, now: int) -> None:
    """Raise `OutsideError` for a state that did not last until a time, or since then until now.

    "Until 2010" may ask for what ended in 2010, or for all that was so by then.
    """
    for time in form.times:
        for each in held:
            start, end = time.named
            ended = start < each.ending[1] and each.ending[0] < end
            lasts = start < each.beginning[1] and each.beginning[0] < end and each.end > now
            if not is_point(each) and not {"until": ended, "since": lasts}.get(time.reach, True):
                raise OutsideError(f"some did not last {time.text!r}")


def _at_edge(chosen: list[Tenure], time: Token, edge: str) -> list[Tenure]:
    """Return the facts that began, or ended, within a time."""
    found = []
    for each in chosen:
        first, last = each.beginning if edge == "start" else each.ending
        if each.start == OPEN_START if edge == "start" else each.end == OPEN_END:
            continue
        if first < time.span[1] and last > time.span[0]:
            if first < time.span[0] or last > time.span[1]:
                raise OutsideError(f"a {edge} is known by the year or month only")
            found.append(each)
    return found


def held_in(chosen: list[Tenure], span: tuple[int, int]) -> list[Tenure]:
    """Return the facts that held at some time in [start, end)."""
    held = tenures.holding(chosen, span)
    if held is None:
        raise OutsideError("the times of some facts are not known precisely enough")
    return held


def events_of(anchor: Anchor, view: FactView) -> list[Tenure]:
    """Return the facts of the event that a question counts from; at least one."""
    events = picked(matching(anchor.pattern, view), anchor.pick, anchor.number)
    if not events:
        raise OutsideError("the facts do not hold the event that it counts from")
    return events


def anchored(chosen: list[Tenure], form: Form, view: FactView) -> list[Tenure]:
    """Return the facts before, after or during the event that a question counts from."""
    anchor = form.anchor
    assert anchor is not None
    events = events_of(anchor, view)
    if len(events) > 1:
        raise OutsideError(f"the event that it counts from happened {len(events)} times")
    event = events[0]
    if anchor.relation == "while":
        span = {"start": event.beginning, "end": event.ending}.get(
            anchor.edge, (event.start, event.end)
        )
        if span[0] == OPEN_START or (anchor.edge == "end" and span[1] == OPEN_END):
            raise OutsideError("the time of the event that it counts from is not recorded")
        held = held_in(chosen, span)
        if anchor.edge or is_point(event):
            _check_touching(held, span, "the event that it counts from")
        return held
    if event.start == OPEN_START:
        raise OutsideError("the start of the event that it counts from is not recorded")
    rest = [each for each in chosen if each.fact.version != event.fact.version]
    check_order([*rest, event])
    is_before = anchor.relation == "before"
    given = OBJECT if part_of(form) == SUBJECT else SUBJECT
    of_another = anchor.pattern.part(given) != form.pattern.part(given)
    if of_another or anchor.pattern.wordings != form.pattern.wordings:
        _check_through(rest, event, anchor.edge, is_before)
    if not anchor.is_direct:
        return _all_beside(rest, event, is_before)
    near = tenures.before if is_before else tenures.after
    span, border = (event.start, event.end), event.beginning if is_before else event.ending
    if anchor.edge == "start":
        span = border = event.beginning
    elif anchor.edge == "end":
        border = event.ending
    found = near(rest, span, border, part_of(form))
    if found is None:
        raise OutsideError(
            f"what began next {anchor.relation} it is not what was next {anchor.relation} it "
            "without an overlap"
        )
    return found


def came_before(one: Tenure, edge: str, other: Tenure, other_edge: str) -> bool:
    """Return whether one fact was before another. edge: which end of each is meant, "" for all.

    Raises `OutsideError` if that is not known, or if one began before the other and lasted on.
    """
    first, last = _periods(one, edge)
    later = _periods(other, other_edge)[0]
    if OPEN_START in (first[0], later[0]) or OPEN_END in (first[1], later[1]):
        raise OutsideError("when one of the two events was is not recorded")
    if later[1] <= first[0]:
        return False
    if first[1] > later[0]:
        raise OutsideError("the times of the two events are not known precisely enough")
    if last[0] >= later[1]:
        raise OutsideError("one of the two events began first and lasted on")
    return True


def _periods(tenure: Tenure, edge: str) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the periods in which what is meant of a fact began and ended."""
    if edge:
        at = tenure.beginning if edge == "start" else tenure.ending
        return at, at
    return tenure.beginning, tenure.ending


def _check_touching(held: list[Tenure], span: tuple[int, int], named: str) -> None:
    """Raise `OutsideError` if some began or ended within a period, that of an event as a rule.

    Of an event in 2004 it is not known whether it was before or after 15 June 2004. What is known
    by the same period, the year 2004, is taken for being at the same time.
    """
    for each in held:
        at_border = each.start <= span[0], each.end >= span[1]
        for unit, period, is_clear in zip(
            (each.begins, each.ends), (each.beginning, each.ending), at_border, strict=True
        ):
            if is_clear and unit in ("day", "moment"):
                continue  # it began at the first moment of the period, or before
            if span[0] <= period[0] and period[1] <= span[1] and period != span:
                raise OutsideError(f"{named} is not known precisely enough")


def _check_through(rest: list[Tenure], event: Tenure, edge: str, is_before: bool) -> None:
    """Raise `OutsideError` if a state went on through an event of another kind.

    Ann lived in Oslo before and after the wedding: "after it" may mean Oslo, or where she moved.
    """
    whole = (event.start, event.end)
    start, end = {"start": event.beginning, "end": event.ending}.get(edge, whole)
    border = start if is_before else end
    if any(not is_point(each) and each.start < border < each.end for each in rest):
        raise OutsideError("some went on through the event that it counts from")


def _all_beside(rest: list[Tenure], event: Tenure, is_before: bool) -> list[Tenure]:
    """Return all facts before or after an event. Raises `OutsideError` if readings differ."""
    if is_before:
        begun = [each for each in rest if each.start < event.start]
        clear = [each for each in begun if each.end <= event.beginning[1]]
    else:
        begun = [each for each in rest if each.start > event.start]
        clear = [each for each in begun if each.start >= event.ending[0]]
    if len(begun) != len(clear):
        raise OutsideError("some overlap with the event that it counts from")
    return clear


def check_order(chosen: Iterable[Tenure]) -> None:
    """Raise `OutsideError` unless it is known which of any two facts began first."""
    if not tenures.is_ordered(chosen):
        raise OutsideError("the times of some facts are not known precisely enough to order them")


def part_of(form: Form) -> str:
    """Return whether a form asks for the subject or the object of facts."""
    return OBJECT if form.pattern.asked == OBJECT else SUBJECT
