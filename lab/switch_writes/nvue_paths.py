"""NVUE: which paths `nv set` knows, and what each means for a port; a row of PATHS each.

A path under `qos` names a profile: `default-global` is that of all ports that have none of their
own. Nothing configured is what the healthy switch has (Cumulus Linux guide, Quality of Service).
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from lab.fleet.fabric.setting import Marking, Setting

Path = tuple[str, ...]
Tree = Mapping[Path, str]
GLOBAL = "default-global"
_EIGHT = range(8)
_MARKING = Marking(150_000, 1_500_000, 100, enabled=False)  # defaults of RoCE mode


@dataclass(frozen=True)
class Place:
    """One port and what a path says of it."""

    setting: Setting
    healthy: Setting
    numbers: tuple[int, ...]  # of the path: 3 of `switch-priority 3`
    tree: Tree  # below the profile, or of the port
    value: str | None  # None = not configured any more


Work = Callable[[Place], dict[str, Any]]


@dataclass(frozen=True)
class Row:
    """One path: words, {port}, {name} of a profile, {n} numbers; the last word may be a value."""

    pattern: str
    work: Work
    values: str = ""  # a pattern that the value must match; '' = the path has none
    said: str = ""  # what the value must be, in the tool's words

    @property
    def words(self) -> list[str]:
        """The pattern, word by word."""
        return self.pattern.split()


def _field(name: str, make: Callable[[str], Any]) -> Work:
    """One field of a port."""

    def work(place: Place) -> dict[str, Any]:
        if place.value is None:
            return {name: getattr(place.healthy, name)}
        return {name: make(place.value)}

    return work


def _cable(place: Place) -> dict[str, Any]:
    usual = place.healthy.cable_m
    is_usual = place.value is None or float(place.value) == usual
    return {"cable_m": usual if is_usual else float(str(place.value))}


def _speed(place: Place) -> dict[str, Any]:
    if place.value in (None, "auto"):
        return {"speed_mbps": place.healthy.speed_mbps, "speed_asked_mbps": 0}
    return {"speed_mbps": int(str(place.value)[:-1]) * 1000, "speed_asked_mbps": 0}


def _dscp(place: Place) -> dict[str, Any]:
    found = list(place.setting.dscp_class)
    for dscp in place.numbers:
        found[dscp] = place.healthy.dscp_class[dscp] if place.value is None else int(place.value)
    return {"dscp_class": tuple(found)}


def _class(place: Place) -> dict[str, Any]:
    found = list(place.setting.class_queue)
    for at in place.numbers:
        found[at] = place.healthy.class_queue[at] if place.value is None else int(place.value)
    return {"class_queue": tuple(found)}


def _lossless(place: Place, priorities: tuple[int, ...]) -> dict[str, Any]:
    """A watchdog watches what is paused; a port that has none still has none."""
    watched = priorities if place.setting.watchdog else ()
    return {"pfc": priorities, "lossless_groups": priorities, "watchdog": watched}


def _listed(place: Place) -> tuple[int, ...]:
    found = {
        number
        for path in place.tree
        if path[:1] == ("switch-priority",)
        for number in numbers(path[1], 8) or ()
    }
    return tuple(sorted(found)) or place.healthy.pfc


def _priority(place: Place) -> dict[str, Any]:
    is_off = "disable" in (place.tree.get(("tx",)), place.tree.get(("rx",)))
    return _lossless(place, () if is_off else _listed(place))


def _buffer(name: str) -> Work:
    return _field(name, int)


def _marks(**make: Callable[[str], Any]) -> Work:
    """Fields of the marking of classes."""
    [(name, read)] = make.items()

    def work(place: Place) -> dict[str, Any]:
        found = dict(place.setting.marking)
        for queue in place.numbers:
            usual = place.healthy.marking.get(queue)
            one = found.get(queue) or replace(usual or _MARKING, ecn=False, enabled=False)
            was = getattr(usual or replace(_MARKING, ecn=False), name)
            changed = replace(one, **{name: was if place.value is None else read(place.value)})
            found[queue] = changed
            if not changed.ecn and not changed.enabled:
                del found[queue]
        return {"marking": {queue: found[queue] for queue in sorted(found)}}

    return work


def _mode(place: Place) -> dict[str, Any]:
    found = dict(place.setting.schedulers)
    for queue in place.numbers:
        usual = place.healthy.schedulers.get(queue)
        share = place.tree.get(("traffic-class", str(queue), "bw-percent"))
        weight = int(share) if share else found.get(queue) or 50
        made = usual if place.value is None else 0 if place.value == "strict" else weight
        found.pop(queue, None)
        found |= {} if made is None else {queue: made}
    return {"schedulers": {queue: found[queue] for queue in sorted(found)}}


def _share(place: Place) -> dict[str, Any]:
    found = dict(place.setting.schedulers)
    for queue in place.numbers:
        mode = place.tree.get(("traffic-class", str(queue), "mode"))
        usual = place.healthy.schedulers.get(queue, 0)
        if mode == "dwrr" or (mode is None and found.get(queue)):
            found[queue] = usual if place.value is None else int(place.value)
    return {"schedulers": {queue: found[queue] for queue in sorted(found)}}


def _watchdog(place: Place) -> dict[str, Any]:
    is_on = place.value not in (None, "disabled")
    return {"watchdog": place.setting.pfc if is_on else ()}


def _roce(place: Place) -> dict[str, Any]:
    is_lossy = place.value is not None and place.value.startswith("lossy")
    return _lossless(place, () if is_lossy else place.healthy.pfc or (3,))


def _nothing(place: Place) -> dict[str, Any]:
    del place
    return {}


def _up(place: Place) -> dict[str, Any]:
    return {"admin_up": place.value != "down"}


_TRUST = {"l3": "dscp", "l2": "pcp", "both": "both", "port": "port"}
_FEC = {"rs": "rs", "baser": "fc", "off": "none", "auto": "auto"}
_IS = {
    "enable": True,
    "disable": False,
    "enabled": True,
    "disabled": False,
    "on": True,
    "off": False,
}
_NUMBER = r"[0-9]{1,10}"
_INTEGER = "'{}' is not of type 'integer'"
_TC = "qos congestion-control {name} traffic-class {n}"
_SERVED = "qos egress-scheduler {name} traffic-class {n}"


def _one_of(*words: str) -> dict[str, str]:
    return {"values": "|".join(words), "said": f"'{{}}' is not one of {list(words)}"}


_SWITCHED = _one_of("enable", "disable")
_STATE = _one_of("enabled", "disabled")
_IN_BYTES = {"values": _NUMBER, "said": _INTEGER}
PATHS = (
    Row("interface {port} link mtu", _field("mtu", int),
        "55[2-9]|5[6-9][0-9]|[6-9][0-9]{2}|[1-8][0-9]{3}|9[01][0-9]{2}|920[0-9]|921[0-6]",
        "'{}' is not a valid MTU: 552 to 9216"),
    Row("interface {port} link fec", _field("fec_asked", _FEC.__getitem__), **_one_of(*_FEC)),
    Row("interface {port} link speed", _speed, "auto|(10|25|40|50|100|200|400|800)G",
        "'{}' is not a valid speed"),
    Row("interface {port} link auto-negotiate", _field("autonegotiation", _IS.__getitem__),
        **_one_of("on", "off")),
    Row("interface {port} link state", _up, **_one_of("up", "down")),
    Row("interface {port} qos pfc-watchdog", _watchdog),
    Row("interface {port} qos pfc-watchdog state", _watchdog, **_STATE),
    Row("interface {port} lldp state", _field("lldp", _IS.__getitem__), **_STATE),
    Row("system lldp state", _field("lldp", _IS.__getitem__), **_STATE),
    Row("system config auto-save state", _nothing, **_STATE),
    Row("system config auto-save enable", _nothing, **_one_of("on", "off")),
    Row("qos roce", _roce),
    Row("qos roce state", _nothing, **_STATE),
    Row("qos roce mode", _roce, **_one_of("lossless", "lossy", "lossless-single-ipool")),
    Row("qos pfc-watchdog polling-interval", _nothing, **_IN_BYTES),
    Row("qos pfc-watchdog robustness", _nothing, **_IN_BYTES),
    Row("qos mapping {name} trust", _field("trust", _TRUST.__getitem__), **_one_of(*_TRUST)),
    Row("qos mapping {name} dscp {n64} switch-priority", _dscp, **_one_of(*map(str, _EIGHT))),
    Row("qos egress-queue-mapping {name} switch-priority {n} traffic-class", _class,
        **_one_of(*map(str, _EIGHT))),
    Row("qos pfc {name} switch-priority {n}", _priority),
    Row("qos pfc {name} tx", _priority, **_SWITCHED),
    Row("qos pfc {name} rx", _priority, **_SWITCHED),
    Row("qos pfc {name} cable-length", _cable, r"[0-9]{1,4}(\.[0-9]{1,2})?",
        _INTEGER),
    Row("qos pfc {name} port-buffer", _buffer("size_bytes"), **_IN_BYTES),
    Row("qos pfc {name} xoff-threshold", _buffer("headroom_bytes"), **_IN_BYTES),
    Row("qos pfc {name} xon-threshold", _buffer("xon_bytes"), **_IN_BYTES),
    Row(f"{_TC} ecn", _marks(ecn=_IS.__getitem__), **_SWITCHED),
    Row(f"{_TC} red", _marks(enabled=_IS.__getitem__), **_SWITCHED),
    Row(f"{_TC} min-threshold", _marks(minimum_bytes=int), **_IN_BYTES),
    Row(f"{_TC} max-threshold", _marks(maximum_bytes=int), **_IN_BYTES),
    Row(f"{_TC} probability", _marks(probability_percent=int), "100|[0-9]{1,2}",
        "'{}' is not a percentage"),
    Row(f"{_SERVED} mode", _mode, **_one_of("strict", "dwrr")),
    Row(f"{_SERVED} bw-percent", _share, "100|[0-9]{1,2}", "'{}' is not a percentage"),
    Row("qos link-pause {name} tx", _field("pause_tx", _IS.__getitem__), **_SWITCHED),
    Row("qos link-pause {name} rx", _field("pause_rx", _IS.__getitem__), **_SWITCHED),
    *(
        Row(f"interface {{port}} qos {group} profile", _nothing, "[a-zA-Z0-9_-]{1,64}",
            "'{}' is not a name of a profile")
        for group in ("mapping", "egress-queue-mapping", "pfc", "congestion-control",
                      "egress-scheduler", "link-pause")
    ),
)  # fmt: skip
_UNTIL = {"{n}": 8, "{n64}": 64}


def numbers(text: str, until: int) -> tuple[int, ...] | None:
    """3, 0,3 or 0-7; None where it is none of them."""
    found: list[int] = []
    for part in text.split(","):
        if not re.fullmatch(r"[0-9]{1,2}(-[0-9]{1,2})?", part):
            return None
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return tuple(found) if found and max(found) < until else None


def _fits(word: str, given: str) -> bool:
    if word in _UNTIL:
        return numbers(given, _UNTIL[word]) is not None
    return word.startswith("{") or word == given


def found_row(words: Path) -> tuple[Row, Path, str] | None:
    """The row, the path without its value, and the value; None where there is no such path."""
    for row in PATHS:
        pattern = row.words
        length = len(pattern) + bool(row.values)
        if len(words) == length and all(map(_fits, pattern, words)):
            return row, words[: len(pattern)], words[-1] if row.values else ""
    return None


def begins_a_path(words: Path) -> bool:
    """Whether more words would make it one."""
    return any(len(words) <= len(row.words) and all(map(_fits, row.words, words)) for row in PATHS)


def under(words: Path) -> list[Row]:
    """Rows at or below a path, for `nv unset`."""
    return [
        row for row in PATHS if len(words) <= len(row.words) and all(map(_fits, row.words, words))
    ]
