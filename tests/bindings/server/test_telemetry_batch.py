"""Calls that were done inline are recorded soon, once, and in order."""

import asyncio
from typing import Any

from recollex.server.telemetry_batch import TOGETHER, WITHIN, TelemetryBatch


def test_notes_are_made_soon_or_together_or_when_asked_for() -> None:
    async def main() -> None:
        noted: list[Any] = []
        batch = TelemetryBatch(noted.append)
        calls: list[Any] = list(range(2 * TOGETHER))
        batch.add(calls[0])
        batch.add(calls[1])
        assert noted == []
        await asyncio.sleep(4 * WITHIN)
        assert noted == calls[:2]
        for call in calls[2 : 2 + TOGETHER]:
            batch.add(call)
        assert noted == calls[: 2 + TOGETHER]
        batch.add(calls[-1])
        batch.flush()
        assert noted == [*calls[: 2 + TOGETHER], calls[-1]]
        batch.flush()
        await asyncio.sleep(4 * WITHIN)
        assert len(noted) == 3 + TOGETHER

    asyncio.run(main())
