"""Calls a learner's function with plain inputs, and takes what comes back as plain data."""

from __future__ import annotations

import contextlib
import inspect
import json
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import FrameType
from typing import Any

from autograder.learner import units
from autograder.learner.values import encode


@dataclass(frozen=True)
class Raised:
    """The function ended with an exception: its type's name and its text, both short."""

    kind: str
    text: str = ""


class _TooSlow(BaseException):
    """Not an Exception, so that a learner's `except Exception` does not swallow it."""


def call(function: Callable[..., Any], args: Mapping[str, Any], seconds: float) -> dict[str, Any] | Raised:
    """What `function` returns, as a wire value, or what it raised. By keyword where the names fit, else in order.

    Stops Python code after `seconds` when called in the main thread (kind "TimeoutError").
    """
    inputs = json.loads(json.dumps(dict(args)))  # a fresh copy: the function may change its inputs
    try:
        with _time_limit(seconds):
            return encode(function(**inputs) if _takes(function, inputs) else function(*inputs.values()))
    except _TooSlow:
        return Raised("TimeoutError", f"no answer within {seconds:g} s")
    except (Exception, SystemExit) as error:
        return Raised(units.clip(type(error).__name__), _text(error))


def _takes(function: Callable[..., Any], inputs: Mapping[str, Any]) -> bool:
    try:
        inspect.signature(function).bind(**inputs)
    except TypeError:
        return False
    except ValueError:  # a builtin without a signature
        return True
    return True


def _text(error: BaseException) -> str:
    try:
        return units.clip(str(error), 200)
    except Exception:  # an exception of the learner's own, whose __str__ fails
        return ""


@contextlib.contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Raises _TooSlow in the main thread after `seconds`; elsewhere there is no limit. A timer that somebody else has
    set goes on afterwards, late by at most `seconds`.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise _TooSlow

    started = time.monotonic()
    before = signal.signal(signal.SIGALRM, stop)
    left, _ = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before if before is not None else signal.SIG_DFL)
        if left:
            signal.setitimer(signal.ITIMER_REAL, max(0.001, left - (time.monotonic() - started)))
