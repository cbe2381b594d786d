"""Snapshots of other versions open: what has changed since is made again from their evidence.

The snapshot itself stays as it was written. What is made lies in the user's cache, in
`<digest of run.json>/<what was made of it>/`: all tables of the snapshot, those that did not change
as links to its own. Two sessions make it once, and whoever sees the folder sees it whole.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from railwright.errors import SnapshotError
from railwright.model import derive
from railwright.model.revision import Older, fingerprint, older
from railwright.schema.table import tables
from railwright.store.build import empty, in_our_columns, write_fact_files
from railwright.store.duck import connect, copy_query, file_list, quote, read_sql
from railwright.store.evidence import OUTDATED, in_words
from railwright.store.ingest import evidence_to_facts
from railwright.store.integrity import cache_of, make_cache_of
from railwright.store.snapshot import Snapshot

# Of answers: 4.1 MB/s were measured over two hosts; where hosts are alike it is faster.
PARSED_BYTES_PER_S = 4e6
AT_ONCE_S = 60.0  # what a verb does by itself before it answers
MOST_BYTES = 8 << 30  # of what was made of all snapshots together; the oldest goes first
WHY = "snapshot older than this table"
_DONE = "made.json"


@dataclass(frozen=True)
class Work:
    """What is to be made again, and how long that takes."""

    older: Older
    answers: int
    bytes: int

    @property
    def seconds(self) -> float:
        """An estimate: what was read of these probes, at the pace of the slowest parsers."""
        return self.bytes / PARSED_BYTES_PER_S

    @property
    def is_short(self) -> bool:
        """Short enough to be done where somebody waits for an answer."""
        return self.seconds <= AT_ONCE_S


def work_on(snapshot: Snapshot) -> Work | None:
    """What another version made of it; None if nothing."""
    found = older(snapshot)
    if found is None:
        return None
    files = snapshot.evidence_files() if found.parsed else []
    if not files:
        return Work(found, 0, 0)
    with connect(threads=2) as database:
        [(answers, size)] = database.execute(
            "SELECT count(*), coalesce(sum(octet_length(stdout)), 0)::BIGINT "
            f"FROM read_parquet({file_list(files)}) WHERE list_contains($probes, probe)",
            {"probes": sorted(found.probes)},
        ).fetchall()
    return Work(found, answers, size)


def is_remade(snapshot: Snapshot, *, parsed: bool) -> bool:
    """Whether the work was done before."""
    return (_place(snapshot, parsed=parsed) / _DONE).is_file()


def remade(snapshot: Snapshot, work: Work, *, parsed: bool) -> Snapshot:
    """The snapshot with tables of this version.

    Without `parsed` the tables that would have to be parsed again are empty, and the answers to
    their probes count as not read.
    """
    place = _place(snapshot, parsed=parsed)
    with contextlib.suppress(OSError):
        make_cache_of(snapshot.run)
    if not (place / _DONE).is_file():
        with _alone(place.parent, snapshot):
            if not (place / _DONE).is_file():
                _make_room(place.parent)
                with in_words():
                    _make(snapshot, work.older, place, parsed=parsed)
    made = json.loads((place / _DONE).read_text("utf-8"))
    with contextlib.suppress(OSError):  # a cache that can only be read serves as well
        os.utime(place)  # in use: the last to go
    return replace(snapshot, remade=place / "facts", remade_tables=frozenset(made))


def _place(snapshot: Snapshot, *, parsed: bool) -> Path:
    """Where it lies: other tables, another folder or other files are another place."""
    said = [fingerprint(), parsed, str(snapshot.path)]
    if not snapshot.verified.sealed:  # its run.json does not tell whether its files are the same
        files = sorted((*snapshot.path.glob("facts/*"), *snapshot.path.glob("evidence/*")))
        said += [(f.name, s.st_size, s.st_mtime_ns) for f in files for s in (f.lstat(),)]
    name = hashlib.sha256(repr(said).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return cache_of(snapshot.run) / name


@contextlib.contextmanager
def _alone(folder: Path, snapshot: Snapshot) -> Iterator[None]:
    """One session at a time makes what belongs to a snapshot; the next one finds it made."""
    try:
        handle = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise SnapshotError(
            f"cannot rebuild the tables of {snapshot.name}: {folder} is not writable: "
            f"{error.strerror}",
            why="Another version of Railwright wrote the snapshot.",
            do="Set XDG_CACHE_HOME to a folder that you can write to.",
        ) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _make(snapshot: Snapshot, found: Older, place: Path, *, parsed: bool) -> None:
    folder = Path(tempfile.mkdtemp(prefix=".making-", dir=place.parent))
    try:
        facts = folder / "facts"
        facts.mkdir()
        made = {*found.derived, *found.written, *found.parsed}
        made |= {"probe_result"} if found.parsed else set()
        kept = [name for name in tables() if name not in made]
        own = snapshot.files(*kept) if kept else {}  # of none it would be all
        for name, file in own.items():
            (facts / f"{name}.parquet").symlink_to(file)
        _run_tables(snapshot, facts, sorted(made & _written()))
        if found.parsed:
            _parse(snapshot, folder, found, parsed=parsed)
        derive.all_tables(facts)
        (folder / _DONE).write_text(json.dumps(sorted(made)), "utf-8")
        for scratch in ("parts", "tmp"):
            shutil.rmtree(folder / scratch, ignore_errors=True)
        if place.exists():  # half of one, from before folders were renamed into place
            shutil.rmtree(place)
        folder.rename(place)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _written() -> frozenset[str]:
    return frozenset(n for n, table in tables().items() if table.fed_by in ("run", "evidence"))


def _run_tables(snapshot: Snapshot, facts: Path, names: list[str]) -> None:
    """What the run itself wrote: a column that it did not have was not read then."""
    with connect() as database:
        for name in names:
            file = snapshot.path / "facts" / f"{name}.parquet"
            query = empty(tables()[name])
            if file.is_file():
                snapshot.verified.check_bytes(f"facts/{name}.parquet")
                query = in_our_columns(name, f"FROM read_parquet({quote(str(file))})")
            copy_query(database, query, facts / f"{name}.parquet")


def _parse(snapshot: Snapshot, folder: Path, found: Older, *, parsed: bool) -> None:
    """The tables that changed, from the evidence; and what became of the answers this time."""
    if parsed:
        for part in snapshot.evidence_files():
            evidence_to_facts(folder, part, found.probes)
    with connect(folder / "tmp") as database:
        write_fact_files(folder, database, names=found.parsed)
        again = sorted((folder / "parts" / "probe_result").glob("*.parquet"))
        rows = (
            f"read_parquet({file_list(again)})" if again else f"({empty(tables()['probe_result'])})"
        )
        before = folder / "facts" / "probe_result.parquet"
        copy_query(database, _answers_again(before, rows, found.probes), before.with_suffix(".new"))
    before.with_suffix(".new").replace(before)


def _answers_again(before: Path, again: str, probes: Iterable[str]) -> str:
    """What became of every answer: of those that nobody has parsed again it is not known."""
    return read_sql(__file__, "answers_again.sql").format(
        earlier=f"read_parquet({quote(str(before))})",
        again=again,
        parsed=", ".join(map(quote, sorted(probes))),
        outdated=quote(OUTDATED),
        why=quote(WHY),
    )


def _make_room(folder: Path) -> None:
    """Keep what is made within bounds; what a session left that was killed goes as well."""
    for left in folder.glob(".making-*"):  # under the lock: nobody is at work on it
        shutil.rmtree(left, ignore_errors=True)
    made = [file.parent for file in folder.parent.glob(f"*/*/{_DONE}")]
    made.sort(key=lambda path: path.stat().st_mtime)
    sizes = {path: sum(f.lstat().st_size for f in path.glob("facts/*")) for path in made}
    while made and sum(sizes[path] for path in made) > MOST_BYTES:
        shutil.rmtree(made.pop(0), ignore_errors=True)
