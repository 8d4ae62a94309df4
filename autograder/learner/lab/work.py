"""What a call gives back: a `dist.Work` that is done when the switch has answered."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist


class SwitchWork(dist.Work):
    """One call on its way.

    `wait()` tells the switch that this rank stands still: the switch then knows who waits for whom, and in a case that
    holds completions back it answers only now.
    """

    def __init__(self, result: Any, say: Callable[[str], None]) -> None:
        """`result` is what the future yields; `say` tells the switch who asks: see `frames`."""
        super().__init__()
        self._result = result
        self._say = say
        self._done = threading.Event()
        self._future: torch.futures.Future[Any] = torch.futures.Future()
        self._error: str | None = None
        self._source = -1
        self._asked: set[str] = set()

    def _ask(self, what: str) -> None:
        """Tells the switch once; a loop around `is_completed()` must not flood the line."""
        if what not in self._asked:
            self._asked.add(what)
            self._say(what)

    def finish(self, source: int, error: str | None) -> threading.Event:
        """Called by the line's reader, once, after the outputs are written: all but the event that wakes who waits.
        The reader sets it when it holds this work no longer, or the outputs would outlive their last user.
        """
        self._source, self._error = source, error
        if error is None:
            self._future.set_result(self._result)
        else:
            self._future.set_exception(RuntimeError(error))
        return self._done

    def wait(self, timeout: timedelta | None = None) -> bool:
        """Returns True when the call is done. Raises RuntimeError with the switch's words when it failed, or when
        `timeout` has passed first."""
        if not self._done.is_set():
            self._ask("wait")
            seconds = timeout.total_seconds() if timeout else 0
            if not self._done.wait(seconds if seconds > 0 else None):
                raise RuntimeError(f"not done after {seconds:g} s")
        if self._error is not None:
            raise RuntimeError(self._error)
        return True

    def synchronize(self) -> None:
        """Same as `wait()`."""
        self.wait()

    def is_completed(self) -> bool:
        """True when the call is done; asking lets a held-back completion come."""
        if not self._done.is_set():
            self._ask("look")
        return self._done.is_set()

    def is_success(self) -> bool:
        """True when the call is done without error."""
        return self._done.is_set() and self._error is None

    def exception(self) -> Any:
        """The error of a failed call, else None."""
        return RuntimeError(self._error) if self._error is not None else None

    def get_future(self) -> torch.futures.Future[Any]:
        """A future with the outputs."""
        if not self._done.is_set():
            self._ask("poke")
        return self._future

    def result(self) -> Any:
        """The outputs, after waiting for them."""
        self.wait()
        return self._result

    def source_rank(self) -> int:
        """The group rank a receive got its data from."""
        return self._source

    _source_rank = source_rank


class Joined(dist.Work):
    """Several calls as one: done when all are."""

    def __init__(self, works: Sequence[dist.Work], result: Any) -> None:
        super().__init__()
        self._works = list(works)
        self._future: torch.futures.Future[Any] = torch.futures.Future()
        if not works:
            self._future.set_result(result)
            return
        collected = torch.futures.collect_all([work.get_future() for work in works])

        def pass_on(done: torch.futures.Future[Any]) -> None:
            try:
                for future in done.value():
                    future.value()
            except RuntimeError as error:
                self._future.set_exception(error)
            else:
                self._future.set_result(result)

        collected.add_done_callback(pass_on)

    def wait(self, timeout: timedelta | None = None) -> bool:
        """Returns True when all calls are done; raises what the first failed one raises."""
        return all([work.wait(timeout) if timeout else work.wait() for work in self._works])

    def synchronize(self) -> None:
        """Same as `wait()`."""
        self.wait()

    def is_completed(self) -> bool:
        """True when all calls are done."""
        return all([work.is_completed() for work in self._works])

    def is_success(self) -> bool:
        """True when all calls are done without error."""
        return all(work.is_success() for work in self._works)

    def get_future(self) -> torch.futures.Future[Any]:
        """A future with the outputs of all calls."""
        return self._future
