"""Root on a machine of the lab is root here: what it must not be able to do to this machine."""

from collections.abc import Iterable
from pathlib import Path

# Put before the program that a machine runs: no modules, clock, ports of the hardware or restart.
WITHOUT_POWERS = "setpriv --bounding-set -sys_module,-sys_time,-sys_rawio,-sys_boot"


def proc_lines(proc: Path) -> Iterable[str]:
    """Shell lines for a /proc that has just been mounted: whoever writes there changes nothing."""
    trigger, settings = proc / "sysrq-trigger", proc / "sys"
    yield f"[ ! -e {trigger} ] || mount --bind /dev/null {trigger}"
    yield f"mount --bind {settings} {settings}"
    yield f"mount -o remount,bind,ro {settings}"
