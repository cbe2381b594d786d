"""Probe `mounts`: what each file system rests on.

Files:  /proc/1/mountinfo, cut down on the host to `MAJOR:MINOR POINT TYPE SERVER PROTOCOL ADDRESS`
        /proc/cmdline, cut down to a word or two
        /sys/class/nvme/*/transport, .../address; /sys/class/iscsi_connection/*/persistent_address
Links:  /sys/dev/block/MAJOR:MINOR (where in /sys/devices), /sys/block/*/slaves/* (what is below dm
        and md), /sys/class/nvme-subsystem/*/nvme* (the controllers of a multipath drive)
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from railwright.parse.base import NotUnderstoodError, Row, Value
from railwright.parse.files import Files, read_files
from railwright.parse.host_text import without_last_line

MOUNTS = "/proc/1/mountinfo"
ARGUMENTS = "/proc/cmdline"
DEEPEST = 8  # disks below dm below md below dm ...

_LINE = re.compile(
    r"([0-9]{1,7}:[0-9]{1,7}) (-|/[a-z]{0,4}) ([A-Za-z0-9_.-]{1,30}) (\S+) ([a-z0-9-]+) (\S+)",
    re.ASCII,
)
_ARGUMENT = re.compile(r"([a-z.]{4,40})(?: ([A-Za-z0-9/]{3,8}))?", re.ASCII)
_IN_MEMORY = frozenset({"tmpfs", "ramfs", "rootfs"})
# What these are made of cannot be told from the mount, or not before somebody looks into them.
_UNKNOWN_BELOW = frozenset({"overlay", "squashfs", "erofs", "autofs", "zfs", "btrfs", "bcachefs"})
# Served by somebody: a type that is in no list here may be either.
_SERVED = re.compile(
    r"nfs4?|lustre|ceph|fuse\.ceph|gpfs|beegfs|wekafs|cifs|smb3|smbfs|afs|glusterfs|fuse\.glusterfs"
    r"|orangefs|pvfs2|panfs|fuse\.(?:sshfs|s3fs|dfuse|daos|juicefs|quobyte)|quobyte"
)
_CONTROLLER = re.compile(r"/nvme/(nvme[0-9]{1,5})/|/nvme-fabrics/ctl/(nvme[0-9]{1,5})/", re.ASCII)
_SUBSYSTEM = re.compile(r"/nvme-subsystem/(nvme-subsys[0-9]{1,5})/", re.ASCII)
_SESSION = re.compile(r"/session([0-9]{1,9})/", re.ASCII)
_STACKED = re.compile(r"/virtual/block/((?:dm-|md)[0-9A-Za-z_]{1,20})(?:/|$)", re.ASCII)
_REMOTE = (
    ("srp", re.compile(r"/infiniband_srp/|/srp-")),
    ("fc", re.compile(r"/rport-[0-9]")),
    ("rbd", re.compile(r"/rbd/|/block/rbd[0-9]")),
    ("nbd", re.compile(r"/block/nbd[0-9]")),
    ("drbd", re.compile(r"/block/drbd[0-9]")),
)
_ATTACHED = re.compile(r"/(?:ata[0-9]|host[0-9]|virtio[0-9]|mmc_host|vbd-[0-9]|ndbus[0-9])")
_MEMORY = re.compile(r"/block/(?:zram|ram)[0-9]")


class Base(NamedTuple):
    """What something rests on; None = not known."""

    rests_on: str | None
    transport: str | None = None
    server: str | None = None


_UNKNOWN = Base(None)
_LOCAL, _MEMORY_BASE = Base("local", "", ""), Base("memory", "", "")


def _stripped(files: Files, path: str) -> str | None:
    """A short file's text; None if it was not read, or nothing of it was kept."""
    return files.text(path) or None


def _controller(files: Files, name: str) -> Base:
    transport = _stripped(files, f"/sys/class/nvme/{name}/transport")
    if transport is None:
        return _UNKNOWN
    if transport in ("pcie", "apple-nvme", "loop"):
        return _LOCAL
    address = _stripped(files, f"/sys/class/nvme/{name}/address") or ""
    return Base("network", transport, address.partition("=")[2].strip() or None)


def _together(bases: list[Base]) -> Base:
    """Of several disks: one on the network is enough, one that is not known leaves it open."""
    over = sorted({base for base in bases if base.rests_on == "network"}, key=str)
    if over:
        return over[0]
    if not bases or _UNKNOWN in bases:
        return _UNKNOWN
    return bases[0] if len(set(bases)) == 1 else _LOCAL


def _nvme(files: Files, path: str) -> Base | None:
    if found := _CONTROLLER.search(path):
        return _controller(files, found[1] or found[2])
    if found := _SUBSYSTEM.search(path):
        folder = f"/sys/class/nvme-subsystem/{found[1]}"
        names = [name for name in files.below(folder) if re.fullmatch(r"nvme[0-9]{1,5}", name)]
        return _together([_controller(files, name) for name in names])
    return None


def _attached(path: str) -> Base:
    if _MEMORY.search(path):
        return _MEMORY_BASE
    return _LOCAL if _ATTACHED.search(path) else _UNKNOWN


def _disk(files: Files, path: str, depth: int = 0) -> Base:
    """What the disk at this place of /sys/devices is."""
    path = f"{path.rstrip('/')}/"
    if found := _STACKED.search(path):
        folder = f"/sys/block/{found[1]}/slaves"
        below = [files.link(f"{folder}/{name}") for name in files.below(folder)]
        if depth >= DEEPEST or None in below:
            return _UNKNOWN
        return _together([_disk(files, one, depth + 1) for one in below if one is not None])
    if found := _SESSION.search(path):
        number = found[1]
        address = _stripped(
            files, f"/sys/class/iscsi_connection/connection{number}:0/persistent_address"
        )
        return Base("network", "iscsi", address)
    for transport, pattern in _REMOTE:
        if pattern.search(path):
            return Base("network", transport)
    nvme = _nvme(files, path)
    return nvme if nvme is not None else _attached(path)


def _of_name(files: Files, name: str) -> Base:
    """What a disk or partition of this name is."""
    folder = "/sys/dev/block"
    paths = [files.link(f"{folder}/{number}") or "" for number in files.below(folder)]
    found = [path for path in paths if path.rstrip("/").rpartition("/")[2] == name]
    return _disk(files, found[0]) if len(found) == 1 else _UNKNOWN


def _mounted(files: Files, found: "re.Match[str]") -> Base:
    device, kind = found[1], found[3]
    if kind in _IN_MEMORY:
        return _MEMORY_BASE
    if kind == "btrfs" and found[4] != "-":
        return _of_name(files, found[4])
    if device.startswith("7:") or kind in _UNKNOWN_BELOW:
        return _UNKNOWN
    if not device.startswith("0:"):
        path = files.link(f"/sys/dev/block/{device}")
        return _UNKNOWN if path is None else _disk(files, path)
    if _SERVED.fullmatch(kind) is None:
        return _UNKNOWN
    told = [text.strip("[]") for text in (found[6], found[4]) if text != "-"]
    protocol = None if found[5] == "-" else found[5].rstrip("6")
    return Base("network", protocol, told[0] if told else None)


def _row(told_by: str, point: str | None, kind: str | None, base: Base) -> dict[str, Value]:
    return {"told_by": told_by, "mount_point": point, "file_system": kind, **base._asdict()}


def _of_arguments(files: Files) -> Iterator[dict[str, Value]]:
    """What the kernel was told; no row where it was told of no server."""
    text = files.text(ARGUMENTS)
    if text is None or files.is_cut(ARGUMENTS):
        yield _row("unread", "/", None, _UNKNOWN)
    for found in [_ARGUMENT.fullmatch(line) for line in (text or "").split("\n") if line]:
        if found is None:
            raise NotUnderstoodError("a kernel command line that was not cut down")
        kind = (found[2] or "").removeprefix("/dev/").replace("-", "")
        yield _row("kernel command line", "/", kind, Base("network"))


def _of_mounts(files: Files) -> Iterator[dict[str, Value]]:
    text = files.text(MOUNTS)
    if text is None:
        raise NotUnderstoodError(f"{MOUNTS} was not read: {files.error(MOUNTS) or 'not listed'}")
    cut = files.is_cut(MOUNTS)
    for line in (without_last_line(text) if cut else text).split("\n"):
        found = _LINE.fullmatch(line)
        if found is not None:
            point = "" if found[2] == "-" else found[2]
            yield _row("mount", point, found[3], _mounted(files, found))
        elif line:
            raise NotUnderstoodError("a line of mountinfo that was not cut down")
    if cut:
        yield _row("unread", None, None, _UNKNOWN)


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 (one answer per host)
    """Table mount."""
    files = read_files(data)
    rows = [*_of_mounts(files), *_of_arguments(files)]
    distinct = {tuple(row.items()): row for row in rows}
    for place, row in enumerate(distinct.values()):
        yield Row("mount", {"place": place, **row})
