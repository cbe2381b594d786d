"""A fact-level snapshot of any size: the rows of one real template host, once per host.

    fleet(folder, hosts)           made once and kept in `folder`, since a million NICs take minutes

One synthetic host is read by the real runner and parsed by the real parsers; DuckDB then writes its
rows once per host. Each host has identities of its own (addresses, MACs, GUIDs, serials agree
between tables as they do on a real host), counters of its own, and every thousandth a fault. A
mixed fleet is of 40 models, and every fiftieth host has lost one of its NICs.
Needs root (the runner enters the host's root) and about 30 KB of disk per host.
"""

import os
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb

from lab.harness.hosts import answers, large_hosts
from railwright.collect.importing import import_files
from railwright.model import derive
from railwright.schema.table import Table, tables
from railwright.store.build import status_counts
from railwright.store.duck import identifier, quote
from railwright.store.snapshot import Snapshot, load, seal

FAULT_EVERY = 1_000
CLASSES = 40
DAMAGED_EVERY = 50
NAMES = ("2026-11-14T2215Z", "2026-11-15T0800Z")  # one side of a comparison and the other
# What no two machines share.
OWN = re.compile(r"mac|guid|uuid|serial|boot_id|^gid$|^address$|^source$")
_HEX_TAIL = re.compile(r"(.*?)((?:[0-9a-f][:-]?){5}[0-9a-f])", re.IGNORECASE | re.DOTALL)
_ADDRESS = re.compile(r"(\d+\.)(\d+)\.(\d+)\.(\d+)(/\d+)?")
_HOSTS = 1 << 17  # at most; with 128 identities per host they fill the last three bytes


def _own_bytes(value: str) -> str:
    """What tells this identity from others of its host: the last three bytes, in hexadecimal."""
    address = _ADDRESS.fullmatch(value)
    if address:
        return "".join(f"{int(part):02x}" for part in address.groups()[1:4])
    tail = _HEX_TAIL.fullmatch(value)
    return re.sub("[:-]", "", tail[2]).lower() if tail else ""


def fresh(value: str, rank: int) -> str:
    """SQL for the same identity on host i."""
    return _numbered(quote(shape(value)), str(rank))


def shape(value: str) -> str:
    """The format of an identity: its last three bytes are left open."""
    address = _ADDRESS.fullmatch(value)
    if address:
        return f"{address[1]}%d.%d.%d{address[5] or ''}"
    tail = _HEX_TAIL.fullmatch(value)
    assert tail is not None
    return tail[1].replace("%", "%%") + re.sub("[0-9a-fA-F]{2}", "%02x", _paired(tail[2]))


def _numbered(shape: str, rank: str) -> str:
    """SQL: the identity of that shape and rank on host i."""
    number = f"({rank} * {_HOSTS} + i)"
    return f"printf({shape}, {number} >> 16, ({number} >> 8) & 255, {number} & 255)"


def _paired(tail: str) -> str:
    """Separators only between bytes: `a:1b0:2c4` has none where a byte would be torn."""
    return re.sub(r"([0-9a-fA-F])[:-]([0-9a-fA-F])(?=(?:..)*$)", r"\1\2", tail)


class Template:
    """The host whose rows are written again and again."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.facts = snapshot.path / "facts"
        with duckdb.connect(":memory:") as database:
            self._values = {
                (table.name, column): [
                    value
                    for (value,) in database.execute(
                        f"SELECT DISTINCT {identifier(column)} "
                        f"FROM read_parquet({quote(str(self.facts / f'{table.name}.parquet'))}) "
                        f"WHERE {identifier(column)} <> ''"
                    ).fetchall()
                ]
                for table in tables().values()
                if table.fed_by != "derived"
                for column, kind in table.column_types().items()
                if kind == "VARCHAR" and OWN.search(column)
            }
        known = {_own_bytes(value) for values in self._values.values() for value in values}
        self._ranks = {own: rank for rank, own in enumerate(sorted(known - {"", "000000"}))}
        assert len(self._ranks) < 128, "more identities than three bytes hold"

    def rank(self, table: str, column: str, value: str) -> int | None:
        """The number of an identity among those of the host; None = it is none."""
        if value not in self._values.get((table, column), ()):
            return None
        return self._ranks.get(_own_bytes(value))

    def nics(self) -> list[tuple[str, ...]]:
        """PCI address, RDMA device and netdev of each compute NIC."""
        port = quote(str(self.facts / "port.parquet"))
        with duckdb.connect(":memory:") as database:
            rows = database.execute(
                f"SELECT pci, device, netdev FROM read_parquet({port}) WHERE role = 'compute' "
                "ORDER BY pci"
            ).fetchall()
        return [tuple(row) for row in rows]

    def rows(self, table: Table) -> str:
        """SQL of the host's rows, each with what is worked out once and not once per host."""
        kinds = table.column_types()
        own = [
            column
            for name in kinds
            if self._own(table, name)
            for column in self._shape_and_rank(table, name)
        ]
        wanted = ["pci", "device", "netdev", "member", "instance"]
        wanted += ["name"] if table.name in ("netdev", "ip_link") else []
        of_nic = [
            f"WHEN {identifier(name)} IN ({', '.join(map(quote, nic))}) THEN {number}"
            for number, nic in enumerate(self.nics())
            for name in wanted
            if kinds.get(name) == "VARCHAR"
        ]
        nic = f"CASE {' '.join(of_nic)} END" if of_nic else "NULL::BIGINT"
        source = quote(str(self.facts / f"{table.name}.parquet"))
        return f"SELECT *, {', '.join([*own, f'{nic} AS _nic'])} FROM read_parquet({source})"

    def kept(self) -> str:
        """SQL: whether host i of a mixed fleet has the row; damaged ones lack a NIC."""
        lost = f"(i // {DAMAGED_EVERY}) % {len(self.nics())}"
        return f"NOT (i % {DAMAGED_EVERY} = 3 AND _nic IS NOT NULL AND _nic = {lost})"

    def _own(self, table: Table, name: str) -> list[str]:
        """The identities among a column's values."""
        return [
            value
            for value in self._values.get((table.name, name), ())
            if _own_bytes(value) in self._ranks and not value.startswith(("127.", "::1"))
        ]

    def _shape_and_rank(self, table: Table, name: str) -> tuple[str, str]:
        own = self._own(table, name)
        shapes = " ".join(f"WHEN {quote(value)} THEN {quote(shape(value))}" for value in own)
        ranks = " ".join(f"WHEN {quote(v)} THEN {self._ranks[_own_bytes(v)]}" for v in own)
        column = identifier(name)
        return (
            f"CASE {column} {shapes} END AS {identifier(f'_shape_{name}')}",
            f"CASE {column} {ranks} END AS {identifier(f'_rank_{name}')}",
        )

    def column(self, table: Table, name: str, side: int, *, mixed: bool = False) -> str:
        """SQL for a column of host i."""
        column = identifier(name)
        if mixed and table.name == "dmi" and name == "product_name":
            return f"printf('Box %02d', i % {CLASSES})"
        if name in ("target", "hostname"):
            return "printf('gpu%06d', i)"
        if self._own(table, name):
            shape, rank = identifier(f"_shape_{name}"), identifier(f"_rank_{name}")
            return f"CASE WHEN {shape} IS NULL THEN {column} ELSE {_numbered(shape, rank)} END"
        described = next(one for one in table.columns if one.name == name)
        if described.volatile and described.type == "BIGINT":
            return f"{column} + (hash(i, {column}) % 1000000)::BIGINT"  # none counts as another
        faulty = f"i % {FAULT_EVERY} = {7 + side}"
        if table.name == "netdev" and name == "mtu":
            return f"CASE WHEN {faulty} AND {column} = 9000 THEN 1500 ELSE {column} END"
        if table.name == "nic_parameter" and name in ("current_text", "next_text"):
            which = f"{faulty} AND name = 'PCI_WR_ORDERING'"
            return f"CASE WHEN {which} THEN 'force_relax(1)' ELSE {column} END"
        return column


def _multiply(
    template: Template, path: Path, hosts: int, side: int, *, mixed: bool = False
) -> Snapshot:
    facts = path / "facts"
    facts.mkdir(parents=True)
    (path / "evidence").mkdir()
    with duckdb.connect(":memory:") as database:
        database.execute("SET threads = 2; SET memory_limit = '4GB'")
        database.execute(f"SET temp_directory = {quote(str(path / 'tmp'))}")

        def write(table: Table) -> None:
            columns = ", ".join(
                f"{template.column(table, column, side, mixed=mixed)} AS {identifier(column)}"
                for column in table.column_types()
            )
            kept = template.kept() if mixed else "true"
            cursor = database.cursor()
            cursor.execute(f"CREATE TEMP TABLE one AS {template.rows(table)}")
            # Host by host, as hosts answer; a join would mix the rows of two thousand.
            rows = "unnest((SELECT list(one) FROM one), max_depth := 2)"
            cursor.execute(
                f"COPY (SELECT {columns} "
                f"FROM (SELECT i, {rows} FROM range(1, {hosts + 1}) AS hosts(i)) WHERE {kept}) "
                f"TO {quote(str(facts / f'{table.name}.parquet'))} "
                "(FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 122880)"
            )

        # One table at a time takes one core: rows in order are written by one thread.
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            read = [table for table in tables().values() if table.fed_by != "derived"]
            list(pool.map(write, read))
        shutil.rmtree(path / "tmp", ignore_errors=True)
        target = quote(str(facts / "target.parquet"))
        database.execute(f"CREATE VIEW target AS FROM read_parquet({target})")
        run = {key: value for key, value in template.snapshot.run.items() if key != "targets"}
        run["targets"] = status_counts(database)
    derive.all_tables(facts)
    # Last: a snapshot without it is not whole, and is made again.
    seal(path, run)
    return load(path)


def template(folder: Path) -> Template:
    """The host that is multiplied, read once."""
    store = folder / "template"
    if not store.is_dir():
        (folder / "answers").mkdir(parents=True, exist_ok=True)
        import_files(answers(folder / "answers", large_hosts(1)), store)
    return Template(load(next(path for path in sorted(store.iterdir()) if path.is_dir())))


def fleet(folder: Path, hosts: int, side: int = 0, *, mixed: bool = False) -> Snapshot:
    """A snapshot of so many hosts; of two sides, `side` 1 is the later one."""
    assert hosts < _HOSTS
    path = folder / f"{hosts}{'-mixed' if mixed else ''}" / NAMES[side]
    if (path / "run.json").exists():
        return load(path)
    shutil.rmtree(path, ignore_errors=True)
    return _multiply(template(folder), path, hosts, side, mixed=mixed)
