"""How does an agent recall facts, events and episodes beside memories, or alone?"""

from collections.abc import Callable
from dataclasses import replace

from recollex_engine.domain.question import MEMORIES, Question
from recollex_engine.facts.cited_memories import resting_on
from recollex_engine.facts.fact_view import FactView
from recollex_engine.facts.hits import read_hits
from recollex_engine.facts.surface_search import Found
from recollex_engine.ranking.filters import admitted_memories
from recollex_engine.ranking.query_embedding import embedded_once
from recollex_engine.ranking.ranking import Ranking
from recollex_engine.recall.beside import fit
from recollex_engine.recall.recall import Recall
from recollex_engine.state.view import View
from recollex_engine.text.token_counter import TokenCounter
from recollex_engine.trace import Trace


def recall_kinds(
    view: View,
    question: Question,
    recall: Callable[[Question], Recall],
    search: Callable[..., list[Found]],
    counter: TokenCounter,
) -> Recall:
    """Return a recall of the kinds that the question names; ``recall`` finds the memories.

    With filters, other than ``as_world``, a fact must cite a memory that passes them, an event
    include such a fact, and an episode aggregate such an event. If the memories do not reach
    ``min_confidence``, nothing is returned. A search that fails is named in the trace, and the
    memories still answer.
    """
    others = tuple(kind for kind in question.kinds if kind not in MEMORIES)
    wanted = question.filter
    facts = FactView(view.columns, view.op, wanted.as_world, wanted.trust)
    hits: list[Found] = []
    with embedded_once():
        if MEMORIES[0] in question.kinds:
            found = recall(replace(question, kinds=MEMORIES))
        else:
            found = _without_memories(view, question, counter)
        if not question.min_confidence or len(found):
            with found.trace.stage("surfaces"):
                try:
                    narrowed = replace(wanted, as_world=None)
                    shown = admitted_memories(view, question) if narrowed else None
                    hits = search(
                        facts,
                        question.text,
                        others,
                        question.thinking_budget,
                        only=() if shown is None else resting_on(facts, shown),
                        embedding=question.embedding,
                        exact=question.exact,
                        now=question.now,
                    )
                except Exception as error:  # the memories still answer
                    found.trace.failed("surfaces", error)
    found.trace.total += found.trace.stages.get("surfaces", 0)
    most = question.max_tokens
    limit = question.limit
    kept, beside, tokens = fit(list(found), read_hits(facts, hits), most, limit, counter)
    return found.with_beside(kept, beside, tokens)


def _without_memories(view: View, question: Question, counter: TokenCounter) -> Recall:
    return Recall(
        question.text,
        view=view,
        ranking=Ranking.empty(),
        tokens=0,
        token_counter=counter.name,
        time_range=None,
        trace=Trace(),
    )
