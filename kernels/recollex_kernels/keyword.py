"""BM25: what the words of a question weigh, and which memories hold them best.

Documents stand in posting lists (see ``postings``) and, where none covers them yet, in chains (see
``tail``). `search_words` runs all steps, because each call from the interpreter costs as much as a
small one.
"""

import numpy as np

from recollex_kernels._bm25 import add_chains, best_rows, scores_of
from recollex_kernels._jit import F32, I64, U8, U16, U32, U64, kernel
from recollex_kernels._positions import position_of
from recollex_kernels._scores import kth_greatest
from recollex_kernels._segments import extent, postings_of
from recollex_kernels._word_lists import search_list

NONE = np.uint32(0xFFFFFFFF)
_FEW = 384  # scores up to which each is compared with all, which takes less than to sort them


@kernel
def document_frequency(starts: I64, documents: U32, terms: U32, end_document: int) -> I64:
    """Return, for each term, how many indexed documents before ``end_document`` hold it.

    Shapes, for V indexed terms, P postings, Q query terms:
        starts, documents  int64[V+1], uint32[P]  as build_postings returns them
        terms         uint32[Q]              a term >= V is in no document
        returned      int64[Q]

    Cost: O(Q log P).
    """
    frequency = np.zeros(terms.shape[0], np.int64)
    for q in range(terms.shape[0]):
        t = np.int64(terms[q])
        if t < starts.shape[0] - 1:
            frequency[q] = (
                position_of(documents, starts[t], starts[t + 1], end_document) - starts[t]
            )
    return frequency


@kernel
def chain_frequency(head: U32, previous: U32, documents: U32, terms: U32, end_document: int) -> I64:
    """Return, for each term, how many documents of the chains before ``end_document`` hold it.

    Shapes, for Q terms: terms uint32[Q], a term >= V is in no document; returned int64[Q].

    Cost: O(postings of the Q terms).
    """
    frequency = np.zeros(terms.shape[0], np.int64)
    for q in range(terms.shape[0]):
        if terms[q] >= head.shape[0]:
            continue
        posting = head[terms[q]]
        while posting != 0:
            frequency[q] += documents[posting] < end_document
            posting = previous[posting]
    return frequency


@kernel
def word_weights(
    table: I64,
    head: U32,
    previous: U32,
    chain_documents: U32,
    terms: U32,
    end_document: int,
) -> tuple[U32, F32, float, float]:
    """Return the terms that are known and their idf, the sum of all idf, the share of the unmet.

    Equation, N = ``end_document``, df the documents before it that hold the term:
        idf = ln(1 + (N - df + .5) / (df + .5))

    Shapes, for Q terms:
        table              int64[S, 12]  as `segments.table` returns it
        head, previous, chain_documents   see `chain_frequency`
        terms              uint32[Q]    NONE for a word that nobody ever met
        returned           uint32[n], float32[n], the terms in their order without NONE; the share
                           of idf that belongs to words which no document of the N holds

    Cost: O(Q log P) and the chains of the terms.
    """
    frequency = chain_frequency(head, previous, chain_documents, terms, end_document)
    for s in range(table.shape[0]):
        starts, documents, _ = postings_of(table, s)
        frequency += document_frequency(starts, documents, terms, end_document)
    known, weights = np.empty(terms.shape[0], np.uint32), np.empty(terms.shape[0], np.float32)
    n, most, unmet = 0, 0.0, 0.0
    for q in range(terms.shape[0]):
        df = np.float64(frequency[q])
        idf = np.log1p((end_document - df + 0.5) / (df + 0.5))
        most += idf
        if frequency[q] == 0:
            unmet += idf
        if terms[q] != NONE:
            known[n], weights[n] = terms[q], idf
            n += 1
    return known[:n], weights[:n], most, unmet / most


@kernel
def search_weighed(
    table: I64,
    head: U32,
    previous: U32,
    chain_documents: U32,
    chain_counts: U8,
    lengths: U32,
    terms: U32,
    idf: F32,
    fixed: np.float32,
    per_word: np.float32,
    end_document: int,
    allowed: U8,
    first_row: U32,
    forward_offsets: U64 | I64,
    forward_terms: U32,
    k: int,
    scratch_sums: U16,
    scratch_blocks: U32,
    scratch_gathered: U32,
    scratch_held: U16,
    scratch_found: U32,
    scratch_bounds: U16,
    scratch_scores: F32,
    scratch_tail: F32,
) -> tuple[U32, F32, U32]:
    """Return the best ``k`` allowed memories with a score above 0, their scores, their best rows.

    Scores are those of `_bm25.scores_of`, rows those of `_bm25.best_rows`. Order: higher score,
    then lower memory.

    Shapes, for documents [0, end) in segments and [end, end_document) in chains:
        table           int64[S, 12]   as `segments.table` returns it
        head .. chain_counts, lengths   as for `_bm25.add_chains`
        terms .. k      as for `_word_lists.search_list`
        first_row .. forward_terms      as for `_bm25.best_rows`
        scratch_tail    float32[>= end_document - end], all 0, and so it is left
        the other scratch   as for `_word_lists.search_list`, with room for the tail's documents

    Cost: that of its steps.
    """
    n = limit = end = 0
    if table.shape[0] > 0:
        end = extent(table, table.shape[0] - 1)[1]
    if k > 0 and terms.shape[0] > 0:
        for s in range(table.shape[0]):
            n, limit = search_list(
                *(table, s, terms, idf, fixed, per_word, end_document, allowed, k, limit, n),
                *(scratch_sums, scratch_blocks, scratch_gathered, scratch_held),
                *(scratch_found, scratch_bounds, scratch_scores),
            )
        _settle(
            *(scratch_found[:n], scratch_scores[:n], first_row, forward_offsets, forward_terms),
            *(lengths, fixed, per_word, terms, idf),
        )
        if end < end_document:
            tail = scratch_tail[: end_document - end]
            add_chains(
                *(head, previous, chain_documents, chain_counts, lengths[end:], fixed, per_word),
                *(terms, idf, end, end_document, tail),
            )
            least = np.float32(kth_greatest(scratch_scores[:n], k)) if n >= k else np.float32(0)
            for d in range(tail.shape[0]):
                if tail[d] > 0 and tail[d] >= least and allowed[end + d] == 1:
                    scratch_found[n], scratch_scores[n] = end + d, tail[d]
                    n += 1
            tail[:] = 0
    memories, best = _best(scratch_found[:n], scratch_scores[:n], k)
    rows = best_rows(
        first_row, forward_offsets, forward_terms, memories, terms, idf, fixed, per_word
    )
    return memories, best, rows


@kernel
def search_words(
    table: I64,
    head: U32,
    previous: U32,
    chain_documents: U32,
    chain_counts: U8,
    lengths: U32,
    terms: U32,
    fixed: float,
    per_word: float,
    end_document: int,
    allowed: U8,
    first_row: U32,
    forward_offsets: U64 | I64,
    forward_terms: U32,
    k: int,
    scratch_sums: U16,
    scratch_blocks: U32,
    scratch_gathered: U32,
    scratch_held: U16,
    scratch_found: U32,
    scratch_bounds: U16,
    scratch_scores: F32,
    scratch_tail: F32,
) -> tuple[U32, F32, U32, U32, F32, float, float]:
    """Return the three that `search_weighed` returns, and the four that `word_weights` returns.

    Shapes: terms as for `word_weights`; the others as for `search_weighed`.
    """
    known, idf, most, unmet = word_weights(
        table, head, previous, chain_documents, terms, end_document
    )
    memories, best, rows = search_weighed(
        *(table, head, previous, chain_documents, chain_counts, lengths, known, idf),
        *(
            np.float32(fixed),
            np.float32(per_word),
            end_document,
            allowed,
            first_row,
            forward_offsets,
            forward_terms,
            k,
        ),
        *(scratch_sums, scratch_blocks, scratch_gathered, scratch_held, scratch_found),
        *(scratch_bounds, scratch_scores, scratch_tail),
    )
    return memories, best, rows, known, idf, most, unmet


@kernel
def _settle(
    found: U32,
    scores: F32,
    first_row: U32,
    forward_offsets: U64 | I64,
    forward_terms: U32,
    lengths: U32,
    fixed: np.float32,
    per_word: np.float32,
    terms: U32,
    idf: F32,
) -> None:
    """Score the documents whose score is -inf by their own words."""
    unsure, count = np.empty(found.shape[0], np.int64), 0
    for i in range(found.shape[0]):
        unsure[count] = i
        count += int(scores[i] < 0)
    if count > 0:
        true = np.empty(count, np.float32)
        scores_of(
            found[unsure[:count]],
            first_row,
            forward_offsets,
            forward_terms,
            lengths,
            fixed,
            per_word,
            terms,
            idf,
            true,
        )
        for i in range(count):
            scores[unsure[i]] = true[i]


@kernel
def _best(found: U32, scores: F32, k: int) -> tuple[U32, F32]:
    """Return the ``k`` of greatest score, in order; ties to the lower document. Scores are above 0.

    Cost: O(n + k log k) as a rule; up to 384, each is compared with all, 64 at a time.
    """
    n = found.shape[0]
    size = max(0, min(k, n))
    least = np.float32(kth_greatest(scores, size)) if n > _FEW and size > 0 else np.float32(0)
    keys, count = np.empty(n, np.int64), 0
    bits = scores.view(np.uint32)  # of positive numbers, in their order
    for i in range(n):
        keys[count] = (np.int64(bits[i]) << np.int64(32)) | np.int64(NONE - found[i])
        count += int(scores[i] >= least)
    keys = keys[:count]
    ordered = np.empty(max(size, 1), np.int64)
    if count <= _FEW:
        for i in range(count):
            key, above = keys[i], np.int64(0)
            for j in range(count):
                above += np.int64(keys[j] > key)
            if above < size:
                ordered[above] = key
    else:
        ordered = np.sort(keys)[::-1]
    memories, best = np.empty(size, np.uint32), np.empty(size, np.uint32)
    for i in range(size):
        memories[i] = NONE - np.uint32(ordered[i] & np.int64(NONE))
        best[i] = np.uint32(ordered[i] >> np.int64(32))
    return memories, best.view(np.float32)
