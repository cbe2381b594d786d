"""Onyx: commands of its configuration mode that the lab knows; each is in force at once.

Syntax of the Onyx User Manual (RoCE, QoS, Ethernet interfaces, Flow Control). Behind `interface
ethernet 1/1` they stand in one line with it or in a mode of their own.
"""

import copy
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from lab.fleet.fabric.setting import Marking, Setting
from lab.switch_writes.outcome import Config, RefusedError

Match = re.Match[str]
_DEFAULT_MTU = 1500
_KB = 1_000
_TRUST = {"L3": "dscp", "L2": "pcp", "both": "both", "port": "port"}
_FEC = {"rs-fec": "rs", "fc-fec": "fc", "no-fec": "none"}
NEEDS_FORCE = "% Operation is not allowed while the port is up: use the force option"


@dataclass
class Editing:
    """A configuration on its way, and the ports that are meant."""

    ports: list[str]
    settings: list[Setting]
    healthy: tuple[Setting, ...]
    native: dict[str, Any]
    chosen: list[int] = field(default_factory=list)

    def config(self) -> Config:
        """As it is now: PFC is on where port, priority and switch all say so."""
        settings = []
        for name, setting in zip(self.ports, self.settings, strict=True):
            is_on = self.native["enabled"] and name in self.native["on"]
            pfc = tuple(sorted(self.native["priorities"])) if is_on else ()
            settings.append(
                replace(setting, pfc=pfc, lossless_groups=pfc or setting.lossless_groups)
            )
        return Config(tuple(settings), self.native)

    def each(self, work: Callable[[Setting, Setting], dict[str, Any]]) -> None:
        """Fields of the ports that are meant."""
        for at in self.chosen:
            values = work(self.settings[at], self.healthy[at])
            self.settings[at] = replace(self.settings[at], **values)


def native_of(settings: tuple[Setting, ...], ports: list[str]) -> dict[str, Any]:
    """What a switch that nobody has written to has beside its settings."""
    on = {name for name, one in zip(ports, settings, strict=True) if one.pfc}
    priorities = {priority for one in settings for priority in one.pfc}
    return {"enabled": bool(on), "priorities": priorities, "on": on}


def editing(ports: list[str], config: Config, healthy: tuple[Setting, ...]) -> Editing:
    """A copy that can be changed."""
    return Editing(ports, list(config.settings), healthy, copy.deepcopy(config.native))


Work = Callable[[Editing, Match, bool], None]


def _forced(editing: Editing, match: Match) -> None:
    if not match["force"] and any(editing.settings[at].admin_up for at in editing.chosen):
        raise RefusedError(NEEDS_FORCE)


def _mtu(editing: Editing, match: Match, no: bool) -> None:
    _forced(editing, match)
    value = _DEFAULT_MTU if no else int(match["n"])
    if not 1500 <= value <= 9216:
        raise RefusedError("% Invalid MTU: 1500 to 9216")
    editing.each(lambda *_: {"mtu": value})


def _speed(editing: Editing, match: Match, no: bool) -> None:
    _forced(editing, match)
    gbps = None if no or match["g"] == "auto" else int(match["g"][:-1])

    def work(setting: Setting, healthy: Setting) -> dict[str, Any]:
        del setting
        speed = healthy.speed_mbps if gbps is None else gbps * 1000
        return {"speed_mbps": speed, "speed_asked_mbps": 0, "autonegotiation": gbps is None}

    editing.each(work)


def _fec(editing: Editing, match: Match, no: bool) -> None:
    _forced(editing, match)
    editing.each(lambda _, healthy: {"fec_asked": healthy.fec_asked if no else _FEC[match["kind"]]})


def _pause(editing: Editing, match: Match, no: bool) -> None:
    _forced(editing, match)
    name = "pause_rx" if match["way"] == "receive" else "pause_tx"
    value = not no and match["state"] == "on"
    editing.each(lambda *_: {name: value})


def _trust(editing: Editing, match: Match, no: bool) -> None:
    value = "pcp" if no else _TRUST[match["what"]]
    editing.each(lambda *_: {"trust": value})


def _dscp(editing: Editing, match: Match, no: bool) -> None:
    code = int(match["code"])
    if code > 63:
        raise RefusedError("% Invalid DSCP: 0 to 63")

    def work(setting: Setting, healthy: Setting) -> dict[str, Any]:
        del healthy
        found = list(setting.dscp_class)
        found[code] = code // 8 if no else int(match["n"])
        return {"dscp_class": tuple(found)}

    editing.each(work)


def _mark(editing: Editing, match: Match, no: bool) -> None:
    queue = int(match["tc"])

    def work(setting: Setting, healthy: Setting) -> dict[str, Any]:
        del healthy
        found = {number: one for number, one in setting.marking.items() if number != queue}
        if not no:
            kind = match["kind"]
            found[queue] = Marking(int(match["low"]) * _KB, int(match["high"]) * _KB, 100,
                                   ecn=kind != "red", enabled=kind != "ecn")  # fmt: skip
        return {"marking": {number: found[number] for number in sorted(found)}}

    editing.each(work)


def _ets(editing: Editing, match: Match, no: bool) -> None:
    queue = int(match["tc"])

    def work(setting: Setting, healthy: Setting) -> dict[str, Any]:
        usual = healthy.schedulers.get(queue)
        made = usual if no else int(match["w"] or 0)
        found = {number: one for number, one in setting.schedulers.items() if number != queue}
        found |= {} if made is None else {queue: made}
        return {"schedulers": {number: found[number] for number in sorted(found)}}

    editing.each(work)


def _pfc_mode(editing: Editing, match: Match, no: bool) -> None:
    _forced(editing, match)
    names = {editing.ports[at] for at in editing.chosen}
    is_on = not no and match["state"] == "on"
    editing.native["on"] = editing.native["on"] | names if is_on else editing.native["on"] - names


def _lldp(editing: Editing, match: Match, no: bool) -> None:
    del match
    editing.each(lambda *_: {"lldp": not no})


def _shutdown(editing: Editing, match: Match, no: bool) -> None:
    del match
    editing.each(lambda *_: {"admin_up": no})


def _enable_pfc(editing: Editing, match: Match, no: bool) -> None:
    del match
    editing.native["enabled"] = not no


def _priority(editing: Editing, match: Match, no: bool) -> None:
    known, one = editing.native["priorities"], {int(match["n"])}
    editing.native["priorities"] = known - one if no or match["state"] == "disable" else known | one


_FORCE = "(?P<force> force)?"
_TC = "traffic-class (?P<tc>[0-7])"
_MARKS = (
    f"{_TC} congestion-control (?P<kind>ecn|red|both) minimum-absolute (?P<low>[0-9]{{1,7}}) "
    "maximum-absolute (?P<high>[0-9]{1,7})"
)
_TO_PORTS: tuple[tuple[str, Work, str], ...] = (
    (f"mtu (?P<n>[0-9]{{1,5}}){_FORCE}", _mtu, f"mtu{_FORCE}"),
    (f"speed (?P<g>auto|(?:10|25|40|50|100|200)G){_FORCE}", _speed, f"speed{_FORCE}"),
    (f"fec-override (?P<kind>rs-fec|fc-fec|no-fec){_FORCE}", _fec, f"fec-override{_FORCE}"),
    (f"flowcontrol (?P<way>receive|send) (?P<state>on|off){_FORCE}", _pause,
     f"flowcontrol (?P<way>receive|send){_FORCE}"),
    ("qos trust (?P<what>L2|L3|both|port)", _trust, "qos trust"),
    ("qos map dscp (?P<code>[0-9]{1,2}) to switch-priority (?P<n>[0-7])", _dscp,
     "qos map dscp (?P<code>[0-9]{1,2})( to)?( switch-priority)?( [0-7])?"),
    (_MARKS, _mark, f"{_TC} congestion-control.*"),
    (f"{_TC} dcb ets (?:strict|wrr (?P<w>100|[1-9][0-9]?))", _ets, f"{_TC} dcb ets.*"),
    (f"dcb priority-flow-control mode (?P<state>on|off){_FORCE}", _pfc_mode,
     f"dcb priority-flow-control mode( on)?{_FORCE}"),
    ("lldp (?:transmit|receive)", _lldp, ""),
    ("shutdown", _shutdown, ""),
)  # fmt: skip
_GLOBAL: tuple[tuple[str, Work, str], ...] = (
    (f"dcb priority-flow-control enable{_FORCE}", _enable_pfc, ""),
    ("dcb priority-flow-control priority (?P<n>[0-7]) (?P<state>enable|disable)", _priority,
     "dcb priority-flow-control priority (?P<n>[0-7])( enable)?"),
    ("lldp", _lldp, ""),
)  # fmt: skip
_COMPILED = {
    at: [(re.compile(plain, re.ASCII), work, re.compile(no or plain, re.ASCII))
         for plain, work, no in rows]
    for at, rows in ((True, _TO_PORTS), (False, _GLOBAL))
}  # fmt: skip


def take(editing: Editing, text: str, *, no: bool, at_ports: bool) -> bool:
    """Do what a command says; false where none looks so."""
    for plain, work, negated in _COMPILED[at_ports]:
        match = (negated if no else plain).fullmatch(text)
        if match is not None:
            work(editing, match, no)
            return True
    return False


def running_config(config: Config, ports: list[str]) -> str:
    """`show running-config`: commands that make a switch so."""
    native = config.native
    lines = ["##", '## Running database "running"', "##"]
    lines += ["dcb priority-flow-control enable force"] if native["enabled"] else []
    lines += [f"dcb priority-flow-control priority {one} enable"
              for one in sorted(native["priorities"])]  # fmt: skip
    lines += ["lldp"] if any(one.lldp for one in config.settings) else []
    for name, one in zip(ports, config.settings, strict=True):
        place = f"interface ethernet {name.removeprefix('Eth')}"
        lines.append(f"{place} mtu {one.mtu} force")
        if name in native["on"]:
            lines.append(f"{place} dcb priority-flow-control mode on force")
        lines += [f"{place} traffic-class {queue} congestion-control ecn minimum-absolute "
                  f"{marking.minimum_bytes // _KB} maximum-absolute {marking.maximum_bytes // _KB}"
                  for queue, marking in one.marking.items()]  # fmt: skip
    return "\n".join(lines) + "\n"
