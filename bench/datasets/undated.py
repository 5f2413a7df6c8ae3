"""The times at which texts without a time are retained and asked about.

They are fixed, so that a table can be made again to the digit. A real import would use the present.
"""

from datetime import UTC, datetime, timedelta

RETAINED_AT = datetime(2025, 1, 1, tzinfo=UTC)
ASKED_AT = RETAINED_AT + timedelta(days=1)
AFTER_ALL = datetime(2100, 1, 1, tzinfo=UTC)
"""A time after those of all sets: the clock of a store that retains them at their own times."""
