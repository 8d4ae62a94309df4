"""The one error of a machine that makes no sandbox."""


class SandboxUnavailable(RuntimeError):
    """A box cannot be made on this machine; the message says why and what to do."""


class BoxFailed(RuntimeError):
    """A box did not start, before any learner code ran: our fault or the machine's."""
