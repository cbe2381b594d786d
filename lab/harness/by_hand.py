"""Snapshots whose tables are written by hand: hardware that the fake site does not have."""

import hashlib
import json
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import duckdb

from railwright.model import derive
from railwright.model.revision import revisions
from railwright.schema.table import Table, tables
from railwright.store.duck import connect, quote, read_spool
from railwright.store.snapshot import REVISIONS, Snapshot, load

STARTED = 1794694500.0  # 2026-11-14 22:15 UTC
# Many tests ask for the same rows: what was made of them in this process is copied.
_MADE = tempfile.TemporaryDirectory(prefix="railwright-by-hand-")


def by_hand(
    folder: Path, rows: dict[str, list[dict[str, Any]]], name: str = "2026-11-14T2215Z"
) -> Snapshot:
    """A snapshot of these rows; what a row does not say is NULL: not read."""
    path = folder / name
    (path / "facts").mkdir(parents=True)
    (path / "evidence").mkdir()
    (path / "run.json").write_text(
        json.dumps({"format": 1, "started": STARTED, REVISIONS: revisions()})
    )
    spool = folder / "rows.ndjson"
    with connect() as database:
        for table, schema in tables().items():
            file = path / "facts" / f"{table}.parquet"
            if rows.get(table):
                spool.write_text("".join(json.dumps(row) + "\n" for row in rows[table]))
                _copy(database, schema, spool, file)
            else:
                shutil.copyfile(_empty() / file.name, file)
    spool.unlink(missing_ok=True)
    return load(path)


def _copy(database: duckdb.DuckDBPyConnection, schema: Table, spool: Path, file: Path) -> None:
    source = read_spool(spool, schema.column_types())
    database.execute(f"COPY (FROM {source}) TO {quote(str(file))} (FORMAT parquet)")


@cache
def _empty() -> Path:
    """Every table without a row: most of them are, in a snapshot that is written by hand."""
    folder = Path(_MADE.name) / "empty"
    folder.mkdir()
    spool = folder / "none.ndjson"
    spool.touch()
    with connect() as database:
        for table, schema in tables().items():
            _copy(database, schema, spool, folder / f"{table}.parquet")
    return folder


def with_derived(
    folder: Path, rows: dict[str, list[dict[str, Any]]], name: str = "2026-11-14T2215Z"
) -> Snapshot:
    """The same, and the derived tables made of it as at the end of a run."""
    key = hashlib.sha256(json.dumps(rows).encode()).hexdigest()
    kept = Path(_MADE.name) / key
    if not kept.exists():
        making = Path(_MADE.name) / "making"
        shutil.rmtree(making, ignore_errors=True)  # of rows that could not be taken
        derive.all_tables(by_hand(making, rows, "made").path / "facts")
        (making / "made").rename(kept)
    shutil.copytree(kept, folder / name)
    return load(folder / name)


def target(name: str, status: str = "reached", **more: Any) -> dict[str, Any]:
    row = {"target": name, "kind": "host", "status": status, "words": "", "out_of_service": ""}
    return {**row, **more}


def answers(name: str, *probes: str, **statuses: str) -> list[dict[str, Any]]:
    ok = dict.fromkeys(probes, "ok")
    return [
        {"target": name, "probe": probe, "instance": "", "status": status, "reason": ""}
        for probe, status in (ok | statuses).items()
    ]


ODD = {"target": "odd1"}
LINK = {
    "link_speed_gts": 32.0,
    "link_width": 16,
    "link_speed_max_gts": 32.0,
    "link_width_max": 16,
}


def odd_functions() -> list[dict[str, Any]]:
    """A root port with three cards' functions, a card on vfio, a GPU at rest, a drive."""
    pci = {**ODD, "physical_function": "", "numa_node": -1, "vf_count": 0, "parent": ""}
    nic = {**pci, **LINK, "vendor": "15b3", "class": "020700", "driver": "mlx5_core"}
    below = {**nic, "parent": "0000:10:01.0"}
    virtual = {**below, "physical_function": "0000:11:00.0"}
    gpu = {**pci, **LINK, "vendor": "10de", "class": "030200", "link_speed_gts": 2.5}
    return [
        {**pci, "pci": "0000:10:01.0", "vendor": "8086", "class": "060400"},
        {**below, "pci": "0000:11:00.0", "vf_count": 2},
        {**virtual, "pci": "0000:11:00.1"},
        {**virtual, "pci": "0000:11:00.2"},
        {**below, "pci": "0000:11:00.3", "class": "020000"},
        {**nic, "pci": "0000:21:00.0", "driver": "vfio-pci"},
        {**gpu, "pci": "0000:31:00.0"},
        {**pci, "pci": "0000:41:00.0", "vendor": "144d", "class": "010802"},
    ]


def odd_devices() -> list[dict[str, Any]]:
    card = {**ODD, "firmware_version": "28.43.2026", "psid": "P", "hca_type": "MT4129"}
    soft = {**ODD, "firmware_version": "", "psid": "", "hca_type": ""}
    return [
        {**card, "device": "mlx5_0", "pci": "0000:11:00.0"},
        {**card, "device": "mlx5_1", "pci": "0000:11:00.1"},
        {**card, "device": "mlx5_2", "pci": "0000:11:00.2"},
        {**card, "device": "mlx5_bond_0", "pci": "0000:11:00.3"},
        {**soft, "device": "rxe0", "pci": ""},
    ]


def odd_netdevs() -> list[dict[str, Any]]:
    netdev = {**ODD, "operstate": "up", "mtu": 9000, "port_name": "", "master": "", "arp_type": 1}
    card = {**netdev, "kind": "physical"}
    return [
        {**netdev, "kind": "virtual", "name": "bond0", "pci": ""},
        {**card, "name": "ens1", "pci": "0000:11:00.3", "master": "bond0"},
        {**card, "name": "ib0", "pci": "0000:11:00.0", "mtu": 2044, "arp_type": 32},
    ]


def odd_host() -> dict[str, list[dict[str, Any]]]:
    """InfiniBand, a bond, virtual functions, a GPU that its driver has lost, Soft-RoCE."""
    port = {**ODD, "port": 1, "state": "ACTIVE", "state_code": 4, "rate_gbps": 400.0}
    layers = ["InfiniBand"] * 3 + ["Ethernet"] * 2
    devices = odd_devices()
    system = {"operating_system": "Ubuntu\x1b[31m 24.04", "kernel": "6.8.0"}
    gpu = {"pci": "0000:31:00.0", "device_id": "2330", "link_speed_gts": 2.5, "link_width": 16}
    said = answers("odd1", "pci", "infiniband", "netdev", "nvidia_smi")
    said += answers("odd1", lldpctl="absent", pci_config="denied", mlxconfig="denied")
    return {
        "target": [target("odd1", root="root", root_reason="")],
        "host": [{**ODD, **system, "hostname": "odd1\x1b[2J", "architecture": "x86_64"}],
        "pci_function": odd_functions(),
        "rdma_device": devices,
        "rdma_port": [
            {**port, "device": device["device"], "link_layer": layer}
            for device, layer in zip(devices, layers, strict=True)
        ],
        "netdev": odd_netdevs(),
        "gid": [{**ODD, "device": "mlx5_bond_0", "port": 1, "index": 3, "netdev": "bond0"}],
        "gpu": [{**ODD, **gpu, "smi_status": "not listed by nvidia-smi"}],
        "probe_result": said,
    }
