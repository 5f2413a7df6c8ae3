"""Operations to log, and the operations that a log holds."""

from tests.engine.log.whole_log import LogReader


def note(n, size=0):
    return ("note", b'{"n":%d,"x":"%b"}' % (n, b"y" * size))


def contents(folder, **options):
    return [
        (t.recorded_at, [(o.kind, o.payload["n"]) for o in t.operations])
        for t in LogReader(folder, **options).transactions()
    ]
