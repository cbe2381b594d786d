"""The answer to a person's own question: as a table, CSV or JSON lines. NULL is never blank."""

import csv
import io
import json
import sys
from collections.abc import Iterator
from datetime import datetime

import duckdb

from railwright.report.console import plain
from railwright.report.screen import Screen, cut, padded, widths
from railwright.text import harmless

BATCH = 2_000
NULL = "NULL"
_FORMULA = ("=", "+", "-", "@")  # what a spreadsheet would work out
LONGEST_BYTES = 200  # of a blob in a table; CSV and JSON have it whole


def _text(value: object) -> str:
    if value is None:
        return NULL
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.10g}"  # 504.123076923, not the last bits of a double
    if isinstance(value, bytes):
        more = "…" if len(value) > LONGEST_BYTES else ""
        return plain(value[:LONGEST_BYTES].decode("utf-8", "replace")) + more
    if isinstance(value, datetime):
        return value.isoformat(" ")
    return plain(str(value)) if value != "" else "''"


def _batches(rows: duckdb.DuckDBPyConnection) -> Iterator[list[tuple[object, ...]]]:
    while batch := rows.fetchmany(BATCH):
        yield batch


def print_table(screen: Screen, rows: duckdb.DuckDBPyConnection) -> int:
    """Aligned columns; widths are those of the first batch, so that any size can stream."""
    title = [column[0] for column in rows.description]
    columns: list[int] = []
    count = 0
    for batch in _batches(rows):
        texts = [[_text(value) for value in row] for row in batch]
        if not columns:
            columns = widths([title, *texts])
            screen.line(cut(screen, padded(title, columns)), "bold")
        for line in texts:
            screen.line(cut(screen, padded(line, columns)))
        count += len(batch)
    if not columns:
        screen.line(padded(title, widths([title])), "bold")
    return count


def write_csv(rows: duckdb.DuckDBPyConnection) -> int:
    """CSV as other tools read it; NULL is the word, so that it is never taken for ''."""
    count = 0
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([column[0] for column in rows.description])
    for batch in _batches(rows):
        for row in batch:
            writer.writerow([NULL if value is None else _cell(value) for value in row])
        sys.stdout.write(out.getvalue())
        out.seek(0)
        out.truncate()
        count += len(batch)
    sys.stdout.write(out.getvalue())
    return count


def _cell(value: object) -> object:
    """A cell that no terminal acts on, and no spreadsheet takes for a formula."""
    value = _flat(value)
    if not isinstance(value, str):
        return value
    text = harmless(value)
    return f"'{text}" if text[:1] in _FORMULA else text


def _flat(value: object) -> object:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, datetime):
        return value.isoformat(" ")
    return value


def write_json(rows: duckdb.DuckDBPyConnection) -> int:
    """One JSON object per line; NULL is null."""
    names = [column[0] for column in rows.description]
    count = 0
    for batch in _batches(rows):
        for row in batch:
            line = dict(zip(names, map(_flat, row), strict=True))
            sys.stdout.write(json.dumps(line, default=str) + "\n")
        count += len(batch)
    return count
