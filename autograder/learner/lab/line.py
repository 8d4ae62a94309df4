"""A rank's line to the switch: numbers the calls, sends them, and writes what comes back into their outputs."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from autograder.learner.lab import frames, tensors
from autograder.learner.lab.work import SwitchWork

MAX_TEXT = 4000


class Line:
    """One socket, shared by all groups and threads of a rank. One thread reads the answers."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._sending = threading.Lock()
        self._seq = 0
        self._groups = 0
        self._open: dict[int, tuple[SwitchWork, list[torch.Tensor]]] = {}
        self._closed: str | None = None
        self.on_gather: Callable[[Sequence[torch.Tensor]], None] | None = None
        """Called with the outputs of every all-gather before it is sent: the probe's."""
        self._reader = threading.Thread(target=self._read, name="switch", daemon=True)

    def start(self) -> tuple[dict[str, Any], bytearray]:
        """Takes the first frame (the task and its inputs) and starts the reader."""
        header, size = frames.receive_header(self._sock)
        payload = bytearray(size)
        frames.receive_into(self._sock, memoryview(payload))
        self._reader.start()
        return header, payload

    def declare(self, name: str, ranks: Sequence[int]) -> int:
        """Tells the switch about a group of this rank (global ranks, in group order); returns its number."""
        with self._sending:
            number = self._groups
            self._groups += 1
            frames.send_frame(self._sock, {"op": "group", "g": number, "name": name, "ranks": list(ranks)})
        return number

    def call(
        self,
        header: dict[str, Any],
        inputs: Sequence[torch.Tensor],
        outputs: Sequence[torch.Tensor],
        result: Any,
    ) -> SwitchWork:
        """Sends one call. The inputs are read before this returns; the outputs are written when the switch answers.
        `result` is what the work's future yields."""
        parts = [tensors.readable(tensor) for tensor in inputs if tensor.numel()]
        with self._sending:
            if self._closed is not None:
                raise RuntimeError(self._closed)
            seq = self._seq = self._seq + 1

            def say(what: str) -> None:
                with self._sending:
                    if self._closed is None:
                        # besides this thread only our reader: then nothing of this rank goes on while we wait
                        alone = threading.active_count() <= 2
                        frames.send_frame(self._sock, {"op": what, "seq": seq, "alone": alone})

            work = SwitchWork(result, say)
            self._open[seq] = (work, [tensor for tensor in outputs if tensor.numel()])
            frames.send_frame(self._sock, {"op": "call", "seq": seq, **header}, parts)
        return work

    def mark(self, name: str, values: Mapping[str, float | str]) -> None:
        """A remark for the switch's record, which keeps it in the order of this rank's calls. Dropped where the case
        has ended."""
        with self._sending:
            if self._closed is None:
                frames.send_frame(self._sock, {"op": "mark", "name": name, "values": dict(values)})

    def finish(self, values: dict[str, Any], packed: bytes) -> None:
        """The last word of a rank whose code returned: its outputs, plain ones and tensors (as safetensors)."""
        with self._sending:
            frames.send_frame(self._sock, {"op": "end", "how": "done", "values": values}, [packed])

    def end(self, how: str, text: str, line: int) -> None:
        """The last word of a rank whose code did not return: `missing`, `raised` or `limit`, and why."""
        with self._sending:
            frames.send_frame(self._sock, {"op": "end", "how": how, "text": text[:MAX_TEXT], "line": line})

    def _read(self) -> None:
        try:
            while True:
                header, size = frames.receive_header(self._sock)
                work, outputs = self._open.pop(header["seq"])
                if header["op"] == "error":
                    done = work.finish(-1, str(header["text"]))
                else:
                    size -= sum(self._fill(tensor) for tensor in outputs)
                    if size:
                        raise frames.LineClosed(f"{size} bytes too many in an answer")
                    done = work.finish(int(header.get("source", -1)), None)
                del work, outputs
                done.set()
        except (frames.LineClosed, OSError, KeyError, ValueError) as error:
            # the switch has ended the case: nothing more will come, so nobody may go on waiting
            self._closed = f"the switch has ended this case ({error})"
            for work, _ in list(self._open.values()):
                work.finish(-1, self._closed).set()

    def _fill(self, tensor: torch.Tensor) -> int:
        view = tensors.writable(tensor)
        if view is not None:
            frames.receive_into(self._sock, view)
            return view.nbytes
        data = bytearray(tensors.nbytes(tensor))
        frames.receive_into(self._sock, memoryview(data))
        tensors.store(data, tensor)
        return len(data)
