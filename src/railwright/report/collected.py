"""The end of `collect`, `import` and `merge`: what was reached, what was not, and why."""

import duckdb
from rich.console import Console

from railwright.nodes import fold
from railwright.report.console import plain
from railwright.store.evidence import GAPS
from railwright.store.snapshot import Snapshot

MOST_HOSTS = 60  # characters of a folded host list before it is cut


def short(hosts: str, width: int = MOST_HOSTS) -> str:
    """A folded list that fits; what is cut says so."""
    return hosts if len(hosts) <= width else hosts[: width - 1] + "…"


def is_whole(database: duckdb.DuckDBPyConnection) -> bool:
    """Whether every host in service was reached and none of its answers left a gap."""
    found = database.execute(
        "SELECT (SELECT count(*) FROM target WHERE status <> 'reached' AND out_of_service = ''), "
        "(SELECT count(*) FROM probe_result r JOIN target t USING (target) "
        f"WHERE r.status IN {GAPS} AND t.out_of_service = '')"
    ).fetchone()
    return found == (0, 0)


def print_collected(console: Console, snapshot: Snapshot) -> bool:
    """The summary; True when nothing that should be known is missing."""
    with snapshot.database("target", "probe_result") as database:
        whole = is_whole(database)
        targets = database.execute(
            "SELECT status, out_of_service <> '', list(target ORDER BY target), "
            "min(words) FILTER (words <> '') FROM target GROUP BY ALL ORDER BY ALL"
        ).fetchall()
        gaps = database.execute(
            "SELECT r.status, r.probe, list(DISTINCT r.target), min(r.reason) "
            "FROM probe_result r JOIN target t USING (target) "
            f"WHERE r.status IN {GAPS} AND t.status = 'reached' GROUP BY ALL ORDER BY ALL"
        ).fetchall()
    total = sum(len(names) for _, _, names, _ in targets)
    reached = sum(len(names) for status, _, names, _ in targets if status == "reached")
    out = sum(len(names) for status, out, names, _ in targets if out and status != "reached")
    console.print(f"Snapshot {snapshot.name} in {snapshot.path.parent}")
    tail = f", {out} of these out of service" if out else ""
    plural = "" if total == 1 else "s"
    console.print(f"{total} target{plural}: {reached} reached, {total - reached} not{tail}")
    for status, away, names, words in targets:
        if status != "reached":
            said = plain(words.strip().splitlines()[-1]) if words and words.strip() else ""
            mark = " (out of service)" if away else ""
            _line(console, len(names), plain(status) + mark, fold(names), said)
    lost = snapshot.run.get("answers_lost")
    if lost:
        whole = False
        console.print(f"{lost} answers were lost: their lines in the spool are damaged")
    if gaps:
        console.print("Not answered on machines that were reached:")
    for status, probe, names, reason in gaps:
        _line(console, len(names), plain(f"{status}: {probe}"), fold(names), plain(reason))
    return whole


def _line(console: Console, count: int, what: str, hosts: str, why: str) -> None:
    listed = short(hosts) if console.is_terminal else hosts
    console.print(f"  {count:6}  {what:24}  {listed:24}  {why}".rstrip(), soft_wrap=True)
