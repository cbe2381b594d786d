"""Where a lab keeps its files, who holds it, and what a killed keeper leaves."""

import fcntl
import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from lab.live.part import LabError
from lab.sshd_fleet import LAB, clear, clear_after_the_dead


@dataclass(frozen=True)
class Place:
    """The folder of one lab; it is there while the lab is up."""

    folder: Path = LAB / "live"

    @property
    def socket(self) -> Path:
        """What the keeper listens on."""
        return self.folder / "keeper.sock"

    @property
    def log(self) -> Path:
        """What the keeper has to say where nobody listens."""
        return self.folder / "keeper.log"

    @property
    def fleet(self) -> Path:
        """The hosts' files."""
        return self.folder / "run"

    @property
    def ssh(self) -> Path:
        """A folder with the ssh configuration of all machines."""
        return self.folder / "ssh_config.d"

    @property
    def _note(self) -> Path:
        return self.folder / "keeper.json"

    @property
    def lock(self) -> Path:
        """Beside the folder, which comes and goes; there while somebody holds the place."""
        return self.folder.with_name(f"{self.folder.name}.lock")

    def hold(self) -> int | None:
        """A handle that holds the place until it is released, or its process ends; None = taken."""
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        while True:
            handle = os.open(self.lock, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(handle)
                return None
            try:
                if os.path.samestat(os.fstat(handle), self.lock.stat()):
                    return handle
            except FileNotFoundError:
                pass
            os.close(handle)  # whoever held it has removed the file meanwhile: once more

    def release(self, handle: int) -> None:
        """Let others have it."""
        self.lock.unlink(missing_ok=True)
        os.close(handle)

    def check(self) -> None:
        """LabError where a lab cannot be here: its folder is removed with all that is in it."""
        if not re.fullmatch(r"[\w./@%+=~-]+", str(self.folder)):
            raise LabError(f"{self.folder}: a lab's folder is named in options of mount; "
                           "take one without blanks, commas or colons.")  # fmt: skip
        if not self.folder.exists() or self.log.exists():
            return
        if not self.folder.is_dir() or any(self.folder.iterdir()):
            raise LabError(f"{self.folder} is no lab's: name a folder that is not there yet.")

    def note(self, prefix: str) -> None:
        """Under which names the lab's namespaces are, for whoever has to clear them."""
        self._note.write_text(json.dumps({"prefix": prefix}))

    def clear(self) -> bool:
        """Remove what is left of a lab without a keeper; whether there was anything."""
        self.check()
        clear_after_the_dead()
        if not self.folder.exists():
            return False
        if self._note.exists():
            clear(json.loads(self._note.read_text())["prefix"], self.fleet)
        for mount in reversed(self.mounts()):
            subprocess.run(["umount", "-l", mount], capture_output=True)
        shutil.rmtree(self.folder, ignore_errors=True)
        return True

    def mounts(self) -> list[str]:
        """Mounts of this machine below the folder."""
        points = (line.split(" ")[1] for line in Path("/proc/self/mounts").read_text().splitlines())
        return [point for point in points if point.startswith(f"{self.folder}/")]
