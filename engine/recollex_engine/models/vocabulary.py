"""Names of vocabularies: two tokenizers with the same name give every text the same ids."""

import hashlib
from typing import Any, TypeAlias

import numpy as np
import orjson
from numpy.typing import NDArray

TokenIds: TypeAlias = NDArray[np.uint16]
"""The WordPiece ids of a text, uint16[n], without special tokens."""

MOST_PIECES = 512
"""The most ids that are stored for a text; BERT has no more positions. A text with exactly this
many may have more."""

_WORDS = 1 << 16
_MAKING = ("model", "normalizer", "pre_tokenizer", "added_tokens")
_BERT = ("WordPiece", "BertNormalizer", "BertPreTokenizer")


def vocabulary_name(tokenizer: Any) -> str | None:
    """Return the name of a tokenizer's vocabulary: "wordpiece-" and 16 hex digits, or None.

    The digits are a hash of all that the ids of a text depend on: the words and their numbers, the
    rules that normalise and split a text, and added tokens. Special tokens around a text,
    truncation and padding do not count.

    None if ids of parts divided by a space cannot be concatenated, or ids do not fit in 16 bits:
    the tokenizer is not BERT's WordPiece, has more than 65,536 words, or an added token contains a
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
