"""A snapshot: a folder that is complete or not there, and the store that holds many.

2026-11-14T2215Z/
  run.json              who asked, which targets, which probes, what was unreachable
  evidence/*.parquet    what the machines answered, byte for byte
  facts/<table>.parquet
"""

import json
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import cast

import duckdb

from railwright.errors import SnapshotError
from railwright.facts.duck import connect, identifier, quote
from railwright.facts.evidence import EVIDENCE_COLUMNS
from railwright.facts.schema import table_names

FORMAT = 1
NAME = re.compile(r"\d{4}-\d\d-\d\dT\d{4}Z(-\d+)?")
UNFINISHED = ".unfinished"
SCRATCH = ("spool", "parts", "tmp")  # what a snapshot in the making needs, and no other


def make_view(database: duckdb.DuckDBPyConnection, table: str, file: Path) -> None:
    """A fact table under its name."""
    try:
        database.execute(
            f"CREATE VIEW {identifier(table)} AS FROM read_parquet({quote(str(file))})"
        )
    except (duckdb.InvalidInputException, duckdb.IOException) as error:
        raise SnapshotError(
            f"{file} cannot be read",
            why=str(error).splitlines()[0],
            do="It is damaged, or not for you to read: collect again, or take another one.",
        ) from error


@dataclass(frozen=True)
class Snapshot:
    """A finished snapshot on disk."""

    path: Path
    run: dict[str, object]

    @property
    def name(self) -> str:
        """Its folder's name, which is its time."""
        return self.path.name

    def database(self) -> duckdb.DuckDBPyConnection:
        """A database with one view per fact table, and `evidence`."""
        database = connect(threads=2)
        for table, file in self.files():
            make_view(database, table, file)
        evidence = self.path / "evidence" / "*.parquet"
        if any(evidence.parent.glob("*.parquet")):
            database.execute(f"CREATE VIEW evidence AS FROM read_parquet({quote(str(evidence))})")
        else:  # facts that came without their bytes
            columns = ", ".join(f"{n} {kind}" for n, (_, kind) in EVIDENCE_COLUMNS.items())
            database.execute(f"CREATE TABLE evidence ({columns})")
        return database

    def files(self) -> Iterator[tuple[str, Path]]:
        """Every fact table and its file; a table that is not there makes the snapshot damaged."""
        for table in table_names():
            file = self.path / "facts" / f"{table}.parquet"
            if not file.is_file():
                raise SnapshotError(
                    f"{self.path} has no facts/{table}.parquet",
                    why="A count over a table that is missing would look like zero.",
                    do="It was written by another version or is damaged: collect again.",
                )
            yield table, file

    def text(self, key: str) -> str:
        """A text of run.json, '' if it has none."""
        value = self.run.get(key, "")
        return value if isinstance(value, str) else json.dumps(value)


def load(path: Path) -> Snapshot:
    """Open one snapshot; says what is wrong where it is none."""
    if path.name.endswith(UNFINISHED):
        raise SnapshotError(
            f"{path.name} was not finished",
            why="Part of what was asked for may be missing.",
            do="railwright store finish keeps what had arrived and says what it lacks.",
        )
    try:
        run = json.loads((path / "run.json").read_text("utf-8"))
    except FileNotFoundError as error:
        raise SnapshotError(
            f"{path} is not a snapshot: it has no run.json",
            do="railwright store list shows the snapshots there are.",
        ) from error
    except (OSError, ValueError) as error:
        raise SnapshotError(
            f"{path}/run.json cannot be read: {error}", do="Restore it, or collect again."
        ) from error
    if not isinstance(run, dict) or run.get("format") != FORMAT:
        raise SnapshotError(
            f"{path} has another format than this version reads",
            do="Use the version that wrote it, or collect again.",
        )
    return Snapshot(path, cast("dict[str, object]", run))


def _order(path: Path) -> tuple[str, int]:
    """By time, then by number: the tenth of one minute comes after the second."""
    time, _, number = path.name.removesuffix(UNFINISHED).partition("Z")
    return time, int(number.lstrip("-") or 1) if number.lstrip("-").isdigit() or not number else 0


def snapshots(store: Path) -> list[Path]:
    """The finished snapshots of a store, oldest first."""
    if not store.is_dir():
        return []
    found = [p for p in store.iterdir() if NAME.fullmatch(p.name) and p.is_dir()]
    return sorted(found, key=_order)


def unfinished(store: Path) -> list[Path]:
    """Collections that were cut off, oldest first."""
    if not store.is_dir():
        return []
    found = [p for p in store.iterdir() if p.name.endswith(UNFINISHED) and p.is_dir()]
    return sorted(found, key=_order)


def find(store: Path, wanted: str | None) -> Snapshot:
    """A path, a name or the beginning of a date, or nothing: the latest."""
    if wanted and ("/" in wanted or Path(wanted, "run.json").is_file()):
        return load(Path(wanted).absolute())
    found = snapshots(store)
    if wanted:
        found = [path for path in found if path.name.startswith(wanted)]
    if not found:
        what = f"no snapshot {wanted} in {store}" if wanted else f"no snapshot yet in {store}"
        raise SnapshotError(
            what,
            do="railwright collect -w HOSTS makes one; railwright store list shows what is there.",
        )
    return load(found[-1])


def new_name(store: Path, at: float) -> str:
    """A name from the time that is not taken."""
    base = datetime.fromtimestamp(at, timezone.utc).strftime("%Y-%m-%dT%H%MZ")
    taken = {path.name.removesuffix(UNFINISHED) for path in (*snapshots(store), *unfinished(store))}
    number, name = 1, base
    while name in taken:
        number += 1
        name = f"{base}-{number}"
    return name


def make_store(store: Path) -> None:
    """The folder of all snapshots; nobody else may look into it."""
    try:
        store.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise SnapshotError(
            f"cannot make the store {store}: {error}",
            do="Name another place with --store or RAILWRIGHT_STORE.",
        ) from error


def sync(path: Path) -> None:
    """Put a file, or the names in a folder, on disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def seal(folder: Path, run: str) -> None:
    """All files on disk and read-only; only then run.json says that it is finished."""
    for file in folder.rglob("*"):
        kept = file.is_file() and file.relative_to(folder).parts[0] not in SCRATCH
        if kept and file.name != "run.json":
            sync(file)
            file.chmod(0o444)
    written = folder / "run.json.new"
    written.write_text(run, "utf-8")
    sync(written)
    written.chmod(0o444)
    written.replace(folder / "run.json")
    sync(folder)


def remove(path: Path) -> None:
    """Delete one snapshot or an unfinished one; first out of sight, so that none is ever half."""
    gone = path.with_name(f".removing-{path.name}")
    path.rename(gone)
    shutil.rmtree(gone)
