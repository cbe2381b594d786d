"""What a lab leaves behind: nothing, or it is told here."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

from lab.live.place import Place
from lab.sshd_fleet import NAMESPACES

_PATIENCE_S = 20.0  # a process that was killed is gone a moment later


@dataclass(frozen=True)
class Traces:
    """By what the parts of a lab are known, taken while it is up."""

    place: Place
    namespaces: dict[int, str]  # number of a network namespace -> its name

    def left(self) -> list[str]:
        """Processes, namespaces, mounts and files that are still there after a short while."""
        deadline = time.monotonic() + _PATIENCE_S
        while found := self._now():
            if time.monotonic() > deadline:
                break
            time.sleep(0.1)
        return found

    def _now(self) -> list[str]:
        names = set(self.namespaces.values())
        found = [f"namespace {path.name}" for path in NAMESPACES.glob("*") if path.name in names]
        found += [f"mount {point}" for point in self.place.mounts()]
        found += [f"file {self.place.lock}"] if self.place.lock.exists() else []
        if self.place.folder.exists():
            found += [f"file {path}" for path in sorted(self.place.folder.rglob("*"))]
            found.append(f"folder {self.place.folder}")
        return found + [f"process {words}" for words in self._processes()]

    def _processes(self) -> list[str]:
        """Those in a network of the lab, and those whose command names its folder."""
        found = []
        folder = os.fsencode(self.place.folder)
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or entry.name == str(os.getpid()):
                continue
            try:
                number = (entry / "ns/net").stat().st_ino
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if number in self.namespaces or folder in command.split(b"\0"):
                found.append(f"{entry.name} {command.replace(bytes(1), b' ').decode()}")
        return found


def traces(place: Place, prefix: str) -> Traces:
    """Of a lab that is up."""
    found = {path.stat().st_ino: path.name for path in NAMESPACES.glob(f"{prefix}*")}
    return Traces(place, found)
