"""A switch beside hosts: its saved answers, imported as an operator would, merged with the hosts."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conftest import SHARED
from typer.testing import CliRunner, Result

from lab.harness.fleets import Reading, snapshot_of
from railwright.cli import program
from situations.by_text import Report, change, entries, entry, in_file, report_of, words

LEAF = "ember-leaf01"
CAPTURE = SHARED / "captures/sonic-config-db/arista7060x6-qos.json"
EOS = SHARED / "formats/samples/eos-show"


@dataclass(frozen=True)
class Fabric:
    """Hosts and a switch in one snapshot."""

    store: Path

    def run(self, *line: str) -> Result:
        own = {"HOME": str(self.store.parent), "RAILWRIGHT_SITE": None, "XDG_CONFIG_HOME": None}
        return CliRunner(env=own).invoke(program(), [*line, "--store", str(self.store)])

    def check(self, site: str = "") -> Report:
        line: tuple[str, ...] = ()
        if site:
            file = self.store.parent / "site.toml"
            file.write_text(site)
            line = ("--site", str(file))
        return report_of(self.run("check", "--format", "json", *line))


def fabric_of(
    folder: Path, hosts: Mapping[str, Reading], system: str, saved: Mapping[str, str]
) -> Fabric:
    """The hosts, and what was saved on the leaf: file name -> text."""
    answers = folder / "leaf"
    answers.mkdir(parents=True)
    for name, text in saved.items():
        (answers / name).write_text(text)
    alone = Fabric(folder / "leaf-store")
    listed = [str(answers / name) for name in saved]
    at = ("--at", "2026-11-14T22:15:00Z")
    _succeeded(alone.run("import", "--kind", system, "--target", LEAF, *at, *listed))
    of_hosts = snapshot_of(folder / "host-store", hosts)
    (of_leaf,) = (path for path in alone.store.iterdir() if (path / "run.json").exists())
    both = Fabric(folder / "store")
    _succeeded(both.run("merge", str(of_hosts.path), str(of_leaf)))
    return both


def _succeeded(done: Result) -> None:
    if done.exit_code not in (0, 3):  # 3: not every question of this system was answered
        raise ValueError(f"{done.output} {done.exception!r}")


# ---- SONiC: a real QoS configuration of an Arista 7060X6, with four ports of it


def sonic_leaf(fec: str) -> dict[str, str]:
    """The first four ports of the capture; what captures do not hold is written by hand."""
    config: dict[str, Any] = json.loads(CAPTURE.read_text())
    ports = [name for name in config["PORT_QOS_MAP"] if name.startswith("Ethernet")][:4]
    for table in ("PORT_QOS_MAP", "QUEUE", "BUFFER_PG", "BUFFER_QUEUE"):
        kept = config.get(table, {})
        config[table] = {k: v for k, v in kept.items() if k.split("|")[0] in ports or k == "global"}
    config["PORT"] = {
        name: {
            "admin_status": "up", "alias": _alias(n), "index": str(1 + n // 2),
            "lanes": _lanes(n), "mtu": "9100", "speed": "400000",
        } | ({"fec": fec} if fec != "N/A" else {})
        for n, name in enumerate(ports)
    }  # fmt: skip
    config["DEVICE_METADATA"] = {
        "localhost": {
            "hostname": LEAF, "hwsku": "Arista-7060X6-64PE-B-O128", "type": "ToRRouter",
            "platform": "x86_64-arista_7060x6_64pe_b", "mac": "5c:25:73:c0:01:00",
        }
    }  # fmt: skip
    return {
        "config_db.json": json.dumps(config),
        "show_interfaces_status.txt": _status(ports, fec),
        "show_interfaces_fec_status.txt": _table(
            ("Interface", "FEC Oper", "FEC Admin"), [(name, fec, fec) for name in ports]
        ),
        "show_lldp_table.txt": _neighbors(ports),
        "show_version.txt": VERSION,
    }


def _alias(place: int) -> str:
    return f"etp{1 + place // 2}{'ab'[place % 2]}"


def _lanes(place: int) -> str:
    return ",".join(str(lane) for lane in range(place * 4, place * 4 + 4))


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Columns to the right, as SONiC prints them, with a line of dashes below the head."""
    wide = [max(len(row[n]) for row in (head, *rows)) for n in range(len(head))]
    lines = [head, tuple("-" * width for width in wide), *rows]
    return "".join(
        "  ".join(cell.rjust(width) for cell, width in zip(line, wide, strict=True)) + "\n"
        for line in lines
    )


def _status(ports: list[str], fec: str) -> str:
    head = ("Interface", "Lanes", "Speed", "MTU", "FEC", "Alias", "Vlan", "Oper", "Admin", "Type",
            "Asym PFC")  # fmt: skip
    rows = [
        (name, _lanes(n), "400G", "9100", fec, _alias(n), "routed", "up", "up",
         "OSFP 8X Pluggable Transceiver", "N/A")
        for n, name in enumerate(ports)
    ]  # fmt: skip
    return _table(head, rows)


def _neighbors(ports: list[str]) -> str:
    rows = [
        (ports[n], f"ember-h00{n + 1}", f"5c:25:73:a0:0{n + 1}:00", "O", "enp24s0np0")
        for n in (0, 1)
    ]
    head = ("LocalPort", "RemoteDevice", "RemotePortID", "Capability", "RemotePortDescr")
    wide = [max(len(row[n]) for row in (head, *rows)) for n in range(5)]
    lines = [head, tuple("-" * width for width in wide), *rows]
    listed = "".join(
        "  ".join(c.ljust(w) for c, w in zip(line, wide, strict=True)).rstrip() + "\n"
        for line in lines
    )
    codes = "Capability codes: (R) Router, (B) Bridge, (O) Other\n"
    return f"{codes}{listed}{'-' * 50}\nTotal entries displayed:  2\n"


VERSION = """
SONiC Software Version: SONiC.202311.1-abc
SONiC OS Version: 11
Distribution: Debian 11.9
Kernel: 5.10.0-23-2-amd64
Build commit: abcdef
Build date: Tue May  7 10:00:00 UTC 2024
Built by: AzDevOps@vmss

Platform: x86_64-arista_7060x6_64pe_b
HwSKU: Arista-7060X6-64PE-B-O128
ASIC: broadcom
ASIC Count: 1
Serial Number: XXX
"""


def sends_dscp_3(host: Reading, *, lossless: tuple[int, ...]) -> Reading:
    """The host's side of Microsoft's map: data has DSCP 3, CNPs 44; PFC on these priorities."""
    host = _marks_with(host, data=3, notifications=44)
    bits = "   ".join("1" if n in lossless else "0" for n in range(8))
    qos = [
        ("dscp:07,06,05,04,03,02,01,00,", "dscp:07,06,05,04,02,01,00,"),
        ("dscp:31,30,29,28,27,26,25,24,", "dscp:31,30,29,28,27,26,25,24,03,"),
        ("dscp:47,46,45,44,43,42,41,40,", "dscp:47,46,45,43,42,41,40,"),
        ("dscp:55,54,53,52,51,50,49,48,", "dscp:55,54,53,52,51,50,49,48,44,"),
        ("enabled     0   0   0   1   0   0   0   0", f"enabled     {bits}"),
    ]
    host = change(host, "mlnx_qos", words(*qos))
    host = change(host, "dcb_app", words(('[3,0," "]', '[3,3," "]'), ('[44,5," "]', '[44,6," "]')))
    if lossless != (3,):
        told = json.dumps([n in lossless for n in range(8)], separators=(",", ":"))
        before = json.dumps([n == 3 for n in range(8)], separators=(",", ":"))
        host = change(host, "dcb_pfc", words((before, told)))
    return host


def _marks_with(host: Reading, data: int, notifications: int) -> Reading:
    """Drivers, firmware and NCCL mark packets so; 106 and 48 are what they did before."""
    traffic_class = data * 4 + 2  # its last bits: ECN capable
    host = change(host, "libraries", in_file("/etc/nccl.conf", ("TC=106", f"TC={traffic_class}")))

    def driver(text: str) -> str:
        listed = ((k, z, p, c.replace("106", str(traffic_class))) for k, z, p, c in entries(text))
        return "".join(entry(p, c, k, z) for k, z, p, c in listed)

    def notifies(text: str) -> str:
        return "".join(
            entry(p, f"{notifications}\n" if p.endswith("/cnp_dscp") else c, k, z)
            for k, z, p, c in entries(text)
        )

    parameter = re.compile(r"^(\s*CNP_DSCP_P1\s.*)$", re.MULTILINE)
    host = change(change(host, "roce_tos", driver), "ecn", notifies)
    return change(
        host,
        "mlxconfig",
        lambda text: parameter.sub(lambda line: line[1].replace("48", str(notifications)), text),
    )


# ---- EOS: what its JSON tells, and no more


def eos_leaf() -> dict[str, str]:
    """Two ports to two hosts, each as the port Ethernet1/1 of the samples."""

    def sample(name: str) -> dict[str, Any]:
        told: dict[str, Any] = json.loads((EOS / f"{name}.json").read_text())
        return told

    ports = ("Ethernet1/1", "Ethernet2/1")
    neighbors = {}
    for number, port in enumerate(ports, start=1):
        one = json.loads(
            json.dumps(sample("lldp-neighbors-detail")["lldpNeighbors"]["Ethernet1/1"])
        )
        mac, told = f"5c25.73a0.0{number}00", one["lldpNeighborInfo"][0]
        told |= {"chassisId": mac, "systemName": f"ember-h00{number}"}
        told["neighborInterfaceInfo"]["interfaceId"] = mac
        neighbors[port] = one
    pfc = sample("priority-flow-control-status-one-port-off")
    pfc["interfaceStatuses"] = dict.fromkeys(ports, pfc["interfaceStatuses"]["Ethernet1/1"])
    shown = sample("interfaces-mtu-and-fcs-fault")
    # The hosts negotiate, and so does their leaf.
    whole = shown["interfaces"]["Ethernet1/1"] | {"autoNegotiate": "on"}
    shown["interfaces"] = {port: {**whole, "name": port} for port in ports}
    version = {
        "mfgName": "Arista", "modelName": "DCS-7060X6-64PE-F", "serialNumber": "X",
        "systemMacAddress": "5c:25:73:c0:01:00", "version": "4.32.2F", "hardwareRevision": "1.0",
    }  # fmt: skip
    saved = {
        "show_lldp_neighbors_detail": {"lldpNeighbors": neighbors},
        "show_priority-flow-control": pfc,
        "show_qos_maps": sample("qos-maps-correct"),
        "show_interfaces": shown,
        "show_version": version,
        "show_hostname": {"hostname": LEAF, "fqdn": LEAF},
    }
    return {f"{name}.json": json.dumps(told) for name, told in saved.items()}


def hears_eos(host: Reading, number: int) -> Reading:
    """The host's first rail hears the leaf's port by the name EOS sends."""

    def edit(text: str) -> str:
        told = json.loads(text)
        for one in told["lldp"][0]["interface"]:
            if one["name"] == "enp24s0np0":
                one["port"][0]["id"] = [{"type": "ifname", "value": f"Ethernet{number}/1"}]
                one["port"][0]["descr"] = [{"value": ""}]
        return json.dumps(told)

    return change(host, "lldpctl", edit)
