"""How something becomes a memory: prepared, embedded, logged, applied; and indexes made of it."""
