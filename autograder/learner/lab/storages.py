"""Which storages are alive, and how large each is at this moment.

A tensor's memory is its storage: views share one, and `storage.resize_` frees one without an op that anybody could see.
So storages are remembered weakly and their sizes read whenever they are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch.multiprocessing.reductions import StorageWeakRef


class Storages:
    """Storages seen so far that are still alive. Tensors on no device (meta, fake) count with the bytes they would
    have."""

    def __init__(self) -> None:
        self._seen: dict[int, StorageWeakRef] = {}

    def see(self, tensor: torch.Tensor) -> int:
        """Remembers a tensor's storage; returns its key."""
        storage = tensor.untyped_storage()
        key = int(storage._cdata)
        if key not in self._seen:
            # a weak reference keeps the key's address from being used again while it stands here
            self._seen[key] = StorageWeakRef(storage)
        return key

    def live(self) -> Iterator[tuple[int, int]]:
        """(key, bytes) of every storage that is still alive; the others are forgotten."""
        for key, ref in list(self._seen.items()):
            storage = torch.UntypedStorage._new_with_weak_ptr(ref.cdata)
            if storage is None:
                del self._seen[key]
            else:
                yield key, storage.nbytes()


def key_of(tensor: torch.Tensor) -> int:
    """The key of a tensor's storage, see `Storages`."""
    return int(tensor.untyped_storage()._cdata)


def local(tensor: torch.Tensor) -> torch.Tensor:
    """The part of a tensor that lies on this rank: of a DTensor its shard."""
    return getattr(tensor, "_local_tensor", tensor)
