import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_kernels.fusing.token_budget import NONE, fill
from tests.kernels.inputs import frozen

settings.register_profile("kernels", deadline=None)
settings.load_profile("kernels")


def oracle(memories, tokens, passages, passage_tokens, sources, heads, budget, stop, most):
    chosen, left, taken = [], budget, 0
    for place, memory in enumerate(memories):
        part = passages[place] if passages else int(NONE)
        head = heads[place % len(heads)]
        if head + tokens[memory] <= left:
            chosen.append((memory, place, int(NONE)))
            left -= head + tokens[memory]
        elif stop:
            break
        elif part != int(NONE) and head + passage_tokens[part] <= left:
            chosen.append((memory, place, part))
            left -= head + passage_tokens[part]
        if len(chosen) <= most:
            taken = budget - left
    sourced = any(sources[memory] != int(NONE) for memory, _, _ in chosen)
    return [(place, row) for _, place, row in chosen[:most]], len(chosen), taken, sourced


@given(st.lists(st.integers(0, 9), min_size=1, max_size=12), st.booleans(), st.data())
def test_takes_what_fits_in_order(tokens, stop, data):
    memories = data.draw(st.permutations(range(len(tokens))))
    passage_tokens = data.draw(st.lists(st.integers(0, 5), min_size=3, max_size=3))
    rows = st.sampled_from([0, 1, 2, int(NONE)])
    passages = data.draw(st.just([]) | st.lists(rows, min_size=len(tokens), max_size=len(tokens)))
    budget = data.draw(st.integers(0, 40))
    sources = data.draw(
        st.lists(st.sampled_from([0, int(NONE)]), min_size=len(tokens), max_size=len(tokens))
    )
    some = st.lists(st.integers(0, 3), min_size=len(tokens), max_size=len(tokens))
    heads = data.draw(some | st.lists(st.integers(0, 3), min_size=1, max_size=1))
    arguments = (memories, tokens, passages, passage_tokens, sources, heads)
    given, *rest = (frozen(each, np.uint32) for each in arguments)
    most = data.draw(st.integers(0, len(tokens) + 1))
    out, rows = np.empty(most, np.uint32), np.full(most, NONE)
    count, taken, sourced = fill(
        given, *rest, budget, stop, out, rows if passages else np.empty(0, np.uint32)
    )
    found = list(zip(out[:count].tolist(), rows[:count].tolist(), strict=True))
    assert (found, count, taken, sourced) == oracle(*arguments, budget, stop, most)
