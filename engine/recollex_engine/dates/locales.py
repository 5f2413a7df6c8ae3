"""Options that the time parsers share: an agent's locale, the zone, the order of day and month."""

import re
from datetime import tzinfo

from recollex_engine.errors import InputError

DAY_FIRST = "en-GB"
"""The locale of an agent that was given none: 5/7/2023 is 5 July."""
_MONTH_FIRST = frozenset({"en-US"})
_TAG = re.compile(r"[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?").fullmatch


def check_locale(locale: object) -> None:
    """Raise `InputError` unless ``locale`` is a language tag: "de", "en-US", "zh-Hant-TW"."""
    if not isinstance(locale, str) or _TAG(locale) is None:
        raise InputError(
            f'locale must be a language tag such as "en-GB", "en-US" or "de", got {locale!r}'
        )


def puts_month_first(locale: str) -> bool:
    """Return whether 5/7/2023 is 7 May in ``locale``; only "en-US" writes the month first.

    >>> puts_month_first("en-US"), puts_month_first("en-GB"), puts_month_first("en")
    (True, False, False)
    """
    return locale in _MONTH_FIRST


def check_zone(tz: object) -> None:
    """Raise `InputError` unless ``tz`` is a time zone or None."""
    if tz is not None and not isinstance(tz, tzinfo):
        raise InputError(
            f'tz must be a zone, such as zoneinfo.ZoneInfo("Europe/Paris"), got {tz!r}'
        )


def check_month_first(month_first: object) -> None:
    """Raise `InputError` unless ``month_first`` is True, False or None."""
    if month_first is not None and not isinstance(month_first, bool):
        raise InputError(f"month_first must be True, False or None, got {month_first!r}")
