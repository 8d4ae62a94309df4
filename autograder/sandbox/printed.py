"""What one process prints: the start of it kept, the rest counted, the pipe never full."""

from __future__ import annotations

import os

KEPT = 16 << 10
_READ = 1 << 16


class Printed:
    """The reading end of a pipe. A context manager: leaving it closes the pipe."""

    def __init__(self, fd: int) -> None:
        os.set_blocking(fd, False)
        self.fd = fd
        self._kept = bytearray()
        self._dropped = 0

    def __enter__(self) -> Printed:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.fd)

    def read(self) -> bool:
        """Reads what is there; False at its end."""
        try:
            data = os.read(self.fd, _READ)
        except BlockingIOError:
            return True
        room = KEPT - len(self._kept)
        self._kept += data[:room]
        self._dropped += max(0, len(data) - room)
        return bool(data)

    def rest(self) -> str:
        """Reads what is left, within bounds: the text that was kept, and how much was not."""
        for _ in range(64):
            before = len(self._kept) + self._dropped
            if not self.read() or len(self._kept) + self._dropped == before:
                break
        text = self._kept.decode("utf-8", "replace")
        return f"{text}\n… {self._dropped} bytes more" if self._dropped else text
