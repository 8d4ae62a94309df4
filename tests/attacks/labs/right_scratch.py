# expect: ring_all_gather=passed
# Files of one's own are allowed: a rank writes and reads its scratch, and the data goes round the ring.
import tempfile


def ring_all_gather(shard, group):
    with tempfile.NamedTemporaryFile() as file:
        torch.save(shard, file.name)
        return ring(torch.load(file.name, weights_only=True), group)
