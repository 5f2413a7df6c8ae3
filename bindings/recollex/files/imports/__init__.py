"""Memories and talks that other programs wrote, read as the objects of JSON lines (`api.jsonl`)."""
