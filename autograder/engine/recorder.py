"""Records finished jobs one after the other, in a thread of its own, so that workers need not wait for nbgrader."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable

from autograder.engine.job import Job

Record = Callable[[Job, str], None]


class Recorder:
    """Calls `record(job, why)` for each job put, in their order. After the first call that raises it records no more,
    and what was raised is raised in the thread that puts.
    """

    def __init__(self, record: Record) -> None:
        self._record = record
        self._waiting: queue.SimpleQueue[tuple[Job, str] | None] = queue.SimpleQueue()
        self._left = 0
        self._done = threading.Condition()
        self._broke: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name="recorder")
        self._thread.start()

    def put(self, job: Job, why: str) -> None:
        """Queues a job; `why` it has no result, empty where it has one."""
        with self._done:
            self._left += 1
        self._waiting.put((job, why))

    def raise_what_broke(self) -> None:
        """Raises what a call of `record` raised."""
        if self._broke is not None:
            raise self._broke

    def drain(self, tick: Callable[[], None]) -> None:
        """Waits until all is recorded, calling `tick` meanwhile. Raises what a call of `record` raised."""
        while True:
            with self._done:
                if self._left == 0:
                    break
                self._done.wait(0.2)
            self.raise_what_broke()
            tick()
        self.raise_what_broke()

    def close(self, *, wait: bool) -> None:
        """Ends the thread: after all that was put, or after the job it is at."""
        if not wait:
            while not self._waiting.empty():
                self._waiting.get()
        self._waiting.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (item := self._waiting.get()) is not None:
            try:
                if self._broke is None:
                    self._record(*item)
            except BaseException as error:  # handed over to the thread that puts
                self._broke = error
            with self._done:
                self._left -= 1
                self._done.notify_all()
