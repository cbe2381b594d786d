"""`path`, `links` and `rails` where ports are InfiniBand: no LLDP, and subnets are not collected."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from lab.harness.by_hand import with_derived
from lab.harness.small_fabric import HOSTS, Rows, change, drop, fabric
from railwright.cli import program
from railwright.errors import UsageError

LIDS = {("gpu1", 0): 21, ("gpu1", 1): 22, ("gpu2", 0): 31, ("gpu2", 1): 32}
NOT_FOLLOWED = "InfiniBand subnets are not followed hop by hop: ibnetdiscover is not collected"


def infiniband(rows: Rows, host: str, *rails: int) -> Rows:
    """Some NICs of a host on InfiniBand, without IP: no network device, no neighbor, no address."""
    for rail in rails:
        netdev = f"ens{rail + 1}"
        known = {"state": "ACTIVE", "physical_state": "LinkUp", "rate_text": "400 Gb/sec (4X NDR)", "lid": LIDS[host, rail], "sm_lid": 1}  # fmt: skip
        change(rows, "rdma_port", {"target": host, "device": f"mlx5_{rail}"}, link_layer="InfiniBand", netdev="", **known)  # fmt: skip
        drop(rows, "netdev", target=host, name=netdev)
        for table in ("lldp_neighbor", "address", "ethtool_link"):
            drop(rows, table, target=host, netdev=netdev)
        drop(rows, "switch_neighbor", target=f"leaf{rail + 1}", system_name=host)
    return rows


def only_infiniband() -> Rows:
    """Two hosts and no Ethernet switch."""
    rows = fabric()
    for host in HOSTS:
        infiniband(rows, host, 0, 1)
    for table in rows:
        rows[table] = [row for row in rows[table] if row["target"] in HOSTS]
    return rows


def beside_ethernet() -> Rows:
    """Rail 0 is InfiniBand, rail 1 Ethernet."""
    return infiniband(infiniband(fabric(), "gpu1", 0), "gpu2", 0)


def run(folder: Path, rows: Rows, *words: str) -> tuple[int, str]:
    with_derived(folder, rows)
    done = CliRunner().invoke(program(), [*words, "--store", str(folder)], env={"COLUMNS": "4000"})
    if isinstance(done.exception, UsageError):
        return 2, " ".join(done.exception.lines())
    return done.exit_code, done.stdout


PATH = ("path", "gpu1:mlx5_0", "gpu2:mlx5_0")
WHOLE = f"""\
InfiniBand gpu1:mlx5_0/1 -> gpu2:mlx5_0/1
  0  gpu1:mlx5_0/1
     ACTIVE, LinkUp, 400 Gb/sec (4X NDR), LID 21, SM LID 1
       inconclusive: {NOT_FOLLOWED}; as root, ibtracert 21 31 shows the hops
  1  gpu2:mlx5_0/1
     ACTIVE, LinkUp, 400 Gb/sec (4X NDR), LID 31, SM LID 1
  Inconclusive at hop 0, gpu1:mlx5_0/1: {NOT_FOLLOWED}; as root, ibtracert 21 31 shows the hops
"""


@pytest.mark.parametrize("make", [only_infiniband, beside_ethernet])
def test_a_path_between_infiniband_ports(make: Any, tmp_path: Path) -> None:
    assert run(tmp_path, make(), *PATH) == (3, WHOLE)


def test_the_same_for_programs(tmp_path: Path) -> None:
    status, text = run(tmp_path, only_infiniband(), *PATH, "--json")
    said = json.loads(text)
    (packet,) = said["packets"]
    assert (status, said["exit_status"], said["format"]) == (3, 3, "railwright-path-2")
    assert packet["sender"]["does"] == [
        "ACTIVE, LinkUp",
        "400 Gb/sec (4X NDR)",
        "LID 21",
        "SM LID 1",
    ]
    assert (packet["packet"], packet["hops"], packet["verdict"]) == ("InfiniBand", [], "unknown")
    assert packet["lost"].startswith(NOT_FOLLOWED)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ({"state": "DOWN", "physical_state": "Polling"}, "port-down: is DOWN, Polling; expected ACTIVE"),
        ({"state": "INIT", "lid": 0, "sm_lid": 0}, "subnet-manager-missing: is INIT, LID 0, SM LID 0: no subnet manager has configured it"),
    ],
)  # fmt: skip
def test_what_rules_find_at_an_end_breaks_the_path(
    fault: dict[str, Any], said: str, tmp_path: Path
) -> None:
    rows = change(only_infiniband(), "rdma_port", {"target": "gpu2", "device": "mlx5_0"}, **fault)
    for host in HOSTS:
        change(rows, "host", {"target": host}, uptime_s=86_400.0)
        change(rows, "pci_function", {"target": host}, vf_count=0)
    status, text = run(tmp_path, rows, *PATH)
    assert status == 1
    assert f"  First fault at hop 1, gpu2:mlx5_0/1: {said}\n" in text


def test_what_was_not_read_of_a_port_is_said(tmp_path: Path) -> None:
    rows = change(only_infiniband(), "rdma_port", {"target": "gpu1"}, lid=None, rate_text=None)
    text = run(tmp_path, rows, *PATH)[1]
    assert "     ACTIVE, LinkUp, rate not read, LID not read, SM LID 1\n" in text
    assert "ibtracert" not in text


def test_infiniband_to_ethernet_is_a_mistake(tmp_path: Path) -> None:
    assert run(tmp_path, beside_ethernet(), "path", "gpu1:mlx5_0", "gpu2:mlx5_1") == (
        2,
        (
            "gpu1:mlx5_0/1 is InfiniBand and gpu2:ens2 is Ethernet RDMA packets do not pass between "
            "InfiniBand and Ethernet. Name two ports with the same link layer."
        ),
    )


def test_a_port_has_several_names(tmp_path: Path) -> None:
    """With IP over InfiniBand also that of its network device."""
    rows = beside_ethernet()
    change(rows, "rdma_port", {"target": "gpu1", "device": "mlx5_0"}, netdev="ib0")
    assert run(tmp_path, rows, "path", "gpu1:ib0", "gpu2:mlx5_0/1") == (3, WHOLE)


def test_no_dscp_on_infiniband(tmp_path: Path) -> None:
    status, text = run(tmp_path, only_infiniband(), *PATH, "--dscp", "26")
    assert status == 2
    assert "InfiniBand packets have a service level, not a DSCP." in text


def test_a_host_with_both_says_which_port_is_which(tmp_path: Path) -> None:
    status, text = run(tmp_path, beside_ethernet(), "path", "gpu1", "gpu2")
    assert status == 2
    assert "Choose one of mlx5_0/1 (InfiniBand), mlx5_1 (ens2)" in text


UNKNOWN = "because InfiniBand has no LLDP, and ibnetdiscover is not collected"


def test_links_of_infiniband_ports_are_not_blamed_on_lldp(tmp_path: Path) -> None:
    status, text = run(tmp_path, only_infiniband(), "links")
    assert (status, text.splitlines()) == (
        3,
        [
            "Snapshot 2026-11-14T2215Z: 0 links",
            (
                f"  4 InfiniBand ports: link partners unknown, {UNKNOWN}. For state, rate and LIDs of "
                "two of them: railwright path HOST:DEVICE HOST:DEVICE"
            ),
        ],
    )


def test_links_beside_infiniband_ports(tmp_path: Path) -> None:
    """Two hosts on leaf2 and four links between switches; two InfiniBand ports more."""
    status, text = run(tmp_path, beside_ethernet(), "links", "--json")
    said = json.loads(text)
    assert (status, said["exit_status"], len(said["links"])) == (3, 3, 6)
    assert (said["counts"]["links"], said["counts"]["infiniband"]) == (6, 2)


def test_an_infiniband_port_for_management_has_no_link_to_miss(tmp_path: Path) -> None:
    (tmp_path / "site.toml").write_text('[[role]]\nrole = "management"\ndevices = ["mlx5_0"]\n')
    text = run(tmp_path, beside_ethernet(), "links", "--json")[1]
    assert json.loads(text)["counts"]["infiniband"] == 0


def test_rails_of_infiniband_ports(tmp_path: Path) -> None:
    status, text = run(tmp_path, only_infiniband(), "rails")
    assert (status, text.splitlines()) == (
        3,
        [
            "Snapshot 2026-11-14T2215Z: 2 rails, 0 leaves, 2 hosts",
            f"4 compute ports: leaf unknown, {UNKNOWN}",
        ],
    )


def test_rails_beside_infiniband_ports(tmp_path: Path) -> None:
    status, text = run(tmp_path, beside_ethernet(), "rails")
    assert (status, text.splitlines()[2:]) == (
        3,
        [
            "rail          1  leaves",
            "              2  leaf2",
            f"2 compute ports: leaf unknown, {UNKNOWN}",
        ],
    )
    said = json.loads(run(tmp_path / "again", beside_ethernet(), "rails", "--json")[1])
    assert (said["compute_ports"], said["infiniband"], said["not_read"]) == (4, 2, 0)


def test_hops_say_that_infiniband_has_none(tmp_path: Path) -> None:
    text = run(tmp_path, only_infiniband(), "path")[1]
    assert f"4 InfiniBand ports: no hops, {UNKNOWN}." in text
