"""Spreading activation over entities, likeness and nearness in time."""
