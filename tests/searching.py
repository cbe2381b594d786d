"""Looking for words in everything that a snapshot holds."""

from collections.abc import Iterator

from railwright.store.snapshot import Snapshot


def everything(snapshot: Snapshot) -> Iterator[bytes]:
    """Every row of every table, evidence included, and every file."""
    with snapshot.database(evidence=True) as database:
        for (table,) in database.execute("SHOW TABLES").fetchall():
            for row in database.execute(f"FROM {table}").fetchall():
                yield str(row).encode() + b"".join(v for v in row if isinstance(v, bytes))
    for path in snapshot.path.rglob("*"):
        if path.is_file():
            yield path.read_bytes()
