"""Contextual fusion: the candidates of a recall, and the score of each, in one call."""

from typing import TypeAlias

import numpy as np

from recollex_kernels.fusing._neighbourhood import Around as Around
from recollex_kernels.fusing._neighbourhood import surround, weigh
from recollex_kernels.fusing.features import NONE, SPEAKER, scores_of
from recollex_kernels.fusing.inputs import (
    Candidates,
    Cues,
    Members,
    Moment,
    Now,
    Question,
    Span,
    Talk,
    Texts,
)
from recollex_kernels.graph.association import Admitted, Pulse, associations
from recollex_kernels.graph.links import Mentions
from recollex_kernels.machine.jit import F32, F64, I64, U8, U32, kernel


# How far does the best of a ranked list stand out? One pass over the list.
@kernel
def standing(
    members: U32,
    keyword: F64,
    semantic: F64,
    share: float,
    places: I64,
    place: int,
    speaker: U32,
    named: U32,
    scores: F64,
    naming: float,
) -> F64:
    """Return the greatest ``semantic``, how the best base leads, and how far the named are ahead.

    The base of a candidate is share * keyword + semantic. The lead: the greatest, less the one at
    ``place`` from 1 in descending order, or less 0 where there are fewer or it is below 0. Ahead:
    the greatest score, less ``naming``, of a candidate whose speaker is one of ``named``, less the
    greatest of one that is not and has a speaker; 0 unless there are both.

    Shapes, for m members, n candidates, at least 1, M memories in all:
        members, keyword, semantic, places   as `surround` returns them
        speaker   uint32[>= M]  a label, or NONE
        named     uint32[]      labels
        scores    float64[n]    of the candidates; naming is what naming its speaker added to one
        returned  float64[3]

    Cost: O(n * place) at worst.
    """
    best = np.full(place, -np.inf)
    likeness = -np.inf
    ours = -np.inf
    others = -np.inf
    for i in range(places.shape[0]):
        at = places[i]
        likeness = max(likeness, semantic[at])
        base = share * keyword[at] + semantic[at]
        if base > best[place - 1]:
            j = place - 1
            while j > 0 and best[j - 1] < base:
                best[j] = best[j - 1]
                j -= 1
            best[j] = base
        label = speaker[members[at]]
        is_named = False
        for s in range(named.shape[0]):
            is_named = is_named or named[s] == label
        if is_named:
            ours = max(ours, scores[i] - naming)
        elif label != NONE:
            others = max(others, scores[i])
    found = np.zeros(3, np.float64)
    found[0] = likeness
    found[1] = best[0] - max(best[place - 1], 0.0)
    if ours > -np.inf and others > -np.inf:
        found[2] = ours - others
    return found


Settings: TypeAlias = tuple[float, Around, Moment, Pulse, int, float, U8]
"""What a fusion was set to: share, around, moment, pulse, place, sure, aside.

share   weight of keyword evidence in what a memory lends to others, see `surround`
around, moment, pulse   see `Around`, `Moment` and `Pulse`; nothing is associated where its
        ``seeds`` are 0
place   see `standing`
sure, aside   see `trusted`
"""


@kernel
def trusted(weights: F64, aside: U8, members: Members, share: float, sure: float) -> F64:
    """Return the weights of features for a question whose best memory matches it so far.

    Equation, x the greatest share * keyword + semantic of a candidate, f a feature:
        w(f) = weights[f] * min(max(x, 0) / sure, 1)   where aside[f] is 1
        w(f) = weights[f]                              of the others
    Who said it, when it was said and what it shares a name with are evidence beside a match of the
    content. Where nothing matches, they would choose alone.

    Shapes: weights, returned float64[P]; aside uint8[P]; members as `surround` returns them;
    ``sure`` above 0.

    Cost: O(candidates).
    """
    _, keyword, semantic, places, _ = members
    best = 0.0
    for i in range(places.shape[0]):
        best = max(best, share * keyword[places[i]] + semantic[places[i]])
    scaled = weights.copy()
    if best < sure:
        for f in range(weights.shape[0]):
            if aside[f] == 1:
                scaled[f] *= best / sure
    return scaled


@kernel
def contextual(
    candidates: Candidates,
    question: Question,
    mentions: Mentions,
    talk: Talk,
    admitted: Admitted,
    texts: Texts,
    span: Span,
    cues: Cues,
    when: Now,
    settings: Settings,
    weights: F64,
    out_hubs: U32,
) -> tuple[U32, F64, U32, F32, F64, F64, I64]:
    """Return the candidates of a recall, best first, their scores, and what else was seen.

    Candidates are what was found (see `weigh`), what shares a rare entity with the best of it (see
    `associations`) and what stands beside the best (see `surround`). A score is the sum of
    `FEATURES` times their weights, which are as `trusted` gives them.

    Returned, for n candidates:
        memories uint32[n], scores float64[n]       ties: the newer memory
        associated uint32[a], activation float32[a]  as `associations` gives them
        standing float64[3]    of the best, see `standing`; empty where there are no candidates
        table float64[P, n]    what each feature adds; the column of memories[i] is order[i]
        order int64[n]

    Shapes, for M memories of the view: talk and allowed are of M; the rest, ``out_hubs`` too, as
    for the kernels named above.

    Cost: about 60 us for 200 found of 10,000 memories; the similarities of the rows of the
    candidates, and of what stands beside them, take half of it.
    """
    document, _, speaker, _, _ = talk
    share, around, moment, pulse, place, sure, aside = settings
    allowed = admitted[0]
    memories = document.shape[0]
    weighed = weigh(candidates, memories, question)
    if pulse[0] > 0:
        base = share * weighed[1] + weighed[2]
        associated, activation = associations(
            weighed[0], base, mentions, admitted, memories, pulse, out_hubs
        )
    else:
        associated = np.empty(0, np.uint32)
        activation = np.empty(0, np.float64)
    members = surround(weighed, share, associated, talk, allowed, around, question)
    weights = trusted(weights, aside, members, share, sure)
    ids, keyword, semantic, places, _ = members
    own = ids[places]
    seen = (
        members,
        share * keyword + semantic,
        own.astype(np.int64),
        (associated, activation),
        talk,
        texts,
        question[3],
        span,
        cues,
        moment,
        when,
    )
    table, scores, order = scores_of(seen, weights)
    naming = weights[SPEAKER]
    signs = standing(ids, keyword, semantic, share, places, place, speaker, cues[0], scores, naming)
    return (
        own[order],
        scores[order],
        associated,
        activation.astype(np.float32),
        signs,
        table,
        order,
    )
