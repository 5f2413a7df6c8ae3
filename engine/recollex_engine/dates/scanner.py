"""Finds the times of a text, left to right, at the places where one may stand.

A time is one expression ("in May"), a range ("from May to June"), a list ("in May and June") or a
bound ("since May").

Where may a time stand in a text? Only there it is read.
Each time has a word that names it ("May", "week") or a number that may be a date. What stands
before and after it in the expression are words and marks of a closed list.
"""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

from recollex_engine.dates.calendar_dates import PREPOSITIONS, SPELLED
from recollex_engine.dates.clock_times import ClockTimeParser
from recollex_engine.dates.english_words import (
    CLAUSES,
    DASHES,
    LAST,
    MONTHS,
    NEXT,
    NUMBERS,
    ORDINALS,
    SHORT_MONTHS,
    SHORT_WEEKDAYS,
    THIRDS,
    THIRDS_OF,
    UNITS,
    WEEKDAYS,
    Tokens,
)
from recollex_engine.dates.expression_parser import Expression
from recollex_engine.dates.periods import (
    BEGINNINGS,
    DAY,
    HOLIDAYS,
    PARTS_OF_DAY,
    SEASON_STARTS,
    TELLING,
    Period,
)

BOUNDS = {
    ("no", "later", "than"): "until",
    ("not", "later", "than"): "until",
    ("no", "earlier", "than"): "since",
    ("not", "earlier", "than"): "since",
    ("later", "than"): "after",
    ("earlier", "than"): "before",
    ("not", "before"): "since",
    ("not", "after"): "until",
    ("prior", "to"): "before",
    ("up", "to", "and", "including"): "until",
    ("up", "to"): "until",
    ("starting", "in"): "since",
    ("starting", "on"): "since",
    ("starting", "from"): "since",
    ("starting",): "since",
    ("beginning", "in"): "since",
    ("beginning", "on"): "since",
    ("as", "of"): "in",
    ("post", "-"): "after",
    ("pre", "-"): "before",
}
"""Words that bound a time, and the one word that means the same. Longer ones come first."""

# Words that may be a time, or that are counted from one or are a part of one.
_NAMING = frozenset(
    {
        "fortnight",
        "fortnights",
        *MONTHS,
        *SHORT_MONTHS,
        *WEEKDAYS,
        *SHORT_WEEKDAYS,
        *SEASON_STARTS,
        "weekend",
        "q",
    }
    | {"yesterday", "today", "tonight", "tomorrow", "century", *UNITS, *PARTS_OF_DAY}
    | TELLING
)
_DATING = frozenset({"iso", "numeric", "span", "ordinal", "decade", "quarter", "short"})
# The words that an expression begins with; words of `_LEADING` may stand before them.
_BEGINNING = frozenset(
    _NAMING | LAST | NEXT | {*THIRDS, *THIRDS_OF, *ORDINALS, *NUMBERS} | BEGINNINGS | SPELLED
    | {"this", "current", "few", "couple", "several", "season"}
) - {"a", "an"}  # fmt: skip
_NUMERIC = _DATING | {"number", "clock"}
_LEADING = (
    PREPOSITIONS
    | {"the", "a", "an", "between", "following", "prior", "up", "to"}
    | {word for words in BOUNDS for word in words}
)
# What else may stand before the word that names a time.
_CONNECTING = (
    DASHES
    | {"and", "or", "half", ",", ".", "'", "/", "&"}
    | {word for name in HOLIDAYS for word in name}
)

_DIGIT = re.compile("[0-9]")
_LETTERS = re.compile("[a-z]+")


def may_name_a_time(text: str) -> bool:
    """Return False only for a text without a digit and without a word that names a time.

    >>> may_name_a_time("Who came in May?"), may_name_a_time("Who came?")
    (True, False)
    """
    words = _LETTERS.findall(text.lower())
    return not _NAMING.isdisjoint(words) or _DIGIT.search(text) is not None


def leads(tokens: Tokens) -> set[int]:
    """Return the places of the tokens that a time may begin with.

    They are found from each word that names a time, back over what may stand before it in an
    expression: the beginnings of an expression, and up to four leading words right before one.
    """
    texts = tokens.texts
    numbers = tokens.numbers
    named = [i for i, text in enumerate(texts) if text in _NAMING]
    for i, kind in numbers.items():
        if kind in _DATING or (kind == "number" and len(texts[i]) == 4):
            named.append(i)
    found: set[int] = set()
    for i in named:
        leading = 0
        while i >= 0:
            if texts[i] in _BEGINNING or numbers.get(i) in _NUMERIC:
                if i in found:  # what stands before it was found from another word
                    break
                leading = 0
            elif texts[i] in _LEADING:
                leading += 1
            elif texts[i] in _CONNECTING:
                leading = 5
            else:
                break
            if leading <= 4:
                found.add(i)
            i -= 1
    return found


_OPENERS = PREPOSITIONS | {"between"}
_BEFORE_A_TIME = _OPENERS | {"following"}
_TO = frozenset({"to", "until", "till", "through", "thru", "/"}) | DASHES
_TO_OR_AND = _TO | {"and"}
_LISTING = frozenset({"and", "or", ",", "&"})
_NOW = frozenset({"now", "present", "date"})
_REACHING_BACK = frozenset({"before", "until", "till", "by"})
_REACHING_ON = frozenset({"since", "after", "following"})
_REACHING = _REACHING_BACK | _REACHING_ON | {"from"} | {words[0] for words in BOUNDS}
_BEGINNING_WORDS = frozenset({"starting", "beginning"})
_BOUNDING = _REACHING_BACK | _REACHING_ON | {"from", "in"}
_LONGEST_LIST = 32
"""Limit of the times of a list; a longer one is no range, and is not read from each of them."""
_CLAUSE = 9
"""Limit of the words between "before" and the date of its clause."""
_SUBJECT_WORDS = """
i you he she it we they who my your his her its our their the a an this that
"""
_SUBJECTS = frozenset(_SUBJECT_WORDS.split())
_AROUND = frozenset({"around", "circa"})
_OPEN = frozenset({"on", "onward", "onwards", "forward"})
_MEASURED_WORDS = """
increased increase raised rose grew reduced cut fell dropped down up off multiplied divided short
over won lost
"""
_MEASURED = frozenset(_MEASURED_WORDS.split())
_A_LITTLE = 3 * DAY


class TimeMatch(NamedTuple):
    """A time that was read from the tokens [`first`, `after`).

    `start` or `end` is None where the time has no such bound. `dated`: a year was written out.
    `open_end`: the time goes on after now. `named`: what a bound counts from: June of "since June".
    """

    first: int
    after: int
    start: datetime | None
    end: datetime | None
    dated: bool
    open_end: bool = False
    named: Period | None = None

    @property
    def bound(self) -> bool:
        """Whether one end is open."""
        return self.start is None or self.end is None


class Scanner:
    """Iterates over the times of a text. starts: where one may begin, see `time_places.leads`."""

    def __init__(self, parser: ClockTimeParser, starts: set[int]) -> None:
        self._parser = parser
        self._starts = starts

    def __iter__(self) -> Iterator[TimeMatch]:
        parser = self._parser
        starts = self._starts
        clauses = (i for i, text in enumerate(parser.texts) if text in CLAUSES)
        after = 0
        for i in sorted(starts.union(clauses)):
            if i < after:
                continue
            try:
                parser.place = i
                match = self._match(i) if i in starts else None
                match = match or (self._clause(i) if parser.texts[i] in CLAUSES else None)
            except (ValueError, OverflowError):  # 30 February, or beyond the years 1 to 9999
                continue
            if match and (match.start is None or match.end is None or match.start < match.end):
                after = match.after
                yield match

    def _match(self, i: int) -> TimeMatch | None:
        """Read the time that begins at token `i`; a range and a list only where a word joins."""
        words = self._parser.words
        texts = self._parser.texts
        opener = words[i]
        led = i + (opener in _OPENERS)
        years = led + (words[led] == "the")
        first = years + 1 if words[years] == "years" else led  # "between the years 1975 and 1982"
        left = self._parser.expression(first)
        dots = left is not None and texts[left.after : left.after + 2] == [".", "."]
        if left and dots and self._goes_on(left.after + 2):
            left.after += 1  # "2026-07-25..26"
        joiner = "" if left is None or left.after >= len(texts) else texts[left.after]
        if self._is_cut(first):
            return None
        match = None
        doubled = joiner == "." and texts[left.after - 1] == "." if left else False
        if left and (joiner in _TO or doubled or (joiner == "and" and opener == "between")):
            match = self._range(i, first, left, led_by_years=first > led)
        if match is None and opener in _REACHING:
            match = self._bound(i)
        if match is None and left and joiner in _LISTING and opener != "between" and first == led:
            match = self._list(first, left, opener)
        if match is None:
            if first != i:  # of the openers only "in" begins an expression: "in two weeks"
                left = self._parser.expression(i) if opener == "in" or led == i else None
            match = self._plain(i, left)
        return match

    def _goes_on(self, i: int) -> bool:
        """Return whether a number stands right after two dots."""
        tokens = self._parser.tokens
        return tokens.numbers.get(i) in ("number", "iso") and tokens.joined(i)

    def _is_cut(self, i: int) -> bool:
        """Return whether token `i` is the end of something with digits that was not read."""
        tokens = self._parser.tokens
        texts = self._parser.texts
        if i < 2 or texts[i - 1] not in ("-", "/", "\u2013") or not tokens.joined(i):
            return False
        before = texts[i - 2] if texts[i - 2] != "." or i < 3 else texts[i - 3]
        cut = ("numeric", "number", "ordinal") if texts[i - 1] == "/" else ("numeric",)
        return tokens.joined(i - 1) and before[:1].isdigit() and tokens.numbers.get(i) in cut

    def _range(
        self, i: int, first: int, left: Expression, *, led_by_years: bool
    ) -> TimeMatch | None:
        """Read "between A and B", "from A to B", "A to B", "from A until now".

        ``left``, at token ``first``, is A, and what joins it to B stands after it.
        """
        opener = self._parser.words[i]
        joiner = self._parser.texts[left.after]
        at = left.after + 1 + (self._parser.words[left.after + 1] == "the")
        if self._parser.words[at] in _NOW and joiner not in DASHES:
            start = self._parser.settle(left)[0]
            return TimeMatch(first, at + 1, start, None, left.dated)
        right = self._parser.expression(left.after + 1)
        if joiner == "/" and self._parser.numbers.get(first) != "iso":
            return None  # "May/June" is a choice of words, "2026-07-25/26" a range
        days = self._same_month(left, left.after + 1)
        if days is not None and (right is None or right.dated):  # 26 is no year, 2026 is
            right = days
        if right is None:
            return None
        if opener not in ("between", "from"):
            if not (left.calendar and right.calendar):
                return None
            led = left.only_after is None or opener in left.only_after or led_by_years
            led = led or self._set_off(first, right)
            if not led and (first != i or right.only_after is not None):
                return None
        start, end = self._joined(left, right)
        begins = i if opener in ("between", "from") else first
        return TimeMatch(begins, right.after, start, end, left.dated or right.dated)

    def _set_off(self, first: int, right: Expression) -> bool:
        """Return whether "1346 to 1347" stands alone: after a comma, at the end of a clause."""
        texts = self._parser.texts
        if not right.dated or not first or texts[first - 1] not in ",(":
            return False
        return right.after >= len(texts) or texts[right.after] in ",.?!;)"

    def _joined(self, left: Expression, right: Expression) -> Period:
        """Return the start of `left` and the end of `right`; one may take the year of the other."""
        if left.year is None:
            if right.year:
                start = left.of_year(right.year)[0]
                end = right.of_year(right.year)[1]
                return (left.of_year(right.year - 1)[0] if start >= end else start), end
            start = self._parser.settle(left)[0]
        else:
            start = left.of_year(left.year)[0]
        if right.year is not None:
            return start, right.of_year(right.year)[1]
        end = right.of_year(start.year)[1]
        return start, (right.of_year(start.year + 1)[1] if end <= start else end)

    def _list(self, first: int, left: Expression, opener: str) -> TimeMatch | None:
        """Read "in May and June", "on 3 June, 6 June and 28 June": from the first to the last.

        ``left``, at token ``first``, is the first one, and a comma, "and" or "or" stands after it.
        """
        parser = self._parser
        if not left.calendar:
            return None
        last = left
        listed = 1
        concluded = False
        while not concluded and listed < _LONGEST_LIST:
            at = last.after
            comma = False
            if at < len(parser.texts) and parser.texts[at] == ",":
                at = at + 1
                comma = True
            if at < len(parser.texts) and parser.texts[at] in ("and", "or", "&"):
                at = at + 1
                concluded = True
            elif not comma:
                break
            item = parser.expression(at + (parser.words[at] in ("in", "on")))
            item = item or self._same_month(left, at)
            if item is None or not item.calendar:
                concluded = False
                break
            last = item
            listed = listed + 1
        if listed < 2 or not concluded:
            return None
        lent = left.year is None and last.dated  # "May and June 2022" needs no preposition
        if left.only_after is not None and opener not in left.only_after and not lent:
            return None
        start, end = self._joined(left, last)
        one = parser.settle(left)
        other = parser.settle(last)
        lengths = sorted((one[1] - one[0], other[1] - other[0]))
        widest = 40 * DAY if lengths[0] < 28 * DAY else max(400 * DAY, 5 * lengths[0])
        if lengths[1] > 1.5 * lengths[0]:
            return None  # "in 2021 and in January 2022"
        if end - start > widest:
            return TimeMatch(first, left.after, *one, left.dated)
        return TimeMatch(first, last.after, start, end, left.dated or last.dated)

    def _same_month(self, left: Expression, at: int) -> Expression | None:
        """Read "12th" or "12" after "June 9th": a later day of the month."""
        d = self._parser.days.get(at)
        if d is None or not left.calendar:
            return None
        try:
            begins, ends = left.of_year(left.year or self._parser.today.year)
        except ValueError:
            return None
        if ends - begins != DAY:
            return None
        if self._parser.numbers[at] != "ordinal":
            closes = at + 1 >= len(self._parser.texts) or self._parser.texts[at + 1] in ".,;?!)"
            if not closes or d <= begins.day:
                return None

        def of_year(y: int) -> Period:
            day = left.of_year(y)[0].replace(day=d)
            return day, day + DAY

        return Expression(at + 1, of_year, left.year, dated=left.dated)

    def _bound(self, i: int) -> TimeMatch | None:
        """Read "since A", "before A", "after A", "until A", "by A", "from A on"."""
        word = self._parser.words[i]
        first = i + 1
        for words, meant in BOUNDS.items():
            if words[0] in _BEGINNING_WORDS and not self._parser.asks:
                continue  # what starts on a day happens then
            if tuple(self._parser.texts[i : i + len(words)]) == words:
                word = meant
                first = i + len(words)
                break
        if word not in _BOUNDING:
            return None
        expression = self._parser.expression(first)
        if expression is None:
            return None
        by_a_year = word == "by" and self._by_a_year(i, expression)
        if not by_a_year and not self._may_follow(expression, word):
            return None
        named = start, end = self._parser.settle(expression)
        after = expression.after
        dated = expression.dated
        if word == "in":
            return TimeMatch(i, after, start, end, dated)
        if word == "from":
            if self._parser.words[after] not in _OPEN:
                return None
            return TimeMatch(i, after + 1, start, None, dated, open_end=True, named=named)
        if word in _REACHING_BACK:
            reached = start if word == "before" else end
            return TimeMatch(i, after, None, reached, dated, named=named)
        reached = end if word in ("after", "following") else start
        return TimeMatch(i, after, reached, None, dated, named=named)

    def _by_a_year(self, i: int, expression: Expression) -> bool:
        """Return whether "by 2030" is a time; "increased by 2000" is not."""
        before = self._parser.texts[i - 1] if i else ""
        return (
            expression.dated and 1800 <= (expression.year or 0) < 2100 and before not in _MEASURED
        )

    def _clause(self, i: int) -> TimeMatch | None:
        """Read "before he joined in 2010", "since the move in May": a clause that holds the date.

        "Before" ends at the end of the date and "since" begins at its start, so that the whole of
        the date belongs to the range.
        """
        parser = self._parser
        tokens = self._parser.tokens
        word = parser.words[i]
        texts = parser.texts
        if i and (texts[i - 1] in UNITS or texts[i - 1] in WEEKDAYS):
            return None  # "the week before the party in June"
        if i + 1 >= len(tokens) or not _may_be_subject(tokens, i + 1):
            return None
        for at in range(i + 2, min(i + 2 + _CLAUSE, len(tokens))):
            if tokens.kind(at) not in ("word", "number") or texts[at] in CLAUSES:
                return None
            if texts[at] not in ("in", "on"):
                continue
            date = parser.expression(at + 1)
            if date is None or not date.calendar:
                continue
            if date.only_after is not None and texts[at] not in date.only_after:
                continue
            named = start, end = parser.settle(date)
            if word == "since":
                return TimeMatch(i, date.after, start, None, date.dated, named=named)
            return TimeMatch(i, date.after, None, end, date.dated, named=named)
        return None

    def _plain(self, i: int, expression: Expression | None) -> TimeMatch | None:
        """Read ``expression``, at token `i`, or the one after the preposition at token `i`."""
        first = i
        if expression is None or expression.only_after is not None:
            if self._parser.words[i] not in _BEFORE_A_TIME:
                return None
            first = i + 1
            expression = self._parser.expression(first)
            if expression is None or not self._may_follow(expression, self._parser.words[i]):
                return None
        start, end = self._parser.settle(expression)
        if first and self._parser.words[first - 1] in _AROUND:
            wider = max(_A_LITTLE, (end - start) / 2) if end - start >= DAY else timedelta(0)
            start = start - wider
            end = end + wider
        return TimeMatch(first, expression.after, start, end, expression.dated)

    def _may_follow(self, expression: Expression, word: str) -> bool:
        """Return whether `expression` is a time after this preposition."""
        word = "after" if word == "following" else word
        if expression.only_after is None:
            return word in PREPOSITIONS or word == "between"
        tokens = self._parser.tokens
        after = expression.after
        if after + 1 < len(tokens) and tokens.texts[after] in _TO_OR_AND:
            glued = tokens.texts[after] in DASHES and tokens.joined(after)
            if glued or tokens.kind(after + 1) == "number":  # "spring-loaded", "from 2000 to 2500"
                return False
        return word in expression.only_after or (word in _AROUND and "in" in expression.only_after)


def _may_be_subject(tokens: Tokens, i: int) -> bool:
    word = tokens.words[i]
    return bool(word) and (word in _SUBJECTS or word.endswith("ing") or tokens.capital(i))
