"""`railwright fit`: verdicts on builds."""

import csv
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from railwright import __version__
from railwright.design.build import Build, State, Verdict
from railwright.design.fit import not_asked
from railwright.design.parts_list import ADDED, Judged, Line, annotated
from railwright.hardware.data import Row, sources
from railwright.hardware.parts import cages
from railwright.report.hardware import where
from railwright.report.screen import Screen, wrapped
from railwright.report.status import exit_status

FORMAT = "railwright-fit-1"
_STYLES: dict[State, str] = {
    "works": "green",
    "limited": "yellow",
    "not documented": "yellow",
    "does not": "red",
}
_WIDTH = 16  # of the longest name of an item, and of the longest state


def summary(verdict: Verdict) -> str:
    """The whole in one line."""
    limit = "" if verdict.gbps is None else f"limited to {verdict.gbps:.1f} Gb/s"
    if verdict.state == "works":
        return "Works."
    if verdict.state == "does not":
        return "Does not work."
    if verdict.state == "limited":
        return f"Works, {limit or 'with less bandwidth: how much is not documented'}."
    return "Not documented: it cannot be said to work" + (f"; at best {limit}." if limit else ".")


def print_fit(screen: Screen, build: Build, verdict: Verdict, *, sources: bool) -> None:
    """Each question with its answer, then the whole; the sources in full, or their keys."""
    screen.heading(build.name)
    for item in verdict.items:
        head = f"  {item.what:<{_WIDTH}}  {item.state:<{_WIDTH - 2}}  "
        limit = f"{item.gbps:.1f} Gb/s: " if item.gbps is not None else ""
        lines = wrapped(screen, f"{limit}{item.why}", len(head))
        for number, text in enumerate(lines):
            line = head + text.lstrip() if number == 0 else text
            screen.line(line, "" if item.state == "works" else _STYLES[item.state])
    screen.line()
    screen.line(summary(verdict), _STYLES[verdict.state])
    missing = not_asked(build)
    if missing:
        screen.line(f"Not said, and so not judged: {', '.join(missing)}.", "dim")
    for line in wrapped(screen, _judgements(build), 0):
        screen.line(line, "dim")
    keys = [key for item in verdict.items for key in item.sources]
    if not sources and keys:
        short = dict.fromkeys(key.partition(":")[0] for key in keys)
        screen.line(f"Sources: {', '.join(short)}; --sources tells where.", "dim")
        return
    screen.line()
    screen.line("Sources", "dim")
    for text in where(keys):
        for line in wrapped(screen, text, 2):
            screen.line(line, "dim")


def _judgements(build: Build) -> str:
    """The columns behind a verdict that no document gives."""
    parts: list[Row] = [build.adapter, *(part for part in (build.cable, build.switch) if part)]
    if build.cable:
        used = (build.adapter.cage, build.switch.cage if build.switch else "")
        parts += [cages()[name] for name in used if isinstance(name, str) and name]
    found = [f"{part.name} ({', '.join(part.judged)})" for part in parts if part.judged]
    return f"Judgement, no document: {'; '.join(dict.fromkeys(found))}." if found else ""


def fit_status(found: Sequence[Verdict]) -> int:
    """Of one or several; where there is none at all nothing is known."""
    gap = any(one.has_gap for one in found) or not found
    return exit_status(found=any(one.is_at_fault for one in found), unknown=gap)


def print_list(columns: list[str], found: Sequence[tuple[Line, Judged]]) -> None:
    """A parts list as CSV with the verdicts."""
    writer = csv.DictWriter(sys.stdout, [*columns, *ADDED], lineterminator="\n")
    writer.writeheader()
    writer.writerows(annotated(line, one) for line, one in found)


def _build_json(one: Judged) -> dict[str, Any]:
    verdict = one.verdict
    return {
        "asked": {name: text for name, text in asdict(one.wanted).items() if text},
        "verdict": verdict.state,
        "gbps": verdict.gbps,
        "items": [asdict(item) for item in verdict.items],
        "not_judged": list(one.not_judged),
    }


def fit_json(found: Sequence[Judged], status: int) -> str:
    """The same for programs, of one build or of many."""
    head = {"format": FORMAT, "railwright": __version__, "exit_status": status}
    keys = {
        key.partition(":")[0] for one in found for item in one.verdict.items for key in item.sources
    }
    told = {key: sources()[key] for key in sorted(keys)}
    builds = [_build_json(one) for one in found]
    return json.dumps({**head, "sources": told, "builds": builds}, indent=1)
