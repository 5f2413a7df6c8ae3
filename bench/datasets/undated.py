"""When is a text that has no time retained, and asked about?

At one fixed moment, so that a table can be had again to the digit: a real import would take the
present.
"""

from datetime import UTC, datetime, timedelta

RETAINED_AT = datetime(2025, 1, 1, tzinfo=UTC)
ASKED_AT = RETAINED_AT + timedelta(days=1)
