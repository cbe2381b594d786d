"""An honest host whose rows were written by hand, beside the evidence that it shows."""

import json
from functools import cache
from pathlib import Path

from tests.hostile.far_end import ALL, FarEnd, scenario

EVIDENCE = Path(__file__).parents[1] / "evidence"

# Bytes whose rows were written by hand beside them (tests/test_parsers.py).
HONEST_CASES = (
    "lscpu/json-flat-two-sockets-intel",
    "mlnx_qos/fault-dscp26-in-prio0",
    "infiniband/roce-and-ndr",
    "pci/nic-below-switch",
    "netdev/rails-bond-and-bridge",
    "mlxconfig/cx6dx-q-per-port-old-width",
    "ip_address/rails-peer-and-namespace",
    "dmesg/link-flap",
    "sysctl/settings",
    "ethtool_module/osfp-400g-sr4-dom",
    "mlxlink/eth-400g-counters-good",
)
OWN_PORT = "ens1np0"  # of netdev/rails-bond-and-bridge
LEAF, LEAF_PORT = "leaf001", "etp7"  # what it hears there


def lldp(interface: str, name: str, **port: str) -> bytes:
    """One neighbor, as lldpctl tells it."""
    chassis = {"id": [{"type": "mac", "value": "5c:25:73:c0:01:00"}], "name": [{"value": name}]}
    heard = {
        "name": interface,
        "via": "LLDP",
        "rid": "1",
        "chassis": [chassis],
        "port": [{"id": [{"type": "ifname", "value": port.get("id", LEAF_PORT)}]}],
    }
    return json.dumps({"lldp": [{"interface": [heard]}]}, ensure_ascii=False).encode()


@cache
def honest_answers() -> list[tuple[str, str, bytes]]:
    """Probe, instance and output of each answer of an honest host."""
    found = [("lldpctl", "", lldp(OWN_PORT, LEAF))]
    for case in HONEST_CASES:
        expect = json.loads((EVIDENCE / f"{case}.expect.json").read_text("utf-8"))
        output = (EVIDENCE / f"{case}.out").read_bytes()
        found.append((case.split("/", 1)[0], expect["instance"], output))
    return found


@scenario("honest", "reached", ALL)
def paper(far: FarEnd) -> None:
    """Says little, and all of it true."""
    known = honest_answers()
    absent = [probe for probe in far.probes if probe not in {name for name, _, _ in known}]
    planned = [[probe, instance] for probe, instance, _ in known]
    far.hello(hostname="paper", planned=planned + [[probe, ""] for probe in absent])
    for probe, instance, output in known:
        far.answer(probe, output, instance=instance)
    for probe in absent:
        far.answer(probe, status="absent", reason=f"not installed: {probe}")
    far.end()
