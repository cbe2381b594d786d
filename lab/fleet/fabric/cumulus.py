"""Cumulus Linux: parts of NVUE's tree, as `nv show ... -o json` prints them.

`nv show qos roce` speaks of the whole switch. A port that differs from it says so in its own part
of `nv show interface`; a port that does not has its link, PFC and watchdog there.
"""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from lab.fleet.fabric.frr import route_json
from lab.fleet.fabric.hearing import heard_by
from lab.fleet.fabric.model import Fabric, Route, Switch
from lab.fleet.fabric.setting import DATA_CLASS, PLAIN, Marking, Setting, Software, count

Tree = dict[str, Any]
_EIGHT = range(8)
_TRUST = {"dscp": "dscp", "pcp": "pcp", "both": "pcp,dscp", "port": "none"}
_TRUST_OF_PORT = {"dscp": "l3", "pcp": "l2", "both": "both", "port": "port"}
_FEC = {"rs": "rs", "fc": "baser", "none": "off"}
_ON = {True: "enabled", False: "disabled"}
_DECIMALS = 2
_ONE_POOL = "lossless-single-ipool"
# They print `enable on`, and the length of cables beside PFC (Cumulus Linux guides 5.0 to 5.11).
_OLD_RELEASES = tuple(f"5.{number}." for number in range(12))


def _size(value: int) -> str:
    """NVUE prints two digits behind the point: 146.48 KB, 1.43 MB."""
    if value < 1024**2:
        return f"{value / 1024:.{_DECIMALS}f} KB"
    return f"{value / 1024**2:.{_DECIMALS}f} MB"


def _joined(numbers: Any) -> str:
    return ",".join(map(str, numbers))


def usual(switch: Switch) -> Setting:
    """What the whole switch is set to: what most of its ports are."""
    used = [one for one in switch.settings if one.admin_up] or list(switch.settings)
    return Counter(used).most_common(1)[0][0]


def _marks(marking: dict[int, Marking]) -> Tree:
    if not marking:
        return {}
    one = marking.get(DATA_CLASS) or next(iter(marking.values()))
    return {
        "congestion-mode": "ECN",
        "enabled-tc": _joined(sorted(queue for queue, m in marking.items() if m.ecn)),
        "max-threshold": _size(one.maximum_bytes),
        "min-threshold": _size(one.minimum_bytes),
        "probability": str(one.probability_percent),
    }


def _pool(mode: str, name: str, size: str, priorities: str, classes: str) -> Tree:
    return {"mode": mode, "name": name, "size": size, "switch-priorities": priorities,
            "traffic-class": classes}  # fmt: skip


def _pools(setting: Setting, mode: str) -> Tree:
    lossless = setting.lossless_groups
    common = mode == _ONE_POOL or not lossless
    shared = list(_EIGHT) if common else [p for p in _EIGHT if p not in lossless]
    lossy = [p for p in _EIGHT if p not in lossless]
    classes = sorted({setting.class_queue[p] for p in lossy})
    own = sorted({setting.class_queue[p] for p in lossless})
    share = "100%" if common else "50%"
    pools = [_pool("Dynamic", "lossy-default-ingress", share, _joined(shared), "-")]
    if not common:
        pools.append(_pool("Dynamic", "roce-reserved-ingress", "50%", _joined(lossless), "-"))
    share = "50%" if lossless else "100%"
    pools.append(_pool("Dynamic", "lossy-default-egress", share, "-", _joined(classes)))
    if lossless:
        pools.append(_pool("Dynamic", "roce-reserved-egress", "inf", "-", _joined(own)))
    return {str(number): pool for number, pool in enumerate(pools)}


def _weight(setting: Setting, queue: int) -> str:
    weight = setting.schedulers.get(queue, 50)
    return f"DWRR-{weight}%" if weight else "strict-priority"


def _mode(setting: Setting, software: Software) -> str:
    """A fault may have taken PFC away from a lossless switch."""
    is_lossless = bool(setting.pfc)
    plain = "lossless" if is_lossless else "lossy"
    told = software.roce_mode
    return told if told and told.startswith("lossless") == is_lossless else plain


def roce(setting: Setting, software: Software = PLAIN) -> Tree:
    """nv show qos roce; `{}` where RoCE was never set."""
    if software.roce_mode == "none":
        return {}
    is_lossless, mode = bool(setting.pfc), _mode(setting, software)
    is_old = software.release.startswith(_OLD_RELEASES)
    pfc = {
        **({} if is_old else {"cable-length": f"{setting.cable_m:g}"}),
        "pfc-priority": _joined(setting.pfc) or "-",
        "rx-enabled": _ON[is_lossless],
        "tx-enabled": _ON[is_lossless],
    }
    priorities = {
        str(p): {
            "dscp": _joined(d for d in range(64) if setting.dscp_class[d] == p),
            "pcp": str(p),
            "switch-prio": str(p),
        }
        for p in _EIGHT
    }
    classes = {
        str(p): {
            "scheduler-weight": _weight(setting, setting.class_queue[p]),
            "switch-prio": str(p),
            "traffic-class": str(setting.class_queue[p]),
        }
        for p in _EIGHT
    }
    tlv = {"priority": str(DATA_CLASS), "protocol-id": "4791", "selector": "UDP"}
    return {
        **({"cable-length": f"{setting.cable_m:g}"} if is_old and is_lossless else {}),
        "congestion-control": _marks(dict(setting.marking)),
        "lldp-app-tlv": tlv,
        "mode": mode,
        "pfc": pfc if is_lossless else {"pfc-priority": "-"},
        "pool": _pools(setting, mode),
        "prio-map": priorities,
        **({"enable": "on"} if is_old else {"state": "enabled"}),
        "tc-map": classes,
        "trust": {"trust-mode": _TRUST[setting.trust]},
    }


def _watchdog(setting: Setting) -> Tree:
    status = {
        str(queue): {"status": "OK", "deadlock-count": count(setting, "queue_storms", queue)}
        for queue in setting.watchdog
    }
    return {"state": _ON[bool(setting.watchdog)], "status": status}


def _qos(setting: Setting, whole: Setting) -> Tree:
    """A port's own part; maps only where they are not the switch's."""
    found: Tree = {
        "pfc": {
            "rx": "enable" if setting.pfc else "disable",
            "tx": "enable" if setting.pfc else "disable",
            "switch-priority": {str(priority): {} for priority in setting.pfc},
            "cable-length": setting.cable_m,
        },
        "pfc-watchdog": _watchdog(setting),
    }
    if setting.pause_rx or setting.pause_tx:
        found["link-pause"] = {"rx": "enable" if setting.pause_rx else "disable",
                               "tx": "enable" if setting.pause_tx else "disable"}  # fmt: skip
    if (setting.trust, setting.dscp_class) != (whole.trust, whole.dscp_class):
        found["mapping"] = {
            "port-default-sp": 0,
            "trust": _TRUST_OF_PORT[setting.trust],
            "dscp": {str(d): {"switch-priority": p} for d, p in enumerate(setting.dscp_class)},
        }
    if setting.marking != whole.marking:
        found["congestion-control"] = {"traffic-class": {
            str(queue): _marks_of_class(setting, queue) for queue in _EIGHT
        }}  # fmt: skip
    if setting.schedulers != whole.schedulers:
        found["egress-scheduler"] = {"traffic-class": {
            str(queue): {"mode": "dwrr", "bw-percent": weight} if weight else {"mode": "strict"}
            for queue, weight in setting.schedulers.items()
        }}  # fmt: skip
    return found


def _marks_of_class(setting: Setting, queue: int) -> Tree:
    one = setting.marking.get(queue)
    if one is None:
        return {"ecn": "disable", "red": "disable"}
    return {
        "ecn": "enable" if one.ecn else "disable",
        "red": "enable" if one.enabled else "disable",
        "min-threshold": _size(one.minimum_bytes),
        "max-threshold": _size(one.maximum_bytes),
        "probability": one.probability_percent,
    }


def link(fabric: Fabric, switch: Switch, port: int) -> Tree:
    """The link of a port: one place for what is asked for and what is in force."""
    setting, up = switch.settings[port], fabric.is_up(switch, port)
    state = "up" if up else "down"
    return {
        "admin-status": "up" if setting.admin_up else "down",
        "auto-negotiate": "on" if setting.autonegotiation else "off",
        "duplex": "full",
        "fec": _FEC[setting.fec] if up else "auto",
        "mac-address": switch.port_mac(port),
        "mtu": setting.mtu,
        "oper-status": state,
        "speed": f"{setting.speed_mbps // 1000}G" if up else "auto",
        "state": {state: {}},
        "lanes": str(setting.lanes),
    }


def interfaces(fabric: Fabric, switch: Switch) -> Tree:
    """nv show interface."""
    whole = usual(switch)
    return {
        port.name: {
            "link": link(fabric, switch, number),
            "qos": _qos(setting, whole),
            "type": "swp",
        }
        for number, (port, setting) in enumerate(zip(switch.ports, switch.settings, strict=True))
    }


def _neighbors(fabric: Fabric, switch: Switch, port: int) -> Tree:
    found = {}
    for one in heard_by(fabric, switch, port):
        chassis = {
            "chassis-id": one.chassis,
            "management-address-ipv4": one.management,
            "system-description": one.description,
            "system-name": one.system,
        }
        side = {"description": one.port_description, "name": one.port_id, "ttl": "120",
                "type": one.port_type}  # fmt: skip
        found[one.system] = {
            "age": "66321", "bridge": {"vlan": {}}, "chassis": chassis, "last-update": "7",
            "port": side,
        }  # fmt: skip
    return {"neighbor": found} if found else {}


def lldp(fabric: Fabric, switch: Switch) -> Tree:
    """nv show interface lldp."""
    return {
        port.name: {"lldp": _neighbors(fabric, switch, number)}
        for number, port in enumerate(switch.ports)
    }


def counters(setting: Setting) -> Tree:
    """nv show interface <port> counters."""
    stats = {
        str(priority): {
            f"{way}-pause-{kind}": count(setting, f"pfc_{way}{suffix}", priority)
            for way in ("rx", "tx")
            for kind, suffix in (("duration", "_duration"), ("frames", ""))
        }
        for priority in _EIGHT
    }
    queues = {
        str(queue): {
            "tx-frames": count(setting, "queue_packets", queue),
            "tx-bytes": count(setting, "queue_bytes", queue),
            "tx-uc-buffer-discards": count(setting, "queue_drops", queue),
            "wred-discards": count(setting, "red_drops", queue),
        }
        for queue in sorted({*setting.class_queue})
    }
    changes = count(setting, "link_changes")
    drops = {way: count(setting, f"{way}_drops") for way in ("rx", "tx")}
    return {
        "carrier-transitions": changes,
        "carrier-up-count": changes - changes // 2,
        "carrier-down-count": changes // 2,
        "drop-counters": {
            "rx": {"acl-drops": 0, "buffer-drops": count(setting, "rx_buffer_drops"),
                   "total-drops": drops["rx"]},
            "tx": {"non-queue-drops": 0, "queue-drops": count(setting, "tx_queue_drops"),
                   "total-drops": drops["tx"]},
        },
        "error-counters": {
            "rx": {"fcs-errors": count(setting, "fcs_errors"),
                   "symbol-errors": count(setting, "symbol_errors"), "oversize-errors": 0,
                   "total-errors": count(setting, "rx_errors")},
            "tx": {"total-errors": count(setting, "tx_errors")},
        },
        "netstat": {
            "rx-bytes": count(setting, "rx_bytes"), "rx-pkts": count(setting, "rx_ok"),
            "tx-bytes": count(setting, "tx_bytes"), "tx-pkts": count(setting, "tx_ok"),
            "rx-drop": drops["rx"], "tx-drop": drops["tx"],
        },
        "qos": {
            "pfc-stats": stats,
            "egress-queue-stats": queues,
            "port-stats": {"rx": {"ecn-marked-packets": "n/a"},
                           "tx": {"ecn-marked-packets": count(setting, "ecn_marked")}},
        },
    }  # fmt: skip


def platform(switch: Switch) -> Tree:
    """nv show platform."""
    return {
        "system-mac": switch.chassis,
        "manufacturer": "Mellanox",
        "product-name": switch.model.name,
        "serial-number": switch.serial,
        "asic-model": f"Spectrum-{switch.model.spectrum}",
    }


def _text(tree: Tree) -> str:
    return json.dumps(tree, indent=4) + "\n"


def answers(fabric: Fabric, switch: Switch, routes: list[Route]) -> Iterator[tuple[str, str, str]]:
    """Every command; a port that is down has no counters here."""
    system = {"hostname": switch.name, "build": f"Cumulus Linux {switch.release}",
              "product-name": "Cumulus Linux", "product-release": switch.release}  # fmt: skip
    yield "nvue_show", "nv show system", _text(system)
    yield "nvue_show", "nv show platform", _text(platform(switch))
    yield "nvue_show", "nv show interface", _text(interfaces(fabric, switch))
    yield "nvue_show", "nv show interface lldp", _text(lldp(fabric, switch))
    # One cable length for all ports: the longest that there is.
    whole = replace(usual(switch), cable_m=max(one.cable_m for one in switch.settings))
    yield "nvue_show", "nv show qos roce", _text(roce(whole, switch.software))
    counted = {
        port.name: {"counters": counters(switch.settings[number])}
        for number, port in enumerate(switch.ports)
        if fabric.is_up(switch, number)
    }
    yield "nvue_show", "nv show interface counters", _text(counted)
    yield "nvue_route", "show ip route vrf all", route_json(switch, routes)
