"""spool -> evidence -> facts, for one spool file, in a process of its own.

    python -m railwright.facts.ingest FOLDER SPOOL-FILE

The collector starts one after another while it goes on reading machines: its own memory stays
small, and each of these ends and gives everything back.
"""

import importlib
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from railwright.facts.duck import (
    RowWriter,
    connect,
    copy_query,
    identifier,
    moment,
    quote,
    read_spool,
)
from railwright.facts.evidence import EVIDENCE_COLUMNS
from railwright.facts.schema import tables
from railwright.parse.base import NotUnderstoodError, Row, Value

ROWS_AT_A_TIME = 64  # an answer can be megabytes


class Read(NamedTuple):
    """One answer as the parser stage sees it."""

    target: str
    probe: str
    instance: str
    status: str
    reason: str
    started: float
    duration_s: float
    dropped: int
    size: int
    stdout: bytes


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


def spool_to_evidence(folder: Path, spool: Path) -> Path:
    """One Parquet part of evidence, complete or not there."""
    part = folder / "evidence" / f"{spool.stem}.parquet"
    part.parent.mkdir(exist_ok=True)
    convert = {"BLOB": "from_base64({0})", "TIMESTAMP": moment("{0}")}
    picked = ", ".join(
        convert[kind].format(identifier(name)) + f" AS {identifier(name)}"
        if kind in convert
        else identifier(name)
        for name, (_, kind) in EVIDENCE_COLUMNS.items()
    )
    source = read_spool(spool, {name: kind for name, (kind, _) in EVIDENCE_COLUMNS.items()})
    with connect(folder / "tmp") as database:
        copy_query(database, f"SELECT {picked} FROM {source}", part)
    return part


def _answers(part: Path) -> Iterator[Read]:
    with connect() as database:
        found = database.execute(
            "SELECT target, probe, instance, status, reason, epoch(started), duration_s, dropped, "
            "octet_length(stdout), CASE WHEN status = 'ok' THEN stdout END "
            f"FROM read_parquet({quote(str(part))})"
        )
        while rows := found.fetchmany(ROWS_AT_A_TIME):
            for row in rows:
                yield Read._make([*row[:9], row[9] or b""])


def evidence_to_facts(folder: Path, part: Path) -> None:
    """Parse every answer of one part; one Parquet part per table that got rows."""
    writer = RowWriter(folder / "parts", part.stem)
    for read in _answers(part):
        status, reason = read.status, read.reason
        about: dict[str, Value] = {"target": read.target, "read_at": read.started}
        if status == "ok":
            rows, trouble = parse_answer(read.probe, read.instance, read.stdout)
            if trouble:
                status, reason = "not understood", trouble
            for row in rows:
                writer.write(row.table, {**about, **row.values})
        result: dict[str, Value] = {
            **about,
            "probe": read.probe,
            "instance": read.instance,
            "status": status,
            "reason": reason,
            "duration_s": read.duration_s,
            "dropped": read.dropped,
            "bytes": read.size,
        }
        writer.write("probe_result", result)
    with connect(folder / "tmp") as database:
        writer.finish(database, {name: table.column_types() for name, table in tables().items()})


def ingest(folder: Path, spool: Path) -> None:
    """One spool file, all the way. Can be done again after a crash at any point."""
    part = spool_to_evidence(folder, spool)
    evidence_to_facts(folder, part)
    spool.unlink()


if __name__ == "__main__":
    ingest(Path(sys.argv[1]), Path(sys.argv[2]))
