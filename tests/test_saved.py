"""`railwright import --kind`: output that somebody saved, with the same filters and parsers."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from railwright.cli import program
from railwright.errors import UsageError
from railwright.model.finish import finish
from railwright.model.merge import merge
from railwright.store.build import Building
from railwright.store.lookup import find

EVIDENCE = Path(__file__).parent / "evidence"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(program(), ["import", *map(str, arguments)])


def rows(store: Path, query: str) -> list[tuple[object, ...]]:
    with find(store, None).database(evidence=True) as database:
        return database.execute(query).fetchall()


def test_saved_output_becomes_facts_at_its_own_time(tmp_path: Path) -> None:
    saved = EVIDENCE / "mlxconfig/cx7-400g-full-e-query.out"
    done = run(saved, "--kind", "mlxconfig", "--target", "gpu017", "--instance", "0000:18:00.0",
               "--at", "2026-11-14T22:15:00Z")  # fmt: skip
    assert done.exit_code == 0, done.output
    found = rows(
        tmp_path / "store",
        "SELECT target, pci, current_text, read_at::VARCHAR FROM nic_parameter "
        "WHERE name = 'SRIOV_EN'",
    )
    assert found == [("gpu017", "0000:18:00.0", "True(1)", "2026-11-14 22:15:00")]


def test_what_the_host_would_drop_is_dropped_here(tmp_path: Path) -> None:
    """A bare command line, as somebody copied it from /proc: no token of it is kept."""
    (tmp_path / "cmdline.txt").write_text("root=/dev/sda1 iommu=pt password=TOKEN quiet\n")
    assert run(tmp_path / "cmdline.txt", "--kind", "cmdline", "--target", "gpu1").exit_code == 0
    store = tmp_path / "store"
    assert rows(store, "SELECT name, value FROM kernel_argument ORDER BY 1") == [
        ("iommu", "pt"),
        ("quiet", ""),
    ]
    assert rows(store, "SELECT dropped FROM probe_result") == [(2,)]
    everything = [path.read_bytes() for path in store.rglob("*") if path.is_file()]
    assert not any(b"TOKEN" in data for data in everything)


def test_output_of_another_command_is_not_understood(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("NIC statistics:\n     rx_packets: 1\n")
    done = run(tmp_path / "x.txt", "--kind", "mlnx_qos", "--target", "gpu1")
    assert done.exit_code == 3
    assert rows(tmp_path / "store", "SELECT status FROM probe_result") == [("not understood",)]


NODE = {
    "kind": "Node",
    "metadata": {
        "name": "worker-1",
        "labels": {"nvidia.com/gpu.count": "8", "team": "TOKEN"},
        "annotations": {"secret": "TOKEN"},
    },
    "spec": {"unschedulable": True},
    "status": {
        "nodeInfo": {"kubeletVersion": "v1.31.4", "kernelVersion": "5.15.0"},
        "capacity": {"nvidia.com/gpu": "8"},
        "allocatable": {"nvidia.com/gpu": "7"},
        "conditions": [{"type": "Ready", "status": "True", "message": "TOKEN"}],
    },
}


def test_kubernetes_nodes_are_targets(tmp_path: Path) -> None:
    other = {**NODE, "metadata": {**NODE["metadata"], "name": "worker-2"}}
    (tmp_path / "nodes.json").write_text(json.dumps({"items": [NODE, other]}))
    assert run(tmp_path / "nodes.json", "--kind", "kubernetes").exit_code == 0
    store = tmp_path / "store"
    assert rows(store, "SELECT target, kubelet_version, unschedulable FROM kubernetes_node ORDER BY 1") == [
        ("worker-1", "v1.31.4", True),
        ("worker-2", "v1.31.4", True),
    ]  # fmt: skip
    assert rows(store, "SELECT DISTINCT capacity, allocatable FROM kubernetes_resource") == [
        ("8", "7")
    ]
    evidence = rows(store, "SELECT stdout FROM evidence")
    assert not any(b"TOKEN" in data for (data,) in evidence)


def test_what_a_cluster_says_replaces_nothing_that_a_host_said_of_itself(tmp_path: Path) -> None:
    """The import is later and counts as reached; the host was read, and not to its end."""
    made = Building(tmp_path / "store", {"started": 1.7e9, "via": "test"}, {"worker-1": ""})
    made.add_host({"target": "worker-1", "boot_id": "of the host", "read_at": 1.7e9})
    made.add_target({"target": "worker-1", "status": "incomplete", "words": "", "started": 1.7e9})
    made.close()
    collected = finish(made.folder)
    (tmp_path / "nodes.json").write_text(json.dumps({"items": [NODE]}))
    assert run(tmp_path / "nodes.json", "--kind", "kubernetes").exit_code == 0
    imported = find(tmp_path / "store", None)
    merge(tmp_path / "merged", [collected, imported], {})
    store = tmp_path / "merged"
    assert rows(store, "SELECT target, boot_id FROM host") == [("worker-1", "of the host")]
    assert rows(store, "SELECT status FROM target") == [("incomplete",)]
    assert rows(store, "SELECT kubelet_version FROM kubernetes_node") == [("v1.31.4",)]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--kind", "mlxconfg", "--target", "x"), "unknown kind 'mlxconfg'"),
        (("--kind", "mlxconfig"), "--kind needs --target"),
        (("--kind", "mlxconfig", "--target", "x", "--at", "noon"), "'noon' is not a time"),
        (("--kind", "kubernetes"), "is not JSON"),
    ],
)
def test_wrong_use_is_told(tmp_path: Path, arguments: tuple[str, ...], words: str) -> None:
    (tmp_path / "x").write_text("hello")
    error = run(tmp_path / "x", *arguments).exception
    assert isinstance(error, UsageError)
    assert words in error.what
