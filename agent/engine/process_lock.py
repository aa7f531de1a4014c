"""Tell which process a run belongs to, and whether that process is still alive.

Each owner holds a lock on a file of its own. The system frees it the instant the process dies, however it
dies, and keeps it while the process is frozen. So a lock tells dead from alive, which no heartbeat can.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from uuid import uuid4

from agent.review.threads import pid_of


class Owner:
    """This process's claim to the runs it executes. Close it to give them up."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.name = f"{os.getpid()}-{uuid4().hex[:12]}"
        self._folder = folder
        # Locked before it gets the name that others look for, so that they never find it free.
        unnamed = folder / f"{self.name}.new"
        self._file = unnamed.open("w")
        fcntl.flock(self._file, fcntl.LOCK_EX)
        unnamed.rename(_path(folder, self.name))

    def lives(self, owner: str) -> bool:
        """Return whether the process behind `owner` still holds its lock; a frozen one does."""
        try:
            with _path(self._folder, owner).open("r+") as file:
                # Shared, so that two processes that look at once do not take each other for the owner.
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except BlockingIOError:
            return True
        return False

    def frozen(self) -> list[int]:
        """Return the process ids of other owners that are alive but stopped: what they have locked stays locked."""
        others = [path.stem for path in self._folder.glob("*.lock") if path.stem != self.name]
        return sorted(pid_of(name) for name in others if self.lives(name) and _is_stopped(pid_of(name)))

    def sweep(self) -> None:
        """Remove the files of owners that are gone."""
        for path in self._folder.glob("*.lock"):
            if not self.lives(path.stem):
                path.unlink(missing_ok=True)

    def close(self) -> None:
        _path(self._folder, self.name).unlink(missing_ok=True)
        self._file.close()


def _is_stopped(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] in ("T", "t")


def _path(folder: Path, owner: str) -> Path:
    return folder / f"{owner}.lock"
