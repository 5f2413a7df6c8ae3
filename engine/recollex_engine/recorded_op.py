"""Which operation was the last one recorded by a moment? What names a view of the past."""

from bisect import bisect_right

from recollex_engine.clock import Clock, from_micros
from recollex_engine.columns import Columns
from recollex_engine.errors import InputError


def op_at(columns: Columns, op: int, recorded_at: int, clock: Clock) -> int:
    """Return the last operation up to ``op`` recorded at or before ``recorded_at``; 0 for none.

    Raises `InputError` for a moment behind the last operation that ``clock`` has not reached: what
    will be recorded by then is not known. Cost: 1 us.
    """
    times = columns.column["op_recorded_at"].buffer.data
    found = bisect_right(times, recorded_at, 0, op)
    if found == op and recorded_at > (now := clock()) and (not op or recorded_at > times[op - 1]):
        raise InputError(
            f"as_recorded must not lie in the future, got {from_micros(recorded_at).isoformat()}, "
            f"now is {from_micros(now).isoformat()}"
        )
    return found
