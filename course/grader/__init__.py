"""Isolated grading: a submission's code runs in a sandbox, the tests outside of it."""
