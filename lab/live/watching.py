"""What was written to the files of a live host: found by comparing them with what they were.

Attributes and settings lie in folders of the lab and are told by their content. Files of the host's
own layer are told by inode, size and time of change, and only below FOLDERS.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from lab.fleet.model import HostModel, netdev_is_here, rdma_is_here
from lab.fleet.tree import Memory
from lab.live.files import Places

FOLDERS = (
    *("etc/modprobe.d", "etc/modules-load.d", "etc/sysctl.d", "etc/security/limits.d", "etc/ucx"),
    *("etc/default", "etc/default/grub.d", "etc/udev/rules.d", "etc/systemd/network"),
    *("etc/systemd/system", "etc/systemd/system/multi-user.target.wants", "etc/profile.d"),
    *("etc/systemd/system/slurmd.service.d", "etc/systemd/system/containerd.service.d"),
    *("etc/systemd/system/kubelet.service.d", "etc/systemd/system/docker.service.d"),
    *("usr/local/sbin", "usr/local/bin", "usr/local/lib", "root"),
)
FILES = (
    *("etc/nccl.conf", "etc/environment", "etc/modules", "etc/sysctl.conf"),
    *("etc/security/limits.conf", "boot/grub/grub.cfg"),
)
LARGEST = 1 << 20  # a larger file of theirs is none that this lab reads
Stat = tuple[int, int, int]


@dataclass
class Seen:
    """What the host's own files were when they were last looked at."""

    stats: dict[str, Stat] | None = None  # None = not looked at yet
    own: dict[str, bytes | str] = field(default_factory=dict)  # path -> what the host itself wrote


def attributes(model: HostModel) -> Iterator[str]:
    """Paths of /sys that can be written, as people name them."""
    for nic in model.nics:
        if netdev_is_here(nic):
            yield f"/sys/class/net/{nic.netdev}/ecn"
            yield f"/sys/class/net/{nic.netdev}/qos"
        if rdma_is_here(model, nic):
            yield f"/sys/class/infiniband/{nic.name}/tc/1"
            yield f"/sys/kernel/config/rdma_cm/{nic.name}/ports/1"
        yield f"/sys/bus/pci/devices/{nic.address}/sriov_numvfs"


def _real(shown: Memory, path: str) -> str:
    """The name in memory: links followed."""
    done = ""
    for word in path.lstrip("/").split("/"):
        name = f"{done}/{word}" if done else word
        entry = shown.entries.get(name)
        done = shown.make(name) if entry is not None and entry.link else name
    return done


def watched(model: HostModel, shown: Memory) -> dict[str, str]:
    """Name in memory -> path as people name it, of everything whose content is compared."""
    real = {_real(shown, path): path for path in attributes(model)}
    tops = tuple(f"{name}/" for name in real)
    found = {name: path for name, path in real.items() if name in shown.entries}
    for name in shown.entries:
        if name.startswith(tops):
            top = next(one for one in tops if name.startswith(one))
            found[name] = f"{real[top[:-1]]}/{name[len(top) :]}"
        elif name.startswith("proc/sys/") or name.endswith("/cpufreq/scaling_governor"):
            found[name] = f"/{name}"
    return found


def written_attributes(
    places: Places, shown: Memory, names: dict[str, str]
) -> Iterator[tuple[str, str, bytes]]:
    """(name, path, content) of each that is not as it was rendered."""
    for name, path in names.items():
        try:
            with open(places.path(name), "rb", buffering=0) as file:  # noqa: PTH123 (speed)
                content = file.read(65536)
        except OSError:
            continue
        entry = shown.entries.get(name)
        if entry is not None and content != entry.content:
            yield name, path, content


def stats(places: Places) -> dict[str, Stat]:
    """The host's own files, and what they are told by."""
    found: dict[str, Stat] = {}
    for folder in FOLDERS:
        try:
            with os.scandir(places.path(f"{folder}/")) as entries:
                for entry in entries:
                    if not entry.is_dir(follow_symlinks=False) and not entry.name.endswith("~"):
                        found[f"{folder}/{entry.name}"] = _stat(entry.stat(follow_symlinks=False))
        except OSError:
            continue
    for name in FILES:
        try:
            found[name] = _stat(os.lstat(places.path(name)))
        except OSError:
            continue
    return found


def _stat(told: os.stat_result) -> Stat:
    return told.st_ino, told.st_size, told.st_mtime_ns


def content(places: Places, name: str) -> bytes | str | None:
    """A file's bytes, a link's target; None = it is not there, or it is too large."""
    path = Path(places.path(name))
    try:
        if path.is_symlink():
            return os.readlink(path)
        if not path.is_file() or path.stat().st_size > LARGEST:
            return None
        return path.read_bytes()
    except OSError:
        return None


def lines(names: dict[str, str]) -> str:
    """What the tools of the host look at before they answer: not the many files of processors."""
    few = [path for path in names.values() if not path.startswith("/sys/devices/system/")]
    paths = [path for path in few if not path.startswith("/proc/sys/")]
    paths += [f"/{name}" for name in (*FOLDERS, *FILES)]
    return "".join(f"{path}\n" for path in paths)
