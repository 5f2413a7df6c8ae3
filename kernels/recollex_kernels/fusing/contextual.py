"""What does every candidate of a recall mean where it stands? All of it in one call."""

import numpy as np

from recollex_kernels.fusing._neighbourhood import surround, weigh
from recollex_kernels.fusing._signs import standing
from recollex_kernels.fusing.parts import NONE, SPEAKER, parts_of
from recollex_kernels.graph.association import associations
from recollex_kernels.machine.jit import F32, F64, I64, U8, U16, U32, U64, kernel
from recollex_kernels.words.memory_scores import Asked


@kernel
def contextual(
    found: U32,
    near: U32,
    likeness: F32,
    asked: Asked,
    scale: float,
    vectors: U16,
    first_row: U32,
    query: F32,
    zero: float,
    unit: float,
    seeds: int,
    mention_offset: U64,
    mention_entity: U32,
    mention_memory: U32,
    mention_previous: U32,
    entity_head: U32,
    hub: int,
    budget: int,
    share: float,
    widened: int,
    document: U32,
    said_at: I64,
    visible: U8,
    allowed: U8,
    reach: int,
    window: int,
    text: U8,
    text_offset: U64,
    lengths: U32,
    brevity: F64,
    speaker: U32,
    named: U32,
    event_start: I64,
    event_end: I64,
    anchors: int,
    width: float,
    start: int,
    end: int,
    quoted: U32,
    shares: F32,
    now: int,
    recent: float,
    timeline: U32,
    progress: int,
    weights: F64,
    place: int,
    tabled: bool,
    out_hubs: U32,
) -> tuple[U32, F64, U32, F32, F64, F64]:
    """Return the candidates of ``found``, best first, their scores, and what else was seen.

    Candidates are ``found`` (see `weigh`), what shares a rare entity with the best of it (see
    `associations`; nothing where ``seeds`` is 0) and what stands beside the best (see `surround`).
    A score is the sum of the parts that `parts_of` names. ``first`` and ``last`` of it are the
    times of ``timeline``'s ends; ``present`` is the document of the newest memory, if that was said
    at most ``progress`` before ``now``.

    Returned, for n candidates:
        memories uint32[n], scores float64[n]       ties: the newer memory
        associated uint32[a], activation float32[a]  as `associations` gives them
        standing float64[3]    of the best, see `standing`; empty where there are no candidates
        table float64[P, n]    the parts in the order of memories; float64[0, 0] unless ``tabled``

    Shapes, for M memories of the view: document, visible, allowed of M; timeline uint32[M], the
    memories in the order of time; the rest, ``out_hubs`` too, as for the kernels named above.

    Cost: about 60 us for 200 found of 10,000 memories, of which a similarity for each row of the
    candidates and of what stands beside them takes half.
    """
    memories = document.shape[0]
    brought, b, c = weigh(
        found, near, likeness, memories, asked, scale, vectors, first_row, query, zero, unit
    )
    if seeds > 0:
        associated, activation = associations(
            brought,
            share * b + c,
            seeds,
            mention_offset,
            mention_entity,
            mention_memory,
            mention_previous,
            entity_head,
            allowed,
            memories,
            hub,
            budget,
            out_hubs,
        )
    else:
        associated, activation = np.empty(0, np.uint32), np.empty(0, np.float64)
    members, b, c, places, beside = surround(
        brought,
        b,
        c,
        share,
        associated,
        widened,
        document,
        said_at,
        visible,
        allowed,
        reach,
        window,
        asked,
        scale,
        vectors,
        first_row,
        query,
        zero,
        unit,
    )
    newest = memories - 1
    age = now - said_at[newest]
    present = np.int64(-1)
    if document[newest] != NONE and 0 <= age <= progress:
        present = np.int64(document[newest])
    parts, scores, order = parts_of(
        members,
        b,
        c,
        share,
        places,
        beside,
        associated,
        activation,
        document,
        text,
        text_offset,
        lengths,
        brevity,
        speaker,
        named,
        said_at,
        event_start,
        event_end,
        anchors,
        width,
        start,
        end,
        quoted,
        shares,
        now,
        recent,
        said_at[timeline[0]],
        said_at[timeline[newest]],
        int(present),
        weights,
        tabled,
    )
    signs = standing(members, b, c, share, places, place, speaker, named, scores, weights[SPEAKER])
    table = parts[:, order] if tabled else np.empty((0, 0), np.float64)
    return (
        members[places[order]],
        scores[order],
        associated,
        activation.astype(np.float32),
        signs,
        table,
    )
