"""How close is an answer to the right one? Exact match, token F1 and BLEU-1, of one question.

Answers are compared in a normal form: lower case, without punctuation and articles (SQuAD's, which
HippoRAG and REMem use). Of several right wordings the best counts.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence

REFUSAL = "No information available."
"""What is answered, and counted as a refusal, where the memories do not tell (LoCoMo, REMem)."""

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = re.compile(r"[^\w\s]|_")
_TOKENS = re.compile(r"\w+|[^\w\s]")


def normal(text: str) -> str:
    """Return the normal form of an answer.

    >>> normal("The  U.S. Navy!")
    'us navy'
    """
    return " ".join(_ARTICLES.sub(" ", _PUNCTUATION.sub("", text.lower())).split())


def exact_match(answer: str, right: Sequence[str]) -> float:
    """Return 1 if the answer is one of the right ones, else 0."""
    return float(any(normal(answer) == normal(each) for each in right))


def exact_without_spaces(answer: str, right: Sequence[str]) -> float:
    """Return 1 if the answer is right but for spaces and case, else 0 (Test of Time in REMem)."""
    said = "".join(answer.lower().split()).rstrip(".")
    return float(any(said == "".join(each.lower().split()).rstrip(".") for each in right))


def token_f1(answer: str, right: Sequence[str]) -> float:
    """Return the harmonic mean of precision and recall over words; the best of the right ones."""
    return max((_f1(normal(answer).split(), normal(each).split()) for each in right), default=0.0)


def _f1(said: list[str], right: list[str]) -> float:
    if not said or not right:
        return float(said == right)
    same = (Counter(said) & Counter(right)).total()
    return 2 * same / (len(said) + len(right))


def bleu_1(answer: str, right: Sequence[str]) -> float:
    """Return BLEU with unigrams (Papineni et al., 2002) of one answer.

    clipped matches / words of the answer, times exp(1 - r / c) where the answer (c words) is
    shorter than the right one whose length r is closest. Words are lower case; marks are words.
    """
    said, texts = _words(answer), [_words(each) for each in right]
    if not said or not texts:
        return 0.0
    most: Counter[str] = Counter()
    for words in texts:
        most |= Counter(words)
    precision = (Counter(said) & most).total() / len(said)
    closest = min((len(words) for words in texts), key=lambda n: (abs(n - len(said)), n))
    return precision * (1.0 if len(said) > closest else math.exp(1 - closest / len(said)))


def _words(text: str) -> list[str]:
    return _TOKENS.findall(text.lower())


def is_refusal(answer: str) -> bool:
    """Return whether an answer says that nothing is known.

    >>> is_refusal("no information available"), is_refusal("She is not available.")
    (True, False)
    """
    said = normal(answer)
    return not said or said.startswith(normal(REFUSAL)) or said in ("i do not know", "i dont know")
