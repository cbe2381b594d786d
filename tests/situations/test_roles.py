"""What a port is for comes from where it sits, never from the state it is in."""

from collections.abc import Callable
from typing import Any

import pytest

from lab.harness.fleets import Reading
from situations.by_text import (
    MEDIUM_OR_WORSE,
    RAILS,
    Fleet,
    Report,
    assert_nothing_to_report,
    change,
    change_list,
    each,
    files,
    mtu,
    port_down,
    without_nccl_file,
    words,
)

pytestmark = pytest.mark.root
Make = Callable[[dict[str, Reading]], Fleet]
Healthy = Callable[..., dict[str, Reading]]


def two_faults(host: Reading) -> Reading:
    """Rail 3 has the MTU of a fresh installation, rail 5 is down and keeps its address."""
    return port_down(mtu(host, RAILS[3], 1500), "mlx5_5", RAILS[5])


def by_router_advertisement(listed: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each rail's router offers itself, and the kernel believes it (accept_ra is its default)."""
    route = {
        "dst": "default", "gateway": "fe80::5e25:73ff:fe00:1", "protocol": "ra", "metric": 1024,
        "flags": [], "metrics": [{"hoplimit": 64}], "pref": "medium",
    }  # fmt: skip
    return listed + [{**route, "dev": rail} for rail in RAILS]


def over_all_rails(listed: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """BGP on the host: one default route over eight rails."""
    others = [one for one in listed if one["dst"] != "default" or "table" in one]
    hops = [
        {"gateway": f"10.21.{number}.254", "dev": rail, "weight": 1, "flags": []}
        for number, rail in enumerate(RAILS)
    ]
    route = {"dst": "default", "protocol": "bgp", "metric": 20, "flags": [], "nexthops": hops}
    return [*others, route]


@pytest.fixture(scope="module")
def routed(lasting_fleet: Make, healthy: Healthy) -> Fleet:
    """Two hosts with the same two faults: default routes by advertisement, and by BGP."""
    hosts = each(healthy("hgx_h100", 2), lambda host: two_faults(without_nccl_file(host)))
    hosts["ember-h001"] = change_list(hosts["ember-h001"], "ip_route", by_router_advertisement)
    hosts["ember-h002"] = change_list(hosts["ember-h002"], "ip_route", over_all_rails)
    return lasting_fleet(hosts)


@pytest.fixture(scope="module")
def of_routed(routed: Fleet) -> Report:
    return routed.check()


@pytest.mark.parametrize("host", ["ember-h001", "ember-h002"], ids=["advertised", "by BGP"])
def test_a_default_route_over_rails_hides_no_fault(of_routed: Report, host: str) -> None:
    assert of_routed.severity("port-down", f"{host}:mlx5_5/1") in MEDIUM_OR_WORSE
    assert of_routed.severity("rdma-mtu-small", f"{host}:mlx5_3/1") in MEDIUM_OR_WORSE
    assert of_routed.exit_status == 1


def test_no_site_file_is_proposed_that_makes_rails_management(routed: Fleet) -> None:
    site = routed.proposed_site()
    for section in site.split("[[role]]")[1:]:
        if '"management"' in section:
            assert not any(f'"mlx5_{rail}"' in section for rail in range(8))


# ---- a port that is down, on one host alone


def down_without_address(host: Reading, *, keeps_address: bool) -> Reading:
    host = port_down(host, "mlx5_2", "eno7np0", keeps_address=keeps_address)
    tool = words((": Active", ": Polling"), (": LinkUp", ": Polling"))
    return change(host, "mlxlink", tool, "0000:a3:00.0")


@pytest.mark.parametrize(
    "keeps_address",
    [
        True,
        False,
    ],
    ids=["keeps its address", "its address was taken away"],
)  # fmt: skip
def test_a_port_down_on_one_host_with_four_nics(
    fleet: Make, healthy: Healthy, keeps_address: bool
) -> None:
    host = without_nccl_file(healthy("two_socket_4x400g", 1)["garnet-n001"])
    struck = down_without_address(host, keeps_address=keeps_address)
    report = fleet({"garnet-n001": struck}).check()
    assert report.severity("port-down", "garnet-n001:mlx5_2/1") in MEDIUM_OR_WORSE
    assert report.exit_status == 1


def test_a_port_down_on_one_infiniband_host(fleet: Make, healthy: Healthy) -> None:
    host = without_nccl_file(healthy("hgx_a100_infiniband", 1)["basalt-h001"])
    struck = port_down(host, "mlx5_3", "ib3", keeps_address=False)
    report = fleet({"basalt-h001": struck}).check()
    assert report.severity("port-down", "basalt-h001:mlx5_3/1") in MEDIUM_OR_WORSE
    assert report.exit_status == 1


# ---- hosts without PCIe switches: only the type of card tells compute from storage


def of_another_type(host: Reading) -> Reading:
    """The fourth card is a storage card of another type, at 200G."""
    host = at_200g(host, "mlx5_3", "eno8np0", "0000:c3:00.0")
    device = {"/sys/class/infiniband/mlx5_3/board_id": "MT_0000000884\n"}
    host = change(host, "infiniband", files(device))
    other = words(("MT_0000000838", "MT_0000000884"))
    return change(change(host, "flint", other, "0000:c3:00.0"), "ethtool_driver", other, "eno8np0")


def at_200g(host: Reading, device: str, netdev: str, pci: str) -> Reading:
    """Every tool says that the port runs at half its rate."""
    rate = {f"/sys/class/infiniband/{device}/ports/1/rate": "200 Gb/sec (2X NDR)\n"}
    host = change(host, "infiniband", files(rate))
    host = change(host, "netdev", files({f"/sys/class/net/{netdev}/speed": "200000\n"}))
    host = change(
        host, "ethtool", words(("Speed: 400000Mb/s", "Speed: 200000Mb/s"), ("Lanes: 4", "Lanes: 2")), netdev
    )  # fmt: skip
    return change(host, "mlxlink", words((": 400G \n", ": 200G \n"), (": 4x ", ": 2x ")), pci)


@pytest.fixture(scope="module")
def mixed(healthy: Healthy) -> dict[str, Reading]:
    whole = each(healthy("two_socket_4x400g", 4), without_nccl_file)
    return each(whole, of_another_type)


@pytest.fixture(scope="module")
def slow(lasting_fleet: Make, mixed: dict[str, Reading]) -> Fleet:
    """One compute port of one host trained at half its rate and has a small MTU."""
    host = at_200g(mixed["garnet-n001"], "mlx5_2", "eno7np0", "0000:a3:00.0")
    return lasting_fleet({**mixed, "garnet-n001": mtu(host, "eno7np0", 1500)})


def test_three_compute_cards_and_one_for_storage(fleet: Make, mixed: dict[str, Reading]) -> None:
    assert_nothing_to_report(fleet(mixed).check())


def test_a_compute_port_at_half_its_rate_stays_one(slow: Fleet) -> None:
    report = slow.check()
    assert report.severity("port-slower-than-peers", "garnet-n001:mlx5_2/1") in MEDIUM_OR_WORSE
    assert report.severity("rdma-mtu-small", "garnet-n001:mlx5_2/1") in MEDIUM_OR_WORSE
    assert report.exit_status == 1


def test_a_class_that_names_rate_and_number_finds_it(slow: Fleet) -> None:
    report = slow.check(
        'profile = "observe"\n[[class]]\nname = "gb"\nport_rate_gbps = 400\ncompute_nics = 3\n'
    )
    assert report.severity("intent-port-rate", "garnet-n001:mlx5_2/1") in MEDIUM_OR_WORSE
    # Three are there; one of them is slow.
    assert report.found("intent-compute-nics") == []
    assert report.exit_status == 1
