"""How is one agent's folder opened? By a writer or a reader, each when it is first needed."""

import threading
from pathlib import Path

from recollex_engine import fork
from recollex_engine.domain.settings import Settings
from recollex_engine.errors import ClosedError, ModelMismatchError, ReadOnlyError
from recollex_engine.models.embedder import Embedder
from recollex_engine.state.read_replica import ReadReplica
from recollex_engine.state.replica import Replica
from recollex_engine.state.view import View
from recollex_engine.storage.agent_key import cipher_at, open_key
from recollex_engine.storage.cipher import Cipher
from recollex_engine.storage.disk import system_errors
from recollex_engine.writing.damage import make_sure, view_of
from recollex_engine.writing.maintenance import Maintenance
from recollex_engine.writing.store_context import StoreContext
from recollex_engine.writing.writer import Writer


class AgentFiles:
    """The writer or the reader by which this process has one agent's folder open.

    Threads: any number may call any method. Nothing is put on disk before the first write. In a
    child of `os.fork` every method refuses: its parent goes on writing the files.
    """

    def __init__(
        self, name: str, folder: Path, context: StoreContext, key: bytes | None = None
    ) -> None:
        self.name = name
        self.folder = folder
        self.key = key
        self._cipher: Cipher | None = None  # held as long as files of the agent are in use
        self._context = context
        self._opening = threading.RLock()
        self._writer: Writer | None = None
        self._maintenance: Maintenance | None = None
        self._reader: ReadReplica | None = None
        self._closed = False
        self._inherited = False
        fork.register(self)
        with system_errors(folder):
            if folder.exists() and not context.read_only:
                self.writer()  # a second writer fails here, not at its first retain
            elif self._has_log():
                self._cipher = open_key(folder, key)

    def writer(self) -> Writer:
        """Return the writer; the first call opens it and makes the folder.

        A writer whose write was interrupted is closed, and the log is opened again.
        """
        self.check_writable()
        if self._writer is not None and not self._writer.must_reopen:
            return self._writer
        with self._opening, system_errors(self.folder):
            self.check_open()
            interrupted = self._writer is not None and self._writer.must_reopen
            if interrupted and self._maintenance is not None:
                self._maintenance.close()  # views go on with what was published
            if self._writer is None or interrupted:
                self._context.create()
                writer = Writer(
                    self.folder,
                    self._context.durability,
                    self._context.clock,
                    self._embedder_for,
                    self._context.on_flush,
                    self._context.start_progress,
                    self.key,
                )
                self._cipher = cipher_at(self.folder)
                try:
                    if writer.settings is not None:
                        self._embedder_for(writer.settings)
                except BaseException:
                    writer.close()  # or the folder stays locked
                    raise
                self._maintenance = Maintenance(self.name, writer, self._context)
                self._writer = writer
            return self._writer

    def _has_log(self) -> bool:
        return (self.folder / "log").exists()

    @property
    def opened_writer(self) -> Writer | None:
        """The writer if this process has opened it; None before, and once it is closed."""
        return self._writer

    @property
    def maintenance(self) -> Maintenance:
        """The maintenance of the writer, which must have been opened."""
        assert self._maintenance is not None
        return self._maintenance

    def check_open(self) -> None:
        """Raise `ClosedError` once the agent was closed, and in a forked child."""
        if self._closed:
            if self._inherited:
                raise fork.refusal(f"agent {self.name!r}")
            raise ClosedError(f"agent {self.name!r} was closed: open the store again")

    def check_writable(self) -> None:
        """Raise `ClosedError` or `ReadOnlyError` if this agent cannot be written."""
        self.check_open()
        if self._context.read_only:
            raise ReadOnlyError(
                f"agent {self.name!r} was opened with read_only=True: open the store without it "
                "to write"
            )
        if self._writer is not None:
            make_sure(self._writer)

    def _embedder_for(self, settings: Settings) -> Embedder:
        """Return the model. Raises `ModelMismatchError` if the vectors are of another model."""
        embedder = self._context.embedder()
        if embedder.fingerprint != settings.model:
            raise ModelMismatchError(self.name, settings.model, embedder.fingerprint)
        return embedder

    def view(self, op: int | None = None) -> View | None:
        """Return the view of now, or of operation ``op``; None before the first retain."""
        self.check_open()
        if self._writer is not None:
            return view_of(self._writer, op)
        if self._reader is None:
            with self._opening, system_errors(self.folder):
                if self._reader is None:
                    if not self._has_log():
                        return None
                    self._cipher = open_key(self.folder, self.key)
                    self._reader = ReadReplica(
                        self.folder, self._embedder_for, self._context.start_progress
                    )
        now = self._reader.view()
        return now if op is None else self._reader.replica.view(op)

    def replica(self) -> Replica:
        """Return the replica that `view` reads; only after there is one."""
        if self._writer is not None:
            return self._writer.replica
        assert self._reader is not None
        return self._reader.replica

    def after_fork(self) -> None:
        """Refuse every later call in the child, and let go of the parent's files and maps."""
        self._closed = self._inherited = True
        self._writer = self._maintenance = self._reader = None

    def close(self) -> None:
        """Finish pending work and release the lock file; a second call does nothing."""
        if self._inherited:  # the lock may be held by a thread of the parent
            return
        with self._opening:
            if self._closed:
                return
            self._closed = True
            reader, maintenance = self._reader, self._maintenance
        if reader is not None:
            reader.close()
        if maintenance is not None:
            try:
                maintenance.close()
            finally:
                self._writer = None
