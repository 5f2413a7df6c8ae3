"""Questions about dated facts, answered without a language model: exactly, or not at all.

REMem's agent asks its tools step by step because a model cannot count and compare dates reliably
(REMem 5.2, C.4). For questions in a known form no model is needed: the words are read
(`question_tokens`, `clauses`, `forms`), and the facts are selected, ordered, counted and subtracted
(`answers`). A question that is not wholly understood is declined, with what it lacks.
"""

from dataclasses import dataclass
from typing import Any

from recollex_engine.dates.locales import DAY_FIRST, puts_month_first
from recollex_engine.facts.fact_view import FactView
from recollex_engine.facts.facts import Fact
from recollex_engine.planner.answers import Value, answer
from recollex_engine.planner.forms import read_form
from recollex_engine.planner.pattern import OutsideError
from recollex_engine.planner.question_tokens import predicates_of, read_tokens

NO_INFORMATION = "no information available"
"""What REMem's agent answers where the memory holds no answer (6.2)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What the planner makes of a question.

    form: "which", "when", "count", "duration", "timeline", "since", "whether", "overlap" or
    "happened"; None if the question is in none of them, and ``lacks`` says why. values: names,
    times in ISO 8601 as precise as they are known, a number, True or False, or what was done; empty
    if the facts hold no answer. text: the same in words. facts: those it rests on. notes: what was
    assumed.
    """

    question: str
    form: str | None = None
    text: str | None = None
    values: tuple[Value, ...] = ()
    facts: tuple[Fact, ...] = ()
    lacks: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def is_answered(self) -> bool:
        """Whether the planner answers, if only that the facts hold no answer."""
        return self.lacks is None

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as JSON values."""
        return {
            "question": self.question,
            "form": self.form,
            "text": self.text,
            "values": list(self.values),
            "facts": [fact.to_dict() for fact in self.facts],
            "lacks": self.lacks,
            "notes": list(self.notes),
        }


def plan(question: str, view: FactView, now: int, locale: str = DAY_FIRST) -> Plan:
    """Return the answer of the facts of a view to a question in English, or what it lacks.

    now: in microseconds, for "how long ago" and "last year". locale: the agent's: whether
    5/7/2023 is 7 May. Cost: some 200 us, and that of the facts that bear on the question.
    """
    known = predicates_of(view)
    form = None
    try:
        form = read_form(read_tokens(question, view, known, now, puts_month_first(locale)), known)
        found = answer(form, view, now)
    except OutsideError as outside:
        name = None if form is None else form.name
        return Plan(question=question, form=name, lacks=str(outside))
    return Plan(
        question=question,
        form=form.name,
        text=found.text or NO_INFORMATION,
        values=found.values,
        facts=found.facts,
        notes=found.notes,
    )
