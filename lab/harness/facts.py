"""What a snapshot says, to be held against another one of the same hosts."""

from railwright.schema.table import tables
from railwright.store.duck import identifier
from railwright.store.snapshot import Snapshot

# Columns that differ between two readings of one unchanged host.
MOVING = {"read_at", "duration_s", "clock_offset_s", "python"}


def facts(snapshot: Snapshot, names: list[str]) -> dict[str, list[tuple[object, ...]]]:
    """Every fact of these hosts, without what moves between two readings."""
    found = {}
    with snapshot.database() as database:
        for name, table in tables().items():
            if name == "target":
                continue
            columns = ", ".join(
                identifier(c.name) for c in table.columns if c.name not in MOVING and not c.volatile
            )
            found[name] = database.execute(
                f"SELECT {columns} FROM {name} WHERE target IN (SELECT unnest(?)) ORDER BY ALL",
                [names],
            ).fetchall()
    return found


def statuses(snapshot: Snapshot) -> dict[str, str]:
    with snapshot.database() as database:
        return dict(database.execute("SELECT target, status FROM target").fetchall())
