"""A recall without a question: the memories that pass its filter, newest first."""

import time

import numpy as np

from recollex_engine.domain.prompt_lines import LineCosts
from recollex_engine.domain.question import Question
from recollex_engine.ranking.filters import admitted_memories
from recollex_engine.ranking.ranking import Ranking
from recollex_engine.ranking.token_budget import within_budget
from recollex_engine.recall.recall import Recall
from recollex_engine.state.view import View
from recollex_engine.trace import Trace


def listing(view: View, question: Question, token_counter: str, costs: LineCosts) -> Recall:
    """Return the memories that were recorded last and pass the question's filter.

    They have no score, and the recall no confidence. Cost: that of the filter, and of what is
    returned.
    """
    started = time.perf_counter_ns()
    trace = Trace()
    with trace.stage("parse"):
        found = np.flatnonzero(admitted_memories(view, question))[::-1].astype(np.uint32)
    with trace.stage("budget"):
        ranking, tokens = within_budget(
            view,
            Ranking(found, np.zeros(len(found)), {}),
            question.max_tokens,
            False,
            costs,
            question.limit,
        )
    trace.total = (time.perf_counter_ns() - started) / 1000
    return Recall(
        question.text,
        view=view,
        ranking=ranking,
        tokens=tokens,
        token_counter=token_counter,
        time_range=None,
        trace=trace,
    )
