"""`flint -d PCI query`: the image in the flash of each card, and the addresses it carries."""

from collections.abc import Iterator

from lab.fleet.model import HostModel, Nic
from lab.fleet.render.base import Said
from lab.fleet.render.ethtool_netdevs import ports

GUIDS_PER_PORT = 4


def base_guid(nic: Nic) -> str:
    """The card's first GUID, the same on all of its functions."""
    return (nic.image_guid or nic.guid).replace(":", "")


def base_mac(nic: Nic) -> str:
    """The card's first MAC: the GUID without the two bytes in its middle."""
    guid = base_guid(nic)
    return guid[:6] + guid[10:]


def _line(key: str, value: str) -> str:
    return f"{key + ':':<23}{value}\n"


def query(nic: Nic) -> str:
    """The short query. Its ROM versions are not padded, unlike mlxfwmanager's."""
    stored = nic.flash.stored or nic.firmware
    running = _line("FW Version(Running)", nic.firmware) if stored != nic.firmware else ""
    return (
        _line("Image type", "FS4")
        + _line("FW Version", stored)
        + running
        + _line("FW Release Date", nic.flash.release_date)
        + _line("Product Version", stored)
        + _line("Rom Info", f"type=UEFI version={nic.flash.uefi} cpu=AMD64,AARCH64")
        + f"{'':<23}type=PXE version={nic.flash.pxe} cpu=AMD64\n"
        + _line("Description", "UID                GuidsNumber")
        + _line("Base GUID", f"{base_guid(nic)}        {GUIDS_PER_PORT}")
        + _line("Base MAC", f"{base_mac(nic)}            {GUIDS_PER_PORT}")
        + _line("Image VSD", "N/A")
        + _line("Device VSD", "N/A")
        + _line("PSID", nic.psid)
        + _line("Security Attributes", nic.flash.security)
    )


def commands(host: HostModel) -> Iterator[Said]:
    """One question to each function."""
    for nic in ports(host):
        command = f"flint -d {nic.address} query"
        if nic.firmware_access:
            yield Said(command, query(nic))
        else:
            words = f"-E- Cannot open Device: {nic.address}. No such file or directory\n"
            yield Said(command, "", words, 1)
