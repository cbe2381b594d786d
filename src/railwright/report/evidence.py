"""What a host answered: the list of its answers, or the bytes of some."""

import sys
from typing import Any, NamedTuple

from railwright.errors import UsageError, nearest
from railwright.report.console import plain, remarks
from railwright.report.json_text import json_text
from railwright.report.screen import Screen, cut, padded, widths
from railwright.store.snapshot import Snapshot

BATCH = 16  # an answer can be megabytes


def _check_host(snapshot: Snapshot, host: str) -> None:
    with snapshot.database() as database:
        found = database.execute("SELECT status FROM target WHERE target = ?", [host]).fetchone()
        if found is None:
            names = [n for (n,) in database.execute("SELECT target FROM target").fetchall()]
            raise UsageError(
                f"unknown host {host!r} in snapshot {snapshot.name}",
                do=nearest(host, names, "railwright facts shows which hosts it has."),
            )


class Listed(NamedTuple):
    """An answer of a host."""

    probe: str
    instance: str
    status: str
    bytes: int | None  # null: a merged answer of old may have none
    dropped_lines: int | None
    reason: str


def _listed(snapshot: Snapshot, host: str) -> list[Listed]:
    _check_host(snapshot, host)
    with snapshot.database() as database:
        found = database.execute(
            "SELECT probe, instance, status, bytes, dropped, coalesce(reason, '') "
            "FROM probe_result WHERE target = ? ORDER BY probe, instance",
            [host],
        ).fetchall()
    return [Listed(*row) for row in found]


def _counted(number: int | None) -> str:
    return "-" if number is None else f"{number:,}"


def print_answers(screen: Screen, snapshot: Snapshot, host: str) -> None:
    """One line per answer."""
    title = ("probe", "instance", "status", "bytes", "dropped lines", "reason")
    rows = [
        (probe, instance, status, _counted(size), _counted(dropped), plain(reason))
        for probe, instance, status, size, dropped, reason in _listed(snapshot, host)
    ]
    columns = widths([title, *rows])
    screen.line(cut(screen, padded(title, columns)), "bold")
    for row in rows:
        line = padded(row, columns)
        screen.line(cut(screen, line), "" if row[2] == "ok" else "yellow")


def answers_json(snapshot: Snapshot, host: str, status: int) -> str:
    """The same for programs."""
    answers = [one._asdict() for one in _listed(snapshot, host)]
    return json_text("evidence", status, snapshot=snapshot.name, host=host, answers=answers)


def write_answer(snapshot: Snapshot, host: str, probe: str, instance: str | None) -> None:
    """The bytes on standard output; what they are, on standard error.

    On a terminal control characters are made visible: a host's bytes are not to be trusted. A pipe
    gets them as they came.
    """
    _check_host(snapshot, host)
    where = "target = ? AND probe = ?" + ("" if instance is None else " AND instance = ?")
    values = [host, probe] + ([] if instance is None else [instance])
    with snapshot.database(evidence=True) as database:
        answers = database.execute(
            "SELECT instance, argv, status, reason, stdout, stderr, started FROM evidence "
            f"WHERE {where} ORDER BY instance",
            values,
        )
        count = 0
        while batch := answers.fetchmany(BATCH):
            for row in batch:
                _write(probe, row)
            count += len(batch)
        if not count:
            known = database.execute(
                "SELECT DISTINCT probe FROM probe_result WHERE target = ? ORDER BY 1", [host]
            ).fetchall()
            names = [name for (name,) in known]
            if probe in names and instance is None:
                what = f"the snapshot has no bytes of {probe} on {host}, only the facts"
            elif probe in names:
                what = f"{probe} has no answer for {instance!r} on {host}"
            else:
                what = f"{host} has no answer of probe {probe!r}"
            do = f"railwright evidence {host} lists its answers."
            raise UsageError(what, do=do if probe in names else nearest(probe, names, do))


def _write(probe: str, row: tuple[Any, ...]) -> None:
    instance, argv, status, reason, stdout, stderr, started = row
    what = " ".join(argv or ()) or "files"
    said = f"# {probe} {instance}: {what}; {started} UTC; {status} {reason or ''}"
    remarks().print(plain(said.rstrip()), style="dim")
    for data in (stdout, stderr):
        if not data:
            continue
        if sys.stdout.isatty():
            text = data.decode("utf-8", "replace")
            for line in text.splitlines():
                sys.stdout.write(plain(line.replace("\t", "    ")) + "\n")
        else:
            sys.stdout.flush()
            sys.stdout.buffer.write(data if data.endswith(b"\n") else data + b"\n")
            sys.stdout.buffer.flush()
