"""Whose ids are these? Two tokenizers of one vocabulary give every text the same ids."""

import hashlib
from typing import Any, TypeAlias

import numpy as np
import orjson
from numpy.typing import NDArray

Ids: TypeAlias = NDArray[np.uint16]
"""The WordPieces of a text, uint16[n], without the special ones around it."""

MOST_PIECES = 512
"""Ids of a text that are stored: BERT has no more positions. One of so many may have had more."""

_WORDS = 1 << 16
_MAKING = ("model", "normalizer", "pre_tokenizer", "added_tokens")
_BERT = ("WordPiece", "BertNormalizer", "BertPreTokenizer")


def vocabulary_name(tokenizer: Any) -> str | None:
    """Return the name of what a tokenizer makes ids of: "wordpiece-" and 16 hex digits.

    They are a hash of all that the ids of a text depend on: its words and their numbers, how a text
    is normalised and cut, and what was added. What frames, cuts off or fills up is left out.

    None where ids may not be put together of the ids of parts that a space divides, or do not fit
    in 16 bits: what is not BERT's WordPiece, more than 65,536 words, an added token that holds a
    space. Cost: 10 ms.
    """
    parts = tokenizer.model, tokenizer.normalizer, tokenizer.pre_tokenizer
    if tuple(type(part).__name__ for part in parts) != _BERT:
        return None
    values = orjson.loads(tokenizer.to_str())
    made_of = {name: values[name] for name in _MAKING}
    added = made_of["added_tokens"]
    if any(c.isspace() for token in added for c in token["content"]):
        return None
    numbers = [*made_of["model"]["vocab"].values(), *(token["id"] for token in added)]
    if max(numbers, default=0) >= _WORDS:
        return None
    said = orjson.dumps(made_of, option=orjson.OPT_SORT_KEYS)
    return f"wordpiece-{hashlib.sha256(said).hexdigest()[:16]}"
