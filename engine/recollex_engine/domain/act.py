"""Which operation was it, who did it, and why? The part that all log records have."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Act:
    """A kind of operation, who did it (``by``), and the reason (``why``), as the caller gave them.

    >>> Act("archive", "ben", None).note
    {'by': 'ben'}
    """

    kind: str
    by: str | None = None
    why: str | None = None

    @property
    def note(self) -> dict[str, str]:
        """The fields for the record's payload."""
        return note(self.by, self.why)


def note(by: str | None, why: str | None) -> dict[str, str]:
    """Return the fields ``by`` and ``why`` of a record, without those that are None."""
    said = {"by": by, "why": why}
    return {name: value for name, value in said.items() if value is not None}


RETAIN = Act("retain")
