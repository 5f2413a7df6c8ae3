"""What a recall's lines take, for stores whose model counts words."""

from recollex_engine.domain.prompt_lines import LineCosts
from recollex_engine.text.token_counter import open_counter


def line_tokens(recall):
    """Return the tokens of a recall's memories and of their dates."""
    counter = open_counter(lambda text: len(text.split()), recall.token_counter)
    date = LineCosts(lambda: counter, counter.name).date
    return sum(memory.tokens + date for memory in recall)
