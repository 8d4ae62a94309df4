"""Decides. Reads keys; never runs learner code."""
