"""The class report: what a class has and has not understood, from its verdicts."""
