"""Text that tells what the kernel's infiniband class holds: ibstat, ibdev2netdev and show_gids.

No probe runs them; people hand their output over. Words are put as the kernel writes them, so that
a row reads the same wherever it came from. What a tool does not print is None.
"""

import re
from collections.abc import Iterator

from railwright.parse.base import (
    BIGINT_BITS,
    NotUnderstoodError,
    Row,
    Value,
    members_once,
    whole_number,
)
from railwright.parse.iproute_text import answer_text, before_cut, ended_lines, merged, whole_lines
from railwright.parse.pci import is_address

_DEVICE_COLUMNS = (
    *("device", "pci", "node_guid", "sys_image_guid", "firmware_version", "hca_type", "psid"),
    "node_type",
)
_PORT_COLUMNS = (
    *("device", "port", "link_layer", "state", "state_code", "physical_state", "rate_gbps"),
    *("rate_text", "lid", "sm_lid", "lid_mask_count", "capability_mask", "netdev"),
)
_KEYS = {
    "rdma_device": ("device",),
    "rdma_port": ("device", "port"),
    "gid": ("device", "port", "index"),
}

# ibstat, with `CA: 'mlx5_0'` for one port alone (rdma-core infiniband-diags/ibstat.c).
_ADAPTER = re.compile(
    r"^[ \t]*(CA|Switch|Router|iWARP RNIC|\?\?\?):? '([^'\s]{1,64})'[ \t]*$", re.MULTILINE
)
_PORT = re.compile(r"^[ \t]*Port ([0-9]{1,3}):[ \t]*$", re.MULTILINE)
_FIELD = re.compile(r"^[ \t]*([A-Za-z][A-Za-z ]{1,30}):[ \t]*(\S[^\n]{0,100})?$", re.MULTILINE)
_GUID = re.compile(r"0x([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})")
_RATE = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?)(?: \(FDR10\))?", re.ASCII)
_MOST_BLOCKS = 3 * 8192  # kinds, names and texts; a card has at most 1,000 virtual functions
_NODE_TYPES = {"CA": "CA", "Switch": "switch", "Router": "router", "iWARP RNIC": "RNIC"}
_STATES = {
    "Down": ("DOWN", 1),
    "Initializing": ("INIT", 2),
    "Armed": ("ARMED", 3),
    "Active": ("ACTIVE", 4),
}
_CODES = dict(_STATES.values())

# ibdev2netdev. Its oldest form has another arrow. With -v the description of the card is free text,
# in which ` port ` and ` fw ` may stand as well: so the last of each counts. (Up) and (Down) behind
# the netdev are its own: an IPoIB device can be down while its port is active.
_ARROW = re.compile(
    r"(.{1,600}) port ([0-9]{1,3})(?: \((\w{1,20}) *\))? <?={2,4}> ?"
    r"([^\s()]{0,20})(?:\s|$)",
    re.ASCII,
)
_MODEL = re.compile(r"MT[0-9]{1,6}", re.ASCII)
# show_gids: device, port, index, GID, then what there is of IPv4 address, version and netdev.
_GID = re.compile(
    r"^[ \t]*([^\s/]{1,64})[ \t]+([0-9]{1,3})[ \t]+([0-9]{1,5})[ \t]+"
    r"([0-9a-f]{4}(?::[0-9a-f]{4}){7})(?:[ \t]+[0-9.]{7,15}(?=\s))?"
    r"(?:[ \t]+([vV][12])(?=\s))?(?:[ \t]+(\S{1,20}))?[ \t]*$",
    re.MULTILINE | re.ASCII,
)
_COUNT = re.compile(r"^[ \t]*n_gids_found=([0-9]{1,6})[ \t]*$", re.MULTILINE | re.ASCII)
_TYPES = {"v1": "IB/RoCE v1", "v2": "RoCE v2"}


def _row(table: str, columns: tuple[str, ...], values: dict[str, Value]) -> Row:
    return Row(table, {**dict.fromkeys(columns), **values})


def _fields(block: str) -> dict[str, str]:
    return members_once([(name, value.strip()) for name, value in _FIELD.findall(block)])


def _guid(text: str | None) -> str | None:
    found = _GUID.fullmatch(text or "")
    return ":".join(found.groups()) if found else None


def _physical_state(text: str | None) -> str | None:
    """The kernel's word: it writes `Phy Test`, and has none where ibstat says `???`."""
    return {"PhyTest": "Phy Test", "???": None}.get(text or "", text)


def _ibstat_device(kind: str, device: str, fields: dict[str, str]) -> Row:
    values: dict[str, Value] = {
        "device": device,
        "node_guid": _guid(fields.get("Node GUID")),
        "sys_image_guid": _guid(fields.get("System image GUID")),
        "firmware_version": fields.get("Firmware version"),
        "hca_type": fields.get(f"{kind} type"),
        "node_type": _NODE_TYPES.get(kind),
    }
    return _row("rdma_device", _DEVICE_COLUMNS, values)


def _ibstat_port(device: str, port: int, fields: dict[str, str]) -> Row:
    state, code = _STATES.get(fields.get("State", ""), (None, None))
    rate = _RATE.fullmatch(fields.get("Rate", ""))
    values: dict[str, Value] = {
        "device": device,
        "port": port,
        "link_layer": fields.get("Link layer") or None,
        "state": state,
        "state_code": code,
        "physical_state": _physical_state(fields.get("Physical state")),
        "rate_gbps": float(rate[1]) if rate else None,
        "lid": whole_number(fields.get("Base lid")),
        "sm_lid": whole_number(fields.get("SM lid")),
        "lid_mask_count": whole_number(fields.get("LMC")),
        "capability_mask": whole_number(fields.get("Capability mask"), BIGINT_BITS),
    }
    return _row("rdma_port", _PORT_COLUMNS, values)


def _ibstat(text: str) -> Iterator[Row]:
    _, *blocks = _ADAPTER.split(text)
    if max(len(blocks), len(_PORT.findall(text))) > _MOST_BLOCKS:
        raise NotUnderstoodError("more devices than a machine can have")
    for kind, device, block in zip(blocks[::3], blocks[1::3], blocks[2::3], strict=True):
        head, *ports = _PORT.split(before_cut(block))
        yield _ibstat_device(kind, device, _fields(head))
        for number, part in zip(ports[::2], ports[1::2], strict=True):
            yield _ibstat_port(device, int(number), _fields(part))


def _card(head: str) -> tuple[str, Row | None]:
    """The device's name, and with -v its row: PCI address, name, (model - part), text, firmware."""
    name, is_verbose, rest = head.partition(" (")
    words = name.split()
    device = words[-1] if words else ""
    if not is_verbose:
        return device, None
    model = rest.partition(" - ")[0]
    _, is_printed, firmware = rest.rpartition(" fw ")
    values: dict[str, Value] = {
        "device": device,
        "pci": words[0] if words and is_address(words[0]) else None,
        "firmware_version": firmware if is_printed and firmware not in ("", "NA") else None,
        "hca_type": model if _MODEL.fullmatch(model) else None,
    }
    return device, _row("rdma_device", _DEVICE_COLUMNS, values)


def _ibdev2netdev(text: str) -> Iterator[Row]:
    for line in whole_lines(text):
        found = _ARROW.match(line) if ">" in line else None
        device, card = _card(found[1]) if found else ("", None)
        if found is None or not device:
            continue
        if card is not None:
            yield card
        _, port, state, netdev = found.groups()
        values: dict[str, Value] = {
            "device": device,
            "port": int(port),
            "state": state if state in _CODES else None,
            "state_code": _CODES.get(state or ""),
            "netdev": netdev,
        }
        yield _row("rdma_port", _PORT_COLUMNS, values)


def _show_gids(text: str) -> Iterator[Row]:
    """The list counts itself at its end. One that is not whole must not pass for the table."""
    rows = _GID.findall(text)
    count = _COUNT.search(text)
    if rows and count is None:
        raise NotUnderstoodError("GIDs without their count at the end: the list may be cut")
    if count is not None and int(count[1]) != len(rows):
        raise NotUnderstoodError(f"{len(rows)} GIDs where the list counts {int(count[1])}")
    for device, port, index, gid, version, netdev in rows:
        values: dict[str, Value] = {
            "device": device,
            "port": int(port),
            "index": int(index),
            "gid": gid,
            "type": _TYPES.get(version.lower()),
            "netdev": netdev,
        }
        yield Row("gid", values)


def text_rows(data: bytes) -> Iterator[Row]:
    """Rows of rdma_device, rdma_port and gid; none where show_gids counts none."""
    text = answer_text(data)
    blocks = "\n".join(ended_lines(text))
    rows = [*_ibstat(blocks), *_ibdev2netdev(text), *_show_gids(text + "\n")]
    if not rows and not _COUNT.search(text):
        raise NotUnderstoodError(
            "no file entry, and no output of ibstat, ibdev2netdev or show_gids"
        )
    return merged(rows, _KEYS)
