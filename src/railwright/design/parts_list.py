"""A parts list: CSV in, the same CSV with verdicts out."""

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import cast, get_args

from railwright.design import names
from railwright.design.build import USUAL_PAYLOAD, Build, FecSetting, Item, Server, Verdict
from railwright.design.fit import fit, not_asked
from railwright.errors import UsageError, reason_of
from railwright.hardware.parts import Protocol
from railwright.hardware.pcie import PAYLOADS

ADDED = ("verdict", "gbps", "why", "not_judged")
PROTOCOLS: tuple[Protocol, ...] = ("Ethernet", "InfiniBand")
EXTERNAL_POWER = ("none", "8-pin ATX")


@dataclass(frozen=True)
class Wanted:
    """A build in words, as the command line and a line of a parts list give it; "" = not said."""

    adapter: str
    slot: str = ""
    cable: str = ""
    switch: str = ""
    length_m: str = ""
    ports: str = ""
    protocol: str = ""
    max_payload: str = ""
    slot_power_w: str = ""
    airflow_lfm: str = ""
    external_power: str = ""
    adapter_fec: str = ""
    switch_fec: str = ""


COLUMNS = tuple(Wanted.__dataclass_fields__)


@dataclass(frozen=True)
class Judged:
    """A build in words, and what came of it."""

    wanted: Wanted
    verdict: Verdict
    not_judged: tuple[str, ...]  # parts of which nothing was said


def _number(name: str, text: str) -> float | None:
    if not text:
        return None
    try:
        number = float(text)
    except ValueError:
        number = -1
    if not 0 <= number < float("inf"):
        raise UsageError(f"{name}: {text!r} is not a number", do="Write it without its unit.")
    return number


def _choice(name: str, text: str, allowed: tuple[str, ...]) -> str:
    for one in allowed:
        if one.lower() == text.strip().lower():
            return one
    raise UsageError(f"unknown {name} {text!r}", do=f"Choose one of {', '.join(allowed)}.")


def _ports(text: str, most: int) -> int | None:
    if not text:
        return None
    if text not in {str(count + 1) for count in range(most)}:
        raise UsageError(
            f"ports: {text!r} is not a number from 1 to {most}",
            do="Write how many ports are in use.",
        )
    return int(text)


def build_of(wanted: Wanted) -> Build:
    """The build that the words mean; UsageError where one of them is not known."""
    if not wanted.adapter:
        raise UsageError("no adapter given", do="Name the adapter, e.g. MCX755106AS-HEAT.")
    adapter = names.adapter(wanted.adapter)
    fec = get_args(FecSetting)
    payload = _choice(
        "max_payload", wanted.max_payload or str(USUAL_PAYLOAD), tuple(map(str, PAYLOADS))
    )
    power = wanted.external_power and _choice(
        "external_power", wanted.external_power, EXTERNAL_POWER
    )
    protocol = wanted.protocol and _choice("protocol", wanted.protocol, PROTOCOLS)
    return Build(
        adapter=adapter,
        slot=names.slot(wanted.slot) if wanted.slot else None,
        cable=names.cable(wanted.cable) if wanted.cable else None,
        switch=names.switch(wanted.switch) if wanted.switch else None,
        server=Server(
            slot_power_w=_number("slot_power_w", wanted.slot_power_w),
            airflow_lfm=_number("airflow_lfm", wanted.airflow_lfm),
            external_power=power or None,  # type: ignore[arg-type]
        ),
        length_m=_number("length_m", wanted.length_m),
        ports=_ports(wanted.ports, adapter.ports),
        protocol=protocol or None,  # type: ignore[arg-type]
        max_payload=int(payload),
        adapter_fec=cast("FecSetting", _choice("adapter_fec", wanted.adapter_fec or "auto", fec)),
        switch_fec=cast("FecSetting", _choice("switch_fec", wanted.switch_fec or "auto", fec)),
    )


def judged(wanted: Wanted, build: Build) -> Judged:
    """The verdict on a build, beside the words that it was made of."""
    return Judged(wanted, fit(build), tuple(not_asked(build)))


Line = dict[str, str]


def read_list(path: Path) -> tuple[list[str], list[tuple[int, Line]]]:
    """The columns of a parts list, and its lines with the numbers they have in the file."""
    try:
        text = path.read_text("utf-8-sig")  # spreadsheets write a mark in front
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"cannot read {path}: {reason_of(error)}", do="Name a CSV file."
        ) from error
    reader = csv.DictReader(io.StringIO(text), restkey="", restval="")
    columns = [name.strip() for name in reader.fieldnames or []]
    if "adapter" not in columns:
        raise UsageError(
            f"{path.name} has no column adapter",
            why="Every line of a parts list describes one adapter.",
            do="Name the columns in the first line, separated by commas: "
            f"{', '.join(COLUMNS)}. Other columns are kept as they are.",
        )
    taken = [name for name in ADDED if name in columns]
    if taken:
        raise UsageError(
            f"{path.name} already has a column {taken[0]}", do="Use the list without verdicts."
        )
    reader.fieldnames = columns
    lines = [(reader.line_num, {name: line[name] or "" for name in columns}) for line in reader]
    # Spreadsheets keep rows that have nothing in them.
    return columns, [(number, line) for number, line in lines if any(map(str.strip, line.values()))]


def _judged(number: int, line: Line) -> Judged:
    wanted = Wanted(**{name: line.get(name, "").strip() for name in COLUMNS})
    try:
        return judged(wanted, build_of(wanted))
    except names.UnknownPartError as error:
        why = f"{error.what}. {error.do}"
        return Judged(wanted, Verdict((Item("part", "not documented", why),)), ())
    except UsageError as error:
        raise UsageError(f"line {number}: {error.what}", why=error.why, do=error.do) from error


def judge_list(lines: list[tuple[int, Line]]) -> list[tuple[Line, Judged]]:
    """Each line with its verdict. A part that is not known is not documented, not an error.

    All of them before anything is printed: half a list with an error below looks like a whole one.
    """
    return [(line, _judged(number, line)) for number, line in lines]


def annotated(line: Line, found: Judged) -> Line:
    """A line with its verdict."""
    verdict = found.verdict
    reasons = [f"{item.what}: {item.why}" for item in verdict.items if item.state != "works"]
    gbps = "" if verdict.gbps is None else f"{verdict.gbps:.1f}"
    told = (verdict.state, gbps, " | ".join(reasons), ", ".join(found.not_judged))
    return {**line, **dict(zip(ADDED, told, strict=True))}
