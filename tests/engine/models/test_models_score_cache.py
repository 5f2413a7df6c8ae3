from collections import OrderedDict

from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_engine.models.cross_encoder import ScoreCache

few = st.sampled_from(["", "a", "b", "ab", "\xff", "\ud800"])
calls = st.lists(st.tuples(st.booleans(), few, st.lists(few, max_size=4, unique=True)), max_size=30)


@settings(deadline=None)
@given(calls, st.integers(1, 5))
def test_it_is_a_least_recently_used_cache_of_pairs(made, most):
    cache, model = ScoreCache(most), OrderedDict()
    for number, (writes, query, texts) in enumerate(made):
        if writes:
            scores = [number + n / 10 for n in range(len(texts))]
            cache.put(query, texts, scores)
            for text, score in zip(texts, scores, strict=True):
                model[query, text] = score
                model.move_to_end((query, text))
            while len(model) > most:
                model.popitem(last=False)
        else:
            assert cache.get(query, texts) == [model.get((query, text)) for text in texts]
            for text in texts:
                if (query, text) in model:
                    model.move_to_end((query, text))
