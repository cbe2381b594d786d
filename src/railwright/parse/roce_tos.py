"""Probe `roce_tos`: the type of service that RDMA connections get when nobody asks for one.

Files:  /sys/kernel/config/rdma_cm/<device>/ports/<port>/default_roce_{tos,mode}
        /sys/class/infiniband/<device>/tc/<port>/traffic_class     (vendor's driver only)

traffic_class is empty where nothing is set, else `Global tclass=106` and one line per address
rule, such as `dst_ip=10.21.0.0/16,tclass=106`. The host's filter keeps only the end of a rule, and
a few characters of a line that it does not know.
"""

import re
from collections.abc import Iterator

from railwright.parse.base import NotUnderstoodError, Row, Value, whole_number
from railwright.parse.files import Files, read_files

_PATH = re.compile(
    r"/sys/kernel/config/rdma_cm/([^/]+)/ports/([0-9]{1,9})/default_roce_(?:tos|mode)"
    r"|/sys/class/infiniband/([^/]+)/tc/([0-9]{1,9})/traffic_class",
    re.ASCII,
)
_GLOBAL = re.compile(r"Global tclass=([0-9]{1,3})", re.ASCII)
_RULE = re.compile(r"(?:[a-z0-9_]{1,10}=[0-9a-fA-F.:/]{1,60},){0,4}tclass=[0-9]{1,3}", re.ASCII)
_MODE = re.compile(r"(?:IB/)?RoCE v[0-9.]{1,3}", re.ASCII)
_NONE_SET = -1  # what the driver itself keeps then
_LARGEST = 255


def _byte(text: str | None) -> int | None:
    number = whole_number(text)
    return number if number is not None and number <= _LARGEST else None


def _traffic_class(text: str | None) -> tuple[int | None, int | None]:
    """The global class and the number of address rules of a traffic_class file."""
    if text is None:
        return None, None
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    found = [match[1] for match in map(_GLOBAL.fullmatch, lines) if match]
    rules = sum(_RULE.fullmatch(line) is not None for line in lines)
    understood = len(found) + rules == len(lines)
    if len(found) > 1 or not (found or understood):
        return None, None
    return _byte(found[0]) if found else _NONE_SET, rules if understood else None


def _values(files: Files, device: str, port: str) -> dict[str, Value]:
    base = f"/sys/kernel/config/rdma_cm/{device}/ports/{port}"
    mode = files.text(f"{base}/default_roce_mode") or ""
    classes = f"/sys/class/infiniband/{device}/tc/{port}/traffic_class"
    # Of rules that were cut nobody knows how many there are.
    is_cut = files.is_cut(classes)
    traffic_class, rules = _traffic_class(None if is_cut else files.text(classes))
    return {
        "device": device,
        "port": int(port),
        "default_tos": _byte(files.text(f"{base}/default_roce_tos")),
        "default_mode": mode if _MODE.fullmatch(mode) else None,
        "traffic_class": traffic_class,
        "traffic_class_rules": rules,
    }


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 (one answer per host)
    """Table roce_tos."""
    files = read_files(data)
    ports = set()
    for match in map(_PATH.fullmatch, files):
        if match and (match[2] or match[4]) == str(int(match[2] or match[4])):  # not 01
            ports.add((match[1] or match[3], match[2] or match[4]))
    if data and not ports:
        raise NotUnderstoodError("no type of service of an RDMA device")
    for device, port in sorted(ports, key=lambda entry: (entry[0], int(entry[1]))):
        yield Row("roce_tos", _values(files, device, port))
