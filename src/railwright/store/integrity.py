"""Whether a snapshot's files are the ones that were written, with the columns that we expect.

run.json holds the SHA-256 of every file and one of itself: they show damage, not forgery. A file is
looked at when it is first opened; what was found good is remembered by its inode, size and change
time in the user's cache, so that the next verb does not read it all again.
"""

import contextlib
import hashlib
import json
import os
import shutil
import stat
from functools import cache
from pathlib import Path

import duckdb

from railwright.config import cache_folder
from railwright.errors import SnapshotError
from railwright.nodes import LONGEST, MACHINE
from railwright.schema.table import FOLDER, tables
from railwright.store.duck import file_list, identifier, quote
from railwright.store.evidence import EVIDENCE_COLUMNS

CHUNK = 1 << 20
ONE_PER_MACHINE = ("target", "host")
FACTS = "facts/"
MOST_KEYS = 2_000_000  # of a file with the right digest: to compare more takes longer than `check`
AGAIN = "Restore it from a copy, or collect again."


def file_digest(path: Path) -> str:
    """The SHA-256 of a file, read piece by piece."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(CHUNK):
            digest.update(piece)
    return digest.hexdigest()


def digests_of(folder: Path, names: tuple[str, ...] = ("facts", "evidence")) -> dict[str, str]:
    """The digest of every file of a snapshot that is being sealed, by its name within it."""
    files = sorted(file for name in names for file in (folder / name).glob("*.parquet"))
    return {f"{file.parent.name}/{file.name}": file_digest(file) for file in files}


def run_digest(run: dict[str, object]) -> str:
    """The digest of what run.json says, whatever the order and the blanks."""
    said = {key: value for key, value in run.items() if key != "digest"}
    text = json.dumps(said, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


@cache
def schema_digest() -> str:
    """Changes with the columns that this version expects; read without taking the files apart."""
    digest = hashlib.sha256()
    for file in sorted(FOLDER.glob("*.toml")):
        digest.update(file.name.encode() + file.read_bytes())
    return digest.hexdigest()[:16]


def regular(path: Path) -> os.stat_result:
    """The file's status; a link, a pipe or a device is no part of a snapshot."""
    try:
        found = path.lstat()
    except FileNotFoundError as error:
        raise SnapshotError(
            f"{path.parent.parent}: {path.parent.name}/{path.name} is missing",
            why="A missing table would count as zero rows.",
            do=AGAIN,
        ) from error
    except OSError as error:
        raise SnapshotError(f"{path} cannot be read: {error.strerror}", do=AGAIN) from error
    if not stat.S_ISREG(found.st_mode):
        raise SnapshotError(
            f"{path} is not a regular file",
            why="A snapshot contains only regular files.",
            do=AGAIN,
        )
    return found


def cache_of(run: dict[str, object]) -> Path:
    """What is remembered of a snapshot, and what was made of it."""
    return cache_folder() / run_digest(run)


def make_cache_of(run: dict[str, object]) -> Path:
    """The same folder, for nobody else to look into."""
    cache_folder().parent.mkdir(parents=True, exist_ok=True)
    for folder in (cache_folder(), cache_of(run)):
        folder.mkdir(mode=0o700, exist_ok=True)
    return cache_of(run)


def forget(run: dict[str, object]) -> None:
    """Of a snapshot that is deleted."""
    shutil.rmtree(cache_of(run), ignore_errors=True)


class Verified:
    """Which files of one snapshot were found good, and as what."""

    def __init__(self, path: Path, run: dict[str, object]) -> None:
        digests = run.get("files")
        self._path = path
        self._digests = digests if isinstance(digests, dict) else None
        where = hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
        self._run = run
        self._memory = cache_of(run) / f"verified-{where}.json"
        self._known: dict[str, list[object]] | None = None

    @property
    def sealed(self) -> bool:
        """Whether the snapshot has digests."""
        return self._digests is not None

    def names(self) -> list[str]:
        """All of its files: those that were sealed, else those that are there."""
        if self._digests is not None:
            return sorted(self._digests)
        tables_there = sorted((self._path / "facts").glob("*.parquet"))
        return [*(f"{FACTS}{file.name}" for file in tables_there), *self.evidence()]

    def evidence(self) -> list[str]:
        """The files with the answers: those that were sealed, else those that are there."""
        if self._digests is not None:
            return [name for name in self._digests if name.startswith("evidence/")]
        found = sorted((self._path / "evidence").glob("*.parquet"))
        return [f"evidence/{file.name}" for file in found]

    def check(self, *names: str) -> None:
        """Look at these files, as `facts/host.parquet`, unless they were found good before."""
        known = self._read()
        found = {}
        for name in names:
            status = regular(self._path / name)
            mark = [status.st_ino, status.st_size, status.st_ctime_ns, schema_digest()]
            if known.get(name) != mark:
                self.check_bytes(name)
                found[name] = mark
        if found:
            _check_content(self._path, list(found), sealed=self.sealed)
            self._write(known | found)

    def trust(self) -> None:
        """Everything is as it was written a moment ago by this very process."""
        found = {}
        for name in self._digests or ():
            status = regular(self._path / name)
            found[name] = [status.st_ino, status.st_size, status.st_ctime_ns, schema_digest()]
        self._write(found)

    def check_bytes(self, name: str) -> None:
        """Read the whole file and compare its digest, where the snapshot has digests."""
        file = self._path / name
        regular(file)
        if self._digests is None:
            return
        wanted = self._digests.get(name)
        try:
            same = wanted == file_digest(file)
        except OSError as error:
            raise SnapshotError(f"{file} cannot be read: {error.strerror}", do=AGAIN) from error
        if not same:
            raise SnapshotError(
                f"{file} was changed after it was written",
                why="Its digest does not match run.json: it is damaged or was modified."
                if wanted
                else "run.json does not list it.",
                do=AGAIN,
            )

    def _read(self) -> dict[str, list[object]]:
        if self._known is None:
            try:
                known = json.loads(self._memory.read_text("ascii"))
            except (OSError, ValueError, RecursionError):
                known = {}
            self._known = known if isinstance(known, dict) else {}
        return self._known

    def _write(self, known: dict[str, list[object]]) -> None:
        """Kept where it can be; without it the files are read again next time."""
        self._known = known
        try:
            make_cache_of(self._run)
            written = self._memory.with_suffix(f".{os.getpid()}")
            written.write_text(json.dumps(known), "ascii")
            written.replace(self._memory)
        except OSError:
            pass


def _expected(name: str) -> dict[str, str]:
    folder, _, table = name.removesuffix(".parquet").partition("/")
    if folder == "evidence":
        return {name: kind for name, (_, kind) in EVIDENCE_COLUMNS.items()}
    return tables()[table].column_types() if table in tables() else {}


def _check_content(folder: Path, names: list[str], *, sealed: bool) -> None:
    """The columns, types, names of machines and keys of these files.

    Also where their digests are right: those show damage, and whoever forges a file writes them.
    """
    with duckdb.connect(":memory:") as database:
        flat = _all_columns(database, [folder / name for name in names if name.startswith(FACTS)])
        for name in names:
            file = folder / name
            try:
                described = flat.get(str(file)) or _columns(database, file)
                if described != _expected(name):
                    raise _other_columns(file, described, _expected(name))
                wrong = _wrong_rows(database, name, file, sealed=sealed)
            except duckdb.Error as error:
                raise SnapshotError(
                    f"{file} cannot be read", why=str(error).splitlines()[0], do=AGAIN
                ) from error
            if wrong:
                raise SnapshotError(
                    f"{file} is damaged: {wrong}",
                    why="Results from it would be wrong.",
                    do=AGAIN,
                )


def _columns(database: duckdb.DuckDBPyConnection, file: Path) -> dict[str, str]:
    """Name and type of each column."""
    found = database.execute(f"DESCRIBE FROM read_parquet({quote(str(file))})").fetchall()
    return {str(row[0]): str(row[1]) for row in found}


def _all_columns(
    database: duckdb.DuckDBPyConnection, files: list[Path]
) -> dict[str, dict[str, str]]:
    """The same of many files without lists in them, at once; {} if one of them is no Parquet."""
    query = (
        f"SELECT file_name, name, duckdb_type FROM parquet_schema({file_list(files)}) "
        "WHERE num_children IS NULL"
    )
    found: dict[str, dict[str, str]] = {}
    with contextlib.suppress(duckdb.Error):
        for file, name, kind in database.execute(query).fetchall() if files else ():
            found.setdefault(file, {})[name] = kind
    return found


def _other_columns(file: Path, found: dict[str, str], columns: dict[str, str]) -> SnapshotError:
    odd = [name for name in (*columns, *found) if found.get(name) != columns.get(name)]
    return SnapshotError(
        f"{file} has missing, extra or changed columns: {odd[0][:100]!r}",
        why="It is damaged or was modified.",
        do=AGAIN,
    )


def _wrong_rows(database: duckdb.DuckDBPyConnection, name: str, file: Path, *, sealed: bool) -> str:
    """Rows of no machine, of one that is none, or two for one thing: joins would multiply them."""
    source, table = f"read_parquet({quote(str(file))})", file.stem
    counted = f"SELECT count(*), count(target) FROM {source}"
    [(rows, named)] = database.execute(counted).fetchall()
    if rows != named:
        return "it has rows of no machine"
    if not rows or not name.startswith(FACTS):
        return ""
    if table in ONE_PER_MACHINE and (odd := _no_machine(database, source)):
        return f"{odd[:100]!r} is not a host name"
    # A switch is asked by many commands: what one tells of a port is a row beside another's.
    if tables()[table].fed_by == "several" or (sealed and rows > MOST_KEYS):
        return ""
    key = ", ".join(identifier(name) for name in dict.fromkeys(("target", *tables()[table].key)))
    twice = f"SELECT target FROM {source} GROUP BY {key} HAVING count(*) > 1 LIMIT 1"
    if found := database.execute(twice).fetchall():
        return f"of {str(found[0][0])[:100]!r} one thing is there twice"
    return ""


def _no_machine(database: duckdb.DuckDBPyConnection, source: str) -> str:
    """A target whose name is none; '' if all are names."""
    odd = (
        f"SELECT target FROM {source} WHERE target IS NULL OR length(target) > {LONGEST} "
        f"OR NOT regexp_full_match(target, {quote(MACHINE)}) LIMIT 1"
    )
    found = database.execute(odd).fetchall()
    return str(found[0][0]) if found else ""


def check_machines(database: duckdb.DuckDBPyConnection, table: str) -> None:
    """The machines of a table that is made of several snapshots."""
    if odd := _no_machine(database, table):
        raise SnapshotError(f"{odd[:100]!r} is not a host name", do=AGAIN)
