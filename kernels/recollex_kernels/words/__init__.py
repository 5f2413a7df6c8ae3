"""Keyword search: posting lists, BM25, and the tail that no list covers yet."""
