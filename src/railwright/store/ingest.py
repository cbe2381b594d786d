"""spool -> evidence -> facts, one spool file after another.

An answer is one machine's: what is too large, cannot be parsed or cannot be written is said of this
answer, and the others go on.
"""

import importlib
import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import BinaryIO, NamedTuple

import duckdb

from railwright.parse.base import NotUnderstoodError, Row, Value
from railwright.schema.table import feeding_probes, tables
from railwright.store.duck import (
    RowWriter,
    TooLargeError,
    connect,
    copy_query,
    identifier,
    moment,
    quote,
    read_spool,
)
from railwright.store.evidence import EVIDENCE_COLUMNS, Answer, read_spool_line

ROWS_AT_A_TIME = 64  # an answer can be megabytes
KNOWN_BYTES = 32 * 1024 * 1024  # of rows: some hundred kinds of answers
# Ten times and more what the largest honest answer has: a switch with every route of a fabric.
MOST_ROWS = 100_000
LONGEST_VALUE = 1_000  # characters
LARGEST_ROWS = 16 * 1024 * 1024  # of one answer, encoded
# Pieces of which lists and dictionaries are made before there is a row, at up to 1,000 bytes each.
# A switch tells 64 next hops of each of a thousand prefixes; a host with 10,000 routes is large.
MOST_PIECES = {"lines": 200_000, "objects": 200_000, "lists": 200_000, "values": 2_000_000}
MOST_OF_A_HOST = MOST_PIECES | {"objects": 30_000, "lists": 30_000, "values": 300_000}
_SIGNS = {
    "lines": (b"\n", b"\r", b"\v", b"\f", b"\x1c", b"\x1d", b"\x1e", b"\x85"),  # of splitlines
    "objects": (b"{",),
    "lists": (b"[",),
    "values": (b",",),
}
TOO_MANY = f"more than {MOST_ROWS:,} rows"
LOST = "spool/lost"  # one sign for each answer whose line could not be read back
NOT_STORED = "could not be stored"
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


@cache
def _host_probes() -> frozenset[str]:
    return frozenset(feeding_probes())


def too_many_pieces(probe: str, stdout: bytes) -> str:
    """Why an answer is not even taken apart; '' where it may be."""
    bounds = MOST_OF_A_HOST if probe in _host_probes() else MOST_PIECES
    if len(stdout) <= min(bounds.values()):
        return ""
    for pieces, most in bounds.items():
        if any(stdout.count(sign) > most for sign in _SIGNS[pieces]):
            return f"more than {most:,} {pieces}"
    return ""


def rows_of(probe: str, instance: str, stdout: bytes) -> Iterator[Row]:
    """The rows of one answer, within bounds; raises NotUnderstoodError in words."""
    parser = _parser(probe)
    if parser is None:
        return
    if words := too_many_pieces(probe, stdout):
        raise NotUnderstoodError(words)
    try:
        yield from islice(parser(stdout, instance), MOST_ROWS + 1)  # type: ignore[operator]
    except NotUnderstoodError:
        raise
    except Exception as error:  # a fault of ours on one machine's bytes is that row's
        what = f"parser fault: {type(error).__name__}: {error}"
        raise NotUnderstoodError(what[:LONGEST_VALUE]) from error


def parse_answer(probe: str, instance: str, stdout: bytes) -> tuple[list[Row], str]:
    """All rows of one answer, or none and the reason why it was not understood.

    A parser that fails in its middle gives nothing: half an answer would read as a whole one.
    """
    try:
        rows = list(rows_of(probe, instance, stdout))
        return (rows, "") if len(rows) <= MOST_ROWS else ([], TOO_MANY)
    except NotUnderstoodError as error:
        return [], str(error) or "not understood"


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

    def get(self, key: tuple[str, str, bytes]) -> _Parsed | None:
        """The rows of an answer that came before, unchanged by what may enter a snapshot."""
        known = self._found.get(key)
        if known is not None:
            self._found.move_to_end(key)
        return known

    def keep(self, key: tuple[str, str, bytes], parsed: _Parsed) -> None:
        """Remember it, as long as there is room."""
        self._found[key] = parsed
        self._size += parsed.size
        while self._size > self._most:
            self._size -= self._found.popitem(last=False)[1].size


def _parsed(writer: RowWriter, answer: Answer) -> _Parsed:
    """Encoded as they come: an answer that is large as rows never is in memory as objects."""
    encoder = writer.encoder(LONGEST_VALUE, LARGEST_ROWS)
    seen: set[tuple[Value, ...]] = set()
    try:
        for count, row in enumerate(rows_of(answer.probe, answer.instance, answer.stdout)):
            if count == MOST_ROWS:
                return _Parsed({}, TOO_MANY, 200)
            if tables()[row.table].fed_by == "several":
                row.values["probe"] = answer.probe
            key = (row.table, *map(row.values.get, tables()[row.table].key))
            if key in seen:
                return _Parsed({}, f"one {row.table} is there twice", 200)
            seen.add(key)
            encoder.add(row.table, row.values)
        return _Parsed(encoder.finish(), "", 200 + encoder.size)
    except NotUnderstoodError as error:
        return _Parsed({}, str(error) or "not understood", 200)
    except TooLargeError as error:
        return _Parsed({}, str(error), 200)


Admit = Callable[[Answer], Answer]


def as_it_is(answer: Answer) -> Answer:
    """For answers that were filtered before they came here."""
    return answer


class _Ingest:
    """One spool, or one part of evidence, on its way to the tables."""

    def __init__(self, folder: Path, name: str, database: duckdb.DuckDBPyConnection) -> None:
        self._writer = RowWriter(folder / "parts", name, _table_columns(), database)
        self._results: list[tuple[str, float, dict[str, Value]]] = []

    def take(self, answer: Answer, admit: Admit = as_it_is) -> Answer:
        """The rows that one answer gives, and what became of it; the answer as it may be kept."""
        status, reason = answer.status, answer.reason
        if status == "ok":
            key = (answer.probe, answer.instance, sha256(answer.stdout).digest())  # in hardware
            parsed = _KNOWN.get(key) if not answer.stderr else None
            if parsed is None:
                admitted = admit(answer)
                is_ok = admitted.status == "ok"
                parsed = _parsed(self._writer, admitted) if is_ok else _Parsed({}, "", 0)
                if admitted is answer:
                    _KNOWN.keep(key, parsed)
                answer, status, reason = admitted, admitted.status, admitted.reason
            if parsed.trouble:
                status, reason = "not understood", parsed.trouble
            for table, tails in parsed.tables.items() if status == "ok" else ():
                self._writer.write_encoded(table, answer.target, answer.started, tails)
        elif answer.stdout or answer.stderr:
            answer = admit(answer)
        result: dict[str, Value] = {
            "probe": answer.probe,
            "instance": answer.instance,
            "status": status,
            "reason": reason,
            "duration_s": answer.duration_s,
            "dropped": answer.dropped,
            "bytes": len(answer.stdout),
        }
        self._results.append((answer.target, answer.started, result))
        return answer

    def finish(self) -> None:
        """Everything to Parquet; then what became of each answer, also where that failed."""
        self._writer.finish()
        lost = {
            (target, probe)
            for table, target in self._writer.set_aside
            for probe in tables()[table].probes
        }
        for target, started, result in self._results:
            if (target, result["probe"]) in lost and result["status"] == "ok":
                result |= {"status": "not understood", "reason": NOT_STORED}
            self._writer.write("probe_result", target, started, [result])
        self._writer.finish()


def _table_columns() -> dict[str, dict[str, str]]:
    return {name: table.column_types() for name, table in tables().items()}


_KNOWN = _Known()


def ingest(folder: Path, spool: Path, admit: Admit = as_it_is) -> None:
    """One spool file, all the way. Can be done again after a crash at any point."""
    with connect(folder / "tmp") as database, spool.open(encoding="utf-8") as lines:
        facts = _Ingest(folder, spool.stem, database)
        evidence = _EvidenceParts(folder, spool.stem, database)
        lost = 0
        for line in lines:
            answer = read_spool_line(line)
            if answer is not None:
                evidence.write(facts.take(answer, admit))
            elif line.endswith("\n"):  # not the last one, torn off when the run was: damage
                lost += 1
        evidence.finish()
        facts.finish()
    if lost:
        with (folder / LOST).open("a", encoding="ascii") as file:
            file.write("?" * lost)
    spool.unlink()


def _answers(
    database: duckdb.DuckDBPyConnection, part: Path, probes: Iterable[str] | None
) -> Iterator[Answer]:
    names = ("target", "probe", "instance", "status", "reason", "duration_s", "dropped", "stdout")
    found = database.execute(
        f"SELECT {', '.join(names)}, epoch(started) FROM read_parquet({quote(str(part))})"
        + ("" if probes is None else f" WHERE probe IN ({', '.join(map(quote, probes))})")
    )
    while rows := found.fetchmany(ROWS_AT_A_TIME):
        for row in rows:
            yield Answer(**dict(zip(names, row[:-1], strict=True)), started=row[-1])


def evidence_to_facts(folder: Path, part: Path, probes: Iterable[str] | None = None) -> None:
    """Parse the answers of one finished part again, as a newer parser would."""
    with connect(folder / "tmp") as database:
        facts = _Ingest(folder, part.stem, database)
        # Of a cursor of its own: the writer asks in between.
        for answer in _answers(database.cursor(), part, probes):
            facts.take(answer)
        facts.finish()
