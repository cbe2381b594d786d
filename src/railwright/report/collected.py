"""The end of `collect`, `import` and `merge`: what was reached, what was not, and why."""

from rich.console import Console

from railwright.facts.snapshot import Snapshot
from railwright.nodes import fold
from railwright.report.console import plain

# Answers that leave a gap: something exists, or may, and could not be read.
GAPS = ("denied", "timeout", "device busy", "cut", "failed", "missing", "not understood")
MOST_HOSTS = 60  # characters of a folded host list before it is cut


def short(hosts: str, width: int = MOST_HOSTS) -> str:
    """A folded list that fits; what is cut says so."""
    return hosts if len(hosts) <= width else hosts[: width - 1] + "…"


def print_collected(console: Console, snapshot: Snapshot) -> bool:
    """The summary; True when nothing that should be known is missing."""
    with snapshot.database() as database:
        targets = database.execute(
            "SELECT status, out_of_service <> '', list(target ORDER BY target), "
            "min(words) FILTER (words <> '') FROM target GROUP BY ALL ORDER BY ALL"
        ).fetchall()
        gaps = database.execute(
            "SELECT r.status, r.probe, list(DISTINCT r.target), min(r.reason), count(*) "
            "FROM probe_result r JOIN target t USING (target) "
            f"WHERE r.status IN {GAPS} AND t.status = 'reached' GROUP BY ALL ORDER BY ALL"
        ).fetchall()
    total = sum(len(names) for _, _, names, _ in targets)
    reached = sum(len(names) for status, _, names, _ in targets if status == "reached")
    out = sum(len(names) for status, out, names, _ in targets if out and status != "reached")
    console.print(f"Snapshot {snapshot.name} in {snapshot.path.parent}")
    tail = f", {out} of these out of service" if out else ""
    console.print(f"{total} targets: {reached} reached, {total - reached} not{tail}")
    for status, away, names, words in targets:
        if status != "reached":
            said = plain(words.strip().splitlines()[-1]) if words and words.strip() else ""
            mark = " (out of service)" if away else ""
            console.print(
                f"  {len(names):6}  {status + mark:24}  {short(fold(names)):24}  {said}".rstrip()
            )
    if gaps:
        console.print("Not answered on hosts that were reached:")
    for status, probe, names, reason, _ in gaps:
        console.print(
            f"  {len(names):6}  {status:14}  {probe:12}  {short(fold(names)):24}  {plain(reason)}"
        )
    missed = total - reached - out
    return missed == 0 and not gaps
