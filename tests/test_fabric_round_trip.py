"""What the lab's switches answer, through the real parsers, against the model: column by column."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from lab.fleet.fabric import SHAPES, End, Fabric, Routing, Switch, answers, build
from lab.fleet.fabric.hosts import host_model
from lab.harness.fabric import fabric_snapshot
from lab.harness.fleets import evidence_of, snapshot_of
from lab.harness.switch_truth import CHECKS, Check, Rows
from railwright.schema.table import tables
from railwright.store.ingest import parse_answer
from railwright.store.snapshot import Snapshot, load

FABRICS = ("mixed", "onyx", "planes", "wide")


@cache
def fabric_of(name: str) -> Fabric:
    return build(SHAPES[name])


def parsed(fabric: Fabric, switch: Switch) -> Rows:
    """Every row, with its probe."""
    found: Rows = {}
    for probe, command, text in answers(fabric, switch, Routing(fabric)):
        rows, why = parse_answer(probe, command, text.encode())
        assert why == "", f"{switch.name} {command}: {why}"
        for row in rows:
            found.setdefault(row.table, []).append({**row.values, "probe": probe})
    return found


def kinds() -> Iterator[Any]:
    """One switch of each system and tier of each fabric."""
    for name in FABRICS:
        met = set()
        for switch in fabric_of(name).switches:
            if (switch.system, switch.tier) not in met:
                met.add((switch.system, switch.tier))
                yield pytest.param(
                    fabric_of(name), switch, id=f"{name}-{switch.name}-{switch.system}"
                )


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize(("fabric", "switch"), list(kinds()))
def test_a_switch(fabric: Fabric, switch: Switch, check: Check) -> None:
    check(parsed(fabric, switch), fabric, switch)


# ---- snapshots


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fabrics")


@cache
def database_of(path: Path) -> Any:
    """A view per table is dear to make: once per snapshot."""
    return load(path).database()


def rows_of(snapshot: Snapshot, query: str) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = database_of(snapshot.path).execute(query).fetchall()
    return found


@pytest.mark.root
@pytest.mark.timeout(900)
def test_both_ends_of_every_link_name_each_other(folder: Path) -> None:
    fabric = fabric_of("mixed")
    snapshot = fabric_snapshot(folder / "whole", fabric, templates=folder / "templates")
    assert rows_of(snapshot, "SELECT kind, count(*) FROM target GROUP BY kind ORDER BY kind") == [
        ("host", 8), ("switch", 20)
    ]  # fmt: skip
    heard = {
        (target, netdev): (system, port)
        for target, netdev, system, port in rows_of(
            snapshot, "SELECT target, netdev, system_name, port_id FROM lldp_neighbor"
        )
    }
    macs = {
        (target, mac): name
        for target, name, mac in rows_of(snapshot, "SELECT target, name, mac FROM netdev")
    }
    sides = {
        (target, port): (system, port_id)
        for target, port, system, port_id in rows_of(
            snapshot, "SELECT target, port, system_name, port_id FROM switch_neighbor"
        )
    }
    links = fabric.links
    for at in range(len(links)):
        upper = fabric.switch(links.upper[at])
        port = upper.ports[links.upper_port[at]]
        lower = End(links.lower[at], links.lower_port[at])
        told = sides[upper.name, port.name]
        if fabric.is_host(lower.machine):
            netdev = macs[told]
            assert heard[told[0], netdev] == (upper.name, port.announced)
        else:
            below = fabric.switch(lower.machine)
            named = below.ports[lower.port]
            assert told == (below.name, named.announced)
            assert sides[below.name, named.name] == (upper.name, port.announced)


@pytest.mark.root
@pytest.mark.timeout(900)
def test_written_facts_are_those_that_would_have_been_read(folder: Path) -> None:
    """A host and switches whose rows were written, against the same read and parsed one by one."""
    fabric = fabric_of("mixed")
    written = fabric_snapshot(
        folder / "few", fabric, templates=folder / "templates", parse_all=False
    )
    host = fabric.host_name(5)
    read = snapshot_of(folder / "read", evidence_of(folder / "a", [host_model(fabric, 5)]))
    whole = fabric_snapshot(folder / "parsed", fabric, templates=folder / "templates")
    differ = []
    for name, table in tables().items():
        if table.fed_by == "derived" or name in ("target", "probe_result"):
            continue
        volatile = {column.name for column in table.columns if column.volatile}
        columns = ", ".join(
            f'"{column}"' for column in table.column_types()
            if column not in {"read_at", *volatile}
        )  # fmt: skip
        query = f"SELECT {columns} FROM {name} WHERE target = '{host}' ORDER BY ALL"
        if rows_of(written, query) != rows_of(read, query):
            differ.append(f"{name} of {host}")
        if name.startswith("switch"):
            query = f"SELECT {columns} FROM {name} ORDER BY ALL"
            if rows_of(written, query) != rows_of(whole, query):
                differ.append(name)
    assert differ == []
