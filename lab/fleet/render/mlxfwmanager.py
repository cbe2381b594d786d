"""`mlxfwmanager --query`: the firmware of all cards, and the images at hand for them."""

from collections.abc import Iterator

from lab.fleet.model import Function, HostModel, Nic, is_mlx5
from lab.fleet.render.base import Said
from lab.fleet.render.flint import base_guid, base_mac

UP_TO_DATE = "Up to date"
REQUIRED = "Update required"
FAILED = "Failed to open device"
NO_IMAGE = "No matching image found"
NO_DEVICE = (
    "-E- No devices found or specified, mst might be stopped, run 'mst start' to load MST modules\n"
)


def _padded(version: str) -> str:
    """ROM versions have four digits at their end here: 3.7.0500."""
    head, _, last = version.rpartition(".")
    return f"{head}.{last:0>4}"


def _stored(nic: Nic) -> str:
    return nic.flash.stored or nic.firmware


def status(nic: Nic) -> str:
    """How the flashed image compares with the one at hand."""
    if not nic.firmware_access:
        return FAILED
    if not nic.flash.available:
        return NO_IMAGE
    return UP_TO_DATE if nic.flash.available == _stored(nic) else REQUIRED


def _versions(nic: Nic) -> Iterator[tuple[str, str, str]]:
    """Label, current, available."""
    flash = nic.flash
    at_hand = bool(flash.available)
    yield "FW", _stored(nic), flash.available or "N/A"
    if _stored(nic) != nic.firmware:
        yield "FW (Running)", nic.firmware, "N/A"
    for label, now, then in (
        ("PXE", flash.pxe, flash.available_pxe or flash.pxe),
        ("UEFI", flash.uefi, flash.available_uefi or flash.uefi),
    ):
        yield label, _padded(now), _padded(then) if at_hand else "N/A"


def _failed(number: int, nic: Nic) -> str:
    return (
        f"Device #{number}:\n----------\n\n"
        f"  Device Type:      {nic.family}\n"
        "  Part Number:      --\n"
        "  Description:      \n"
        "  PSID:             \n"
        f"  PCI Device Name:  {nic.address}\n"
        "  Base GUID:        N/A\n"
        "  Base MAC:         N/A\n"
        f"  Versions:         {'Current':<15}{'Available':<14}\n"
        f"     {'FW':<15}{'--':<15}{'--':<14}\n\n"
        f"  Status:           {FAILED}\n\n"
    )


def _device(number: int, nic: Nic) -> str:
    if not nic.firmware_access:
        return _failed(number, nic)
    rows = "".join(
        f"     {label:<15}{current:<15}{available:<14}\n"
        for label, current, available in _versions(nic)
    )
    return (
        f"Device #{number}:\n----------\n\n"
        f"  Device Type:      {nic.family}\n"
        f"  Part Number:      {nic.part_number}\n"
        f"  Description:      {nic.description}\n"
        f"  PSID:             {nic.psid}\n"
        f"  PCI Device Name:  {nic.address}\n"
        f"  Base GUID:        {base_guid(nic)}\n"
        f"  Base MAC:         {base_mac(nic)}\n"
        f"  Versions:         {'Current':<15}{'Available':<14}\n"
        f"{rows}\n"
        f"  Status:           {status(nic)}\n\n"
    )


def _closing(cards: list[Nic]) -> str:
    """A last line where images are at hand, and one per card that failed."""
    states = [status(nic) for nic in cards]
    lines = []
    if REQUIRED in states:
        lines.append(f"Found {states.count(REQUIRED)} device(s) requiring firmware update...\n\n")
    elif set(states) == {UP_TO_DATE}:
        lines.append("All listed device(s) firmware images are up to date.\n\n")
    lines += [
        f"-E- Failed to query {nic.address} device, error : {FAILED}\n"
        for nic in cards
        if not nic.firmware_access
    ]
    return "---------\n" + "".join(lines) if lines else ""


def _cards(host: HostModel) -> list[Nic]:
    """Every card once, by its function 0; virtual functions have no flash."""
    waiting: list[Function] = [function for bus in host.buses for function in bus.functions]
    virtual = set()
    while waiting:
        function = waiting.pop()
        waiting += function.below
        if function.virtual:
            virtual.add(function.address)
    firsts = [nic for nic in host.nics if nic.address.endswith(".0") and is_mlx5(nic)]
    return [nic for nic in firsts if nic.address not in virtual]


def commands(host: HostModel) -> Iterator[Said]:
    """One question about all cards."""
    cards = _cards(host)
    if not cards:
        yield Said("mlxfwmanager --query", "", NO_DEVICE, 1)
        return
    devices = "".join(_device(number, nic) for number, nic in enumerate(cards, 1))
    text = f"Querying Mellanox devices firmware ...\n\n{devices}{_closing(cards)}"
    failed = any(not nic.firmware_access for nic in cards)
    yield Said("mlxfwmanager --query", text, code=int(failed))
