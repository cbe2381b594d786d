"""Table `reference`: what was in a host's slots when it was seen before.

Taken from the store when a snapshot is written, never when it is judged: a snapshot that somebody
mails has its reference with it, and gives the same verdicts.
"""

from pathlib import Path

import duckdb

from railwright.errors import SnapshotError
from railwright.model.remake import is_remade, remade, work_on
from railwright.schema.table import tables
from railwright.store.duck import copy_query, identifier, quote, read_sql
from railwright.store.snapshot import Snapshot, load, snapshots

# Judgement: a host that none of so many snapshots knows is new here. Each costs two files, one of
# another version up to a minute.
MOST_SNAPSHOTS = 10
_OF_CARD = ("slot", "slot_by_bus", "switch_slot", "kind", "part", "pci")
# What there was most of counts: less of it is a loss.
_MOST = ("functions", "rdma_devices", "netdevs", "links", "slowest_gbps")


def write_reference(folder: Path, database: duckdb.DuckDBPyConnection) -> None:
    """facts/reference.parquet of a snapshot in the making, from those beside it."""
    kinds = tables()["reference"].column_types()
    columns = ", ".join(f"{identifier(name)} {kind}" for name, kind in kinds.items())
    database.execute(f"CREATE OR REPLACE TEMP TABLE known_part ({columns})")
    target = quote(str(folder / "facts" / "target.parquet"))
    database.execute(
        "CREATE OR REPLACE TEMP TABLE unseen AS "
        f"SELECT target FROM read_parquet({target}) WHERE kind = 'host'"
    )
    for path in reversed(snapshots(folder.parent)[-MOST_SNAPSHOTS:]):
        if not database.execute("SELECT count(*) FROM unseen").fetchall()[0][0]:
            break
        _add(database, path)
    copy_query(database, "FROM known_part", folder / "facts" / "reference.parquet")


def _opened(path: Path) -> tuple[Snapshot, dict[str, Path]] | None:
    """A snapshot with tables of this version; None for one that is damaged, or long to parse."""
    try:
        snapshot = load(path)
        work = work_on(snapshot)
        if work is not None:
            if not work.is_short and not is_remade(snapshot, parsed=True):
                return None
            snapshot = remade(snapshot, work, parsed=True)
        return snapshot, snapshot.files("card", "reference")
    except SnapshotError:
        return None


def _add(database: duckdb.DuckDBPyConnection, path: Path) -> None:
    opened = _opened(path)
    if opened is None:
        return
    snapshot, files = opened
    card, before = (f"read_parquet({quote(str(files[name]))})" for name in ("card", "reference"))
    same = ", ".join(f"c.{name}" for name in _OF_CARD)
    # A device, a link or a rate once seen is expected, too, while the card is the same.
    most = ", ".join(f"greatest(c.{name}, r.{name}) AS {name}" for name in _MOST)
    fewer = " OR ".join(f"coalesce(c.{name} < r.{name}, false)" for name in _MOST)
    where = f"CASE WHEN {fewer} THEN r.snapshot ELSE {quote(snapshot.name)} END AS snapshot"
    seen = read_sql(__file__, "reference_seen.sql")
    database.execute(seen.format(snapshot=where, same=same, most=most, card=card, before=before))
    database.execute(read_sql(__file__, "reference_known.sql").format(before=before))
    database.execute("DELETE FROM unseen WHERE target IN (SELECT target FROM known_part)")
