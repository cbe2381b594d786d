"""EOS: the lines of a configuration that the lab knows, each a row of a table, and their meaning.

Syntax of the EOS User Manual and of aristanetworks/avd's golden configurations. A line is taken by
`Editing`: a copy of a configuration that somebody is changing, and where in it he is.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from lab.fleet.fabric.setting import Marking, Setting
from lab.switch_writes.outcome import Config, RefusedError

Match = re.Match[str]
DEFAULT_MTU = 1500
_UNITS = {"bytes": 1, "kbytes": 1_000, "mbytes": 1_000_000}
_ROUND_ROBIN = 1  # of a queue that has no share of its own
_NATIVE = {"profiles": {}, "bound": {}, "priorities": {}, "poll": "auto"}
INVALID = "% Invalid input"
_FEC = {"reed-solomon": "rs", "fire-code": "fc"}


@dataclass
class Editing:
    """A configuration on its way."""

    ports: list[str]
    settings: list[Setting]
    healthy: tuple[Setting, ...]
    native: dict[str, Any]
    chosen: list[int] = field(default_factory=list)  # ports, of `interface ...`
    profile: str = ""
    queue: int = -1

    def config(self) -> Config:
        """As it is now."""
        return Config(tuple(self.settings), self.native)

    def each(self, work: Callable[[Setting, Setting], dict[str, Any]], *, all_ports: bool) -> None:
        """Fields of the ports that one is at, made of what they are and of what they were."""
        for at in range(len(self.ports)) if all_ports else self.chosen:
            values = work(self.settings[at], self.healthy[at])
            self.settings[at] = replace(self.settings[at], **values)


@dataclass(frozen=True)
class Line:
    """One sort of line."""

    where: str  # global, interface, queue
    pattern: str
    work: Callable[[Editing, Match, bool], None]  # with whether `no` stood before it
    negated: str = ""  # what it may look like behind `no`, where that is shorter


def _fields(**make: Callable[[Match, Setting], Any]) -> Callable[[Editing, Match, bool], None]:
    """One field of the chosen ports; behind `no` what the second of the two says."""
    [(name, value)] = make.items()

    def work(editing: Editing, match: Match, no: bool) -> None:
        del no
        editing.each(lambda setting, _: {name: value(match, setting)}, all_ports=False)

    return work


def _mtu(editing: Editing, match: Match, no: bool) -> None:
    value = DEFAULT_MTU if no else int(match["n"])
    if not 68 <= value <= 10_178:
        raise RefusedError(INVALID)
    editing.each(lambda *_: {"mtu": value}, all_ports=False)


def _fec(editing: Editing, match: Match, no: bool) -> None:
    value = "auto" if no else _FEC[match["kind"]]
    editing.each(lambda *_: {"fec_asked": value}, all_ports=False)


def _no_fec(editing: Editing, match: Match, no: bool) -> None:
    del match
    value = "none" if no else "auto"
    editing.each(lambda *_: {"fec_asked": value}, all_ports=False)


def _speed(editing: Editing, match: Match, no: bool) -> None:
    gbps = None if no or match["auto"] else int(match["gbps"] or match["short"])

    def work(setting: Setting, healthy: Setting) -> dict[str, Any]:
        del setting
        if gbps is None:
            return {"speed_mbps": healthy.speed_mbps, "speed_asked_mbps": 0,
                    "autonegotiation": True}  # fmt: skip
        return {"speed_mbps": gbps * 1000, "speed_asked_mbps": 0, "autonegotiation": False}

    editing.each(work, all_ports=False)


def _pause(editing: Editing, match: Match, no: bool) -> None:
    name = "pause_rx" if match["way"] == "receive" else "pause_tx"
    value = not no and match["state"] in ("on", "desired")
    editing.each(lambda *_: {name: value}, all_ports=False)


def _trust(editing: Editing, match: Match, no: bool) -> None:
    value = "port" if no else {"dscp": "dscp", "cos": "pcp"}[match["what"]]
    editing.each(lambda *_: {"trust": value}, all_ports=False)


def _pfc(editing: Editing, match: Match, no: bool) -> None:
    """Off, the priorities are remembered."""
    del match
    for at in editing.chosen:
        known = editing.native["priorities"]
        name, setting = editing.ports[at], editing.settings[at]
        if no:
            known[name] = known.get(name) or setting.pfc
        pfc = () if no else setting.pfc or known.pop(name, ())
        editing.settings[at] = replace(setting, pfc=pfc)


def _priority(editing: Editing, match: Match, no: bool) -> None:
    number = int(match["n"])
    is_on = not no and match["drop"] != "drop"

    def work(setting: Setting, healthy: Setting) -> dict[str, Any]:
        del healthy
        others = {*setting.pfc} - {number}
        pfc = tuple(sorted(others | ({number} if is_on else set())))
        return {"pfc": pfc, "lossless_groups": pfc}

    editing.each(work, all_ports=False)


def _watched(editing: Editing, match: Match, no: bool) -> None:
    del match
    editing.each(lambda setting, _: {"watchdog": () if no else setting.pfc}, all_ports=False)


def _seconds(text: str) -> int:
    return round(float(text) * 1000)


def _timeout(editing: Editing, match: Match, no: bool) -> None:
    def work(setting: Setting, healthy: Setting) -> dict[str, Any]:
        del healthy
        if no:
            return {"watchdog": ()}
        watched = setting.watchdog or setting.pfc
        return {"watchdog": watched, "watchdog_ms": (_seconds(match["s"]), setting.watchdog_ms[1])}

    editing.each(work, all_ports=True)


def _recovery(editing: Editing, match: Match, no: bool) -> None:
    def work(setting: Setting, healthy: Setting) -> dict[str, Any]:
        after = healthy.watchdog_ms[1] if no else _seconds(match["s"])
        return {"watchdog_ms": (setting.watchdog_ms[0], after)}

    editing.each(work, all_ports=True)


def _action(editing: Editing, match: Match, no: bool) -> None:
    value = "drop" if no else match["what"]
    editing.each(lambda *_: {"watchdog_action": value}, all_ports=True)


def _poll(editing: Editing, match: Match, no: bool) -> None:
    editing.native["poll"] = "auto" if no else match["s"]


def _numbers(text: str, until: int) -> list[int]:
    """26 27 28, or 24-31."""
    found: list[int] = []
    for part in text.replace(",", " ").split():
        first, _, last = part.partition("-")
        found += range(int(first), min(int(last or first), until) + 1)
    if not found or max(found) >= until:
        raise RefusedError(INVALID)
    return found


def _dscp(editing: Editing, match: Match, no: bool) -> None:
    codes = _numbers(match["codes"], 64)

    def work(setting: Setting, healthy: Setting) -> dict[str, Any]:
        del healthy
        found = list(setting.dscp_class)
        for code in codes:
            found[code] = code // 8 if no else int(match["n"])
        return {"dscp_class": tuple(found)}

    editing.each(work, all_ports=True)


def _tx_queue(editing: Editing, match: Match, no: bool) -> None:
    classes = _numbers(match["codes"], 8)

    def work(setting: Setting, healthy: Setting) -> dict[str, Any]:
        del healthy
        found = list(setting.class_queue)
        for number in classes:
            found[number] = number if no else int(match["n"])
        return {"class_queue": tuple(found)}

    editing.each(work, all_ports=True)


def _run(editing: Editing, match: Match, no: bool) -> None:
    del match
    editing.each(lambda *_: {"lldp": not no}, all_ports=True)


def _lldp(editing: Editing, match: Match, no: bool) -> None:
    del match
    editing.each(lambda *_: {"lldp": not no}, all_ports=False)


def _shutdown(editing: Editing, match: Match, no: bool) -> None:
    del match
    editing.each(lambda *_: {"admin_up": no}, all_ports=False)


# ---- queues, of a port or of a profile that ports share


def served(setting: Setting, queue: int, lines: dict[str, str]) -> Setting:
    """A port whose queue has these lines."""
    marking = {number: one for number, one in setting.marking.items() if number != queue}
    schedulers = {number: one for number, one in setting.schedulers.items() if number != queue}
    known = _ECN.fullmatch(lines.get("ecn", ""))
    if known is not None:
        low = int(known["low"]) * _UNITS[known["unit"] or "bytes"]
        high = int(known["high"]) * _UNITS[known["other"] or "bytes"]
        marking[queue] = Marking(low, high, int(known["percent"] or 100))
    share = lines.get("bandwidth", "").rpartition(" ")[2]
    if lines.get("priority") == "priority strict":
        schedulers[queue] = 0
    elif share or lines.get("priority") == "no priority":
        schedulers[queue] = int(share or _ROUND_ROBIN)
    return replace(
        setting,
        marking={number: marking[number] for number in sorted(marking)},
        schedulers={number: schedulers[number] for number in sorted(schedulers)},
    )


def lines_of(setting: Setting) -> dict[int, dict[str, str]]:
    """The lines of queues that a port is served by."""
    found: dict[int, dict[str, str]] = {}
    for queue in sorted({*setting.marking, *setting.schedulers}):
        lines = found.setdefault(queue, {})
        weight = setting.schedulers.get(queue)
        if weight is not None:
            lines["priority"] = "no priority" if weight else "priority strict"
        if weight:
            lines["bandwidth"] = f"bandwidth percent {weight}"
        one = setting.marking.get(queue)
        if one is not None:
            lines["ecn"] = (f"random-detect ecn minimum-threshold {one.minimum_bytes} bytes "
                            f"maximum-threshold {one.maximum_bytes} bytes "
                            f"max-mark-probability {one.probability_percent}")  # fmt: skip
    return found


def _queue_line(kind: str, other: str = "") -> Callable[[Editing, Match, bool], None]:
    """One of the lines of a queue; it may take another away."""

    def work(editing: Editing, match: Match, no: bool) -> None:
        queue, name = editing.queue, editing.profile
        bound = editing.native["bound"]
        chosen = [at for at, port in enumerate(editing.ports)
                  if (bound.get(port) == name if name else at in editing.chosen)]  # fmt: skip
        if name:
            lines = dict(editing.native["profiles"][name].get(queue, {}))
            _change(lines, kind, other, match, no)
            editing.native["profiles"][name][queue] = lines
        for at in chosen:
            own = lines_of(editing.settings[at]).get(queue, {})
            _change(own, kind, other, match, no)
            editing.settings[at] = served(editing.settings[at], queue, own)

    return work


def _change(lines: dict[str, str], kind: str, other: str, match: Match, no: bool) -> None:
    lines.pop(kind, None)
    if not no:
        lines[kind] = match[0]
        lines.pop(other, None)
    elif kind == "priority":
        lines[kind] = "no priority"


def _service(editing: Editing, match: Match, no: bool) -> None:
    """A port gets a profile, or none."""
    name = "" if no else match["name"]
    if name and name not in editing.native["profiles"]:
        raise RefusedError(f"% Service profile {name} does not exist")
    for at in editing.chosen:
        setting = replace(editing.settings[at], marking={}, schedulers={})
        for queue, lines in editing.native["profiles"].get(name, {}).items():
            setting = served(setting, queue, lines)
        editing.settings[at] = setting
        editing.native["bound"].pop(editing.ports[at], None)
        if name:
            editing.native["bound"][editing.ports[at]] = name


_ECN = re.compile(
    r"random-detect ecn minimum-threshold (?P<low>[0-9]{1,10})(?: (?P<unit>k?bytes|mbytes))? "
    r"maximum-threshold (?P<high>[0-9]{1,10})(?: (?P<other>k?bytes|mbytes))?"
    r"(?: max-mark-probability (?P<percent>100|[0-9]{1,2}))?(?: weight [0-9]{1,2})?",
    re.ASCII,
)
WATCHDOG = "priority-flow-control pause watchdog"
_SECONDS = r"(?P<s>[0-9]{1,3}(\.[0-9]{1,3})?)"
LINES = (
    Line("global", r"qos map dscp (?P<codes>[0-9 ,-]{1,200}?) to traffic-class (?P<n>[0-7])", _dscp,
         r"qos map dscp (?P<codes>[0-9 ,-]{1,200}?)( to traffic-class)?"),
    Line("global", r"qos map traffic-class (?P<codes>[0-7 ,-]{1,40}?) to tx-queue (?P<n>[0-7])",
         _tx_queue, r"qos map traffic-class (?P<codes>[0-7 ,-]{1,40}?)( to tx-queue)?"),
    Line("global", rf"{WATCHDOG} default timeout {_SECONDS}", _timeout,
         rf"{WATCHDOG} default timeout"),
    Line("global", rf"{WATCHDOG} default recovery-time {_SECONDS}( forced)?", _recovery,
         rf"{WATCHDOG} default recovery-time"),
    Line("global", rf"{WATCHDOG} default polling-interval (?P<s>auto|[0-9.]{{1,6}})", _poll,
         rf"{WATCHDOG} default polling-interval"),
    Line("global", rf"{WATCHDOG} action (?P<what>drop|errdisable|notify-only)", _action,
         rf"{WATCHDOG} action"),
    Line("global", "lldp run", _run),
    Line("interface", "mtu (?P<n>[0-9]{1,5})", _mtu, "mtu"),
    Line("interface", "error-correction encoding (?P<kind>reed-solomon|fire-code)", _fec,
         "error-correction encoding (?P<kind>reed-solomon|fire-code)"),
    Line("interface", "error-correction encoding", _no_fec),
    Line("interface", "speed (?P<auto>auto)|speed forced (?P<gbps>10|25|40|50|100|200|400|800)gfull"
         "|speed (?P<short>10|25|40|50|100|200|400|800)g(-[1248])?", _speed, "speed"),
    Line("interface", "flowcontrol (?P<way>receive|send) (?P<state>on|off|desired)", _pause,
         "flowcontrol (?P<way>receive|send)"),
    Line("interface", "qos trust (?P<what>dscp|cos)", _trust, "qos trust"),
    Line("interface", "priority-flow-control on", _pfc, "priority-flow-control( on)?"),
    Line("interface", "priority-flow-control priority (?P<n>[0-7]) (?P<drop>no-drop|drop)",
         _priority, "priority-flow-control priority (?P<n>[0-7])( no-drop)?"),
    Line("interface", WATCHDOG, _watched),
    Line("interface", "service-profile (?P<name>[a-zA-Z0-9_.-]{1,64})", _service,
         "service-profile"),
    Line("interface", "lldp (?P<way>transmit|receive)", _lldp),
    Line("interface", "shutdown", _shutdown),
    Line("queue", _ECN.pattern, _queue_line("ecn"), "random-detect ecn.*"),
    Line("queue", "priority strict", _queue_line("priority", "bandwidth"), "priority( strict)?"),
    Line("queue", "bandwidth percent (?P<n>100|[0-9]{1,2})", _queue_line("bandwidth"),
         "bandwidth( percent)?( [0-9]{1,3})?"),
)  # fmt: skip
_PATTERNS = [
    (one, re.compile(one.pattern, re.ASCII), re.compile(one.negated or one.pattern, re.ASCII))
    for one in LINES
]


def take(editing: Editing, where: str, text: str) -> bool:
    """Do what a line says; false where no line looks so."""
    no = text.startswith(("no ", "default "))
    bare = text.partition(" ")[2] if no else text
    for line, plain, negated in _PATTERNS:
        match = (negated if no else plain).fullmatch(bare)
        if match is not None and where == line.where:
            line.work(editing, match, no)
            return True
    return False


def native_of(settings: tuple[Setting, ...], ports: list[str]) -> dict[str, Any]:
    """What a switch that nobody has written to has beside its settings: profiles of queues."""
    native: dict[str, Any] = {**_NATIVE, "profiles": {}, "bound": {}, "priorities": {}}
    names: dict[str, str] = {}
    for port, setting in zip(ports, settings, strict=True):
        held = lines_of(setting)
        number = len(names) + 1
        name = names.setdefault(repr(held), f"QOS{number}" if number > 1 else "QOS")
        native["profiles"][name] = held
        native["bound"][port] = name
    return native
