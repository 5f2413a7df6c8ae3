"""The numbers of the command line; other words are refused with the bound."""

import argparse


def count(text: str) -> int:
    """Return a whole number of at least 1."""
    return _whole_number(text, least=1)


def count_or_0(text: str) -> int:
    """Return a whole number of at least 0."""
    return _whole_number(text, least=0)


def number(text: str) -> float:
    """Return a number."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number, got {text!r}") from None


def _whole_number(text: str, least: int) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < least:
        raise argparse.ArgumentTypeError(
            f"must be a whole number of at least {least}, got {text!r}"
        )
    return int(text)
