"""One fact, one verdict: `check`, `links` and `path` on a sound fabric of two hosts and four switches.

The fabric is that of docs/paths.md: a SONiC and a Cumulus leaf, an EOS and an Onyx spine. Its Cumulus
leaf trusts both fields, as every Cumulus with RoCE does.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from lab.harness.by_hand import answers, with_derived
from lab.harness.small_fabric import HOSTS, Rows, change, fabric
from situations.by_text import Report
from situations.fabric_text import Fabric

LOSSLESS = 'profile = "roce-lossless"\n'
ENDS = ("gpu1:mlx5_0", "gpu2:mlx5_0")
Make = Callable[[Rows], Fabric]


@pytest.fixture
def made(tmp_path: Path) -> Make:
    def make(rows: Rows) -> Fabric:
        store = tmp_path / "store"
        store.mkdir()
        with_derived(store, rows)
        (store / "site.toml").write_text(LOSSLESS)
        return Fabric(store)

    return make


def test_a_cumulus_leaf_that_trusts_both_fields(made: Make) -> None:
    sound = made(fabric())
    report: Report = sound.check()
    assert report.found("link-lossless-differs") == []
    assert "  0 with findings" in sound.run("links").stdout
    assert "No fault on this path" in sound.run("path", *ENDS).stdout


def test_a_class_that_was_not_understood_is_no_difference(made: Make) -> None:
    unread = {"target": "leaf1", "dscp": 26}
    blurred = made(change(fabric(), "switch_dscp", unread, traffic_class=None))
    assert "  0 with findings" in blurred.run("links").stdout
    assert blurred.check().severity("link-lossless-differs", "leaf1:Ethernet0") is None


def by_dcb_alone() -> Rows:
    """The hosts have the driver of the distribution: no mlnx_qos, and dcb tells the same."""
    rows = fabric()
    ports = [(row["target"], row["netdev"]) for row in rows["qos_port"]]
    for table in ("qos_port", "qos_priority", "qos_dscp"):
        del rows[table]
    rows["probe_result"] = [row for row in rows["probe_result"] if row["probe"] != "mlnx_qos"]
    for host in HOSTS:
        rows["probe_result"] += answers(host, "dcb_app", "dcb_pfc", mlnx_qos="absent")
    return rows | dcb_rows(ports)


def dcb_rows(ports: list[tuple[str, str]]) -> Rows:
    own = [{"target": target, "netdev": netdev} for target, netdev in ports]
    return {
        "dcb_pfc_priority": [
            {**one, "priority": p, "enabled": p == 3} for one in own for p in range(8)
        ],
        "dcb_app": [
            {**one, "selector": "dscp", "protocol": d, "priority": d // 8}
            for one in own
            for d in range(64)
        ],
    }


def test_host_qos_that_only_dcb_tells(made: Make) -> None:
    inbox = made(by_dcb_alone())
    report = inbox.check()
    for host in HOSTS:
        assert report.reason("link-lossless-differs", f"{host}:ens1") is None
    assert "was not read" not in inbox.run("path", *ENDS).stdout


def test_the_exit_status_does_not_depend_on_the_format(made: Make) -> None:
    unread = made(change(fabric(), "switch_port_qos", {"target": "leaf1"}, trust=None))
    assert unread.run("path").exit_code == 3
    assert unread.run("path", "--json").exit_code == 3
