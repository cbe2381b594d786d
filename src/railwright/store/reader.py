"""Ask a snapshot for little: what one host says, not what all say."""

from typing import Any

from railwright.schema.table import table_names
from railwright.store.duck import connect, words
from railwright.store.snapshot import Snapshot, make_view


class Reader:
    """Tables are opened when a query first names them.

    To open all 130 of a million NICs takes longer than to read what one host has in them.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._closed = set(table_names())
        self._database = connect(threads=2)
        # The list of row groups of a large file is read once, not by every query.
        self._database.execute("SET parquet_metadata_cache = true")

    def close(self) -> None:
        """Let go of what was opened."""
        self._database.close()

    def rows(self, query: str, values: list[str] | dict[str, str]) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        wanted = words(query) & self._closed
        if wanted:
            self._closed -= wanted
            for table, file in self._snapshot.files(*wanted).items():
                make_view(self._database, table, file)
        return self._database.execute(query, values).fetchall()
