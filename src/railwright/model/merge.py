"""Several snapshots as one: shards of a large run, or an old one and what filled its gaps.

Per target and probe the better answer wins (fewer failures, then the later one: a part that is
gone makes an answer shorter, not worse), and every row keeps its own read time. Fact tables follow
the probe that fed them; nothing is parsed again unless another version wrote one of the sources.
"""

import json
import time
from pathlib import Path
from typing import NamedTuple

import duckdb

from railwright.errors import SnapshotError
from railwright.model.finish import complete_run
from railwright.model.revision import older
from railwright.schema.table import tables
from railwright.store.build import Building, in_our_columns, put_in_place, write_fact_files
from railwright.store.duck import connect, copy_query, quote
from railwright.store.evidence import in_words
from railwright.store.ingest import evidence_to_facts
from railwright.store.integrity import check_machines
from railwright.store.snapshot import Snapshot

# What the run itself wrote: never parsed again.
RUN_TABLES = ("target", "host", "probe_result")
# A row group is held whole while it is joined: 20,480 answers of one big host kind are some hundred
# megabytes (DuckDB 1.4 needs 250 MB for the 48 MB of the demo; a limit, not what it takes).
MEMORY = "1GB"
# Another try may bring these; `absent`, `skipped` and the like would only come again.
PASSING = ("timeout", "device busy", "missing", "failed", "cut", "denied")


def _run_tables(snapshot: Snapshot) -> duckdb.DuckDBPyConnection:
    """Who was asked, and what became of the answers: of a run of any version."""
    database = connect(threads=2)
    for name in ("target", "probe_result"):
        snapshot.verified.check_bytes(f"facts/{name}.parquet")
        file = quote(str(snapshot.path / "facts" / f"{name}.parquet"))
        query = in_our_columns(name, f"FROM read_parquet({file})")
        database.execute(f"CREATE VIEW {name} AS {query}")
    return database


def gaps(
    snapshot: Snapshot, probes: list[str], more: list[str]
) -> dict[tuple[str, ...], list[str]]:
    """Which hosts lack which probes: {probes: hosts}. `more` are hosts it never heard of."""
    with _run_tables(snapshot) as database:
        away = database.execute(
            "SELECT target FROM target WHERE kind = 'host' AND status <> 'reached'"
        ).fetchall()
        known = {name for (name,) in database.execute("SELECT target FROM target").fetchall()}
        lacking = database.execute(
            "SELECT r.target, list(DISTINCT r.probe ORDER BY r.probe) "
            "FROM probe_result r JOIN target t USING (target) "
            "WHERE t.kind = 'host' AND t.status = 'reached' "
            f"AND r.status IN {PASSING} GROUP BY 1 ORDER BY 1"
        ).fetchall()
    found: dict[tuple[str, ...], list[str]] = {}
    whole = [name for (name,) in away] + [name for name in more if name not in known]
    if whole:
        found[tuple(probes)] = sorted(whole)
    for target, names in lacking:
        wanted = tuple(name for name in probes if name in names)
        if wanted:
            found.setdefault(wanted, []).append(target)
    return found


def switches_to_fill(snapshot: Snapshot, named: list[str]) -> list[str]:
    """Which of these switches lack anything that another session could bring."""
    with _run_tables(snapshot) as database:
        rows = database.execute(
            "SELECT target FROM target t WHERE kind = 'switch' AND status = 'reached' "
            "AND NOT EXISTS (FROM probe_result r WHERE r.target = t.target "
            f"AND r.status IN {PASSING})"
        ).fetchall()
    whole = {name for (name,) in rows}
    return [name for name in named if name not in whole]


def out_of_service(snapshot: Snapshot, hosts: list[str]) -> dict[str, str]:
    """What the snapshot says about these hosts' service."""
    with _run_tables(snapshot) as database:
        rows = database.execute("SELECT target, out_of_service FROM target").fetchall()
    wanted = set(hosts)
    return {target: reason for target, reason in rows if target in wanted and reason}


def _winners(database: duckdb.DuckDBPyConnection, sources: list[Snapshot]) -> None:
    """Tables `host_from` (target -> source) and `probe_from` (target, probe -> source).

    A host that told of itself (boot, kernel, uptime) is better known than one of which somebody
    else told, as a cluster does of its nodes: such an import counts as reached, and says less.
    """
    targets = " UNION ALL ".join(
        f"SELECT {number} AS source, target, status, started, h.target IS NOT NULL AS told "
        f"FROM read_parquet({quote(str(source.path / 'facts/target.parquet'))}) t "
        "LEFT JOIN (SELECT DISTINCT target FROM "
        f"read_parquet({quote(str(source.path / 'facts/host.parquet'))})) h USING (target)"
        for number, source in enumerate(sources)
    )
    database.execute(
        "CREATE TEMP TABLE host_from AS SELECT target, arg_max(source, row(told, "
        "status = 'reached', status = 'incomplete', started IS NOT NULL, started, source)) "
        f"AS source FROM ({targets}) GROUP BY target"
    )
    results = " UNION ALL ".join(
        f"SELECT {number} AS source, target, probe, status, read_at "
        f"FROM read_parquet({quote(str(source.path / 'facts/probe_result.parquet'))})"
        for number, source in enumerate(sources)
    )
    database.execute(
        "CREATE TEMP TABLE probe_from AS "
        "SELECT target, probe, arg_max(source, row(told, -failed, newest, source)) AS source FROM ("
        "SELECT source, target, probe, bool_or(status IN ('ok', 'absent')) AS told, "
        "count(*) FILTER (status NOT IN ('ok', 'absent')) AS failed, "
        f"max(read_at) AS newest FROM ({results}) GROUP BY ALL) GROUP BY target, probe"
    )


def _replace_by_last(database: duckdb.DuckDBPyConnection, sources: list[Snapshot]) -> None:
    """Machines that the last source asked are as it found them, also if they were silent."""
    last = len(sources) - 1
    asked = quote(str(sources[last].path / "facts/target.parquet"))
    answers = quote(str(sources[last].path / "facts/probe_result.parquet"))
    of_last = f"target IN (SELECT target FROM read_parquet({asked}))"
    database.execute(f"UPDATE host_from SET source = {last} WHERE {of_last}")
    database.execute(f"DELETE FROM probe_from WHERE {of_last}")
    database.execute(
        f"INSERT INTO probe_from SELECT DISTINCT target, probe, {last} "
        f"FROM read_parquet({answers}) WHERE {of_last}"
    )


def _chosen(table: str, fed_by: str, sources: list[Snapshot]) -> str:
    """The rows of one table, each target's from the source that won."""
    parts = []
    for number, source in enumerate(sources):
        path = source.path / "facts" / f"{table}.parquet"
        if table == "reference" and not path.is_file():  # written before there was such a table
            continue
        file = quote(str(path))
        if fed_by == "run":
            join = f"JOIN host_from w ON w.target = t.target AND w.source = {number}"
        elif fed_by in ("evidence", "several"):  # these say themselves whose answer they are
            join = (
                "JOIN probe_from w ON w.target = t.target AND w.probe = t.probe "
                f"AND w.source = {number}"
            )
        else:
            join = (
                f"JOIN probe_from w ON w.target = t.target AND w.probe = {quote(fed_by)} "
                f"AND w.source = {number}"
            )
        parts.append(f"SELECT t.* FROM read_parquet({file}) t {join}")
    if fed_by != "run":
        return " UNION ALL ".join(parts)
    return in_our_columns(table, *parts)


def _evidence(folder: Path, database: duckdb.DuckDBPyConnection, sources: list[Snapshot]) -> None:
    """One part per part of the sources: each is streamed, none is held whole."""
    (folder / "evidence").mkdir()
    for number, source in enumerate(sources):
        for part in source.evidence_files():
            copy_query(
                database,
                f"SELECT e.* FROM read_parquet({quote(str(part))}) e JOIN probe_from w "
                f"ON w.target = e.target AND w.probe = e.probe AND w.source = {number}",
                folder / "evidence" / f"{number:03d}-{part.name}",
            )


def merge(
    store: Path, sources: list[Snapshot], extra: dict[str, object], *, last_wins: bool = False
) -> Snapshot:
    """Write one snapshot from several; with `last_wins` the last replaces whole machines."""
    if not sources:
        raise SnapshotError("nothing to merge", do="Name at least one snapshot.")
    times = [source.run.get("started") for source in sources]
    started = [at for at in times if isinstance(at, float)]
    head = {
        **{key: sources[0].run.get(key) for key in ("asked_by", "via", "become", "probes")},
        "started": min(started, default=time.time()),
        "merged_from": [source.name for source in sources],
    }
    for source in sources:
        for name in RUN_TABLES:
            source.verified.check_bytes(f"facts/{name}.parquet")
        with _run_tables(source) as database:  # before anything is written
            check_machines(database, "target")
    same_version = all(_has_our_tables(source) for source in sources)
    with in_words():
        return _written(store, _Joining(sources, same_version, last_wins), head, extra)


class _Joining(NamedTuple):
    """What is made one, and how."""

    sources: list[Snapshot]
    same_version: bool
    last_wins: bool


def _written(
    store: Path, joining: _Joining, head: dict[str, object], extra: dict[str, object]
) -> Snapshot:
    sources = joining.sources
    building = Building(store, head, {})
    building.close()
    folder = building.folder
    (folder / "facts").mkdir()
    with connect(folder / "tmp", memory=MEMORY) as database:
        _winners(database, sources)
        if joining.last_wins:
            _replace_by_last(database, sources)
        _evidence(folder, database, sources)
        for name, table in tables().items():
            if table.fed_by == "run" or (joining.same_version and table.fed_by != "derived"):
                query = _chosen(name, table.fed_by, sources)
                copy_query(database, query, folder / "facts" / f"{name}.parquet")
    if not joining.same_version:
        _parse_again(folder)
    run = json.loads((folder / "run.json").read_text("utf-8"))
    complete_run(folder, run, extra)
    merged = put_in_place(folder, sealed_now=True)
    building.lock.release()
    return merged


def _has_our_tables(source: Snapshot) -> bool:
    """Whether its facts are those that this version would make of its evidence."""
    found = older(source)
    if found is not None and (found.parsed or found.written):
        return False
    source.files(*(name for name, table in tables().items() if table.fed_by != "derived"))
    return True


def _parse_again(folder: Path) -> None:
    for part in sorted((folder / "evidence").glob("*.parquet")):
        evidence_to_facts(folder, part)
    with connect(folder / "tmp") as database:
        write_fact_files(folder, database, run_tables=False)
