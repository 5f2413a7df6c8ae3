"""What an agent is told on numbered days, and asked."""

from datetime import UTC, datetime, timedelta

import numpy as np

START = datetime(2024, 5, 1, tzinfo=UTC)
DAY = timedelta(days=1)
VECTORS = np.random.default_rng(3).normal(size=(30, 16))


def day(number):
    return START + number * DAY


def told(agent, number, text, **options):
    vector = VECTORS[number]
    agent.retain(text, recorded_at=day(number), embedding=vector, event_at=day(number), **options)


def asked(agent, query="Ann", **options):
    return agent.recall(query, query_embedding=VECTORS[1], **options)
