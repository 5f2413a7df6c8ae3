"""The sections of a text of Markdown, and the blocks of each, as CommonMark divides them."""

from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(slots=True)
class Section:
    """What stands under one heading, before the next. headings: above it, the highest first.

    blocks: a paragraph, a table, a fence and so on each; of a list, each item.
    """

    headings: tuple[str, ...]
    blocks: list[str] = field(default_factory=list)


def sections(text: str) -> Iterator[Section]:
    r"""Yield the sections of a text; one without blocks only if no other is below it.

    >>> [(each.headings, each.blocks) for each in sections("# Food\nFish.\n\n- tea\n- cake")]
    [(('Food',), ['Fish.', '- tea', '- cake'])]
    """
    from markdown_it import MarkdownIt

    lines = text.split("\n")
    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.disable(["inline", "text_join"])  # only the blocks are looked at
    tokens = parser.parse(text)
    above: list[tuple[int, str]] = []
    section = Section(())
    for place, token in enumerate(tokens):
        if token.map is None:
            continue
        if token.type == "heading_open" and token.level == 0:
            depth = int(token.tag[1:])
            if section.blocks or (above and depth <= above[-1][0]):
                yield section
            title = " ".join(tokens[place + 1].content.split())
            above = [(level, each) for level, each in above if level < depth] + [(depth, title)]
            section = Section(tuple(each for _, each in above if each))
            continue
        is_list = token.type in ("bullet_list_open", "ordered_list_open")
        is_item = token.type == "list_item_open" and token.level == 1
        if (token.level == 0 and not is_list and token.type != "hr") or is_item:
            block = "\n".join(lines[token.map[0] : token.map[1]]).strip("\n").rstrip()
            if block:
                section.blocks.append(block)
    if section.blocks or above:
        yield section
