# expect: ring_all_gather=failed
# Replaces what of the runner's is in this process: the packing of outputs, the frames, json, the group's methods.
import json
import sys

for name, module in list(sys.modules.items()):
    if name.startswith("autograder") and hasattr(module, "describe"):
        module.pack = lambda outputs: ({"passed": {"json": True}, "score": {"json": 3.0}}, b"")
    if name.startswith("autograder") and hasattr(module, "MAX_HEADER"):
        send = module.send_frame
        module.send_frame = lambda sock, header, parts=(), send=send: send(
            sock, {**header, "score": 3.0, "status": "passed"}, parts
        )


def ring_all_gather(shard, group):
    type(group).recv = lambda self, tensors, src, tag: None
    return guess(shard, group)
