"""Beside untrusted code: what a learner's process imports. Imports nothing of the other rooms."""
