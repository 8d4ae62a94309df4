"""Grades hand-ins in allocations of a Slurm cluster, by plain sbatch."""
