"""Checks of the bytes that a stranger sends."""
