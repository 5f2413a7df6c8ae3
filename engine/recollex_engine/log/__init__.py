"""The operation log, the source of truth of an agent: its bytes, writing, reading, durability."""
