"""The bytes of a store by what they hold: Memora 5.3's parts, and those that it has no name for."""

from pathlib import Path

PARTS = ("log", "embeddings", "vector index", "links", "words", "texts", "metadata", "other")
"""log: the operations. embeddings: float16. vector index: codes and graphs. links: semantic and
entity links; links in time are computed. words: posting lists and terms. metadata: columns of
memories and operations."""
_COLUMNS = {
    "code": "vector index",
    "link": "links",
    "mention": "links",
    "term": "words",
    "text": "texts",
}


def part_of(path: Path) -> str:
    """Return the part of `PARTS` that a file of an agent belongs to.

    >>> part_of(Path("columns/link_target")), part_of(Path("segment-0000/postings-1"))
    ('links', 'words')
    """
    top = path.parts[0]
    if top == "log":
        return "log"
    if top.startswith("vectors"):
        return "embeddings"
    if top == "graphs" or path.name.startswith("hnsw"):
        return "vector index"
    if top.startswith("segment"):
        return "words"
    if not top.startswith("columns"):
        return "other"
    kind = path.name.replace(".", "_").split("_")[0].rstrip("14s")
    return _COLUMNS.get(kind, "metadata")


def storage_parts(agent: Path) -> dict[str, int]:
    """Return part -> bytes of an agent's folder; their sum is that of all files."""
    sizes = dict.fromkeys(PARTS, 0)
    for path in agent.rglob("*"):
        if path.is_file():
            sizes[part_of(path.relative_to(agent))] += path.stat().st_size
    return sizes
