import numpy as np
import pytest

from recollex_engine.domain.checks import check_embedding


@pytest.mark.parametrize("length", [1, 2])
def test_a_question_s_vector_cannot_be_written_and_the_caller_s_can(length: int) -> None:
    given = np.zeros(8, np.float32)
    given[3] = length
    checked = check_embedding(given, "query_embedding", 8)
    assert not checked.flags.writeable
    assert given.flags.writeable
    assert checked.tolist() == [0, 0, 0, 1, 0, 0, 0, 0]
    assert np.shares_memory(checked, given) == (length == 1)
