"""Snapshots of fabrics: hosts and switches, healthy or with faults in them.

    fabric_snapshot(folder, build(SHAPES["rails_512"]))       a snapshot in the store `folder`
    python -m bench.fabric rails_512 [FOLDER]                 what it costs

Switches answer as their systems do, and the real parsers read it; a host is read by the real runner
and its rows are written for all others. So 512 hosts cost half a minute of one core. Needs root.
"""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

import duckdb

from lab.fleet.fabric import Fabric
from lab.fleet.faults.switch_fault import FabricInjection, changed
from lab.harness.fabric_hosts import HostFacts
from lab.harness.fabric_switches import SwitchFacts
from railwright.model import derive
from railwright.schema.table import tables
from railwright.store.build import status_counts
from railwright.store.duck import quote
from railwright.store.snapshot import Snapshot, load, seal

NAMES = ("2026-11-15T0700Z", "2026-11-15T0800Z")  # earlier, now
STARTED = {NAMES[0]: 1794726000.0, NAMES[1]: 1794729600.0}
# More switches than this are not parsed one by one.
PARSED = 256
TEMPLATES = "railwright-fabric-hosts"


def _write(
    facts: Path, database: duckdb.DuckDBPyConnection, sources: tuple[HostFacts, SwitchFacts]
) -> None:
    """Every table: the rows of hosts, then those of switches."""
    for name, table in tables().items():
        if table.fed_by == "derived":
            continue
        parts = [f"({query})" for source in sources for query in source.queries(table)]
        query = " UNION ALL BY NAME ".join(parts)
        database.execute(
            f"COPY ({query}) TO {quote(str(facts / f'{name}.parquet'))} "
            "(FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 122880)"
        )


def _columns() -> str:
    """Changes with the tables: rows that were kept have the columns of their day."""
    columns = {name: list(table.column_types()) for name, table in tables().items()}
    return hashlib.sha256(json.dumps(columns).encode()).hexdigest()[:12]


def fabric_snapshot(
    folder: Path,
    fabric: Fabric,
    faults: Iterable[FabricInjection] = (),
    *,
    earlier: bool = False,
    parse_all: bool | None = None,
    templates: Path | None = None,
) -> Snapshot:
    """A snapshot in the store `folder`; `earlier` is an hour before, with faults as they were."""
    name = NAMES[0] if earlier else NAMES[1]
    path = folder / name
    shutil.rmtree(path, ignore_errors=True)
    struck = changed(fabric, faults, before=earlier)
    whole = len(fabric.switches) <= PARSED if parse_all is None else parse_all
    kept = templates or Path(tempfile.gettempdir()) / f"{TEMPLATES}-{_columns()}"
    with tempfile.TemporaryDirectory(prefix="railwright-fabric-", dir="/dev/shm") as scratch:
        switches = SwitchFacts(struck, Path(scratch), STARTED[name], parse_all=whole)
        hosts = HostFacts(struck, fabric, kept)
        (path / "facts").mkdir(parents=True)
        with duckdb.connect(":memory:") as database:
            database.execute("SET threads = 2; SET memory_limit = '4GB'; SET TimeZone = 'UTC'")
            database.execute(f"SET temp_directory = {quote(str(Path(scratch) / 'tmp'))}")
            hosts.load(database, Path(scratch), STARTED[name])
            switches.load(database)
            _write(path / "facts", database, (hosts, switches))
            target = quote(str(path / "facts/target.parquet"))
            database.execute(f"CREATE VIEW target AS FROM read_parquet({target})")
            run = dict(switches.snapshot.run) | {"targets": status_counts(database)}
        shutil.copytree(switches.snapshot.path / "evidence", path / "evidence")
    derive.all_tables(path / "facts")
    run["switches"] = [switch.name for switch in fabric.switches]
    seal(path, run)
    return load(path)
