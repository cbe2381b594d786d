"""What a lab needs of this machine, looked at before anything is started: programs and memory."""

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from lab.live.options import Options
from lab.live.part import LabError

# By the option that wants them: program -> the Debian package that has it.
_ALWAYS = {
    "ip": "iproute2",
    "unshare": "util-linux",
    "setpriv": "util-linux",
    "ssh": "openssh-client",
    "ssh-keygen": "openssh-client",
    "debootstrap": "debootstrap",
}
_MORE: Mapping[str, Mapping[str, str]] = {
    "slurm": {"slurmctld": "slurm-wlm", "sinfo": "slurm-wlm", "munged": "munge"},
    "guests": {"qemu-system-x86_64": "qemu-system-x86", "busybox": "busybox-static"},
}


def check_programs(options: Options) -> None:
    """LabError with what is missing and how to get it."""
    wanted = dict(_ALWAYS)
    for option, programs in _MORE.items():
        if getattr(options, option):
            wanted |= programs
    missing = [name for name in wanted if not _is_there(name)]
    if missing:
        packages = " ".join(dict.fromkeys(wanted[name] for name in missing))
        raise LabError(
            f"This machine lacks {', '.join(missing)}: apt-get install {packages}. "
            "Where they are installed, /usr/sbin is not in PATH."
        )


def _is_there(name: str) -> bool:
    path = shutil.which(name)
    if path is None or name != "busybox":
        return path is not None
    # It is all that a guest has while it boots: one that wants libraries is of no use there.
    return subprocess.run(["ldd", path], capture_output=True).returncode != 0


# An HGX host, the largest, is 5,800 small files, each a page of a file system in memory, and sshd;
# the keeper keeps what it wrote (4 MB).
HOST_MB = 28
GUEST_MB = 320  # docs/figures.md; QEMU beside what it emulates


def check_memory(options: Options, meminfo: Path = Path("/proc/meminfo")) -> None:
    """LabError where the machine would have to swap, or kill somebody."""
    told = dict(line.split(":", 1) for line in meminfo.read_text().splitlines())
    there = int(told["MemAvailable"].split()[0]) // 1024
    wanted = options.hosts * HOST_MB + options.guests * GUEST_MB
    if wanted > there:
        raise LabError(
            f"{options.hosts} hosts and {options.guests} guests take up to {wanted} MB of memory, "
            f"and {there} MB are available: ask for fewer."
        )
