"""The marks of chat templates, and the ways in which one may be spelled."""

import re
from collections.abc import Iterator
from unicodedata import normalize

MARKS = (
    *("<|im_start|>", "<|im_end|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"),
    *("<|endoftext|>", "<|user|>", "<|system|>", "<|assistant|>", "<|begin_of_text|>"),
    *("<\uff5cUser\uff5c>", "[INST]", "[/INST]", "[SYSTEM_PROMPT]", "<<SYS>>", "<</SYS>>", "<s>"),
    *("</s>", "<bos>", "<eos>", "<start_of_turn>", "<end_of_turn>", "<think>", "</think>"),
    *("<tool_call>", "<memory>", "</memory>"),
)
ORDINARY = (
    *(
        "if a < b: c[i] = d",
        "x |> f",
        "f <| x",
        "List<String>",
        "<b>bold</b> <script>",
        "a->b <- c",
    ),
    *("x < s and y > t", "1 < 2 > 0", "[picture]", '[tool: find {"x": 1}]', "[m3] [1, 2]", "<3"),
    *("Ann <ann@example.org>", "<memory-card>", "<inst>", "\u201cSü\u00dfe\u201d <\u00e4>", "[s]"),
)
_WIDE = str.maketrans({chr(code): chr(code + 0xFEE0) for code in range(0x21, 0x7F)})
_KNOWN = re.compile(
    r"<\|[^<>|]+\|>|\[/?(?:inst|system_prompt)\]|</?(?:s|bos|eos|think|memory|tool_call)>"
    r"|<</?sys>>|</?(?:start|end)_of_turn>"
)


def SPELLINGS(mark: str) -> Iterator[str]:  # noqa: N802 - as a table of them would be
    """Yield the spellings of a mark."""
    yield from (mark, mark.upper(), mark.lower(), mark.title(), mark.translate(_WIDE))
    yield "".join(each.translate(_WIDE) if each in "<>[]/|" else each for each in mark)
    yield re.sub(r"(\w)", "\\1\u200b", mark)
    yield "\u2060".join(mark)
    for gap in (" ", "\t", "\n", "\u00a0", "\u3000", "\ufeff"):
        yield re.sub(r"(?<=[</\[|\uff5c])(?=\w)|(?<=\w)(?=[>\]|\uff5c])", gap, mark)
        yield re.sub(r"(?<=<)(?=/)|(?<=\[)(?=/)", gap, mark)


def is_mark(text: str) -> bool:
    """Return whether a mark stands in a text, in any spelling."""
    seen = re.sub("[\u200b\u2060\ufeff]", "", normalize("NFKC", text))
    return _KNOWN.search(re.sub(r"\s+", "", seen).casefold()) is not None
