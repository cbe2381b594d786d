"""Probe `infiniband`: RDMA devices, their ports, GIDs and partition keys, from the kernel's class.

Links:  /sys/class/infiniband/*  and  /sys/class/infiniband/*/device
Files:  /sys/class/infiniband/*/{node_guid,sys_image_guid,fw_ver,hca_type,board_id,node_type}
        /sys/class/infiniband/*/ports/*/{state,phys_state,rate,link_layer,lid,sm_lid,
        lid_mask_count,cap_mask,gids/*,gid_attrs/types/*,gid_attrs/ndevs/*,pkeys/*}

Character devices (/sys/class/infiniband_verbs, infiniband_mad): see rdma_nodes.py.
Counters (ports/*/counters/*, ports/*/hw_counters/*): see rdma_counters.py.
Text of ibstat, ibdev2netdev or show_gids, which people hand over instead: see rdma_text.py.
"""

import re
from collections.abc import Iterator

from railwright.parse.base import BIGINT_BITS, NotUnderstoodError, Row, Value, whole_number
from railwright.parse.files import Files, is_missing, read_files
from railwright.parse.pci import last_address
from railwright.parse.rdma_counters import rdma_counters
from railwright.parse.rdma_nodes import rdma_nodes
from railwright.parse.rdma_text import text_rows

DEVICES = "/sys/class/infiniband"

_CODED = re.compile(r"([0-9]{1,9}): ?(.*)", re.ASCII)  # "4: ACTIVE"
_RATE = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?) Gb/sec", re.ASCII)  # "2.5 Gb/sec (1X SDR)"

_GID = re.compile(r"[0-9a-f]{4}(?::[0-9a-f]{4}){7}")
# Slots of the GID table that hold nothing; show_gids leaves out the same two.
_EMPTY_GIDS = frozenset({"0000:" * 7 + "0000", "fe80:" + "0000:" * 6 + "0000"})

# What the kernel answers for the netdev of a GID that has none, or whose netdev is down.
_NO_NETDEV = frozenset({"EINVAL", "ENODEV"})

_PKEY = re.compile(r"0x[0-9a-f]{4}")  # Linux drivers/infiniband/core/sysfs.c: 0x%04x
# InfiniBand: the highest bit makes a full member of the partition that the others number.
_FULL_MEMBER = 0x8000

# How a stream of files begins; anything else may be the text of a tool.
_STREAM = frozenset({b"F ", b"C ", b"L ", b"E "})


def _coded(text: str | None) -> tuple[int | None, str | None]:
    """(4, 'ACTIVE') of '4: ACTIVE'."""
    found = _CODED.fullmatch(text or "")
    return (int(found[1]), found[2]) if found else (None, None)


def _pci(files: Files, base: str) -> str | None:
    """The PCI function behind a device; '' for one without (Soft-RoCE), None if not read.

    `device` of a sub-function names the auxiliary device (mlx5_core.sf.4): then the path that
    the class link stands for knows the function above it. The kernel has a link for every device:
    where a folder stands instead, somebody copied the files, and the links were lost.
    """
    target, device = files.link(base), files.link(f"{base}/device")
    found = last_address(device) or last_address(target)
    if found or target is not None:
        return found
    if files.error(base) is not None:
        return None
    return "" if is_missing(files, f"{base}/device") and _was_read(files, base) else None


def _was_read(files: Files, base: str) -> bool:
    """Whether something of a device came home: only then is a missing name a fact."""
    return any(files.content(f"{base}/{name}") is not None for name in ("fw_ver", "node_guid"))


def _own(files: Files, path: str, was_read: bool) -> str | None:
    """Text that not every driver gives; '' where this one has none."""
    return "" if was_read and is_missing(files, path) else files.text(path)


def _device(files: Files, device: str) -> dict[str, Value]:
    base = f"{DEVICES}/{device}"
    was_read = _was_read(files, base)
    return {
        "device": device,
        "pci": _pci(files, base),
        "node_guid": files.text(f"{base}/node_guid") or None,
        "sys_image_guid": files.text(f"{base}/sys_image_guid") or None,
        "firmware_version": files.text(f"{base}/fw_ver"),
        "hca_type": _own(files, f"{base}/hca_type", was_read),
        "psid": _own(files, f"{base}/board_id", was_read),
        "node_type": _coded(files.text(f"{base}/node_type"))[1] or None,
    }


def _port(files: Files, device: str, port: str) -> dict[str, Value]:
    base = f"{DEVICES}/{device}/ports/{port}"
    code, state = _coded(files.text(f"{base}/state"))
    rate_text = files.text(f"{base}/rate") or None
    rate = _RATE.match(rate_text or "")
    return {
        "device": device,
        "port": int(port),
        "link_layer": files.text(f"{base}/link_layer") or None,
        "state": state or None,
        "state_code": code,
        "physical_state": _coded(files.text(f"{base}/phys_state"))[1] or None,
        "rate_gbps": float(rate[1]) if rate else None,
        "rate_text": rate_text,
        "lid": whole_number(files.text(f"{base}/lid"), BIGINT_BITS),
        "sm_lid": whole_number(files.text(f"{base}/sm_lid"), BIGINT_BITS),
        "lid_mask_count": whole_number(files.text(f"{base}/lid_mask_count")),
        "capability_mask": whole_number(files.text(f"{base}/cap_mask"), BIGINT_BITS),
    }


def _numbers(names: list[str]) -> list[str]:
    """The names that are plain numbers (ports and table indexes), in numeric order."""
    plain = [name for name in names if re.fullmatch(r"0|[1-9][0-9]{0,8}", name, re.ASCII)]
    return sorted(plain, key=int)


def _gids(files: Files, device: str, port: str) -> Iterator[dict[str, Value]]:
    base = f"{DEVICES}/{device}/ports/{port}"
    for index in _numbers(files.below(f"{base}/gids")):
        gid = files.text(f"{base}/gids/{index}")
        if gid in _EMPTY_GIDS or files.error(f"{base}/gids/{index}") == "EINVAL":
            continue  # a few kernels refuse to show an empty slot instead of showing zeros
        netdev_path = f"{base}/gid_attrs/ndevs/{index}"
        no_netdev = files.error(netdev_path) in _NO_NETDEV
        yield {
            "device": device,
            "port": int(port),
            "index": int(index),
            "gid": gid if _GID.fullmatch(gid or "") else None,
            "type": files.text(f"{base}/gid_attrs/types/{index}") or None,
            "netdev": "" if no_netdev else files.text(netdev_path),
        }


def _pkeys(files: Files, device: str, port: str) -> Iterator[dict[str, Value]]:
    """Slots that hold a key. 0x8000 is none either, but somebody put it there: it stays."""
    base = f"{DEVICES}/{device}/ports/{port}/pkeys"
    for index in _numbers(files.below(base)):
        text = files.text(f"{base}/{index}")
        if text == "0x0000":
            continue
        key = int(text, 16) if text and _PKEY.fullmatch(text) else None
        full = None if key is None else bool(key & _FULL_MEMBER)
        yield {
            "device": device,
            "port": int(port),
            "index": int(index),
            "pkey": None if key is None else text,
            "partition": None if key is None else key & ~_FULL_MEMBER,
            "membership": None if full is None else "full" if full else "limited",
        }


def _netdev(files: Files, device: str, port: str, gids: list[dict[str, Value]]) -> str | None:
    """The first that a GID names; None while one was not read, or the whole table was not."""
    names = [gid["netdev"] for gid in gids]
    named = next((str(name) for name in names if name), "")
    if named or (None not in names and files.below(f"{DEVICES}/{device}/ports/{port}/gids")):
        return named
    return None


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 (one answer per host)
    """Tables rdma_device, rdma_port, gid, pkey, rdma_counter and rdma_node."""
    if data and data[:2] not in _STREAM:
        yield from text_rows(data)
        return
    files = read_files(data)
    devices = [name for name in files.below(DEVICES) if name]
    if data and not devices:
        raise NotUnderstoodError(f"no RDMA device below {DEVICES}")
    for device in devices:
        yield Row("rdma_device", _device(files, device))
        for port in _numbers(files.below(f"{DEVICES}/{device}/ports")):
            gids = list(_gids(files, device, port))
            netdev = _netdev(files, device, port, gids)
            yield Row("rdma_port", {**_port(files, device, port), "netdev": netdev})
            for gid in gids:
                yield Row("gid", gid)
            for pkey in _pkeys(files, device, port):
                yield Row("pkey", pkey)
            yield from rdma_counters(files, f"{DEVICES}/{device}/ports/{port}", device, int(port))
    yield from rdma_nodes(files)
