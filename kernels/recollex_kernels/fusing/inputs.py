"""What the kernels of fusion take and hand on: tuples of arrays, in a fixed order.

M is the number of memories of the view; arrays of M may be longer.
"""

from typing import TypeAlias

from recollex_kernels.graph.circles import Circles
from recollex_kernels.graph.links import Scored
from recollex_kernels.machine.jit import F32, F64, I64, U8, U16, U32, U64
from recollex_kernels.words.memory_scores import Asked

Candidates: TypeAlias = tuple[U32, Scored]
"""What the arms found: found, near.

found  uint32[]   memories in [0, M), in any order; they may repeat
near   some of ``found``, each once, and their similarities to the query. The similarity of a memory
       of several rows is not used: the arm may have seen only some of its rows
"""

Strangers: TypeAlias = tuple[U32, Circles, int, U32, F64]
"""Whose memories tell of other people than the question: speaker, circles, end, roots, less.

speaker  uint32[M]   a label, or NONE
circles  of speakers, see `Circles`
end      number of memories of the view
roots    uint32[c]      circles of people whom the question names; empty where none counts less
less     float64[c+1]   what the semantic evidence of a memory from each of these is lowered by, and
         from any other circle
"""

Question: TypeAlias = tuple[Asked, float, U16, U32, F32, float, float, Strangers]
"""What a question asks, in words and as a vector: asked, scale, vectors, first_row, query, zero,
unit, strangers.

asked      the words, see `memory_scores.Asked`
scale      makes keyword evidence of a BM25 score
vectors    uint16[N, D]    float16 bit patterns
first_row  uint32[M+1]     rows of memory m are first_row[m]:first_row[m + 1]
query      float32[D], or empty
zero, unit  make semantic evidence of a similarity, see `weigh`
strangers  see `Strangers`
"""

Talk: TypeAlias = tuple[U32, I64, U32, U8, U8]
"""Who said what, when and where: document, said_at, speaker, role, visible.

document  uint32[M]   a label, or NONE
said_at   int64[M]    microseconds
speaker   uint32[M]   a label, or NONE
role      uint8[M]    of the speaker in a chat, 0 for none
visible   uint8[M]    whether a memory may stand beside another
"""

Texts: TypeAlias = tuple[U8, U64, U32, F64]
"""The texts: text, text_offset, words, brevity.

text         uint8[]        all texts one after another, in UTF-8
text_offset  uint64[M+1]    the text of memory m is text[text_offset[m]:text_offset[m + 1]]
words        uint32[M]      how many words each has
brevity      float64[>= 1]  what a text of 0, 1, ... words is worth; the last entry for more
"""

Span: TypeAlias = tuple[I64, I64, int, int]
"""When things happened, and the time that the question names: event_start, event_end, start, end.

event_start, event_end  int64[M], microseconds; start, end: the time is [start, end)
"""

Cues: TypeAlias = tuple[U32, int]
"""What the question names: named, role.

named   uint32[]   labels of speakers
role    the role of the speaker that it asks about, 0 for none
"""

Now: TypeAlias = tuple[int, float]
"""When the question is asked: now, in microseconds, and recent, the microseconds after which a
memory is worth 1/e as much."""

Moment: TypeAlias = tuple[int, float, float]
"""What a moment is: anchors, width, burst; see `moments`."""

Weighed: TypeAlias = tuple[U32, F64, F64]
"""Memories and their evidence: memories uint32[n], ascending, each once; keyword, semantic
float64[n]."""

Members: TypeAlias = tuple[U32, F64, F64, I64, I64]
"""Candidates and their neighbours: members, keyword, semantic, places, beside.

For m members, n candidates:
    members            uint32[m]     ascending, each once
    keyword, semantic  float64[m]    the evidence, as `weigh` gives it
    places             int64[n]      of the candidates among the members, ascending
    beside             int64[n, 3]   of each candidate's neighbours among the members: before,
                                     after, second before; -1 for none
"""
