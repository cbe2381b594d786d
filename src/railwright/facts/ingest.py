"""spool -> evidence -> facts, one spool file after another, in a process of its own.

    python -m railwright.facts.ingest FOLDER      reads names of spool files, answers each

The collector keeps one beside itself while it goes on reading machines: its own memory stays small,
and both cores have work.
"""

import importlib
import re
import sys
from collections import OrderedDict
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, NamedTuple

import duckdb

from railwright.facts.duck import (
    RowWriter,
    connect,
    copy_query,
    identifier,
    moment,
    quote,
    read_spool,
)
from railwright.facts.evidence import EVIDENCE_COLUMNS, Answer, read_spool_line
from railwright.facts.schema import tables
from railwright.parse.base import NotUnderstoodError, Row, Value

ROWS_AT_A_TIME = 64  # an answer can be megabytes
KNOWN_BYTES = 32 * 1024 * 1024  # of rows: some hundred kinds of answers
CHUNK_BYTES = 6 * 1024 * 1024  # of evidence in plain base64, on its way to DuckDB


@cache
def _parser(probe: str) -> object | None:
    """The `parse` function with the probe's own name, or None while there is none."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", probe):
        return None
    try:
        return importlib.import_module(f"railwright.parse.{probe}").parse  # type: ignore[no-any-return]
    except ModuleNotFoundError:
        return None


def parse_answer(probe: str, instance: str, stdout: bytes) -> tuple[list[Row], str]:
    """All rows of one answer, or none and the reason why it was not understood.

    A parser that fails in its middle gives nothing: half an answer would read as a whole one.
    """
    parser = _parser(probe)
    if parser is None:
        return [], ""
    try:
        return list(parser(stdout, instance)), ""  # type: ignore[operator]
    except NotUnderstoodError as error:
        return [], str(error) or "not understood"
    except Exception as error:  # a fault of ours on one machine's bytes is that row's
        return [], f"parser fault: {type(error).__name__}: {error}"


class _EvidenceParts:
    """Evidence on its way to Parquet, a bounded part at a time."""

    def __init__(self, folder: Path, name: str, database: duckdb.DuckDBPyConnection) -> None:
        self._folder = folder
        self._name = name
        self._database = database
        self._number = 0
        self._size = 0
        self._chunk = folder / "tmp" / f"{name}.ndjson"
        self._file: BinaryIO | None = None

    def write(self, answer: Answer) -> None:
        if self._file is None:
            self._chunk.parent.mkdir(exist_ok=True)
            self._file = self._chunk.open("wb")
            self._size = 0
        for piece in answer.evidence_line():
            self._size += self._file.write(piece)
        if self._size >= CHUNK_BYTES:
            self.finish()

    def finish(self) -> None:
        """The part that is under way, complete or not there."""
        if self._file is None:
            return
        self._file.close()
        self._file = None
        part = self._folder / "evidence" / f"{self._name}-{self._number:03d}.parquet"
        part.parent.mkdir(exist_ok=True)
        self._number += 1
        convert = {"BLOB": "from_base64({0})", "TIMESTAMP": moment("{0}")}
        picked = ", ".join(
            convert.get(kind, "{0}").format(identifier(name)) + f" AS {identifier(name)}"
            for name, (_, kind) in EVIDENCE_COLUMNS.items()
        )
        spooled = {name: kind for name, (kind, _) in EVIDENCE_COLUMNS.items()}
        source = read_spool(self._chunk, spooled)
        copy_query(self._database, f"SELECT {picked} FROM {source}", part)
        self._chunk.unlink()


class _Parsed(NamedTuple):
    """What an answer gives, whoever gave it."""

    tables: dict[str, list[str]]  # table -> its rows, encoded
    trouble: str
    size: int


class _Known:
    """Answers that were parsed already. Hosts of one kind say the same to most questions.

    Half of all bytes of a host are the PCI tree and its config space, which are equal on equal
    servers. Bounded in bytes; what was not asked for longest goes first.
    """

    def __init__(self, most_bytes: int = KNOWN_BYTES) -> None:
        self._found: OrderedDict[tuple[str, str, bytes], _Parsed] = OrderedDict()
        self._most = most_bytes
        self._size = 0

    def parse(self, writer: RowWriter, answer: Answer) -> _Parsed:
        """The rows of an answer, from memory if the same was parsed before."""
        digest = sha256(answer.stdout).digest()  # done in hardware
        key = (answer.probe, answer.instance, digest)
        known = self._found.get(key)
        if known is not None:
            self._found.move_to_end(key)
            return known
        parsed = _parsed(writer, answer)
        self._found[key] = parsed
        self._size += parsed.size
        while self._size > self._most:
            self._size -= self._found.popitem(last=False)[1].size
        return parsed


def _parsed(writer: RowWriter, answer: Answer) -> _Parsed:
    rows, trouble = parse_answer(answer.probe, answer.instance, answer.stdout)
    by_table: dict[str, list[dict[str, Value]]] = {}
    for row in rows:
        if tables()[row.table].fed_by == "several":
            row.values["probe"] = answer.probe
        by_table.setdefault(row.table, []).append(row.values)
    encoded = {table: writer.encode(table, values) for table, values in by_table.items()}
    size = 200 + sum(len(tail) for tails in encoded.values() for tail in tails)
    return _Parsed(encoded, trouble, size)


def _write_facts(writer: RowWriter, answer: Answer, known: _Known) -> None:
    """The rows that one answer gives, and what became of it."""
    status, reason = answer.status, answer.reason
    if status == "ok":
        parsed = known.parse(writer, answer)
        if parsed.trouble:
            status, reason = "not understood", parsed.trouble
        for table, tails in parsed.tables.items():
            writer.write_encoded(table, answer.target, answer.started, tails)
    result: dict[str, Value] = {
        "probe": answer.probe,
        "instance": answer.instance,
        "status": status,
        "reason": reason,
        "duration_s": answer.duration_s,
        "dropped": answer.dropped,
        "bytes": len(answer.stdout),
    }
    writer.write("probe_result", answer.target, answer.started, [result])


def _table_columns() -> dict[str, dict[str, str]]:
    return {name: table.column_types() for name, table in tables().items()}


_KNOWN = _Known()


def ingest(folder: Path, spool: Path) -> None:
    """One spool file, all the way. Can be done again after a crash at any point."""
    with connect(folder / "tmp") as database, spool.open(encoding="utf-8") as lines:
        writer = RowWriter(folder / "parts", spool.stem, _table_columns(), database)
        evidence = _EvidenceParts(folder, spool.stem, database)
        for line in lines:
            answer = read_spool_line(line)
            if answer is not None:
                evidence.write(answer)
                _write_facts(writer, answer, _KNOWN)
        evidence.finish()
        writer.finish()
    spool.unlink()


def _answers(database: duckdb.DuckDBPyConnection, part: Path) -> Iterator[Answer]:
    names = ("target", "probe", "instance", "status", "reason", "duration_s", "dropped", "stdout")
    found = database.execute(
        f"SELECT {', '.join(names)}, epoch(started) FROM read_parquet({quote(str(part))})"
    )
    while rows := found.fetchmany(ROWS_AT_A_TIME):
        for row in rows:
            yield Answer(**dict(zip(names, row[:-1], strict=True)), started=row[-1])


def evidence_to_facts(folder: Path, part: Path) -> None:
    """Parse the answers of one finished part again, as a newer parser would."""
    with connect(folder / "tmp") as database:
        writer = RowWriter(folder / "parts", part.stem, _table_columns(), database)
        # Of a cursor of its own: the writer asks in between.
        for answer in _answers(database.cursor(), part):
            _write_facts(writer, answer, _KNOWN)
        writer.finish()


if __name__ == "__main__":
    for name in sys.stdin:
        ingest(Path(sys.argv[1]), Path(name.rstrip("\n")))
        print("done", flush=True)  # noqa: T201 (the collector waits for it)
