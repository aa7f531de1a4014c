"""Scenarios run, each on a record and a world of its own: read from files, made from threads, reported."""
