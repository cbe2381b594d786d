"""Probe `boot_modules`: which modules are on a list that something loads at boot.

Files:  /etc/modules, /etc/modules-load.d/*.conf, /usr/lib/modules-load.d/*.conf   (systemd)
        /etc/initramfs-tools/modules                                               (initramfs)
        /etc/modprobe.d/*.conf: softdep                                            (with another)
Links:  /etc/systemd/system/*.wants/*peer*mem*.service                             (a unit)

A file that was not read whole has a row without a name.
"""

import re
from collections.abc import Iterator

from railwright.parse.base import NotUnderstoodError, Row
from railwright.parse.files import Files, read_files
from railwright.parse.host_text import without_last_line

INITRAMFS = "/etc/initramfs-tools/modules"
MODPROBE = "/etc/modprobe.d/"
UNITS = "/etc/systemd/system/"
LISTS = ("/etc/modules", "/usr/lib/modules-load.d/", INITRAMFS)

_NAME = re.compile(r"[a-z0-9_-]{1,60}", re.ASCII)
_UNIT = re.compile(r"([a-z0-9_-]{1,60})\.service", re.ASCII)


def _how(path: str) -> str:
    if path.startswith(MODPROBE):
        return "softdep"
    if path.startswith(UNITS):
        return "unit"
    return "initramfs" if path == INITRAMFS else "modules-load"


def _names(files: Files, path: str) -> Iterator[str]:
    how = _how(path)
    if how == "unit":
        found = _UNIT.fullmatch(path.rpartition("/")[2])
        yield from [found[1]] if found else []
        return
    text = files.text(path) or ""
    for line in (without_last_line(text) if files.is_cut(path) else text).split("\n"):
        words = line.split()
        if how == "softdep":
            asked = words[2:] if words[:1] == ["softdep"] else []
            yield from (word for word in asked if not word.endswith(":"))
        else:
            yield from words[:1]  # options may stand behind the name


def _was_read(files: Files, path: str) -> bool:
    if path.startswith(UNITS):
        return files.link(path) is not None
    return files.content(path) is not None and not files.is_cut(path)


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 (one answer per host)
    """Table boot_module."""
    files = read_files(data)
    known = sorted(path for path in files if path.startswith((*LISTS, MODPROBE, UNITS)))
    if data and not known:
        raise NotUnderstoodError("no list of modules")
    for path in known:
        names = {name.replace("-", "_") for name in _names(files, path) if _NAME.fullmatch(name)}
        for name in sorted(names):
            yield Row("boot_module", {"file": path, "name": name, "how": _how(path)})
        if not _was_read(files, path) and files.error(path) != "ENOENT":
            yield Row("boot_module", {"file": path, "name": "", "how": None})
