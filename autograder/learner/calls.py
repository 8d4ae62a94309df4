"""Calls a learner's function with plain inputs, and takes what comes back as plain data."""

from __future__ import annotations

import contextlib
import inspect
import json
import signal
import threading
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
    usable = (
        threading.current_thread() is threading.main_thread() and signal.getitimer(signal.ITIMER_REAL)[0] == 0
    )
    if not usable:
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise _TooSlow

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before if before is not None else signal.SIG_DFL)
