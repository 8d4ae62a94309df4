"""The rank end of a lab: a process group over one inherited socket, and the runner that forks the ranks.

Stands beside learner code, so nothing here is believed: what a rank did is what the switch at the other end of the
socket saw. `frames` and `limits` need only the standard library; the rest imports torch.
"""
