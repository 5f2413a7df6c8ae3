"""What is done to memories, by whom and why? The part of a log record that is the same for all."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Act:
    """A kind of operation, and what its record says of who did it and why.

    >>> Act("archive", "ben", None).note
    {'by': 'ben'}
    """

    kind: str
    by: str | None = None
    why: str | None = None

    @property
    def note(self) -> dict[str, str]:
        """What goes into the payload."""
        return note(self.by, self.why)


def note(by: str | None, why: str | None) -> dict[str, str]:
    """Return what a record says of who did something and why."""
    said = {"by": by, "why": why}
    return {name: value for name, value in said.items() if value is not None}


RETAIN = Act("retain")
