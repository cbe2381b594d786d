"""Probe `limits`: the resource limits that sessions and batch daemons give to jobs.

Files:  /etc/security/limits.conf, /etc/security/limits.d/*.conf      (pam_limits)
        /etc/systemd/system/**, /etc/systemd/system.conf              (units and their default)

Lines of other kinds, and other limits, are left aside.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from railwright.parse.base import NotUnderstoodError, Row, Value
from railwright.parse.files import read_files
from railwright.parse.host_text import without_last_line

PAM = "/etc/security/limits."
SYSTEMD = "/etc/systemd/"
DEFAULTS = "/etc/systemd/system.conf"
AT_BOOT = "/etc/systemd/system/multi-user.target.wants/"

_UNLIMITED = -1
_WORDS_UNLIMITED = frozenset({"unlimited", "infinity", "-1"})
_PAM_LINE = re.compile(
    r"\s{0,200}([A-Za-z0-9_@*%:.-]{1,40})\s{1,200}(soft|hard|-)\s{1,200}(memlock|nofile|nproc|stack)"
    r"\s{1,200}(unlimited|infinity|-?[0-9]{1,20})(?:\s|$)",
    re.ASCII,
)
_UNIT_LINE = re.compile(
    r"\s{0,200}(Default)?Limit(MEMLOCK|STACK|NOFILE|NPROC)\s{0,200}=\s{0,200}([A-Za-z0-9:]{1,40})"
    r"\s{0,200}$",
    re.ASCII,
)
_AMOUNT = re.compile(r"([0-9]{1,18})([KMGTPE]?)", re.ASCII)
_IN_BYTES = frozenset({"memlock", "stack"})
_KB = 1024  # pam_limits counts these two in KB (limits.conf(5)), systemd in bytes
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6}  # of 1024 (systemd.exec(5))


class _Limit(NamedTuple):
    """One line that sets a limit."""

    domain: str
    type: str  # soft, hard, or - for both
    item: str
    value: str
    unit: int  # bytes in one of what the value counts


def _bytes(text: str, unit: int) -> int | None:
    if text in _WORDS_UNLIMITED:
        return _UNLIMITED
    found = _AMOUNT.fullmatch(text)
    amount = int(found[1]) * 1024 ** _POWERS[found[2]] * unit if found else None
    return amount if amount is not None and amount < 2**63 else None


def _pam_limit(line: str) -> _Limit | None:
    found = _PAM_LINE.match(line)
    return _Limit(found[1], found[2], found[3], found[4], _KB) if found else None


def _unit(file: str) -> str:
    """The unit that a file belongs to: slurmd.service for its drop-ins too."""
    folder, _, name = file.rpartition("/")
    return folder.rpartition("/")[2].removesuffix(".d") if folder.endswith(".service.d") else name


def _unit_limit(file: str, line: str) -> _Limit | None:
    found = _UNIT_LINE.match(line)
    # A default stands in the manager's own file, a unit's own limit in the unit's.
    if found is None or bool(found[1]) != (file == DEFAULTS):
        return None
    domain = "*" if file == DEFAULTS else _unit(file)
    return _Limit(domain, "-", found[2].lower(), found[3], 1)


def _row(file: str, place: int, limit: _Limit) -> Row:
    soft, _, hard = limit.value.partition(":")  # systemd takes soft:hard
    counted = limit.item in _IN_BYTES
    values: dict[str, Value] = {
        "file": file,
        "place": place,
        "domain": limit.domain,
        "type": limit.type,
        "item": limit.item,
        "value": limit.value,
        "soft_bytes": _bytes(soft, limit.unit) if counted and limit.type != "hard" else None,
        "hard_bytes": _bytes(hard or soft, limit.unit)
        if counted and limit.type != "soft"
        else None,
    }
    return Row("resource_limit", values)


def _unread(file: str) -> Row:
    names = ("domain", "type", "item", "value", "soft_bytes", "hard_bytes")
    return Row("resource_limit", {"file": file, "place": -1, **dict.fromkeys(names)})


def _limits(file: str, text: str) -> Iterator[_Limit]:
    for line in text.split("\n"):
        limit = _pam_limit(line) if file.startswith(PAM) else _unit_limit(file, line)
        if limit is not None:
            yield limit


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 (one answer per host)
    """Tables resource_limit and job_daemon."""
    files = read_files(data)
    known = sorted(path for path in files if path.startswith((PAM, SYSTEMD)))
    if data and not known:
        raise NotUnderstoodError("no file of pam_limits or systemd")
    for path in known:
        if path.startswith(AT_BOOT) and files.error(path) != "ENOENT":
            yield Row("job_daemon", {"unit": path.removeprefix(AT_BOOT)})
        text = files.text(path) or ""
        text = without_last_line(text) if files.is_cut(path) else text
        for place, limit in enumerate(_limits(path, text)):
            yield _row(path, place, limit)
        if files.is_cut(path) or files.error(path) not in (None, "ENOENT"):
            yield _unread(path)
