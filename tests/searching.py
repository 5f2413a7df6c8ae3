"""How long tests search at random: `make test-slow` searches ten times as long as `make test`."""

import os

LONGER = int(os.environ.get("RECOLLEX_SEARCH", "1"))
"""What numbers of random examples, and seconds of searching, are multiplied by."""
