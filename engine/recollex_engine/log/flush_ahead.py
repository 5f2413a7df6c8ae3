"""The flush of a log and its vectors that was begun when they were written.

The writer goes on meanwhile, and takes the operations up into the columns. Both files are flushed
side by side, so a loss of power may leave either without the other, as it may without any flush;
nothing is acknowledged before both are on the disk.
"""

from contextlib import suppress

from recollex_engine.log.head import Head
from recollex_engine.storage.begun_flush import BegunFlush, begin_flush
from recollex_engine.storage.pooled_file import PooledFile
from recollex_engine.storage.vectors_file import VectorsWriter


class FlushAhead:
    """At most one flush, from when it was begun until its result is known.

    Threads: one at a time begins, and one at a time ends.
    """

    def __init__(self) -> None:
        self._begun: tuple[BegunFlush, Head, VectorsWriter | None, int] | None = None

    def begin(self, covered: Head, log: PooledFile, vectors: VectorsWriter | None) -> None:
        """Begin to flush the log up to ``covered``, and vectors that no flush has covered.

        Does nothing while another flush is under way, or where the system cannot do it.
        """
        if self._begun is not None:
            return
        writes = 0 if vectors is None else vectors.unflushed
        with suppress(OSError), log as own:  # the flush that follows reports it
            if vectors is None or not writes:
                begun = begin_flush([own])
            else:
                with vectors.file as rows:
                    begun = begin_flush([rows, own])
            if begun is not None:
                self._begun = begun, covered, vectors, writes

    def end(self) -> Head | None:
        """Wait for the flush; return what it covered, None if there was none.

        It may cover less than was written since. Raises the plain `OSError`, each time.
        """
        if self._begun is None:
            return None
        begun, covered, vectors, writes = self._begun
        try:
            begun.wait()
        except OSError as error:
            if vectors is not None:
                vectors.fail(error)
            raise
        if vectors is not None and begun.is_whole:
            vectors.flushed(writes)
        self._begun = None
        return covered if begun.is_whole else None
