# expect: ring_all_gather=limit:process
import subprocess


def ring_all_gather(shard, group):
    subprocess.Popen(["sleep", "100000"], start_new_session=True)
    return ring(shard, group)
