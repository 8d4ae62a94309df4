"""Makes the namespaces of one learner's process, runs a word in them and says how it went. For a first look at a
machine: {"uid": number or null, "filter": base64} as the only argument.
"""

from __future__ import annotations

import base64
import json
import os
import socket
import sys

from autograder.learner.box.space import Body, Space, launch


def main(settings: dict[str, str | int | None]) -> None:
    """Prints "in the box"; else ends with a reason on stderr and status 1."""
    uid = settings["uid"]
    program = base64.b64decode(str(settings["filter"]))
    space = Space(uid=uid if isinstance(uid, int) else None, filter=program)
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    launch(space, [Body(0, (), lambda: print("in the box", flush=True))], theirs)
    theirs.close()
    said = json.loads(ours.recv(1 << 16) or '{"why": "it ended without a word"}')
    if said.get("op") != "exit" or said.get("status") != 0:
        sys.exit(str(said.get("why", said)))
    os.wait()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
