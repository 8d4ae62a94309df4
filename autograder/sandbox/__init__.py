"""The box learner code runs in: bubblewrap outside; the zygote and namespaces of each rank inside."""
