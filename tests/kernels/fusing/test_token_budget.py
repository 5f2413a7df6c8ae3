import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_kernels.fusing.token_budget import NONE, fill

settings.register_profile("kernels", deadline=None)
settings.load_profile("kernels")


def frozen(values, dtype):
    array = np.array(values, dtype)
    array.flags.writeable = False
    return array


def oracle(memories, tokens, passages, passage_tokens, budget, stop):
    chosen, left = [], budget
    for place, memory in enumerate(memories):
        part = passages[place] if passages else int(NONE)
        if tokens[memory] <= left:
            chosen.append((memory, place / 8, int(NONE)))
            left -= tokens[memory]
        elif stop:
            break
        elif part != int(NONE) and passage_tokens[part] <= left:
            chosen.append((memory, place / 8, part))
            left -= passage_tokens[part]
    return chosen, budget - left


@given(st.lists(st.integers(0, 9), min_size=1, max_size=12), st.booleans(), st.data())
def test_takes_what_fits_in_order(tokens, stop, data):
    memories = data.draw(st.permutations(range(len(tokens))))
    passage_tokens = data.draw(st.lists(st.integers(0, 5), min_size=3, max_size=3))
    rows = st.sampled_from([0, 1, 2, int(NONE)])
    passages = data.draw(st.just([]) | st.lists(rows, min_size=len(tokens), max_size=len(tokens)))
    budget = data.draw(st.integers(0, 40))
    arguments = (memories, tokens, passages, passage_tokens)
    given, *rest = (frozen(each, np.uint32) for each in arguments)
    scores = frozen(np.arange(len(memories)) / 8, np.float64)
    *kept, total = fill(given, scores, *rest, budget, stop)
    found = list(zip(*(each.tolist() for each in kept), strict=True))
    assert (found, total) == oracle(*arguments, budget, stop)
