"""Probe `netdev`: every network device as sysfs shows it.

Links:  /sys/class/net/*  and  /sys/class/net/*/{device,master}
Files:  /sys/class/net/*/{address,mtu,operstate,carrier,speed,duplex,ifindex,type,dev_port,
        phys_port_name,phys_switch_id,carrier_changes,flags}

Other files (bonding/*, tx_queue_len) may stand beside them and stay in the evidence.
"""

import re
from collections.abc import Iterator

from railwright.parse.base import NotUnderstoodError, Row, Value
from railwright.parse.files import Files, read_files
from railwright.parse.pci import BIGINT_BITS, is_missing, last_address, link_name, whole_number

DEVICES = "/sys/class/net"

# One number with two names; Python's table of them, which the runner uses, knows the second.
_NOT_SUPPORTED = frozenset({"EOPNOTSUPP", "ENOTSUP"})

_FLAGS = re.compile(r"0x[0-9a-f]{1,8}")


def _names(files: Files) -> list[str]:
    """The devices: a link, or a folder with something in it.

    Not so `bonding_masters`, a plain file, which the runner cannot read as a link (EINVAL).
    """
    names = set()
    for path in files:
        if path.startswith(f"{DEVICES}/"):
            name, _, rest = path[len(DEVICES) + 1 :].partition("/")
            if name and (rest or files.link(path) is not None):
                names.add(name)
    return sorted(names)


def _carrier(files: Files, base: str) -> bool | None:
    """None while the interface is administratively down: the kernel then answers EINVAL."""
    return {"0": False, "1": True}.get(files.text(f"{base}/carrier") or "")


def _driver_says(files: Files, path: str) -> str | None:
    """Text that only some drivers give; '' where this one has none.

    The kernel then answers EOPNOTSUPP, or does not show the file (before Linux 4.1, and lately).
    """
    if is_missing(files, path) or files.error(path) in _NOT_SUPPORTED:
        return ""
    return files.text(path)


def _kind(target: str | None, device: str | None) -> str | None:
    if target is not None:
        return "virtual" if "/devices/virtual/" in f"/{target}" else "physical"
    return "physical" if device is not None else None


def _pci(target: str | None, device: str | None) -> str | None:
    """The whole path first: for virtio and sub-functions `device` is not the PCI function."""
    if target is None and device is None:
        return None
    found = last_address(target) or last_address(device)
    # `device` alone is a relative link: ../../../virtio2 may well lie below a PCI function.
    return found or ("" if target is not None else None)


def _netdev(files: Files, name: str) -> dict[str, Value]:
    base = f"{DEVICES}/{name}"
    target, device = files.link(base), files.link(f"{base}/device")
    values: dict[str, Value] = {
        "name": name,
        "pci": _pci(target, device),
        "kind": _kind(target, device),
        "mac": files.text(f"{base}/address"),
        "mtu": whole_number(files.text(f"{base}/mtu")),
        "operstate": files.text(f"{base}/operstate") or None,
        "carrier": _carrier(files, base),
        # "Unknown" is printed as -1, by some kernels as 4294967295: no number that fits.
        "speed_mbps": whole_number(files.text(f"{base}/speed")),
        "duplex": files.text(f"{base}/duplex") or None,
        "ifindex": whole_number(files.text(f"{base}/ifindex")),
        "arp_type": whole_number(files.text(f"{base}/type")),
        "dev_port": whole_number(files.text(f"{base}/dev_port")),
        "carrier_changes": whole_number(files.text(f"{base}/carrier_changes"), BIGINT_BITS),
    }
    flags = files.text(f"{base}/flags")
    values["flags"] = flags if _FLAGS.fullmatch(flags or "") else None
    # A name that is not there says "none" only of a device of which something was read.
    known = any(values[part] is not None for part in ("mac", "mtu", "ifindex", "arp_type"))
    values["master"] = link_name(files, f"{base}/master") if known else None
    values["port_name"] = _driver_says(files, f"{base}/phys_port_name") if known else None
    values["switch_id"] = _driver_says(files, f"{base}/phys_switch_id") if known else None
    return values


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 (one answer per host)
    """Table netdev."""
    files = read_files(data)
    names = _names(files)
    if data and not names:
        raise NotUnderstoodError(f"no network device below {DEVICES}")
    for name in names:
        yield Row("netdev", _netdev(files, name))
