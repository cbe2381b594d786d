"""Onyx (MLNX-OS): texts, and JSON where the samples have no text.

`show ip route` is laid out after the manual's table: VRF Name, then Destination, Mask, Gateway,
Interface, Source and AD/M; further ways of equal cost stand in lines of their own.
"""

import json
from collections.abc import Iterator
from ipaddress import ip_network
from typing import Any

from lab.fleet.fabric.cumulus import usual
from lab.fleet.fabric.hearing import heard_by, system_description
from lab.fleet.fabric.model import Fabric, Route, Switch
from lab.fleet.fabric.setting import CNP_CLASS, DATA_CLASS, Marking, Setting, count

_EIGHT = range(8)
_TRUST = {"dscp": "L3", "pcp": "L2", "both": "both", "port": "port"}
_FEC = {"rs": "rs-fec", "fc": "fc-fec", "none": "no-fec", "auto": "auto"}
_PORT_TYPES = {"mac": "MAC Address (3)", "ifname": "Interface Name (5)",
               "local": "Locally assigned (7)"}  # fmt: skip
_RULE = "-" * 58
_TABLE_RULE = "-" * 95
_USED_RULE = "-" * 46
_KB = 1000
_MAC_CHASSIS = "chassis id subtype: Mac Address (4)"
_POOL_SHAPE = "{:<12} {:<10} {:<13} {:<19} {:<15} {:<10} {}"
_POOL_HEADINGS = (
    _POOL_SHAPE.format(
        "Traffic", "Type", "Memory", "Switch", "Memory actual", "Usage", "Max Usage"
    ),
    _POOL_SHAPE.format("Pool", "", "[%]", "Priorities", "", "", "").rstrip(),
)


def _ports(switch: Switch) -> list[tuple[int, str, Setting]]:
    names = (port.name for port in switch.ports)
    return [(at, *one) for at, one in enumerate(zip(names, switch.settings, strict=True))]


def _numbers(values: Any) -> str:
    return " ".join(map(str, values))


def pfc(fabric: Fabric, switch: Switch) -> str:
    """show dcb priority-flow-control: the priorities are the whole switch's."""
    enabled = sorted({priority for one in switch.settings for priority in one.pfc})
    lines = [
        f"PFC: {'enabled' if enabled else 'disabled'}",
        f"Priority Enabled List: {_numbers(enabled)}".rstrip(),
        f"Priority Disabled List: {_numbers(p for p in _EIGHT if p not in enabled)}",
        "",
        _RULE,
        "Interface      PFC admin          PFC oper",
        _RULE,
    ]
    for at, name, setting in _ports(switch):
        in_force = bool(setting.pfc) and fabric.is_up(switch, at)
        admin, oper = "On" if setting.pfc else "Off", "Enabled" if in_force else "Disabled"
        lines.append(f"{name:<14} {admin:<18} {oper}")
    return "\n".join(lines) + "\n"


def _pool(name: str, kind: str, priorities: str, used: tuple[str, str]) -> str:
    return (
        f"{name:<13} {kind:<10} {'auto':<13} {priorities:<19} {'13.9M':<15} {used[0]:<10} {used[1]}"
    )


def roce(setting: Setting) -> str:
    """show roce: what the whole switch is set to."""
    marking = setting.marking.get(DATA_CLASS) or Marking(150_000, 1_500_000, 100)
    lossy = ", ".join(str(p) for p in _EIGHT if p not in setting.lossless_groups)
    lossless = ", ".join(map(str, setting.lossless_groups))
    served = {
        queue: "Strict" if setting.schedulers.get(queue) == 0 else
        f"WRR {setting.schedulers.get(queue, 50)}%"
        for queue in (DATA_CLASS, CNP_CLASS)
    }  # fmt: skip
    used = [
        f"{p:<18} {setting.class_queue[p]:<6} {name:<14} {served[setting.class_queue[p]]}"
        for p, name in ((DATA_CLASS, "RoCE"), (CNP_CLASS, "CNP"))
        if setting.class_queue[p] in served
    ]
    lines = [
        f"RoCE mode      : {'lossless' if setting.pfc else 'lossy'}", "LLDP           : enabled",
        f"Port trust mode: {_TRUST[setting.trust]}", "",
        "Application TLV:", "  Selector: udp", "  Protocol: 4791", f"  Priority: {DATA_CLASS}", "",
        "Port congestion-control:", "  Mode: ecn, absolute",
        f"  Min : {marking.minimum_bytes // _KB}", f"  Max : {marking.maximum_bytes // _KB}", "",
        f"PFC              : {'enabled' if setting.pfc else 'disabled'}",
        *(f"switch-priority {p}: enabled" for p in setting.pfc), "",
        "RoCE used TCs:", _USED_RULE, "Switch-Priority    TC     Application    ETS", _USED_RULE,
        *used, "",
        "RoCE buffer pools:", _TABLE_RULE,
        *_POOL_HEADINGS, _TABLE_RULE,
        _pool("lossy-default", "lossy", lossy, ("0", "5.4M")),
        _pool("roce-reserved", "lossless", lossless, ("1.1M", "9.8M")), "",
        "Exception list:", "N/A",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def congestion(name: str, setting: Setting) -> str:
    """show interfaces ethernet <port> congestion-control."""
    lines = [f"Interface ethernet: {name.removeprefix('Eth')}",
             f"ECN marked packets: {count(setting, 'ecn_marked')}", ""]  # fmt: skip
    for queue in _EIGHT:
        marking = setting.marking.get(queue)
        lines.append(f"TC-{queue}")
        if marking is None:
            lines += ["  Mode               : none", ""]
            continue
        mode = "both" if marking.ecn and marking.enabled else "ECN" if marking.ecn else "RED"
        lines += [
            f"  Mode               : {mode}",
            "  Threshold mode     : absolute",
            f"  Minimum threshold  : {marking.minimum_bytes // _KB} KB",
            f"  Maximum threshold  : {marking.maximum_bytes // _KB} KB",
            f"  RED dropped packets: {count(setting, 'red_drops', queue)}",
            "",
        ]
    return "\n".join(lines[:-1]) + "\n"


def interfaces(fabric: Fabric, switch: Switch) -> str:
    """show interfaces ethernet."""
    lines = []
    for at, name, setting in _ports(switch):
        up = fabric.is_up(switch, at)
        pauses = f"{'on' if setting.pause_rx else 'off'}/{'on' if setting.pause_tx else 'off'}"
        fields = {
            "Admin state": "Enabled" if setting.admin_up else "Disabled",
            "Operational state": "Up" if up else "Down",
            "Last change in operational status": "1d and 02:03:04 ago (3 oper change)",
            "Description": "N/A",
            "Mac address": switch.port_mac(at).upper(),
            "MTU": f"{setting.mtu} bytes (Maximum packet size {setting.mtu + 22} bytes)",
            "Fec": _FEC[setting.fec if up else setting.fec_asked],
            "Flow-control": f"receive {pauses.partition('/')[0]} send {pauses.partition('/')[2]}",
            "Actual speed": f"{setting.speed_mbps // 1000} Gbps" if up else "Unknown",
            "Negotiation": "Auto-Negotiation" if setting.autonegotiation else "No-Negotiation",
            "Switchport mode": "N/A",
        }
        lines += [f"{name}:", *(f"  {key:<33}: {value}" for key, value in fields.items())]
        for way, title in (("rx", "Rx"), ("tx", "Tx")):
            counts = {
                "packets": f"{way}_ok", "bytes": f"{way}_bytes",
                "error packets": f"{way}_errors", "discard packets": f"{way}_drops",
                "pause packets": f"pause_{way}",
            }  # fmt: skip
            lines.append(f"{title}:")
            lines += [f"  {count(setting, key):<21} {words}" for words, key in counts.items()]
    return "\n".join(lines) + "\n"


def lldp(fabric: Fabric, switch: Switch) -> str:
    """show lldp interfaces ethernet remote."""
    lines = []
    for at, name, _ in _ports(switch):
        heard = heard_by(fabric, switch, at)
        lines.append(name)
        if not heard:
            lines += ["  Remote chassis id          : Not Advertised",
                      "  Remote port-id             : Not Advertised"]  # fmt: skip
        for number, one in enumerate(heard, 1):
            kind = _PORT_TYPES[one.port_type]
            description = one.port_description or "Not Advertised"
            lines += [
                f"  Remote Index               : {number}",
                f"  Remote chassis id          : {one.chassis} ; {_MAC_CHASSIS}",
                f"  Remote port-id             : {one.port_id} ; port id subtype: {kind}",
                f"  Remote port description    : {description}",
                f"  Remote system name         : {one.system}",
            ]
    return "\n".join(lines) + "\n"


def sorting(switch: Switch) -> str:
    """show qos interface ethernet: the maps of each port, with json-print."""
    found = []
    for _, name, setting in _ports(switch):
        to_priority = {
            f"{p}(0)": [{
                "switch-priority": str(p),
                "DSCP": _numbers(d for d in range(64) if setting.dscp_class[d] == p) or "N/A",
            }]
            for p in _EIGHT
        }  # fmt: skip
        to_class = {
            str(p): [{"PCP(DEI)": f"{p}(0)", "TC": str(setting.class_queue[p]), "DSCP": str(p * 8)}]
            for p in _EIGHT
        }
        found.append({name: [
            {"Trust mode": _TRUST[setting.trust], "Default switch-priority": "0"},
            {"PCP(DEI); DSCP to switch-priority mapping": [to_priority]},
            {
                "PCP(DEI); DSCP rewrite mapping "
                "(switch-priority to PCP(DEI); DSCP; traffic-class)": [
                    {"Egress Interface": name}, to_class,
                ]
            },
        ]})  # fmt: skip
    return json.dumps(found, indent=4) + "\n"


def scheduling(switch: Switch) -> str:
    """show dcb ets interface ethernet, with json-print."""
    found = []
    for _, name, setting in _ports(switch):
        classes = {
            str(queue): [{
                "S.Mode": "WRR" if weight else "Strict", "W(%)": str(weight), "W": str(weight),
            }]
            for queue, weight in setting.schedulers.items()
        }  # fmt: skip
        found.append({name: [{"Multicast unaware mapping": "disabled"},
                             {"ETS per TC": [classes]}]})  # fmt: skip
    return json.dumps(found, indent=4) + "\n"


def local(switch: Switch) -> str:
    """show lldp local, with json-print."""
    said = {
        "header": "Local global configuration",
        "Chassis sub type": "Mac Address",
        "Chassis id": switch.chassis,
        "System Name": switch.name,
        "System Description": f"{system_description(switch)}",
    }
    state = "enabled" if any(one.lldp for one in switch.settings) else "disabled"
    return json.dumps([{"LLDP": state}, said], indent=4) + "\n"


def version(switch: Switch) -> str:
    """show version."""
    return (
        f"Product name:      Onyx\nProduct release:   {switch.release}\n"
        "Product model:     x86onie\n"
        f"Host ID:           {switch.chassis.replace(':', '').upper()}\n"
        f"System serial num: {switch.serial}\n"
    )


def routes_of(switch: Switch, routes: list[Route]) -> str:
    """show ip route."""
    shape = "  {:<17} {:<17} {:<8} {:<17} {:<16} {:<10} {}"
    headings = ("Destination", "Mask", "Flag", "Gateway", "Interface", "Source", "AD/M")
    rule = f"  {'-' * 102}"
    lines = ["VRF Name default:", rule, shape.format(*headings), rule]
    for route in routes:
        network = ip_network(route.prefix)
        is_connected = route.protocol == "connected"
        source, cost = ("direct", "0/0") if is_connected else ("bgp", "20/0")
        place = str(network.network_address) if network.prefixlen else "default"
        head = (place, str(network.netmask))
        for port, hop in zip(route.ports, route.next_hops, strict=True):
            name = switch.ports[port].name.lower()
            lines.append(shape.format(*head, "", hop or "0.0.0.0", name, source, cost))
            head = ("", "")
    return "\n".join(lines) + "\n"


def answers(fabric: Fabric, switch: Switch, routes: list[Route]) -> Iterator[tuple[str, str, str]]:
    """Every command."""
    said = {
        "show version": version(switch),
        "show lldp local": local(switch),
        "show interfaces ethernet": interfaces(fabric, switch),
        "show lldp interfaces ethernet remote": lldp(fabric, switch),
        "show dcb priority-flow-control": pfc(fabric, switch),
        "show roce": roce(usual(switch)),
        "show qos interface ethernet": sorting(switch),
        "show dcb ets interface ethernet": scheduling(switch),
        "show interfaces ethernet congestion-control": "\n".join(
            congestion(name, setting) for _, name, setting in _ports(switch)
        ),
    }
    for command, text in said.items():
        yield "onyx_show", command, text
    yield "onyx_route", "show ip route", routes_of(switch, routes)
