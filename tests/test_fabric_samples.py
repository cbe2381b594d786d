"""What the lab's switches print, held to the project's samples.

Each sample's switch is made of a model; lines that still differ are in DIFFERENT with the reason,
white space and lengths of rules folded. No entry may be idle, and no sample may be left out.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from conftest import SHARED

from lab.fleet.fabric import cumulus, eos, onyx, sonic, sonic_show
from lab.fleet.fabric.hardware import SWITCH_MODELS, PortName
from lab.fleet.fabric.model import Fabric, Links, Switch
from lab.fleet.fabric.setting import NAMED_DSCP, PRESET_QUEUES, USUAL_DSCP, Marking, Setting

pytestmark = pytest.mark.shared
SAMPLES = SHARED / "formats" / "samples"
FOLDERS = ("sonic-config-db", "sonic-show", "nvue-show", "onyx-show", "eos-show")
RATE = re.compile(r"[0-9.]+ [GM]?B/s +[0-9.]+%")
QUIET: dict[tuple[str, int], int] = dict.fromkeys(
    [(name, number) for name in ("pfc_rx", "pfc_tx", "queue_packets", "queue_bytes")
     for number in range(8)] + [(name, -1) for name in ("rx_ok", "tx_ok", "ecn_marked")], 0,
)  # fmt: skip

SONIC = Setting(
    400_000, 4, 5.0, headroom_bytes=184_320, xon_bytes=38_912, size_bytes=38_912, mtu=9100,
    dscp_class=NAMED_DSCP,
    marking={3: Marking(1_000_000, 3_000_000, 5)}, counters=QUIET,
)  # fmt: skip
CUMULUS = Setting(
    400_000, 4, 100.0, autonegotiation=True, class_queue=PRESET_QUEUES, trust="both",
    marking={queue: Marking(150_000, 1_500_000, 100, enabled=False) for queue in (0, 3)},
)  # fmt: skip
ONYX = replace(CUMULUS, marking={3: CUMULUS.marking[3]}, trust="dscp", counters=QUIET)
EOS = Setting(400_000, 4, 5.0, mtu=9214, marking={3: Marking(150_000, 1_500_000, 100)})


def port_of(system: str, name: str) -> PortName:
    """The port of that name; etp1a of Ethernet0, etp1b of Ethernet4."""
    if system != "sonic":
        return PortName(name, "", name, "", 1, (0, 1, 2, 3))
    first = int(name.removeprefix("Ethernet"))
    cage, part = divmod(first, 8)
    alias = f"etp{cage + 1}{'ab'[part // 4]}"
    return PortName(name, alias, alias, name, cage + 1, tuple(range(first, first + 4)))


def alone(
    system: str, settings: dict[str, Setting], model: str = "SN5600"
) -> tuple[Fabric, Switch]:
    """A switch with hosts at all ports that are up."""
    ports = tuple(port_of(system, name) for name in settings)
    switch = Switch(
        "ember-leaf01", len(ports), system, SWITCH_MODELS[model], 1, 0, 0, 0, ports,
        tuple(settings.values()), egress_pool_bytes=136_209_408,
        shared_headroom_bytes=29_130_752,
    )  # fmt: skip
    links = Links()
    for number, setting in enumerate(settings.values()):
        if setting.up:
            links.add(number, 0, len(ports), number, 1, 0, 0, 0, 400_000, 4, 3.0, True)
    fabric = Fabric(len(ports), 1, 1, [switch], links, links.copy())
    return replace(fabric, host_prefix="ember-h", first_number=1), switch


def two(setting: Setting) -> Switch:
    return alone("sonic", {"Ethernet0": setting, "Ethernet8": setting})[1]


def config(**values: Any) -> dict[str, Any]:
    return sonic.config_db(two(replace(SONIC, **values)))


def counting(name: str, values: dict[str, dict[int, int]]) -> Switch:
    """SONiC ports that have counted something in each priority."""
    settings = {
        port: replace(SONIC, counters={**QUIET, **{(name, p): v for p, v in counts.items()}})
        for port, counts in values.items()
    }
    return alone("sonic", settings)[1]


def pfc(received: dict[str, int], sent: dict[str, int], priority: int = 3) -> str:
    settings = {
        port: replace(SONIC, counters={
            **QUIET, ("pfc_rx", priority): value, ("pfc_tx", priority): sent[port]})
        for port, value in received.items()
    }  # fmt: skip
    return sonic_show.pfc_counters(alone("sonic", settings)[1])


def sonic_status(settings: dict[str, Setting]) -> str:
    return sonic_show.interface_status(*alone("sonic", settings))


CLEAN = {
    "Ethernet0": {("queue_packets", 0): 122_033, ("queue_bytes", 0): 9_920_113,
                  ("queue_packets", 3): 98_811_234_102, ("queue_bytes", 3): 410_214_822_118_233,
                  ("queue_packets", 6): 1_114_758, ("queue_bytes", 6): 71_344_512},
    "Ethernet8": {("queue_packets", 0): 90_112, ("queue_bytes", 0): 8_120_334,
                  ("queue_packets", 3): 97_220_114_870, ("queue_bytes", 3): 403_991_020_034_811,
                  ("queue_packets", 6): 980_012, ("queue_bytes", 6): 62_720_768},
}  # fmt: skip
DROPS = {"Ethernet16": {("queue_packets", 0): 98_811_234_102, ("queue_bytes", 0): 410_214_822_118_233,
                        ("queue_drops", 0): 77_120_441, ("queue_dropped_bytes", 0): 320_112_033_441}}  # fmt: skip


def queue_counters(counts: dict[str, dict[tuple[str, int], int]], *, namespace: bool) -> str:
    settings = {
        port: replace(SONIC, counters={**QUIET, **values}) for port, values in counts.items()
    }
    return sonic_show.queue_counters(alone("sonic", settings)[1], namespace=namespace)


def interface_counters() -> str:
    busy = {("rx_ok", -1): 7_112_009_318, ("rx_errors", -1): 412, ("rx_drops", -1): 77_120_441,
            ("tx_ok", -1): 7_001_220_991, ("tx_drops", -1): 3_310}  # fmt: skip
    first = {("rx_ok", -1): 98_811_234_102, ("tx_ok", -1): 97_220_114_870}
    return sonic_show.interface_counters(*alone("sonic", {
        "Ethernet0": replace(SONIC, counters=first), "Ethernet8": replace(SONIC, counters=busy),
        "Ethernet16": replace(SONIC, up=False), "Ethernet24": replace(SONIC, admin_up=False, up=False),
    }))  # fmt: skip


def roce(**values: Any) -> dict[str, Any]:
    return cumulus.roce(replace(CUMULUS, **values))


def moved(dscps: tuple[int, ...], dscp: int, to: int) -> tuple[int, ...]:
    return (*dscps[:dscp], to, *dscps[dscp + 1 :])


def swp(**ports: Setting) -> tuple[Fabric, Switch]:
    return alone("cumulus", ports)


def nvue_links() -> dict[str, Any]:
    fabric, switch = swp(swp1s0=CUMULUS, swp1s1=replace(CUMULUS, mtu=1500),
                         swp2s0=replace(CUMULUS, up=False))  # fmt: skip
    return {port.name: {"link": cumulus.link(fabric, switch, at), "type": "swp"}
            for at, port in enumerate(switch.ports)}  # fmt: skip


def nvue_counters(**more: int) -> dict[str, Any]:
    counts = {
        ("rx_bytes", -1): 410611302240021, ("rx_ok", -1): 98812522443,
        ("tx_bytes", -1): 404380711223341, ("tx_ok", -1): 97221305093, ("link_changes", -1): 1,
        ("pfc_rx", 3): 1204, ("pfc_rx_duration", 3): 8801, ("pfc_tx", 3): 44120331,
        ("pfc_tx_duration", 3): 9112033, ("ecn_marked", -1): 9902117,
        **{(name, -1): value for name, value in more.items()},
    }  # fmt: skip
    return cumulus.counters(replace(CUMULUS, counters=counts))


def onyx_pfc() -> str:
    off = replace(ONYX, pfc=())
    return onyx.pfc(*alone("onyx", {"Eth1/1": ONYX, "Eth1/2": ONYX, "Eth1/3": off}, "SN3700"))


def eos_switch(**ports: Setting) -> tuple[Fabric, Switch]:
    named = {name.replace("_", "/"): one for name, one in ports.items()}
    return alone("eos", named, "DCS-7060X6-64PE")


RX = {("rx_ok", -1): 98812522566, ("tx_ok", -1): 97221305224}


def eos_interfaces() -> dict[str, Any]:
    bad = {
        ("rx_drops", -1): 77120,
        ("tx_drops", -1): 77120,
        ("fcs_errors", -1): 412,
        ("rx_errors", -1): 412,
    }
    one, other = replace(EOS, counters=RX), replace(EOS, mtu=1500, counters={**RX, **bad})
    down = {**RX, ("rx_bytes", -1): 410611302240021, ("tx_bytes", -1): 404380711223341,
            ("link_changes", -1): 5}  # fmt: skip
    fabric, switch = eos_switch(
        Ethernet1_1=one, Ethernet2_1=other, Ethernet3_1=replace(EOS, up=False, counters=down)
    )
    return eos.interfaces(fabric, switch)


def eos_three(counts: dict[str, tuple[int, int]]) -> Switch:
    return eos_switch(**{
        name: replace(EOS, counters={("pfc_rx", 3): received, ("pfc_tx", 3): sent})
        for name, (received, sent) in counts.items()
    })[1]  # fmt: skip


RENDERED: dict[str, Callable[[], Any]] = {
    "sonic-config-db/correct-roce-dscp26-prio3": config,
    "sonic-config-db/fault-dscp26-to-tc0": lambda: config(dscp_class=moved(NAMED_DSCP, 26, 0)),
    "sonic-config-db/fault-headroom-zero": lambda: config(headroom_bytes=0),
    "sonic-config-db/fault-no-pfc-watchdog": lambda: config(watchdog=()),
    "sonic-config-db/fault-pfc-enable-absent": lambda: config(pfc=(), watchdog=()),
    "sonic-config-db/fault-pfc-not-enabled-on-3": lambda: config(pfc=(4,), watchdog=(4,)),
    "sonic-config-db/fault-queue3-without-wred": lambda: config(marking={}),
    "sonic-config-db/fault-trust-missing": lambda: config(trust="port"),
    "sonic-config-db/fault-wred-ecn-none": lambda: config(
        marking={3: replace(SONIC.marking[3], ecn=False)}
    ),
    "sonic-show/ecnconfig-list": lambda: sonic_show.ecnconfig(sonic.wred_tables(two(SONIC))),
    "sonic-show/interface-status-all-up": lambda: sonic_status(
        dict.fromkeys(("Ethernet0", "Ethernet4", "Ethernet8", "Ethernet508"), SONIC)
    ),
    "sonic-show/interface-status-down-mtu-speed-fec": lambda: sonic_status({
        "Ethernet0": replace(SONIC, up=False), "Ethernet4": replace(SONIC, mtu=1500),
        "Ethernet8": replace(SONIC, speed_mbps=200_000, fec_asked="none"),
    }),
    "sonic-show/interfaces-counters": interface_counters,
    "sonic-show/pfc-counters-prio3-only": lambda: pfc(
        {"Ethernet0": 118, "Ethernet8": 236, "Ethernet16": 354, "Ethernet24": 472,
         "Ethernet504": 590},
        {"Ethernet0": 0, "Ethernet8": 40, "Ethernet16": 80, "Ethernet24": 120, "Ethernet504": 160},
    ),
    "sonic-show/pfc-counters-storm-from-one-host": lambda: pfc(
        {"Ethernet0": 1204, "Ethernet8": 981_220_334, "Ethernet16": 922},
        {"Ethernet0": 44_120_331, "Ethernet8": 0, "Ethernet16": 41_002_877},
    ),
    "sonic-show/pfc-counters-wrong-priority": lambda: pfc(
        {"Ethernet0": 88_112, "Ethernet8": 0}, {"Ethernet0": 0, "Ethernet8": 0}, 4
    ),
    "sonic-show/pfcwd-config": lambda: sonic_show.watchdog_config(two(SONIC)),
    "sonic-show/priority-group-headroom-watermark": lambda: sonic_show.group_table(
        counting("group_headroom_watermark_bytes", {"Ethernet0": {}, "Ethernet8": {3: 188_416}}),
        "Ingress headroom per PG:", "group_headroom_watermark_bytes",
    ),
    "sonic-show/queue-counters-drops-in-queue0": lambda: queue_counters(DROPS, namespace=False),
    "sonic-show/queue-counters-lossless-clean": lambda: queue_counters(CLEAN, namespace=True),
    "nvue-show/interface-all-mtu-fault-swp1s1": nvue_links,
    "nvue-show/interface-lldp-one-missing": lambda: cumulus.lldp(
        *swp(swp1s0=CUMULUS, swp1s1=CUMULUS, swp2s0=replace(CUMULUS, up=False))
    ),
    "nvue-show/interface-swp1s0-counters": nvue_counters,
    "nvue-show/qos-roce-lossless": roce,
    "nvue-show/qos-roce-fault-dscp26-prio0": lambda: roce(dscp_class=moved(USUAL_DSCP, 26, 0)),
    "nvue-show/qos-roce-fault-trust-port": lambda: roce(trust="port"),
    "nvue-show/qos-roce-lossy-no-pfc": lambda: roce(pfc=()),
    "onyx-show/dcb-priority-flow-control": onyx_pfc,
    "onyx-show/interface-congestion-control": lambda: onyx.congestion(
        "Eth1/1", replace(ONYX, counters={("ecn_marked", -1): 9_902_117})
    ),
    "onyx-show/roce-lossless": lambda: onyx.roce(ONYX),
    "onyx-show/roce-lossy": lambda: onyx.roce(replace(ONYX, pfc=())),
    "eos-show/interfaces-counters-queue-drops": lambda: eos.queue_drops(
        eos_switch(Ethernet1_1=replace(EOS, counters={("queue_drops", 0): 77120}))[1]
    ),
    "eos-show/interfaces-mtu-and-fcs-fault": eos_interfaces,
    "eos-show/lldp-neighbors-detail": lambda: eos.lldp(
        *eos_switch(Ethernet1_1=EOS, Ethernet2_1=replace(EOS, up=False))
    ),
    "eos-show/priority-flow-control-counters": lambda: eos.pfc_counters(
        eos_three({"Ethernet1_1": (1204, 44120331), "Ethernet1_5": (981220334, 0),
                   "Ethernet2_1": (0, 0)})
    ),
    "eos-show/priority-flow-control-status-one-port-off": lambda: eos.pfc_status(
        *eos_switch(Ethernet1_1=EOS, Ethernet1_5=EOS, Ethernet2_1=replace(EOS, pfc=()))
    ),
    "eos-show/qos-interfaces-ecn-counters": lambda: eos.marks(
        eos_switch(Ethernet1_1=EOS, Ethernet1_5=replace(EOS, marking={}))[1]
    ),
    "eos-show/qos-maps-correct": lambda: eos.qos_maps(EOS),
    "eos-show/qos-maps-fault-dscp26-tc0": lambda: eos.qos_maps(
        replace(EOS, dscp_class=moved(USUAL_DSCP, 26, 0))
    ),
}  # fmt: skip
NOT_RENDERED = {
    "sonic-config-db/correct-old-bracketed-references": "how old releases spell references",
    "sonic-config-db/fault-wred-without-ecn": "ecn_none, written in another way",
    "nvue-show/interface-swp2s1-counters-drops-crc": "the other sample's port with errors",
    "nvue-show/qos-roce-table-text": "the lab's switches are asked with -o json",
    "onyx-show/json-congestion-control-ecn-missing-on-tc3": "asked as text",
    "onyx-show/json-pfc-interfaces": "asked as text",
    "onyx-show/roce-not-configured": "every switch of the lab has the preset",
    "eos-show/lldp-neighbors": "asked with detail",
}
NO_WATCHDOG = "the lab's ports have no watchdog at all, or one with its priorities"
# sample -> (pattern of lines that differ, reason)
DIFFERENT: dict[str, tuple[tuple[str, str], ...]] = {
    "sonic-config-db": (("DEVICE_METADATA/localhost/mac = ", "the sample leaves it out"),),
    "sonic-config-db/fault-no-pfc-watchdog": ((r"PORT_QOS_MAP/.*/pfcwd_sw_enable", NO_WATCHDOG),),
    "sonic-config-db/fault-pfc-enable-absent": ((r"PFC_WD/", NO_WATCHDOG),),
    "sonic-config-db/fault-queue3-without-wred": (
        ("^WRED_PROFILE", "a profile that nothing is bound to is not there"),
    ),
    "sonic-show/interface-status-all-up": (
        ("PortChannel101 ", "the lab's fabrics have no port channels"),
        ("Ethernet508 .* (trunk|routed) ", "their ports are routed"),
    ),
    "sonic-show/pfc-counters-wrong-priority": (("Ethernet8 ", "the lab's ports always count"),),
    "sonic-show/pfcwd-config": (("Ethernet0 ", "history is off on all ports"),),
    "nvue-show/interface-all-mtu-fault-swp1s1": (
        ("swp1s0/(description|ip)/?", "not read"),
        ("swp.*/link/(mac-address|lanes) = ", "the sample leaves it out"),
    ),
    "nvue-show/interface-swp1s0-counters": (
        ("qos/egress-queue-stats/", "the sample leaves it out"),
    ),
    "onyx-show/dcb-priority-flow-control": (
        ("Eth1/3 ", "no port of the lab leaves PFC to its neighbor"),
        ("Po1 ", "the lab's fabrics have no port channels"),
    ),
    "eos-show/interfaces-mtu-and-fcs-fault": (
        ("(physical|burnedIn)Address", "addresses of its own"),
        ("interfaces/Ethernet./1/description", "the lab's ports have none"),
        ("interfaceStatistics/", "rates are of the moment"),
        ("interfaceCounters/(in|out)(Ucast|Multicast|Broadcast)Pkts", "all are unicast"),
    ),
    "eos-show/lldp-neighbors-detail": (
        ("systemDescription = ", "the sample's is shortened"),
    ),
}  # fmt: skip


def flat(value: Any, path: str = "") -> Iterator[str]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from flat(inner, f"{path}/{key}" if path else str(key))
    elif isinstance(value, list) and value:
        for at, inner in enumerate(value):
            yield from flat(inner, f"{path}/{at}")
    else:
        yield f"{path} = {json.dumps(value)}"


def lines_of(value: Any) -> Counter[str]:
    if not isinstance(value, str):
        return Counter(flat(value))
    folded = (re.sub(r"-{2,}", "--", " ".join(RATE.sub("#", line).split())) for line in
              value.splitlines())  # fmt: skip
    return Counter(line for line in folded if line)


def samples() -> Iterator[str]:
    for folder in FOLDERS:
        for file in sorted((SAMPLES / folder).iterdir()):
            if not file.name.endswith(".expect.json"):
                yield f"{folder}/{file.stem}"


def read(sample: str) -> Any:
    file = next(f for f in SAMPLES.glob(f"{sample}.*") if not f.name.endswith(".expect.json"))
    text = file.read_text("utf-8")
    return json.loads(text) if file.suffix == ".json" else text


def patterns(sample: str) -> tuple[str, ...]:
    listed = (*DIFFERENT.get(sample, ()), *DIFFERENT.get(sample.partition("/")[0], ()))
    return tuple(pattern for pattern, _ in listed)


def test_every_sample_is_rendered_or_says_why_not() -> None:
    assert {*RENDERED, *NOT_RENDERED} == set(samples())


@pytest.mark.parametrize("sample", RENDERED)
def test_rendered_as_the_sample(sample: str) -> None:
    ours, theirs = lines_of(RENDERED[sample]()), lines_of(read(sample))
    differ = [*(ours - theirs), *(theirs - ours)]
    expected = patterns(sample)
    strange = [line for line in differ if not any(re.search(one, line) for one in expected)]
    assert strange == []
    idle = [one for one in expected if not any(re.search(one, line) for line in differ)]
    assert idle == []
