"""Arista EOS: `show ... | json`, and the one text of `show qos interfaces`.

`show ip route` as eAPI has it: vrfs, routes by prefix, routeType, vias with interface and
nexthopAddr. `show qos interfaces` as the EOS User Manual and a published output have it: neither
samples nor captures hold one.
"""

import json
from collections.abc import Iterator
from typing import Any

from lab.fleet.fabric.hearing import heard_by
from lab.fleet.fabric.model import Fabric, Route, Switch
from lab.fleet.fabric.setting import Setting, count

Tree = dict[str, Any]
_EIGHT = range(8)
_FEC = {"rs": "reedSolomon544", "fc": "fireCode", "none": "disabled"}
_ID_TYPES = {"mac": "macAddress", "ifname": "interfaceName", "local": "locallyAssigned"}
_ROUTE_TYPES = {"bgp": "eBGP", "connected": "connected"}
_RATES = {"updateInterval": 300.0, "inBitsRate": 0.0, "inPktsRate": 0.0, "outBitsRate": 0.0,
          "outPktsRate": 0.0}  # fmt: skip
_SEEN = 1741084800.1
QOS_TEXT = "show qos interfaces"


def _ports(switch: Switch) -> list[tuple[int, str, Setting]]:
    names = (port.name for port in switch.ports)
    return [(at, *one) for at, one in enumerate(zip(names, switch.settings, strict=True))]


def _status(fabric: Fabric, switch: Switch, port: int) -> str:
    if not switch.settings[port].admin_up:
        return "disabled"
    return "connected" if fabric.is_up(switch, port) else "notconnect"


def port_counters(setting: Setting) -> Tree:
    """interfaceCounters of `show interfaces`."""
    received, sent = count(setting, "rx_ok"), count(setting, "tx_ok")
    return {
        "inOctets": count(setting, "rx_bytes"), "inUcastPkts": received,
        "inMulticastPkts": 0, "inBroadcastPkts": 0, "inDiscards": count(setting, "rx_drops"),
        "inTotalPkts": received, "outOctets": count(setting, "tx_bytes"), "outUcastPkts": sent,
        "outMulticastPkts": 0, "outBroadcastPkts": 0, "outDiscards": count(setting, "tx_drops"),
        "outTotalPkts": sent, "linkStatusChanges": count(setting, "link_changes"),
        "totalInErrors": count(setting, "rx_errors"),
        "inputErrorsDetail": {
            "runtFrames": 0, "giantFrames": 0, "fcsErrors": count(setting, "fcs_errors"),
            "alignmentErrors": 0, "symbolErrors": count(setting, "symbol_errors"),
            "rxPause": count(setting, "pause_rx"),
        },
        "totalOutErrors": count(setting, "tx_errors"),
        "outputErrorsDetail": {
            "collisions": 0, "lateCollisions": 0, "deferredTransmissions": 0,
            "txPause": count(setting, "pause_tx"),
        },
        "counterRefreshTime": _SEEN,
    }  # fmt: skip


def interfaces(fabric: Fabric, switch: Switch) -> Tree:
    """show interfaces."""
    found: Tree = {}
    for at, name, setting in _ports(switch):
        up, mac = fabric.is_up(switch, at), switch.port_mac(at)
        found[name] = {
            "name": name,
            "forwardingModel": "routed",
            "lineProtocolStatus": "up" if up else "down",
            "interfaceStatus": _status(fabric, switch, at),
            "hardware": "ethernet",
            "interfaceAddress": [],
            "physicalAddress": mac,
            "burnedInAddress": mac,
            "description": "",
            "bandwidth": setting.speed_mbps * 1_000_000 if up else 0,
            "mtu": setting.mtu,
            "l3MtuConfigured": True,
            "lastStatusChangeTimestamp": 1741081200.5,
            "interfaceStatistics": _RATES,
            "interfaceCounters": port_counters(setting),
            "duplex": "duplexFull",
            "autoNegotiate": "on" if setting.autonegotiation else "off",
            "loopbackMode": "loopbackNone",
            "lanes": setting.lanes,
        }
    return {"interfaces": found}


def interface_status(fabric: Fabric, switch: Switch) -> Tree:
    """show interfaces status."""
    found = {}
    for at, name, setting in _ports(switch):
        up = fabric.is_up(switch, at)
        found[name] = {
            "description": "",
            "linkStatus": _status(fabric, switch, at),
            "vlanInformation": {"interfaceMode": "routed", "vlanExplanation": "routed"},
            "bandwidth": setting.speed_mbps * 1_000_000 if up else 0,
            "autoNegotiateActive": setting.autonegotiation,
            "duplex": "duplexFull",
            "interfaceType": f"{setting.speed_mbps // 1000}GBASE-DR4" if up else "Not Present",
            "lineProtocolStatus": "up" if up else "down",
        }
    return {"interfaceStatuses": found}


def error_correction(fabric: Fabric, switch: Switch) -> Tree:
    """show interfaces error-correction: what is in force."""
    return {"interfaceErrCorrStatuses": {
        name: {"errCorrEncodingStatus": _FEC[setting.fec]}
        for at, name, setting in _ports(switch)
        if fabric.is_up(switch, at)
    }}  # fmt: skip


def _dotted(mac: str) -> str:
    digits = mac.replace(":", "")
    return ".".join(digits[at : at + 4] for at in (0, 4, 8))


def _neighbor(one: Any) -> Tree:
    # EOS puts names into quotes of their own, and writes addresses with dots.
    port_id = _dotted(one.port_id) if one.port_type == "mac" else f'"{one.port_id}"'
    address = {"addressType": "ipv4", "address": one.management, "interfaceNumType": "ifIndex",
               "interfaceNum": 2, "oidString": ""}  # fmt: skip
    return {
        "chassisIdType": "macAddress",
        "chassisId": _dotted(one.chassis),
        "systemName": one.system,
        "systemDescription": one.description,
        "systemCapabilities": {
            "bridge": not one.is_host, "router": not one.is_host, "stationOnly": one.is_host,
        },
        "neighborInterfaceInfo": {
            "interfaceIdType": _ID_TYPES[one.port_type],
            "interfaceId": port_id,
            "interfaceDescription": one.port_description,
            "unknownTlvs": [],
            "maxFrameSize": 9216,
        },
        "managementAddresses": [address] if one.management else [],
        "ttl": 120,
        "neighborDiscoveryTime": 1741070001.2,
        "lastChangeTime": 1741070001.2,
        "lastContactTime": 1741084790.3,
    }  # fmt: skip


def lldp(fabric: Fabric, switch: Switch) -> Tree:
    """show lldp neighbors detail."""
    return {"lldpNeighbors": {
        name: {"lldpNeighborInfo": [_neighbor(one) for one in heard_by(fabric, switch, at)]}
        for at, name, _ in _ports(switch)
    }}  # fmt: skip


def qos_maps(setting: Setting) -> Tree:
    """show qos maps: one map for the whole switch."""
    alike = {str(number): number for number in _EIGHT}
    return {
        "numTcSupported": 8,
        "numTxQueueSupported": 8,
        "cosToTcMap": alike,
        "dscpToTcMap": {str(dscp): one for dscp, one in enumerate(setting.dscp_class)},
        "tcToCosMap": alike,
        "tcToDscpMap": {str(number): number * 8 for number in _EIGHT},
        "tcToTxQueueMap": {
            str(number): {"unicastTxQueueId": queue, "multicastTxQueueId": queue}
            for number, queue in enumerate(setting.class_queue)
        },
        "cosRewriteEnabled": False,
        "dscpRewriteEnabled": False,
    }


def pfc_status(fabric: Fabric, switch: Switch) -> Tree:
    """show priority-flow-control; the watchdog is the whole switch's."""
    found = {}
    for at, name, setting in _ports(switch):
        found[name] = {
            "active": bool(setting.pfc) and fabric.is_up(switch, at),
            "enabled": True,
            "note": "" if setting.pfc else "PFC not configured",
            "priorities": list(setting.pfc),
        }
    watched = [setting for setting in switch.settings if setting.watchdog]
    timeout, recovery = (watched or switch.settings)[0].watchdog_ms
    return {
        "interfaceStatuses": found,
        "pfcDlbOverrideConfigured": False,
        "pfcOperState": {},
        "watchdogAction": (watched or switch.settings)[0].watchdog_action,
        "watchdogTimeout": timeout / 1000 if watched else 0.0,
        "watchdogRecoveryTime": recovery / 1000,
        "watchdogPollingInterval": 0.1,
    }


def _of_all(setting: Setting, name: str) -> int:
    return sum(count(setting, name, number) for number in _EIGHT)


def pfc_counters(switch: Switch) -> Tree:
    """show priority-flow-control counters: of the port."""
    return {"interfaceCounters": {
        name: {"rxFrames": _of_all(setting, "pfc_rx"), "txFrames": _of_all(setting, "pfc_tx")}
        for _, name, setting in _ports(switch)
    }}  # fmt: skip


def queue_drops(switch: Switch) -> Tree:
    """show interfaces counters queue drops."""
    return {"interfaces": {
        name: {"trafficClasses": {
            f"TC{number}": {
                "ingressVoqCounters": {
                    "countersSum": {"droppedPackets": count(setting, "voq_drops", number)}
                },
                "egressQueueCounters": {
                    "countersSum": {"droppedPackets": count(setting, "queue_drops", number)}
                },
            }
            for number in _EIGHT
        }}
        for _, name, setting in _ports(switch)
    }}  # fmt: skip


def marks(switch: Switch) -> Tree:
    """show qos interfaces ecn counters queue."""
    return {"intfQueueCounters": {
        name: {"queueCounters": {
            str(queue): str(count(setting, "ecn_marked", queue))
            if queue in setting.marking else "-"
            for queue in _EIGHT
        }}
        for _, name, setting in _ports(switch)
    }}  # fmt: skip


_TRUST = {"dscp": "DSCP", "pcp": "COS", "port": "UNTRUSTED"}
_QUEUES_HEAD = """
   Port shaping rate: disabled
   Burst-size: disabled

  Tx    Bandwidth         Shape Rate               Burst-Size          Priority   ECN/WRED
 Queue  (percent)          (units)                  (units)
 ------------------------------------------------------------------------------------------
"""
_QUEUES_FOOT = """
Note: Values are displayed as Operational/Configured
Legend:
RR -> Round Robin
SP -> Strict Priority
 - -> Not Applicable / Not Configured
 % -> Percentage of line rate
ECN/WRED: L -> Queue Length ECN Enabled     W -> WRED Enabled     D -> Disabled

"""


def qos_interfaces(switch: Switch) -> str:
    """show qos interfaces: a queue without a share of its own is strict, as from the factory."""
    said = []
    for _, name, setting in _ports(switch):
        said += [f"{name}:", f"   Trust Mode: {_TRUST[setting.trust]}", "   Default COS: 0"]
        said += ["   Default DSCP: 0", _QUEUES_HEAD[:-1]]
        for queue in reversed(_EIGHT):
            share = setting.schedulers.get(queue, 0)
            percent, served = (f"{share} / {share}", "RR / RR") if share else ("- / -", "SP / SP")
            marking = setting.marking.get(queue)
            flag = "D" if marking is None else "L" if marking.ecn else "W"
            said.append(
                f"   {queue}{percent:>11}       - / -          ( - )           -  /  -"
                f"           {served}       {flag}"
            )
        said.append(_QUEUES_FOOT[:-1])
    return "\n".join(said) + "\n"


def storms(switch: Switch) -> Tree:
    """show priority-flow-control counters watchdog: only queues that were stuck."""
    found: Tree = {}
    for _, name, setting in _ports(switch):
        stuck = {
            str(queue): {"stuckCount": times, "recoveryCount": times}
            for queue in _EIGHT
            if (times := count(setting, "queue_storms", queue))
        }
        if stuck:
            found[name] = {"txQueues": stuck}
    return {"interfaces": found}


def flow_control(switch: Switch) -> Tree:
    """show interfaces flow-control."""
    found = {}
    for _, name, setting in _ports(switch):
        entry: Tree = {}
        for way, is_on in (("rx", setting.pause_rx), ("tx", setting.pause_tx)):
            state = "on" if is_on else "off"
            entry |= {f"{way}AdminState": state, f"{way}OperState": state,
                      f"{way}Pause": count(setting, f"pause_{way}")}  # fmt: skip
        found[name] = entry
    return {"interfaceFlowControls": found}


def routes_of(switch: Switch, routes: list[Route]) -> Tree:
    """show ip route."""
    found = {}
    for route in routes:
        vias = []
        for port, hop in zip(route.ports, route.next_hops, strict=True):
            via: Tree = {"nexthopAddr": hop} if hop else {}
            vias.append({**via, "interface": switch.ports[port].name})
        found[route.prefix] = {
            "kernelProgrammed": True,
            "directlyConnected": route.protocol == "connected",
            "routeAction": "forward",
            "routeLeaked": False,
            "hardwareProgrammed": True,
            "routeType": _ROUTE_TYPES[route.protocol],
            "vias": vias,
            **({} if route.protocol == "connected" else {"metric": 0, "preference": 200}),
        }
    vrf = {"routes": found, "allRoutesProgrammedKernel": True, "routingDisabled": False,
           "allRoutesProgrammedHardware": True, "defaultRouteState": "reachable"}  # fmt: skip
    return {"vrfs": {"default": vrf}}


def error_counters(switch: Switch) -> str:
    """show interfaces counters errors."""
    words = {"inErrors": "rx_errors", "fcsErrors": "fcs_errors", "symbolErrors": "symbol_errors",
             "outErrors": "tx_errors"}  # fmt: skip
    found = {
        name: {
            "alignmentErrors": 0, "frameTooShorts": 0, "frameTooLongs": 0,
            **{key: count(setting, word) for key, word in words.items()},
        }
        for _, name, setting in _ports(switch)
    }  # fmt: skip
    return json.dumps({"interfaceErrorCounters": found}, indent=4) + "\n"


def version(switch: Switch) -> Tree:
    """show version."""
    return {"mfgName": "Arista", "modelName": switch.model.name, "hardwareRevision": "11.00",
            "serialNumber": switch.serial, "systemMacAddress": switch.chassis,
            "version": switch.release, "architecture": "x86_64"}  # fmt: skip


def answers(fabric: Fabric, switch: Switch, routes: list[Route]) -> Iterator[tuple[str, str, str]]:
    """Every command."""
    said = {
        "show version": version(switch),
        "show hostname": {"hostname": switch.name, "fqdn": switch.name},
        "show interfaces": interfaces(fabric, switch),
        "show interfaces status": interface_status(fabric, switch),
        "show interfaces error-correction": error_correction(fabric, switch),
        "show interfaces flow-control": flow_control(switch),
        "show lldp neighbors detail": lldp(fabric, switch),
        "show qos maps": qos_maps(switch.settings[0]),
        "show priority-flow-control": pfc_status(fabric, switch),
        "show priority-flow-control counters": pfc_counters(switch),
        "show priority-flow-control counters watchdog": storms(switch),
        "show interfaces counters queue drops": queue_drops(switch),
        "show qos interfaces ecn counters queue": marks(switch),
    }
    for command, tree in said.items():
        yield "eos_show", command, json.dumps(tree, indent=4) + "\n"
    yield "eos_show", QOS_TEXT, qos_interfaces(switch)
    yield (
        "eos_route",
        "show ip route vrf all",
        json.dumps(routes_of(switch, routes), indent=4) + "\n",
    )
