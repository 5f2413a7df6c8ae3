"""Were bytes of a file changed, or the file shortened? Linux says so (inotify), others do not."""

import ctypes
import fcntl
import os
import struct
import termios

from recollex_engine import fork

_MODIFY = 0x2  # IN_MODIFY: a file was written to, shortened or extended
_LOST = 0x4000  # IN_Q_OVERFLOW: there were too many events to tell
_EVENT = struct.Struct("iIII")  # the watch, what happened, a number, and the length of the name
_BYTES = 1 << 16  # that are read at once

_NOTHING = bytes(4)  # how many bytes of events there are, as the system says it

_libc = ctypes.CDLL(None, use_errno=True)


class FileChanges:
    """Says whether any process has changed the bytes of a file, or of a file in a folder.

    Threads: any number; each change is told to one of them.
    """

    def __init__(self) -> None:
        self._fd = -1
        self._lock = fork.lock()
        self._watched: dict[int, str] = {}
        self.works: bool = hasattr(_libc, "inotify_init1")
        """Whether it can say so: Linux, and a user has not as many watches as the system allows."""

    def watch(self, path: str) -> None:
        """Watch a file, or the files in a folder, from now on. Cost: 5 us."""
        if not self.works:
            return
        with self._lock:
            if self._fd < 0:
                self._fd = _libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
                if self._fd < 0:
                    self.works = False
                    return
            number = _libc.inotify_add_watch(self._fd, os.fsencode(path), _MODIFY)
            self.works = number >= 0
            self._watched[number] = path

    def seen(self) -> set[str] | None:
        """Return what was changed since the last call; None for nothing. Cost: 1 us for nothing."""
        if self._fd < 0 or fcntl.ioctl(self._fd, termios.FIONREAD, _NOTHING) == _NOTHING:
            return None
        try:
            events = os.read(self._fd, _BYTES)
        except OSError:  # another thread has read them
            return None
        found: set[str] = set()
        at = 0
        while at < len(events):
            number, what, _, length = _EVENT.unpack_from(events, at)
            path = None if what & _LOST else self._watched.get(number)
            # None also while another thread has begun to watch, and not noted the path yet
            found |= set(self._watched.copy().values()) if path is None else {path}
            at += _EVENT.size + length
        return found

    def __del__(self) -> None:
        fd = self._fd
        self._fd = -1
        if fd >= 0:
            os.close(fd)
