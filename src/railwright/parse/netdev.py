"""Probe `netdev`: every network device as sysfs shows it, and bonds with their members.

Links:  /sys/class/net/*  and  /sys/class/net/*/{device,master}
Files:  /sys/class/net/*/{address,mtu,operstate,carrier,speed,duplex,ifindex,type,dev_port,
        phys_port_name,phys_switch_id,carrier_changes,flags}
        /sys/class/net/*/bonding/{mode,slaves,active_slave,xmit_hash_policy,lacp_rate,miimon}
        /sys/class/net/*/bonding_slave/{state,mii_status,ad_aggregator_id,link_failure_count}

Other files (tx_queue_len) may stand beside them and stay in the evidence.
"""

import re
from collections.abc import Iterator

from railwright.parse.base import BIGINT_BITS, NotUnderstoodError, Row, Value, whole_number
from railwright.parse.files import Files, is_missing, link_name, read_files
from railwright.parse.pci import last_address

DEVICES = "/sys/class/net"

# One number with two names; Python's table of them, which the runner uses, knows the second.
_NOT_SUPPORTED = frozenset({"EOPNOTSUPP", "ENOTSUP"})

_FLAGS = re.compile(r"0x[0-9a-f]{1,8}")

_BOND_FILES = ("mode", "slaves", "active_slave", "xmit_hash_policy", "lacp_rate", "miimon")
_CHOICE = re.compile(r"([a-z0-9+.-]{1,30}) ([0-9]{1,3})", re.ASCII)  # "802.3ad 4"
_NAME = re.compile(r"[^\s/]{1,15}")
_NO_AGGREGATOR = -1


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
    master = link_name(files, f"{base}/master")
    values["master"] = master if master or known else None
    values["port_name"] = _driver_says(files, f"{base}/phys_port_name") if known else None
    values["switch_id"] = _driver_says(files, f"{base}/phys_switch_id") if known else None
    return values


def _choice(text: str | None) -> tuple[str | None, int | None]:
    """('802.3ad', 4) of '802.3ad 4'."""
    found = _CHOICE.fullmatch(text or "")
    return (found[1], int(found[2])) if found else (None, None)


def _bond(files: Files, name: str) -> dict[str, Value]:
    base = f"{DEVICES}/{name}/bonding"
    mode, number = _choice(files.text(f"{base}/mode"))
    return {
        "netdev": name,
        "mode": mode,
        "mode_number": number,
        "hash_policy": _choice(files.text(f"{base}/xmit_hash_policy"))[0],
        "lacp_rate": _choice(files.text(f"{base}/lacp_rate"))[0],
        "miimon_ms": whole_number(files.text(f"{base}/miimon")),
        "active_member": files.text(f"{base}/active_slave"),
    }


def _bond_member(files: Files, bond: str, member: str) -> dict[str, Value]:
    base = f"{DEVICES}/{member}/bonding_slave"
    aggregator = files.text(f"{base}/ad_aggregator_id")
    failures = whole_number(files.text(f"{base}/link_failure_count"), BIGINT_BITS)
    return {
        "bond": bond,
        "member": member,
        "state": files.text(f"{base}/state") or None,
        "mii_status": files.text(f"{base}/mii_status") or None,
        "aggregator": _NO_AGGREGATOR if aggregator == "N/A" else whole_number(aggregator),
        "failures": failures,
    }


def _listed(files: Files, bond: str) -> set[str]:
    words = (files.text(f"{DEVICES}/{bond}/bonding/slaves") or "").split()
    return {word for word in words if _NAME.fullmatch(word)}


def _bonds(files: Files, names: list[str]) -> Iterator[Row]:
    """The bonds, each with the members that it lists and those whose link `master` names it."""
    bonds = [
        name
        for name in names
        if not all(is_missing(files, f"{DEVICES}/{name}/bonding/{file}") for file in _BOND_FILES)
    ]
    listed = {bond: _listed(files, bond) for bond in bonds}
    for name in names:
        master = link_name(files, f"{DEVICES}/{name}/master")
        if master in listed:
            listed[master].add(name)
    for bond in bonds:
        yield Row("bond", _bond(files, bond))
    for bond in bonds:
        for member in sorted(listed[bond]):
            yield Row("bond_member", _bond_member(files, bond, member))


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 (one answer per host)
    """Tables netdev, bond and bond_member."""
    files = read_files(data)
    names = _names(files)
    if data and not names:
        raise NotUnderstoodError(f"no network device below {DEVICES}")
    for name in names:
        yield Row("netdev", _netdev(files, name))
    if b"/bonding/" in data:  # most hosts have no bond
        yield from _bonds(files, names)
