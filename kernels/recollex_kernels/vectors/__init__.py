"""Vector search: similarities, codes of one to eight bits, scans, and walks through a graph."""
