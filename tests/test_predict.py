"""`railwright predict` over snapshots written by hand."""

import json
from pathlib import Path
from typing import Any

import duckdb
import jsonschema
import pytest
from by_hand import by_hand, target
from conftest import REPOSITORY
from typer.testing import CliRunner, Result

from railwright.cli import app
from railwright.facts.snapshot import Snapshot
from railwright.predict.fleet import make_ceilings

NIC, ROOT = "0000:18:00.0", "0000:17:00.0"
IPV4 = "0000:0000:0000:0000:0000:ffff:0a00:0001"
IPV6 = "fd00:0000:0000:0000:0000:0000:0000:0001"
Rows = dict[str, list[dict[str, Any]]]
# Behind 128b/130b, by hand.
LINES = {(32, 16): 504.123, (32, 8): 252.0615, (16, 16): 252.0615, (32, 4): 126.0308}


def host(name: str, gts: float = 32, width: int = 16, **more: Any) -> Rows:
    """A host with one port: 400G Ethernet, RDMA MTU 4096, Gen5 x16 unless told otherwise."""
    own = {"target": name}
    layer = more.get("link_layer", "Ethernet")
    port = {
        **own, "device": "mlx5_0", "port": 1, "pci": NIC, "card": NIC, "netdev": "ens1", "link_layer": layer,
        "state": more.get("state", "ACTIVE"), "rate_gbps": more.get("rate", 400.0), "role": more.get("role", "compute"),
        "gpu_relation": more.get("gpu_relation", "PIX"),
    }  # fmt: skip
    link = {**own, "pci": NIC, "speed_gts": gts, "width": width}
    config = {**own, "max_payload": more.get("payload", 256), "max_read_request": 512, "extended_tag": True}
    return {
        "target": [target(name)],
        "cpu": [{**own, "hypervisor": more.get("hypervisor", ""), "vendor": "GenuineIntel", "family": 6, "model_number": 143}],
        "port": [port],
        "netdev": [{**own, "name": "ens1", "mtu": more.get("netdev_mtu", 9000)}],
        "verbs_port": [{**own, "device": "mlx5_0", "port": 1, "active_mtu": more.get("mtu", 4096)}],
        "gid": [{**own, "device": "mlx5_0", "port": 1, "index": 3, "type": "RoCE v2", "gid": more.get("gid", IPV4)}],
        "pci_function": [{**own, "pci": NIC, "iommu_type": more.get("iommu", "identity"), "vendor": "15b3"}],
        "pcie_endpoint": [
            {**own, "pci": NIC, "kind": "nic", "root_port": ROOT, "narrowest_hop": ROOT, "narrowest_gbps": LINES[gts, width]}
        ],
        "pcie_path": [{**link, "place": 0, "hop": NIC}, {**link, "place": 1, "hop": ROOT}],
        "pci_config": [{**config, "pci": NIC}, {**config, "pci": ROOT}],
        "gpu": [{**own, "pci": f"0000:{n:02x}:00.0", "name": "NVIDIA H100 80GB HBM3"} for n in range(0x20, 0x28)],
        "host_kind": [{**own, "gpus": 8}],
    }  # fmt: skip


def together(*hosts: Rows) -> Rows:
    found: Rows = {}
    for one in hosts:
        for table, rows in one.items():
            found.setdefault(table, []).extend(rows)
    return found


def without(rows: Rows, *names: str) -> Rows:
    return {table: content for table, content in rows.items() if table not in names}


def ceilings(folder: Path, *hosts: Rows) -> duckdb.DuckDBPyConnection:
    database = by_hand(folder, together(*hosts)).database()
    make_ceilings(database)
    return database


def row(database: duckdb.DuckDBPyConnection, columns: str, where: str = "true") -> tuple[Any, ...]:
    (found,) = database.execute(f"SELECT {columns} FROM port_ceiling WHERE {where}").fetchall()
    return tuple(round(cell, 1) if isinstance(cell, float) else cell for cell in found)


# Gb/s of facts/predict.md, section 1; those of IPv6 are 102 bytes in place of 82.
@pytest.mark.parametrize(
    ("made", "told"),
    [
        ({}, (392.1, "port", "validated", "")),
        ({"rate": 200.0}, (196.0, "port", "arithmetic", "")),
        ({"mtu": 1024}, (370.3, "port", "validated", "")),
        ({"gid": IPV6}, (390.2, "port", "validated", "")),
        ({"link_layer": "InfiniBand"}, (397.4, "port", "arithmetic", "")),
        ({"width": 8}, (229.9, "PCIe", "unvalidated", "")),
        ({"gts": 16, "payload": 512}, (240.1, "PCIe", "unvalidated", "")),
        ({"width": 4, "rate": 200.0}, (114.9, "PCIe", "validated", "")),
        # Without root the payload is not read; Gen5 x16 lets through 424 even with 128 bytes.
        ({"payload": None}, (392.1, "port", "validated", "")),
        ({"payload": None, "width": 8}, (None, None, None, "PCIe payload not read")),
        # Then the MTU of the network device tells: 1500 leaves 1024.
        ({"mtu": None, "netdev_mtu": 1500}, (370.3, "port", "validated", "")),
        ({"mtu": None, "netdev_mtu": None}, (None, None, None, "MTU not read")),
        ({"state": "DOWN", "rate": 40.0}, (None, None, None, "the port is DOWN")),
        ({"rate": None}, (None, None, None, "rate not read")),
        ({"hypervisor": "KVM"}, (None, None, None, "a guest sees PCIe links that its hypervisor makes up")),
        ({"hypervisor": None}, (None, None, None, "PCIe path not read")),
    ],
)  # fmt: skip
def test_a_port(tmp_path: Path, made: dict[str, Any], told: tuple[Any, ...]) -> None:
    with ceilings(tmp_path, host("a", **made)) as database:
        assert row(database, "write_gbps, binding, basis, unknown") == told


@pytest.mark.parametrize("table", ["verbs_port", "gid", "pcie_endpoint", "cpu"])
def test_what_was_not_read_is_not_known(tmp_path: Path, table: str) -> None:
    rows = without(host("a", netdev_mtu=None), table)
    with ceilings(tmp_path, rows) as database:
        assert row(database, "write_gbps, low_gbps, alarm_gbps, both_gbps")[:3] == (None, None, None)
        assert row(database, "unknown") != ("",)


def test_interval_alarm_and_latency(tmp_path: Path) -> None:
    hosts = (host("a"), host("b", iommu="DMA-FQ"), host("c", iommu=None))
    with ceilings(tmp_path, *hosts) as database:
        columns = "low_gbps, high_gbps, alarm_gbps, latency_class, read_wait_us"
        # 0.96, 1.00 and 0.95 of 392.06; 256 tags of 512 bytes at that rate: 2.67 us.
        assert row(database, columns, "target = 'a'") == (376.4, 392.1, 372.5, "direct", 2.7)
        assert row(database, columns, "target = 'b'") == (None, 392.1, None, "translated", 2.7)
        assert row(database, columns, "target = 'c'") == (None, 392.1, None, None, 2.7)


def test_outstanding_reads_may_be_limited_by_firmware(tmp_path: Path) -> None:
    limit = {"target": "a", "pci": NIC, "name": "MAX_ACC_OUT_READ", "port": 0, "element": -1}
    few = {**host("a"), "nic_parameter": [{**limit, "current_code": 64}]}
    with ceilings(tmp_path, few) as database:
        assert row(database, "window_bytes, read_wait_us") == (65536, 1.3)


def test_both_ways(tmp_path: Path) -> None:
    # predict.md: 398.7 of PCIe, above the wire; at x8 with 203 bytes between acknowledgements, by hand:
    # 252.06 * (1 - 4/1538 - 16/203) / (1 + 24/256 + 24/512) = 203.0.
    with ceilings(tmp_path, host("a"), host("b", width=8)) as database:
        assert row(database, "both_ways_gbps, both_gbps", "target = 'a'") == (398.7, 392.1)
        assert row(database, "both_ways_gbps, both_gbps", "target = 'b'") == (203.0, 203.0)


def test_a_gpu_at_the_other_socket(tmp_path: Path) -> None:
    # Sapphire Rapids: NCCL plans with 22 GB/s.
    hosts = (host("a", gpu_relation="SYS"), host("b", gpu_relation="PXB"), host("c", gpu_relation=""))
    with ceilings(tmp_path, *hosts) as database:
        found = [row(database, "gpu_gbps", f"target = '{name}'") for name in "abc"]
        assert found == [(176.0,), (392.1,), (None,)]


def second(rows: Rows, pci: str, slot: str, **more: Any) -> Rows:
    """One port more, on another function."""
    own = {"target": rows["target"][0]["target"]}
    port = {**rows["port"][0], "device": "mlx5_1", "pci": pci, **more}
    added = {
        "port": [port],
        "verbs_port": [{**own, "device": "mlx5_1", "port": 1, "active_mtu": 4096}],
        "gid": [{**own, "device": "mlx5_1", "port": 1, "index": 3, "type": "RoCE v2", "gid": IPV4}],
        "pci_function": [{**rows["pci_function"][0], "pci": pci}],
        "pcie_endpoint": [{**rows["pcie_endpoint"][0], "pci": pci, "root_port": slot, "narrowest_hop": slot}],
        "pcie_path": [{**one, "pci": pci, "hop": hop} for one, hop in zip(rows["pcie_path"], (pci, slot), strict=True)],
        "pci_config": [{**rows["pci_config"][0], "pci": pci}]
        + ([{**rows["pci_config"][0], "pci": slot}] if slot != ROOT else []),
    }  # fmt: skip
    return together(rows, added)


def hosts_of(database: duckdb.DuckDBPyConnection) -> list[Any]:
    found = database.execute("SELECT cards, ports, wire_gbps, write_gbps FROM host_ceiling").fetchall()
    return [
        tuple(round(cell, 1) if isinstance(cell, float) else cell for cell in one) for one in found
    ]


def test_two_ports_of_one_card_share_its_slot(tmp_path: Path) -> None:
    # 2 x 392.06 on the wire, 459.7 through Gen5 x16 with 256 bytes (B6: 460.9 less clock compensation).
    rows = second(host("a"), "0000:18:00.1", ROOT)
    with ceilings(tmp_path, rows) as database:
        assert hosts_of(database) == [(1, 2, 784.1, 459.7)]


def test_two_cards_have_a_slot_each(tmp_path: Path) -> None:
    rows = second(host("a"), "0000:28:00.0", "0000:27:00.0", card="0000:28:00.0")
    with ceilings(tmp_path, rows) as database:
        assert hosts_of(database) == [(2, 2, 784.1, 784.1)]


def test_the_halves_of_socket_direct_are_one_card_with_two_slots(tmp_path: Path) -> None:
    # Each half shows the one 400G port; two Gen4 x16 slots carry 459.7 together.
    rows = second(host("a", gts=16), "0000:28:00.0", "0000:27:00.0")
    with ceilings(tmp_path, rows) as database:
        assert hosts_of(database) == [(1, 1, 392.1, 392.1)]


def test_a_port_of_unknown_role_leaves_the_host_open(tmp_path: Path) -> None:
    rows = second(host("a"), "0000:28:00.0", "0000:27:00.0", card="0000:28:00.0", role=None)
    with ceilings(tmp_path, rows) as database:
        assert hosts_of(database)[0][2:] == (None, None)


def test_a_silent_host_is_there_and_unknown(tmp_path: Path) -> None:
    silent = {"target": [target("b", "silent")]}
    with ceilings(tmp_path, host("a"), silent) as database:
        assert sorted(hosts_of(database), key=str) == [(0, None, None, None), (1, 1, 392.1, 392.1)]


def run(snapshot: Snapshot, *words: str) -> Result:
    store = ["--store", str(snapshot.path.parent)]
    return CliRunner().invoke(app, ["predict", *words, *store])


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    hosts = (host("a"), host("b"), host("c", width=8), host("d", payload=None, width=8))
    return by_hand(tmp_path_factory.mktemp("store"), together(*hosts))


def test_the_command_folds_and_says_what_binds(snapshot: Snapshot) -> None:
    result = run(snapshot, "ceiling")
    assert result.exit_code == 3
    text = result.stdout
    assert "392.1  2 ports, ib_write_bw 376.4 to 392.1, alarm below 372.5 (validated)" in text
    assert "bound by PCIe Gen5 x8, payload 256; port 400G Ethernet, RDMA MTU 4096 would carry 392.1" in text
    assert "unknown: PCIe payload not read" in text
    assert "a-b" in text or "a,b" in text


def schema(name: str) -> Any:
    return json.loads((REPOSITORY / f"docs/schemas/{name}-1.json").read_text("utf-8"))


def test_json_keeps_to_its_schema(snapshot: Snapshot) -> None:
    told = json.loads(run(snapshot, "ceiling", "--format", "json").stdout)
    jsonschema.validate(told, schema("ceilings"))
    assert [one["write_gbps"] is None for one in told["ports"]] == [False, False, False, True]
    assert told["exit_status"] == 3


def test_a_pair(snapshot: Snapshot) -> None:
    result = run(snapshot, "ceiling", "--pair", "a:mlx5_0", "c:ens1", "--format", "json")
    assert result.exit_code == 0
    told = json.loads(result.stdout)
    jsonschema.validate(told, schema("ceilings"))
    there, back = told["pair"]["directions"]
    # c writes its memory with 24 bytes around 256, and reads it with 20: 229.9 and 233.2 through Gen5 x8.
    assert (round(there["write"], 1), round(back["write"], 1)) == (229.9, 233.2)
    assert there["binding"] == f"c:mlx5_0/1 writes its memory over PCIe 32 GT/s x8 at {ROOT}"
    assert back["binding"] == f"c:mlx5_0/1 reads its memory over PCIe 32 GT/s x8 at {ROOT}"
    assert there["basis"] == "unvalidated"
    assert round(told["pair"]["both_gbps"], 1) == 203.0
    text = run(snapshot, "ceiling", "--pair", "a:mlx5_0", "b:mlx5_0").stdout
    assert "a:mlx5_0/1 -> b:mlx5_0/1  392.1 Gb/s" in text
    assert "bound by the port rate, 400 Gb/s at RDMA MTU 4096" in text


def test_a_pair_that_is_not_known(snapshot: Snapshot) -> None:
    result = run(snapshot, "ceiling", "--pair", "a:mlx5_0", "d:mlx5_0")
    assert result.exit_code == 3
    assert "a:mlx5_0/1 -> d:mlx5_0/1  ? Gb/s" in result.stdout
    assert "d:mlx5_0/1: PCIe payload not read" in result.stdout


def test_a_pair_of_two_kinds(tmp_path: Path) -> None:
    mixed = by_hand(tmp_path, together(host("a"), host("b", link_layer="InfiniBand")))
    result = run(mixed, "ceiling", "--pair", "a:mlx5_0", "b:mlx5_0")
    assert result.exception.lines() == [
        "a:mlx5_0/1 is Ethernet, b:mlx5_0/1 is InfiniBand",
        "Nothing passes between them.",
        "Name two ports of one fabric.",
    ]


@pytest.mark.parametrize(
    ("pair", "said"),
    [
        (("a:mlx5_0", "x:mlx5_0"), "no machine 'x' in this snapshot"),
        (("a:mlx5_9", "b:mlx5_0"), "'a:mlx5_9' is not one RDMA port"),
    ],
)
def test_a_pair_that_is_not_there(snapshot: Snapshot, pair: tuple[str, str], said: str) -> None:
    assert run(snapshot, "ceiling", "--pair", *pair).exception.what == said


def test_nccl_of_most_hosts(snapshot: Snapshot) -> None:
    told = json.loads(run(snapshot, "nccl", "--nodes", "4", "--size", "1G", "--format", "json").stdout)
    jsonschema.validate(told, schema("nccl"))
    assert told["cluster"]["from"] == "2 of 3 hosts of snapshot 2026-11-14T2215Z"
    shape = ("gpu", "gpus_per_node", "nics_per_node", "nic_gbps", "ceiling_gbps", "cpu")
    assert [told["cluster"][key] for key in shape] == ["H100", 8, 1, 400, None, "Intel"]
    assert {one["algorithm"] for one in told["predictions"]} == {"ring", "tree", "nvlstree"}
    assert all(one["ceiling"] <= 48.5 for one in told["predictions"])


def test_nccl_as_described() -> None:
    words = ["predict", "nccl", "--gpu", "h100", "--nodes", "8", "--size", "1G"]
    text = CliRunner().invoke(app, words).stdout
    # 0.869 of 370.8, as the prototype of predict.md has it, to a percent.
    (line,) = [one for one in text.splitlines() if " ring " in one]
    assert float(line.split()[5]) == pytest.approx(0.869 * 370.8, rel=0.01)
    assert line.rstrip().endswith("validated")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--gpu", "H9"], "nothing is known of 'H9' in collectives"),
        (["--gpu", "H100", "--size", "big"], "'big' is no message size"),
        (["--gpu", "H100", "--nodes", "two"], "'two' is no list of numbers of nodes"),
    ],
)
def test_wrong_words(words: list[str], said: str) -> None:
    result = CliRunner().invoke(app, ["predict", "nccl", *words])
    assert result.exception.what == said
