"""The operation log, the truth of an agent: its bytes, writing, reading, durability."""
