"""Imported by nobody but what hostile bytes name: it leaves a mark where it is."""

from pathlib import Path

Path("it-ran").touch()


class Anything:
    """What the bytes would make one of."""
