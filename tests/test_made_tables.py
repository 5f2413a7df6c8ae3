"""The tables of docs/ that are made of the tables of the code are up to date."""

import pytest

from tests.made_tables import PAGES, ROOT


@pytest.mark.parametrize("name", PAGES)
def test_a_table_that_is_made_is_up_to_date(name: str) -> None:
    assert (ROOT / name).read_text("utf-8") == PAGES[name](), "run: python -m tests.made_tables"
