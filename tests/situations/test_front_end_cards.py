"""Cards that are not for compute: below a GPU's switch, of another maker, or behind a bond.

The layout is that of a Dell XE9680: a dual-port front-end card hangs on the PCIe switch of GPU 0.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from lab.harness.fleets import Reading
from situations.by_text import (
    MEDIUM_OR_WORSE,
    Fleet,
    Report,
    assert_nothing_at,
    assert_nothing_to_report,
    change,
    change_list,
    each,
    entries,
    entry,
    everywhere,
    files,
    links,
    lost_nic,
    mtu,
    naming,
    without_instances,
    without_nccl_file,
    words,
)

pytestmark = pytest.mark.root
Make = Callable[[dict[str, Reading]], Fleet]
Healthy = Callable[..., dict[str, Reading]]

FRONT_END = ("enp132s0f0np0", "enp132s0f1np1")
USUAL_SITE = """profile = "roce-lossless"
[fabric]
mtu = 9000
[[class]]
name = "hgx"
compute_nics = 8
gpus = 8
port_rate_gbps = 400
"""


def below_the_switch_of_gpu_0(host: Reading) -> Reading:
    """The card 0000:84:00 of bus 80 is 0000:1b:00 below a fourth port of GPU 0's switch."""
    switch = "pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:03.0"
    host = everywhere(
        host,
        ("pci0000:80/0000:80:03.0/0000:84:00", f"{switch}/0000:1b:00"),
        ("0000:84:00", "0000:1b:00"),
        ("84:00.", "1b:00."),
    )
    for probe in ("pci", "pci_config", "pci_errors"):
        host = change(host, probe, _one_more_port)
    near = {f"/sys/bus/pci/devices/0000:1b:00.{n}/numa_node": "0\n" for n in (0, 1)}
    near |= {f"/sys/bus/pci/devices/0000:1b:00.{n}/local_cpulist": "0-55,112-167\n" for n in (0, 1)}
    return change(change(host, "pci", files(near)), "nvidia_topology", _beside_gpu_0)


def _one_more_port(text: str) -> str:
    """Port 0000:17:03.0 is like its neighbor 0000:17:00.0, with no card of its own below."""
    added = ""
    for kind, zeros, path, content in entries(text):
        if "/0000:17:00.0" in path:
            port = path.replace("0000:17:00.0", "0000:17:03.0")
            added += entry(port, content.replace("0000:17:00.0", "0000:17:03.0"), kind, zeros)
    return text + added


def _beside_gpu_0(text: str) -> str:
    """The topology of the driver: NIC8 and NIC9 are as far from everything as NIC0 is."""
    lines = [line.split("\t") for line in text.splitlines()]
    head = lines[0]
    first, moved = head.index("NIC0"), [head.index("NIC8"), head.index("NIC9")]
    nearest = next(row for row in lines if row[0] == "NIC0")
    for row in lines[1:]:
        if row[0].startswith("GPU"):
            for column in moved:
                row[column] = row[first]
        elif row[0] in ("NIC8", "NIC9"):
            row[1 : head.index("NIC0")] = nearest[1 : head.index("NIC0")]
    return "\n".join("\t".join(row) for row in lines) + "\n"


def lost_in_this_layout(host: Reading) -> Reading:
    host = below_the_switch_of_gpu_0(without_nccl_file(host))
    return lost_nic(host, "0000:5b:00.0", "mlx5_3", "enp91s0np0")


def test_a_front_end_card_does_not_stand_in_for_a_lost_one(fleet: Make, healthy: Healthy) -> None:
    (host,) = healthy("hgx_h100", 1).values()
    site = 'profile = "observe"\n[[class]]\nname = "hgx"\ncompute_nics = 8\n'
    report = fleet({"ember-h001": lost_in_this_layout(host)}).check(site)
    assert report.severity("intent-compute-nics", "ember-h001") in MEDIUM_OR_WORSE
    (finding,) = report.of("intent-compute-nics", "ember-h001")
    assert (finding["observed"], finding["expected"]) == ("7", "8")
    assert report.exit_status == 1


# ---- in-band management on a VLAN of the front-end card


def with_management_vlan(host: Reading) -> Reading:
    """MTU 1500, trust pcp and no PFC, and the default route goes through VLAN 100 of its first port."""
    name = f"{FRONT_END[0]}.100"

    def routes(listed: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [
            {**one, "dev": name} if one["dst"] == "default" and "table" not in one else one
            for one in listed
        ]

    def addresses(listed: list[dict[str, Any]]) -> list[dict[str, Any]]:
        below = next(one for one in listed if one["ifname"] == FRONT_END[0])
        told = {"family": "inet", "local": "192.0.2.111", "prefixlen": 24, "scope": "global"}
        vlan = {
            "ifindex": 41,
            "ifname": name,
            "link": FRONT_END[0],
            "mtu": 1500,
            "addr_info": [told],
        }
        return [*listed, {**below, **vlan}]

    host = change_list(change_list(host, "ip_route", routes), "ip_address", addresses)
    virtual = {
        "address": "5c:25:73:a0:01:80\n", "mtu": "1500\n", "operstate": "up\n", "carrier": "1\n",
        "speed": "100000\n", "duplex": "full\n", "ifindex": "41\n", "type": "1\n",
        "dev_port": "0\n", "carrier_changes": "2\n", "flags": "0x1003\n", "tx_queue_len": "1000\n",
    }  # fmt: skip
    added = {f"/sys/class/net/{name}/{key}": value for key, value in virtual.items()}
    host = change(
        host, "netdev", links({f"/sys/class/net/{name}": f"../../devices/virtual/net/{name}"})
    )
    host = change(host, "netdev", files(added))
    for netdev in FRONT_END:
        host = mtu(host, netdev, 1500)
        qos = words(
            ("trust state: dscp", "trust state: pcp"),
            ("enabled     0   0   0   1", "enabled     0   0   0   0"),
        )
        host = change(host, "mlnx_qos", qos, netdev)
        host = change(host, "dcb_pfc", words(("false,true,false", "false,false,false")), netdev)
    return host


@pytest.fixture(scope="module")
def managed(lasting_fleet: Make, healthy: Healthy) -> Fleet:
    def edit(host: Reading) -> Reading:
        return with_management_vlan(below_the_switch_of_gpu_0(host))

    return lasting_fleet(each(healthy("hgx_h100", 2), edit))


@pytest.mark.parametrize("site", ["", USUAL_SITE], ids=["no site", "the usual site"])
def test_a_management_vlan_on_a_front_end_card(managed: Fleet, site: str) -> None:
    assert_nothing_to_report(managed.check(site))


def test_rails_do_not_count_a_front_end_card(managed: Fleet) -> None:
    query = "SELECT device, rail FROM port WHERE target = 'ember-h001' AND role = 'compute'"
    lines = managed.run("sql", query, "--format", "csv").stdout.splitlines()
    found = dict(line.split(",") for line in lines if line.startswith("mlx5_"))
    assert found == {f"mlx5_{rail}": str(rail) for rail in range(8)}


# ---- in-band management over Intel's E810, whose RDMA driver loads by itself


def on_e810(host: Reading) -> Reading:
    """The dual-port card is an E810 of two 25G ports in a bond; the default route goes over it."""
    host = change(host, "pci", files(_e810_functions()))
    for device in ("mlx5_8", "mlx5_9"):
        own = f"/sys/class/infiniband/{device}"
        host = change(host, "infiniband", files(
            {f"{own}/fw_ver": "1.71\n", f"{own}/ports/1/rate": "25 Gb/sec (1X EDR)\n"}
        ))  # fmt: skip
        host = change(host, "infiniband", _without(f"{own}/board_id", f"{own}/hca_type"))
    host = everywhere(host, ("mlx5_8", "irdma0"), ("mlx5_9", "irdma1"))
    host = in_bond(host)
    # NVIDIA's tools are not asked about it, and it has neither mlnx_qos nor a readable module.
    host = without_instances(host, "0000:84:00.0", "0000:84:00.1")
    silent = {"status": "absent", "stdout": b"", "packed": b""}
    answers = (
        replace(one, **silent)
        if one.probe in ("mlnx_qos", "ethtool_module") and one.instance in FRONT_END
        else one
        for one in host.answers
    )
    return Reading(host.host, tuple(answers))


def _without(*paths: str) -> Callable[[str], str]:
    return lambda text: "".join(entry(p, c, k, z) for k, z, p, c in entries(text) if p not in paths)


def _e810_functions() -> dict[str, str]:
    card = {
        "vendor": "0x8086\n", "device": "0x159b\n", "driver": "../../../../bus/pci/drivers/ice",
        "current_link_speed": "16.0 GT/s PCIe\n", "max_link_speed": "16.0 GT/s PCIe\n",
        "current_link_width": "8\n", "max_link_width": "8\n",
    }  # fmt: skip
    return {
        f"/sys/bus/pci/devices/0000:84:00.{number}/{key}": value
        for number in (0, 1)
        for key, value in card.items()
    }


def in_bond(host: Reading) -> Reading:
    """bond0 of both ports, hashed by layer 2, with the host's default route."""
    bond = {
        "address": "5c:25:73:a0:01:80\n", "mtu": "1500\n", "operstate": "up\n", "carrier": "1\n",
        "speed": "50000\n", "duplex": "full\n", "ifindex": "40\n", "type": "1\n",
        "dev_port": "0\n", "carrier_changes": "2\n", "flags": "0x1403\n", "tx_queue_len": "1000\n",
        "bonding/mode": "802.3ad 4\n", "bonding/slaves": " ".join(FRONT_END) + "\n",
        "bonding/active_slave": "\n", "bonding/xmit_hash_policy": "layer2 0\n",
        "bonding/lacp_rate": "slow 0\n", "bonding/miimon": "100\n",
    }  # fmt: skip
    added = {f"/sys/class/net/bond0/{key}": value for key, value in bond.items()}
    tied = {"/sys/class/net/bond0": "../../devices/virtual/net/bond0"}
    for netdev in FRONT_END:
        own = f"/sys/class/net/{netdev}"
        tied[f"{own}/master"] = "../../../../../../devices/virtual/net/bond0"
        added |= {f"{own}/mtu": "1500\n", f"{own}/speed": "25000\n"}
        added |= {
            f"{own}/bonding_slave/mii_status": "up\n",
            f"{own}/bonding_slave/state": "active\n",
        }
        added |= {f"{own}/bonding_slave/ad_aggregator_id": "1\n"}
    host = change(change(host, "netdev", links(tied)), "netdev", files(added))
    host = change_list(host, "ip_address", _bond_address)
    return change_list(host, "ip_route", _bond_route)


def _bond_address(listed: list[dict[str, Any]]) -> list[dict[str, Any]]:
    member = {"addr_info": [], "master": "bond0", "mtu": 1500}
    told = [{**one, **member} if one["ifname"] in FRONT_END else one for one in listed]
    below = next(one for one in listed if one["ifname"] == FRONT_END[0])
    own = {"family": "inet", "local": "192.0.2.111", "prefixlen": 24, "scope": "global"}
    flags = ["BROADCAST", "MULTICAST", "MASTER", "UP", "LOWER_UP"]
    bond = {"ifindex": 40, "ifname": "bond0", "flags": flags, "mtu": 1500, "addr_info": [own]}
    return [*told, {**below, **bond}]


def _bond_route(listed: list[dict[str, Any]]) -> list[dict[str, Any]]:
    others = (one for one in listed if one.get("dev") not in FRONT_END)
    return [
        {**one, "dev": "bond0"} if one["dst"] == "default" and "table" not in one else one
        for one in others
    ]


def with_half_a_bond(host: Reading) -> Reading:
    """The second link of the bond is down."""
    own = f"/sys/class/net/{FRONT_END[1]}"
    down = {"operstate": "down\n", "carrier": "0\n", "bonding_slave/mii_status": "down\n"}
    return change(host, "netdev", files({f"{own}/{key}": value for key, value in down.items()}))


@pytest.fixture(scope="module")
def e810(lasting_fleet: Make, healthy: Healthy) -> Report:
    """Three such hosts; the third has lost a link of its bond."""
    hosts = each(healthy("hgx_h100", 3), on_e810)
    return lasting_fleet({**hosts, "ember-h003": with_half_a_bond(hosts["ember-h003"])}).check()


@pytest.mark.parametrize("host", ["ember-h001", "ember-h002"])
def test_management_over_another_makers_nic(e810: Report, host: str) -> None:
    assert_nothing_at(e810, host)


def test_a_member_of_the_management_bond_is_down(e810: Report) -> None:
    found = [f for f in e810.at("ember-h003") if FRONT_END[1] in naming(f) or "irdma1" in naming(f)]
    assert any(f["severity"] in MEDIUM_OR_WORSE and "down" in naming(f).lower() for f in found)
    assert e810.exit_status == 1
