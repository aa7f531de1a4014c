"""Regression tests of agents: read from files, recorded from threads, run in isolation, and reported."""
