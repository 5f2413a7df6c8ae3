"""Columns of memories: filter masks, gathering, strings."""
