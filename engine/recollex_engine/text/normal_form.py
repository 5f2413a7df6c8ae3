"""One text, one spelling: the normal forms of Unicode, in linear time."""

import re
import unicodedata
from typing import Literal

# Sorting a run of combining marks takes quadratic time. So a long text is normalised in stretches,
# which end before an ASCII character where possible: no composition crosses such a character.
_STRETCH = re.compile(r"(?s).{1,1024}(?=[\x00-\x7f]|\Z)|.{1,1024}")


def normal_form(text: str, form: Literal["NFC", "NFKC"] = "NFC") -> str:
    r"""Return a text in a normal form; as it is if it is ASCII, or no text. Cost: linear.

    >>> normal_form("Jose\u0301"), normal_form("\uff11\uff16 GB", "NFKC")
    ('Jos\xe9', '16 GB')
    """
    if not isinstance(text, str) or text.isascii():
        return text
    if len(text) <= 1024:
        return unicodedata.normalize(form, text)
    return "".join(unicodedata.normalize(form, part) for part in _STRETCH.findall(text))
