"""Probe `sysctl`: kernel settings that matter to RDMA and GPU jobs.

Files:  /proc/sys/**, /sys/kernel/mm/transparent_hugepage/enabled
"""

import re
from collections.abc import Iterator

from railwright.parse.base import NotUnderstoodError, Row, Value
from railwright.parse.files import Files, read_files

SETTINGS = "/proc/sys/"
HUGE_PAGES = "/sys/kernel/mm/transparent_hugepage/"

_CHOSEN = re.compile(r"\[([a-z+_]{1,40})\]")  # always [madvise] never


def _chosen(text: str | None) -> str | None:
    found = _CHOSEN.findall(text or "")
    return found[0] if len(found) == 1 else None


def _setting(files: Files, path: str) -> tuple[str, str | None]:
    # A list of ports may be longer than what is read of a file: half of it is another list.
    text = None if files.is_cut(path) else files.text(path)
    if path.startswith(HUGE_PAGES):
        return f"transparent_hugepage.{path[len(HUGE_PAGES) :]}", _chosen(text)
    # Several numbers have tabs between them.
    value = None if text is None else " ".join(text.split())
    return path[len(SETTINGS) :].replace("/", "."), value


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 (one answer per host)
    """Table sysctl."""
    files = read_files(data)
    known = sorted(path for path in files if path.startswith((SETTINGS, HUGE_PAGES)))
    if data and not known:
        raise NotUnderstoodError("no file of the kernel's settings")
    settings: dict[str, str | None] = {}
    for path in known:
        if files.error(path) != "ENOENT":  # it went away: this kernel has no such setting
            name, value = _setting(files, path)
            settings[name] = value
    for name in sorted(settings):
        values: dict[str, Value] = {"name": name, "value": settings[name]}
        yield Row("sysctl", values)
