"""What was handed in: read whatever its state, put back on the course's own cells, made safe to look at."""
