"""How does an agent say of itself what was said to it? "You were born" becomes "I was born".

English, by rule: the pronouns of the second person become those of the first, and the verbs beside
them follow. "you" is "I" before a verb and "me" after a preposition or at the end of a clause.
"""

import re

_PAIRS = (
    ("you are not", "I am not"),
    ("you aren't", "I'm not"),
    ("you were not", "I was not"),
    ("you weren't", "I wasn't"),
    ("you are", "I am"),
    ("you were", "I was"),
    ("are you", "am I"),
    ("were you", "was I"),
    ("you're", "I'm"),
    ("you've", "I've"),
    ("you'll", "I'll"),
    ("you'd", "I'd"),
    ("yourself", "myself"),
    ("yours", "mine"),
    ("your", "my"),
)
_BEFORE = r"to|for|with|at|of|about|from|by|like|than|on|in|against|around|behind|near|without"
_OBJECT = re.compile(rf"\b({_BEFORE}) you\b|\byou(?=\s*(?:[.,;:!?)]|$))", re.I)
_SECOND = re.compile(r"\byou(?:r|rs|rself|'\w+)?\b", re.I)
_SUBJECT = re.compile(r"\byou\b", re.I)
_SENTENCE = re.compile(r"(?:^|(?<=[.!?])\s+)m(?=[ey])")


def in_first_person(text: str) -> str:
    """Return a text about "you" as one about "I"; a text without "you" stays as it is.

    >>> in_first_person("You were born in Texas. Your friends like you, and you've two dogs.")
    'I was born in Texas. My friends like me, and I've two dogs.'
    """
    text = text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'") if _SECOND.search(text) else text
    for second, first in _PAIRS:
        text = re.sub(rf"\b{second}\b", first, text, flags=re.I)
    text = _OBJECT.sub(lambda found: f"{found[1]} me" if found[1] else "me", text)
    text = _SUBJECT.sub("I", text)
    return _SENTENCE.sub(lambda found: found[0][:-1] + "M", text)
