"""Programs of this machine that a lab runs: looked for before anything is started."""

import shutil
from collections.abc import Mapping

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
    missing = [name for name in wanted if shutil.which(name) is None]
    if missing:
        packages = " ".join(dict.fromkeys(wanted[name] for name in missing))
        raise LabError(
            f"This machine lacks {', '.join(missing)}: apt-get install {packages}. "
            "Where they are installed, /usr/sbin is not in PATH."
        )
