"""`mlxfwreset -d PCI query`: which reset makes a pending change of a card take hold."""

from collections.abc import Iterator
from functools import lru_cache

from lab.fleet.model import HostModel
from lab.fleet.render.base import Said
from lab.fleet.render.ethtool_netdevs import ports

LEVELS = {
    0: 'Driver, PCI link, network link will remain up ("live-Patch")',
    1: 'Only ARM side will not remain up ("Immediate reset").',
    3: "Driver restart and PCI reset",
    4: "Warm Reboot",
}
TYPES = (
    "Full chip reset",
    "Phy-less reset (keep network port active during reset)",
    "NIC only reset (for SoC devices)",
    "ARM only reset",
    "ARM OS shut down",
)
DRIVER_RESTART = 3


def _line(
    number: int, text: str, can: bool, usual: bool = False, refusal: str = "Supported"
) -> str:
    word = "Supported" if can else f"Not {refusal}"
    return f"{number}: {text:<62}-{word:<14}{'(default)' if usual else ''}\n"


@lru_cache(maxsize=64)
def query(level: int, supported: tuple[int, ...]) -> str:
    """All levels, types and owners; the refusal of the last one begins with a small letter."""
    restart = DRIVER_RESTART in supported
    levels = "".join(_line(n, text, n in supported, n == level) for n, text in LEVELS.items())
    types = "".join(
        _line(n, text, n == 0 or (n == 1 and restart), n == 0) for n, text in enumerate(TYPES)
    )
    return (
        f"\nReset-levels:\n{levels}\n"
        f"Reset-types (relevant only for reset-levels 1,3,4):\n{types}\n"
        "Reset-sync (relevant only for reset-level 3):\n"
        + _line(0, "Tool is the owner", True, True)
        + _line(1, "Driver is the owner", restart, refusal="supported")
        + "\n"
    )


def commands(host: HostModel) -> Iterator[Said]:
    """One question to each function."""
    for nic in ports(host):
        command = f"mlxfwreset -d {nic.address} query"
        if nic.firmware_access:
            yield Said(command, query(nic.flash.reset_level, nic.flash.reset_levels))
        else:
            yield Said(command, "", f"-E- Failed to open device {nic.address}\n", 1)
