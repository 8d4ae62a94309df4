"""How much sooner a kernel forked from the warm zygote is up than one started from nothing. Not a test.

    python -m tests.benchmarks.kernels [N]

Both are timed in turns in one run, from asking for a kernel to the first answer to a cell; the first fork, which warms
the zygote up, is told apart.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

from jupyter_client.manager import KernelManager

from autograder.sandbox.kernel import BoxedKernel

CODE = "import numpy, matplotlib.pyplot"


def forked() -> None:
    """A kernel in a box, and one cell."""
    with BoxedKernel(None, memory_mib=2048, sandboxed=True) as kernel:
        ended = kernel.run(CODE, seconds=60, hear=lambda *_: None)
        assert ended.how == "ok", ended


def started() -> None:
    """A kernel as Jupyter starts one, without a box, and the same cell."""
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=60)
        reply = client.execute_interactive(CODE, timeout=60, output_hook=lambda _: None)
        assert reply["content"]["status"] == "ok", reply
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def seconds(run: Callable[[], None]) -> float:
    """How long one run takes."""
    begun = time.perf_counter()
    run()
    return time.perf_counter() - begun


def main(times: int) -> None:
    """Prints the medians and their ratio."""
    print(f"warming up: {seconds(forked):.2f} s")
    both = [(seconds(forked), seconds(started)) for _ in range(times)]
    warm, cold = (statistics.median(column) for column in zip(*both, strict=True))
    print(
        f"forked from the zygote, in a box: {warm:.2f} s; started by Jupyter: {cold:.2f} s (medians of {times})"
    )
    print(f"ratio: {cold / warm:.1f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
