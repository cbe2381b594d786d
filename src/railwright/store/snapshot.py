"""A snapshot: a folder that is complete or not there, and the store that holds many.

2026-11-14T2215Z/
  run.json              who asked, which targets, which probes, what was unreachable
  evidence/*.parquet    what the machines answered, byte for byte
  facts/<table>.parquet
"""

import errno
import json
import os
import re
import shutil
import tempfile
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import NoReturn

import duckdb

from railwright.errors import SnapshotError
from railwright.schema.table import table_names
from railwright.store.duck import connect, file_list, identifier, quote
from railwright.store.evidence import EVIDENCE_COLUMNS
from railwright.store.integrity import Verified, digests_of, regular, run_digest
from railwright.store.locks import Lock
from railwright.text import plain

FORMAT = 2  # with digests
REVISIONS = "revisions"  # key of run.json: which revision of every table it holds
WITHOUT_DIGESTS = 1
_TAKEN = (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR, errno.EISDIR)
_PATTERN_SIGNS = frozenset("*?[")
NAME = re.compile(r"\d{4}-\d\d-\d\dT\d{4}Z(-\d+)?")
UNFINISHED = ".unfinished"
# Out of sight: what is being deleted, what has not got its name yet, what a fill has read.
REMOVING, STARTING, FILLING = ".removing-", ".starting-", ".filling-"
NOT_LOCKED_YET = ".new-"
_FILE = re.compile(r"(?:facts|evidence)/[A-Za-z0-9_.-]+\.parquet", re.ASCII)
ANSWERED = ("reached", "incomplete")  # statuses of a machine of which something was read
SCRATCH = ("spool", "parts", "tmp")  # what a snapshot in the making needs, and no other


def make_view(database: duckdb.DuckDBPyConnection, table: str, file: Path) -> None:
    """A fact table under its name."""
    database.execute(f"CREATE VIEW {identifier(table)} AS FROM read_parquet({quote(str(file))})")


@dataclass(frozen=True)
class Snapshot:
    """A finished snapshot on disk."""

    path: Path
    run: dict[str, object]
    remade: Path | None = None  # all tables again, some made anew from an older version's evidence
    remade_tables: frozenset[str] = frozenset()
    passed_over: str = ""  # why a newer one was not taken, where the latest was asked for

    @property
    def facts(self) -> Path:
        """The folder of its tables."""
        return self.remade or self.path / "facts"

    @property
    def name(self) -> str:
        """Its folder's name, which is its time."""
        return self.path.name

    @property
    def is_demo(self) -> bool:
        """Whether it came with the program: no machine of it exists."""
        return self.run.get("demo") is True

    @property
    def title(self) -> str:
        """Its name, for a head line."""
        return f"{self.name} (demo data)" if self.is_demo else self.name

    @cached_property
    def verified(self) -> Verified:
        """Which of its files were found to be those that were written."""
        return Verified(self.path, self.run)

    def database(self, *tables: str, evidence: bool = False) -> duckdb.DuckDBPyConnection:
        """A database with a view of each of these tables or of all, and `evidence` if asked for."""
        files = self.files(*tables)
        answers = self.evidence_files() if evidence else []
        database = connect(threads=2)
        for table, file in files.items():
            make_view(database, table, file)
        if answers:
            database.execute(f"CREATE VIEW evidence AS FROM read_parquet({file_list(answers)})")
        elif evidence:  # facts that came without their bytes
            columns = ", ".join(f"{n} {kind}" for n, (_, kind) in EVIDENCE_COLUMNS.items())
            database.execute(f"CREATE TABLE evidence ({columns})")
        return database

    def files(self, *tables: str) -> dict[str, Path]:
        """The files of these fact tables, or of all; each looked at before it is given away."""
        wanted = tables or table_names()
        own = (table for table in wanted if table not in self.remade_tables)
        self.verified.check(*(f"facts/{table}.parquet" for table in own))
        folders = {True: self.facts, False: self.path / "facts"}
        return {t: folders[t in self.remade_tables] / f"{t}.parquet" for t in wanted}

    def evidence_files(self) -> list[Path]:
        """The files with what the machines answered, looked at as well."""
        names = self.verified.evidence()
        self.verified.check(*names)
        return [self.path / name for name in names]

    def reached(self) -> tuple[int, int]:
        """(machines of which something was read, machines asked)."""
        with self.database("target") as database:
            [(answered, asked)] = database.execute(
                "SELECT count(*) FILTER (list_contains(?, status)), count(*) FROM target",
                [list(ANSWERED)],
            ).fetchall()
        return answered, asked

    def text(self, key: str) -> str:
        """A text of run.json, '' if it has none."""
        value = self.run.get(key, "")
        return value if isinstance(value, str) else json.dumps(value)


def load(path: Path) -> Snapshot:
    """Open one snapshot; says what is wrong where it is none."""
    if path.name.endswith(UNFINISHED):
        raise SnapshotError(
            f"{path.name} is unfinished",
            why="Part of what was asked for may be missing.",
            do="To keep what has arrived: railwright store finish",
        )
    _check_path(path, "Move the snapshot to another folder.")
    run = read_run(path)
    version = run.get("format")
    if version == FORMAT and run.get("digest") != run_digest(run):
        raise SnapshotError(
            f"{path}/run.json was changed after it was written",
            why="Its digest does not match: it is damaged or was modified.",
            do="Restore it from a copy, or collect again.",
        )
    if version not in (FORMAT, WITHOUT_DIGESTS) or (version == FORMAT) != ("digest" in run):
        raise SnapshotError(
            f"{path} has a format that this version cannot read",
            do="Use the version that wrote it, or collect again.",
        )
    _check_run(path, run)
    return Snapshot(path, run)


def _check_path(path: Path, remedy: str) -> None:
    """DuckDB takes some signs for a pattern, and nothing but UTF-8."""
    if _PATTERN_SIGNS & set(str(path)):
        raise SnapshotError(f"the path {path} contains * ? or [", do=remedy)
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError as error:
        raise SnapshotError(f"the path {plain(str(path))} is not UTF-8", do=remedy) from error


def read_run(path: Path) -> dict[str, object]:
    """run.json of a snapshot, or of one in the making."""
    file = path / "run.json"
    try:
        if not path.exists():
            raise SnapshotError(
                f"there is no {path}", do="To list snapshots: railwright store list"
            )
        if not file.exists() and not file.is_symlink():
            raise SnapshotError(
                f"{path} is not a snapshot: it has no run.json"
                if path.is_dir()
                else f"{path} is a file, not a snapshot",
                do="To list snapshots: railwright store list",
            )
        regular(file)
        run = json.loads(file.read_text("utf-8"), parse_constant=_no_number)
    except (OSError, ValueError, RecursionError) as error:
        why = "it is nested too deep" if isinstance(error, RecursionError) else error
        raise SnapshotError(f"{file} cannot be read: {why}", do="Restore it from a copy.") from (
            error
        )
    if not isinstance(run, dict):
        raise SnapshotError(f"{file} is not a valid run.json", do="Restore it from a copy.")
    return run


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a number")


def _check_run(path: Path, run: dict[str, object]) -> None:
    """What verbs read in run.json is of the kind that they expect."""
    wrong = [key for key in ("started", "finished") if not _is_time(run.get(key, 0))]
    targets = run.get("targets", {})
    counted = isinstance(targets, dict) and all(
        isinstance(one, dict) and type(one.get("count")) is int for one in targets.values()
    )
    wrong += [] if counted else ["targets"]
    files = run.get("files", {})
    listed = isinstance(files, dict) and all(
        _FILE.fullmatch(name) and isinstance(digest, str) for name, digest in files.items()
    )
    wrong += [] if listed else ["files"]
    held = run.get(REVISIONS, {})
    wrong += [] if isinstance(held, dict) else [REVISIONS]
    if wrong:
        raise SnapshotError(
            f"{path}/run.json is damaged: {wrong[0]} is not valid",
            do="Restore it from a copy, or collect again.",
        )


def _is_time(value: object) -> bool:
    """Seconds since the epoch, before the year 5000."""
    return isinstance(value, (int, float)) and 0 <= value < 1e11


def order(path: Path) -> tuple[str, int]:
    """By time, then by number: the tenth of one minute comes after the second."""
    time, _, number = path.name.removesuffix(UNFINISHED).partition("Z")
    return time, int(number.lstrip("-") or 1) if number.lstrip("-").isdigit() or not number else 0


def snapshots(store: Path) -> list[Path]:
    """The finished snapshots of a store, oldest first."""
    return sorted((p for p in _entries(store) if NAME.fullmatch(p.name)), key=order)


def unfinished(store: Path) -> list[Path]:
    """Collections that were cut off, oldest first."""
    found = (p for p in _entries(store) if p.name.endswith(UNFINISHED) and not p.is_symlink())
    return sorted(found, key=order)


def unfinished_links(store: Path) -> list[Path]:
    """What only points to a collection: nothing is finished through a link."""
    return [p for p in _entries(store) if p.name.endswith(UNFINISHED) and p.is_symlink()]


def _entries(store: Path) -> list[Path]:
    """The folders in a store, and links to folders; none where there is no store."""
    try:
        return [path for path in store.iterdir() if path.is_dir()]
    except FileNotFoundError:
        return []
    except NotADirectoryError as error:
        raise SnapshotError(
            f"the store {store} is a file, not a folder",
            do="Name a folder: --store or RAILWRIGHT_STORE.",
        ) from error
    except OSError as error:
        raise SnapshotError(
            f"cannot look into the store {store}: {error.strerror}",
            do="Use your own: --store or RAILWRIGHT_STORE.",
        ) from error


def hidden_folder(store: Path, prefix: str) -> tuple[Path, Lock]:
    """A folder out of sight that is this session's: nobody sees it under its name without its lock.

    Else a prune at that moment would take it for what a killed session left.
    """
    made = None
    try:
        made = Path(tempfile.mkdtemp(prefix=NOT_LOCKED_YET, dir=store))
        lock = Lock(made)
        hidden = made.with_name(prefix + made.name.removeprefix(NOT_LOCKED_YET))
        made.rename(hidden)
    except BaseException as error:
        if made is not None:
            shutil.rmtree(made, ignore_errors=True)
        if isinstance(error, OSError):
            raise cannot_write(store, error) from error
        raise
    lock.moved(hidden)
    return hidden, lock


def reserve(store: Path, at: float, ready: Path | None = None) -> Path:
    """A new unfinished folder, named by the time; making it is what reserves the name.

    `ready` is a folder that gets the name: whoever sees it then sees its lock as well.
    """
    base = datetime.fromtimestamp(at, timezone.utc).strftime("%Y-%m-%dT%H%MZ")
    for number in count(1):
        name = base if number == 1 else f"{base}-{number}"
        folder = store / f"{name}{UNFINISHED}"
        if os.path.lexists(store / name) or os.path.lexists(folder):
            continue
        try:
            if ready is None:
                folder.mkdir(mode=0o700)
            else:
                ready.rename(folder)  # onto one that is there and not empty it fails
        except OSError as error:
            if error.errno in _TAKEN:
                continue
            raise cannot_write(store, error) from error
        if not os.path.lexists(store / name):  # it can only come from the folder that is ours now
            return folder
        if ready is None:
            folder.rmdir()
        else:
            folder.rename(ready)
    raise AssertionError  # count never ends


def make_store(store: Path) -> None:
    """The folder of all snapshots; nobody else may look into it."""
    _check_path(store, "Use another folder: --store or RAILWRIGHT_STORE.")
    try:
        store.mkdir(mode=0o700, parents=True, exist_ok=True)
        owner = store.stat().st_uid
    except OSError as error:
        raise cannot_write(store, error) from error
    if owner != os.geteuid():
        raise SnapshotError(
            f"the store {store} belongs to another user (user id {owner})",
            why="In a shared store, neither user can finish or prune the other's snapshots.",
            do="Use your own: --store or RAILWRIGHT_STORE.",
        )


def cannot_write(store: Path, error: OSError) -> SnapshotError:
    return SnapshotError(
        f"cannot use the store {store}: {error.strerror}",
        do="Use another folder: --store or RAILWRIGHT_STORE.",
    )


def sync(path: Path) -> None:
    """Put a file, or the names in a folder, on disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def seal(folder: Path, run: dict[str, object]) -> None:
    """All files on disk and read-only; only then run.json says so, with their digests."""
    for file in (*folder.glob("facts/*"), *folder.glob("evidence/*")):
        sync(file)
        file.chmod(0o444)
    said = {**run, "format": FORMAT, "files": digests_of(folder)}
    said["digest"] = run_digest(said)
    written = folder / "run.json.new"
    if written.exists():  # of one that was cut off here: nobody may write it any more
        written.unlink()
    written.write_text(json.dumps(said, indent=2) + "\n", "utf-8")
    sync(written)
    written.chmod(0o444)
    written.replace(folder / "run.json")
    sync(folder)
