"""`railwright show --json`: one host or switch, with what rules find there."""

import json
from contextlib import closing
from typing import Any

from railwright import __version__
from railwright.check.machine import Found, OfMachine
from railwright.intent.roles import make_site_ports
from railwright.intent.site import Site
from railwright.report.adapters import GPUS, NEIGHBORS, NETDEVS, PORTS
from railwright.report.host import FUNCTIONS, UNANSWERED, Facts, machine_meant
from railwright.report.host_ports import QOS_PORTS
from railwright.report.switches import SWITCH_PORTS
from railwright.store.reader import Reader
from railwright.store.snapshot import Snapshot

FORMAT = "railwright-show-1"
# What the lines of the screen are made of, by the same queries. NULL was not collected; '-' is what
# cannot be there.
_HOST = {
    "pci_functions": (
        FUNCTIONS,
        "pci parent class numa_node local_cpus speed_gts width speed_max_gts width_max acs",
    ),
    "gpus": (GPUS, "pci device_id name smi_status"),
    "devices": (PORTS, "pci device port link_layer state rate_gbps firmware ports netdev"),
    "rdma_ports": (QOS_PORTS, "port role gpu_relation trust pfc fec module temperature"),
    "netdevs": (NETDEVS, "name pci mtu operstate speed_mbps master is_port"),
    "lldp_neighbors": (NEIGHBORS, "netdev system port"),
}
_SWITCH = {"ports": (SWITCH_PORTS, "port is_up speed_mbps fec mtu trust pfc lldp_neighbor")}
_LISTS = (*_HOST, *_SWITCH)


def shown_json(snapshot: Snapshot, name: str, site: Site, of: OfMachine | None, status: int) -> str:
    """One object; lists that a switch has not are empty, and the other way round."""
    with closing(Reader(snapshot)) as reader:
        reader.rows(make_site_ports(site), {})
        target = machine_meant(reader, snapshot, name)
        facts = Facts(reader, target.name)
        asked = _SWITCH if target.kind == "switch" else _HOST
        lists: dict[str, list[dict[str, Any]]] = {one: [] for one in _LISTS}
        lists |= {one: _rows(facts, *query) for one, query in asked.items()}
        missing = _rows(facts, UNANSWERED, "status reason probe answers")
    data = {
        "format": FORMAT,
        "railwright": __version__,
        "snapshot": snapshot.name,
        "exit_status": status,
        "kind": target.kind,
        "target": target.name,
        "status": target.status,
        "out_of_service": target.out_of_service,
        "checked": of is not None,
        "findings": [_finding(one) for one in of.found] if of else [],
        "inconclusive": list(of.inconclusive) if of else [],
        "rules_not_run": list(of.not_run) if of else [],
        **lists,
        "not_collected": missing,
    }
    return json.dumps(data, indent=2, default=str)


def _rows(facts: Facts, query: str, names: str) -> list[dict[str, Any]]:
    return [dict(zip(names.split(), row, strict=True)) for row in facts.rows(query)]


def _finding(one: Found) -> dict[str, Any]:
    told = {name: getattr(one, name) for name in ("rule", "title", "severity", "state")}
    return {**told, "subject": one.subject, "message": one.said, "follows_from": one.cause}
