"""What the kernels of the graph take: tuples of arrays, in a fixed order.

A chain threads the entries of an append-only array that share a key, newest first: ``head[key]``
is the latest entry of the key, ``previous[i]`` is the entry before entry i, NONE if there is none.
Heads may point to entries that are newer than the view that a kernel works on.
"""

from typing import TypeAlias

from recollex_kernels.machine.jit import F32, I64, U16, U32, U64

Scored: TypeAlias = tuple[U32, F32]
"""Memories and a number of each, aligned: uint32[n], float32[n]."""

Mentions: TypeAlias = tuple[U64, U32, U32, U32, U32]
"""Which memory mentions which entity: offset, entity, memory, previous, head.

offset    uint64[>= M+1]   memory m makes the mentions offset[m]:offset[m + 1]; empty: none
entity    uint32[E]        the entity of each mention
memory    uint32[E]        the memory of each mention
previous  uint32[E]        with ``head`` the chains of ``entity``
head      uint32[entities]
"""

Links: TypeAlias = tuple[U64, U32, F32, U32, U32, U32]
"""Which memory links to which earlier one: offset, target, weight, source, previous, head.

offset    uint64[>= M+1]   memory m makes the links offset[m]:offset[m + 1]; empty: none
target    uint32[L]        the memory that each link leads to
weight    float32[L]
source    uint32[L]        the memory that each link comes from
previous  uint32[L]        with ``head`` the chains of ``target``
head      uint32[M], or empty
"""

Times: TypeAlias = tuple[U32, U32, I64]
"""When the memories' events happened: order, rank, event_at.

order     uint32[n]   memories by (event_at, ordinal)
rank      uint32[M]   the place of each memory in ``order``, or NONE
event_at  int64[M]    microseconds
"""

Query: TypeAlias = tuple[U32, U16, F32]
"""What a memory's similarity to the question is computed from: first_row, vectors, query.

first_row  uint32[>= M+1]  rows of memory m are first_row[m]:first_row[m + 1]
vectors    uint16[R, D]    float16 bit patterns
query      float32[D]
"""
