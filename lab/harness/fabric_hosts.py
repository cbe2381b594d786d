"""Facts of a fabric's hosts: one is read by the real runner, its rows are written for all others.

Hosts that a fault has changed, and hosts with a link that is down, are read one by one.
"""

import csv
import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import duckdb

from lab.fleet.fabric.host_texts import LLDP_COLUMNS, identities, lldp, netdevs
from lab.fleet.fabric.hosts import host_model
from lab.fleet.fabric.model import Fabric
from lab.fleet.fabric.routes import planned_places
from lab.fleet.model import HostModel
from lab.harness.fleets import evidence_of, snapshot_of
from lab.harness.large_fleet import Template, fresh
from railwright.schema.table import Table, tables
from railwright.store.duck import identifier, quote
from railwright.store.snapshot import Snapshot, load

LOOPBACK = ("127.", "::1")
NOTHING = "~"  # in the list of texts: it hears nobody


def changed_hosts(fabric: Fabric) -> list[int]:
    """Hosts that are not like the template."""
    links = fabric.links
    cut = {links.lower[at] for at in range(len(links)) if not links.up[at] and links.tier[at] == 1}
    return sorted({*fabric.host_work, *(host for host in cut if fabric.is_host(host))})


def _read(folder: Path, hosts: Iterable[HostModel]) -> Snapshot:
    """Read for real, once: the folder's name is made of what they are, and of the tables."""
    listed = list(hosts)
    known = [(name, table.column_types()) for name, table in tables().items()]
    key = hashlib.sha256(repr((listed, known)).encode()).hexdigest()[:20]
    store = folder / key
    found = [path for path in store.glob("20*Z*") if (path / "run.json").is_file()]
    if found:
        return load(found[0])
    return snapshot_of(store, evidence_of(folder / f"{key}-answers", listed))


class HostFacts:
    """Where the rows of a fabric's hosts come from, as SQL."""

    def __init__(self, fabric: Fabric, healthy: Fabric, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._fabric = fabric
        self._places = planned_places(healthy)
        self._template = Template(_read(folder, [host_model(healthy, 0, self._places)]))
        self._texts = identities(healthy, 0, self._places)
        self._known = {text: at for at, text in enumerate(self._texts)}
        self._changed = changed_hosts(fabric)
        models = [host_model(fabric, host, self._places) for host in self._changed]
        self._others = _read(folder, models) if models else None
        self._netdevs = netdevs(fabric)
        self._reader = duckdb.connect(":memory:")
        self._read_at = "NULL"

    def load(self, database: duckdb.DuckDBPyConnection, scratch: Path, read_at: float) -> None:
        """The table `who`: a row per host that is like the template."""
        self._read_at = f"make_timestamp({round(read_at * 1e6)})"
        texts = scratch / "hosts.csv"
        changed = set(self._changed)
        heard = [f"h{at}" for at in range(len(self._netdevs) * len(LLDP_COLUMNS))]
        names = ["i", *(f"c{at}" for at in range(len(self._texts))), *heard]
        with texts.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(names)
            for host in range(self._fabric.hosts):
                if host not in changed:
                    own = identities(self._fabric, host, self._places)
                    heard_here = (text or ("" if text == "" else NOTHING)
                                  for text in lldp(self._fabric, host))  # fmt: skip
                    writer.writerow([host + 1, *own, *heard_here])
        database.execute(
            f"CREATE TABLE who AS SELECT * REPLACE (i::BIGINT AS i) FROM read_csv("
            f"{quote(str(texts))}, header = true, all_varchar = true, nullstr = '{NOTHING}')"
        )

    def _distinct(self, table: Table) -> dict[str, list[str]]:
        """The texts of every column of the template."""
        names = [name for name, kind in table.column_types().items() if kind == "VARCHAR"]
        listed = ", ".join(
            f"list(DISTINCT {identifier(name)}) FILTER ({identifier(name)} IS NOT NULL)"
            for name in names
        )
        row = self._reader.execute(f"SELECT {listed} FROM {self._file(table)}").fetchone()
        return dict(zip(names, (values or [] for values in row or ()), strict=True))

    def _file(self, table: Table) -> str:
        return f"read_parquet({quote(str(self._template.facts / f'{table.name}.parquet'))})"

    def _cases(self, table: Table, name: str, values: list[str]) -> list[str]:
        """What each text of the template is on host i."""
        found = []
        for value in values:
            if value is None or value.startswith(LOOPBACK):
                continue
            if value in self._known:
                found.append(f"WHEN {quote(value)} THEN who.c{self._known[value]}")
            elif (rank := self._template.rank(table.name, name, value)) is not None:
                found.append(f"WHEN {quote(value)} THEN {fresh(value, rank)}")
        return found

    def _column(self, table: Table, name: str, values: list[str]) -> str:
        column = f"t.{identifier(name)}"
        if name == "target":
            return "who.c0"
        if name == "read_at":
            return self._read_at
        if table.name == "lldp_neighbor" and name in LLDP_COLUMNS:
            at = LLDP_COLUMNS.index(name)
            whens = " ".join(
                f"WHEN {quote(netdev)} THEN who.h{number * len(LLDP_COLUMNS) + at}"
                for number, netdev in enumerate(self._netdevs)
            )
            return f"CASE t.netdev {whens} ELSE {column} END"
        cases = self._cases(table, name, values)
        return f"CASE {column} {' '.join(cases)} ELSE {column} END" if cases else column

    def queries(self, table: Table) -> Iterator[str]:
        """SELECTs of a table's rows."""
        values = self._distinct(table)
        columns = ", ".join(
            f"{self._column(table, name, values.get(name, []))} AS {identifier(name)}"
            for name in table.column_types()
        )
        where = "WHERE system_name IS NOT NULL" if table.name == "lldp_neighbor" else ""
        yield f"SELECT * FROM (SELECT {columns} FROM who, {self._file(table)} AS t) {where}"
        if self._others is not None:
            own = quote(str(self._others.path / "facts" / f"{table.name}.parquet"))
            moved = f"SELECT * REPLACE ({self._read_at} AS read_at)"
            yield f"{moved if 'read_at' in table.column_types() else ''} FROM read_parquet({own})"
