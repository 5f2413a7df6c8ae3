"""Backups: an agent's log and vectors as content-addressed objects, in a folder or object store."""
