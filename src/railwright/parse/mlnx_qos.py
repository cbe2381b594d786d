"""`mlnx_qos -i <netdev>`: trust, DSCP map, buffers, PFC and traffic classes of an interface.

Every line is known by its first word; others (banners, `skprio:`, `default priority:`) stay in the
evidence. The oldest layout begins with `PFC configuration:` and has nothing above it.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple, TypeVar

from railwright.parse.base import NotUnderstoodError, Row, Value, text_of

_Key = TypeVar("_Key")
_Thing = TypeVar("_Thing")
_Fact = tuple[str, dict[str, Value]]  # a table and values for it

_LARGEST_ANSWER = 8192  # characters that are worth remembering; a usual answer has 900

_DCBX = re.compile(r"DCBX mode: (OS|Firmware) controlled")
_TRUST = re.compile(r"Priority trust state: ([A-Za-z]{1,20})")
_DSCP = re.compile(r"prio:([0-9]{1,3}) +dscp:((?:[0-9]{1,3},){1,64})", re.ASCII)
_LAST_PRIORITY, _LAST_DSCP = 7, 63
# The sum at the end came late; for a while it was called total_size.
_SIZES = re.compile(
    r"Receive buffer size \(bytes\): ((?:[0-9]{1,10},){8})"
    r"(?:(?:max_buffer_size|total_size)=([0-9]{1,10}))?",
    re.ASCII,
)
_CABLE = re.compile(r"Cable len: ([0-9]{1,6})", re.ASCII)
_PER_PRIORITY = re.compile(r"(priority|enabled|buffer)((?:\s+[0-7]){8})", re.ASCII)
_CLASS = re.compile(r"tc: ([0-9]{1,2})(?![0-9])", re.ASCII)
_RATE = re.compile(r" ratelimit: (?:(unlimited)|([0-9]{1,7}\.[0-9]{1,3}) Gbps)", re.ASCII)
_SCHEDULER = re.compile(r", tsa: (ets|strict|vendor|unknown)(?:, bw: ([0-9]{1,3})%)?$", re.ASCII)
_MEMBER = re.compile(r"priority: +([0-7])")
_WARNING = re.compile(r"\*{1,20} WARNING: lldpad service is running")
_ERROR = re.compile(r"^.{0,60}not supported on your system|^Netlink error: .{0,60}", re.MULTILINE)
# Early releases say so and then print what they began with: PFC off, all priorities in class 0.
_NOTHING_READ = "ETS features are not supported on your system"
_UNLIMITED = 0.0


class _Answer(NamedTuple):
    """What was printed."""

    port: dict[str, Value]
    dscps: dict[int, int]  # DSCP -> priority
    sizes: dict[int, int]  # buffer -> bytes
    pfc: dict[int, bool]  # priority -> enabled
    buffers: dict[int, int]  # priority -> buffer
    classes: dict[int, dict[str, Value]]
    members: dict[int, int]  # priority -> traffic class


def _once(known: dict[_Key, _Thing], key: _Key, value: _Thing, what: str) -> None:
    """Note a fact; two that contradict each other are no fact at all."""
    if known.setdefault(key, value) != value:
        raise NotUnderstoodError(f"{what} is printed twice and differs")


def _read_dscp(answer: _Answer, line: str) -> None:
    """A line of the DSCP map. A DSCP without a row is in no priority: none of them may get lost."""
    found = _DSCP.fullmatch(line)
    if found is None:
        raise NotUnderstoodError(f"a line of the DSCP map: {line[:80]}")
    priority = int(found[1])
    for dscp in map(int, found[2].rstrip(",").split(",")):
        if dscp <= _LAST_DSCP and priority <= _LAST_PRIORITY:
            _once(answer.dscps, dscp, priority, f"DSCP {dscp}")


def _read_port_line(answer: _Answer, line: str) -> None:
    """The lines above the PFC configuration: each stands alone."""
    if found := _DCBX.fullmatch(line):
        _once(answer.port, "dcbx_mode", found[1], "the DCBX mode")
    elif found := _TRUST.fullmatch(line):
        # It prints none where it failed to find out.
        trust = None if found[1] == "none" else found[1]
        _once(answer.port, "trust", trust, "the trust state")
    elif line.startswith("prio:") and "dscp:" in line:
        _read_dscp(answer, line)
    elif found := _SIZES.fullmatch(line):
        for number, size in enumerate(found[1].rstrip(",").split(",")):
            _once(answer.sizes, number, int(size), f"the size of buffer {number}")
        if found[2]:
            _once(answer.port, "buffer_total_bytes", int(found[2]), "the size of all buffers")
    elif found := _CABLE.fullmatch(line):
        _once(answer.port, "cable_length_m", int(found[1]), "the cable length")
    elif _WARNING.match(line):
        answer.port["lldpad_running"] = True


def _read_per_priority(answer: _Answer, line: str, columns: list[int]) -> None:
    """The rows under the PFC configuration: eight numbers each, the first row says whose."""
    found = _PER_PRIORITY.fullmatch(line)
    if found is None:
        return
    numbers = [int(number) for number in found[2].split()]
    if found[1] == "priority":
        columns[:] = numbers
        return
    for priority, number in zip(columns, numbers, strict=True):
        if found[1] == "buffer":
            _once(answer.buffers, priority, number, f"the buffer of priority {priority}")
        elif number in (0, 1):
            _once(answer.pfc, priority, bool(number), f"PFC of priority {priority}")


def _rate_limit(line: str) -> float | None:
    found = _RATE.search(line)
    if found is None:
        return None
    if found[1] == "unlimited":
        return _UNLIMITED
    return float(found[2]) or None  # a limit below 0.05 is printed as 0.0


def _read_class(answer: _Answer, line: str) -> int | None:
    """The traffic class that the line begins; its priorities follow, one per line."""
    found = _CLASS.match(line)
    if found is None:
        return None
    scheduler = _SCHEDULER.search(line)
    values: dict[str, Value] = {
        "traffic_class": int(found[1]),
        "scheduler": scheduler[1] if scheduler else None,
        "bandwidth_percent": int(scheduler[2]) if scheduler and scheduler[2] else None,
        "rate_limit_gbps": _rate_limit(line),
    }
    _once(answer.classes, int(found[1]), values, f"traffic class {found[1]}")
    return int(found[1])


def _lines(text: str) -> Iterator[str]:
    """The lines without a last one that may have been cut: 10 reads as 1.

    A whole answer ends with a priority, which has one digit.
    """
    *lines, last = text.split("\n")
    if last.strip().startswith("priority:"):
        lines.append(last)
    return (line for line in map(str.strip, lines) if line)


def _read(text: str) -> _Answer:
    answer = _Answer({}, {}, {}, {}, {}, {}, {})
    current: int | None = None
    columns = list(range(8))
    for line in _lines(text):
        if line.startswith("priority:"):
            found = _MEMBER.fullmatch(line)
            if found and current is not None:
                member = int(found[1])
                _once(answer.members, member, current, f"the class of priority {member}")
        elif line.startswith("tc:"):
            current = _read_class(answer, line)
        elif not line.startswith("skprio:"):
            # Whatever else comes ends a class. Where no rate limit can be read, a class is
            # printed without its number, as `strict` or `ets, bw: 50%`.
            current = None
            if line.startswith(("priority", "enabled", "buffer")):
                _read_per_priority(answer, line, columns)
            else:
                _read_port_line(answer, line)
    return answer


def _port(answer: _Answer) -> dict[str, Value]:
    # Each release that prints the DCBX mode also looks for lldpad.
    not_seen = False if "dcbx_mode" in answer.port else None
    return {
        "dcbx_mode": answer.port.get("dcbx_mode"),
        "trust": answer.port.get("trust"),
        "cable_length_m": answer.port.get("cable_length_m"),
        "buffer_total_bytes": answer.port.get("buffer_total_bytes"),
        "lldpad_running": answer.port.get("lldpad_running", not_seen),
    }


def _priority(answer: _Answer, priority: int) -> dict[str, Value]:
    number = answer.buffers.get(priority)
    return {
        "priority": priority,
        "pfc_enabled": answer.pfc.get(priority),
        "buffer": number,
        "buffer_bytes": None if number is None else answer.sizes.get(number),
        "traffic_class": answer.members.get(priority),
    }


def _facts(text: str) -> tuple[_Fact, ...]:
    """The rows of an answer, yet without the interface."""
    answer = _read(text)
    errors = "; ".join(_ERROR.findall(text)[:4])
    # The warning about lldpad comes before the first question to the driver.
    answered = any((answer.port.keys() - {"lldpad_running"}, *answer[1:]))
    if not answered or _NOTHING_READ in text:
        raise NotUnderstoodError(errors or "no QoS state")
    facts: list[_Fact] = [("qos_port", _port(answer))]
    priorities = sorted({*answer.pfc, *answer.buffers, *answer.members})
    facts += [("qos_priority", _priority(answer, priority)) for priority in priorities]
    dscps = sorted(answer.dscps.items())
    facts += [("qos_dscp", {"dscp": dscp, "priority": priority}) for dscp, priority in dscps]
    facts += [("qos_buffer", {"buffer": n, "size_bytes": size}) for n, size in answer.sizes.items()]
    facts += [("qos_class", answer.classes[number]) for number in sorted(answer.classes)]
    return tuple(facts)


# Interfaces of a fleet are set alike: nearly all their answers are looked up here.
_known_facts = lru_cache(maxsize=256)(_facts)


def parse(data: bytes, instance: str) -> Iterator[Row]:
    """Tables qos_port, qos_priority, qos_dscp, qos_buffer and qos_class."""
    text = text_of(data)
    facts = _known_facts(text) if len(text) < _LARGEST_ANSWER else _facts(text)
    for table, values in facts:
        yield Row(table, {"netdev": instance, **values})
