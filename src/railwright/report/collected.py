"""The end of `collect`, `import` and `merge`: what was reached, what was not, and why."""

from collections.abc import Sequence
from typing import NamedTuple

import duckdb
import typer
from rich.console import Console

from railwright.nodes import fold
from railwright.report.console import output, plain
from railwright.report.json_text import json_text
from railwright.store.duck import read_sql
from railwright.store.evidence import GAPS
from railwright.store.snapshot import ANSWERED, Snapshot

MOST_HOSTS = 60  # characters of a folded host list before it is cut


class Target(NamedTuple):
    """A machine that was asked for, and what became of it."""

    target: str
    kind: str
    status: str
    out_of_service: str  # why; '' = in service
    words: str  # what was said on the way to it


class Gap(NamedTuple):
    """A probe that was not answered, in one way, by machines that were reached."""

    status: str
    probe: str
    targets: list[str]
    reason: str


class Collected(NamedTuple):
    """What a run brought."""

    snapshot: Snapshot
    targets: list[Target]
    gaps: list[Gap]
    is_whole: bool  # nothing that should be known is missing

    @property
    def answered(self) -> bool:
        """Whether anything was read of any machine."""
        return any(one.status in ANSWERED for one in self.targets)


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


def collected(snapshot: Snapshot) -> Collected:
    """What a snapshot says of the run that it came from."""
    with snapshot.database("target", "probe_result") as database:
        whole = is_whole(database) and not snapshot.run.get("answers_lost")
        targets = database.execute(
            "SELECT target, kind, status, out_of_service, coalesce(words, '') "
            "FROM target ORDER BY target"
        ).fetchall()
        gaps = database.execute(_GAPS, {"gaps": list(GAPS)}).fetchall()
    return Collected(
        snapshot, [Target(*row) for row in targets], [Gap(*row) for row in gaps], whole
    )


_GAPS = read_sql(__file__, "views/facts/collected_gaps.sql")


def tell_collected(verb: str, told: Collected, status: int, *, as_json: bool) -> None:
    """The summary, for people or for programs."""
    if as_json:
        typer.echo(_as_json(verb, told, status))
    else:
        _print(output(), told)


def _as_json(verb: str, told: Collected, status: int) -> str:
    run = told.snapshot.run
    return json_text(
        verb,
        status,
        snapshot=told.snapshot.name,
        path=str(told.snapshot.path),
        is_whole=told.is_whole,
        interrupted=bool(run.get("interrupted")),
        answers_lost=run.get("answers_lost") or 0,
        counts=_counts(told.targets),
        targets=[one._asdict() for one in told.targets],
        not_answered=[gap._asdict() for gap in told.gaps],
    )


def _counts(targets: Sequence[Target]) -> dict[str, int]:
    missed = [one for one in targets if one.status != "reached"]
    return {
        "targets": len(targets),
        "reached": len(targets) - len(missed),
        "not_reached": len(missed),
        "not_reached_out_of_service": sum(bool(one.out_of_service) for one in missed),
    }


def _print(console: Console, told: Collected) -> None:
    snapshot, counts = told.snapshot, _counts(told.targets)
    console.print(f"Snapshot {snapshot.name} in {snapshot.path.parent}")
    out = counts["not_reached_out_of_service"]
    tail = f", {out} of these out of service" if out else ""
    plural = "" if counts["targets"] == 1 else "s"
    console.print(
        f"{counts['targets']} target{plural}: {counts['reached']} reached, "
        f"{counts['not_reached']} not{tail}"
    )
    missed: dict[tuple[str, bool], list[Target]] = {}
    for one in told.targets:
        if one.status != "reached":
            missed.setdefault((one.status, bool(one.out_of_service)), []).append(one)
    for (status, away), group in sorted(missed.items()):
        mark = " (out of service)" if away else ""
        names = [one.target for one in group]
        _line(console, len(group), plain(status) + mark, fold(names), _last_words(group))
    lost = snapshot.run.get("answers_lost")
    if lost:
        console.print(f"{lost} answers were lost: their lines in the spool are damaged")
    if told.gaps:
        console.print("Not answered on machines that were reached:")
    for gap in told.gaps:
        what = plain(f"{gap.status}: {gap.probe}")
        _line(console, len(gap.targets), what, fold(gap.targets), plain(gap.reason))


def _last_words(group: Sequence[Target]) -> str:
    """Of one of them: before the last line of what ssh says stand banners and warnings."""
    said = min((one.words for one in group if one.words), default="").strip()
    return plain(said.splitlines()[-1]) if said else ""


def _line(console: Console, count: int, what: str, hosts: str, why: str) -> None:
    listed = short(hosts) if console.is_terminal else hosts
    console.print(f"  {count:6}  {what:24}  {listed:24}  {why}".rstrip(), soft_wrap=True)
