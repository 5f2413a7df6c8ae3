"""Which embedder does a fingerprint name?"""

_PRECISIONS = ("fp32", "bf16", "fp16")
"""All but int8, which need not be named."""


def embedder_name(fingerprint: str) -> str:
    """Return what `recollex.open(embedder=...)` takes to load the embedder of a fingerprint.

    For a model that was loaded from a folder, it is the name of that folder alone.

    >>> embedder_name("all-MiniLM-L6-v2@53aa51172d14-int8-v1")
    'all-MiniLM-L6-v2'
    >>> embedder_name("all-MiniLM-L6-v2@53aa51172d14-fp16-v2")
    'all-MiniLM-L6-v2:fp16'
    """
    name, _, conversion = fingerprint.rpartition("@")
    precision = "".join(conversion.split("-")[1:2])
    return f"{name}:{precision}" if precision in _PRECISIONS else name or fingerprint
