"""What runs in a box before and beside learner code: the warm zygote, the namespaces of each process, their limits."""
