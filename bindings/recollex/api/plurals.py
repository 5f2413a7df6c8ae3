"""How are numbers of things written? With separators, and with the noun in its number."""


def counted(count: float, noun: str) -> str:
    """Return a whole number and its noun.

    >>> counted(1, "memory"), counted(2000, "memory"), counted(0, "day"), counted(1, "new record")
    ('1 memory', '2,000 memories', '0 days', '1 new record')
    """
    if count != 1:
        noun = f"{noun[:-1]}ies" if noun[-1] == "y" and noun[-2] not in "aeiou" else f"{noun}s"
    return f"{count:,.0f} {noun}"
