"""`railwright import --kind eos`: what somebody saved of a switch, as if a session had read it.

Nobody has to say which command a file came from: each probe's filter and parser tries it, and the
one that understands most of it has it. The file's name tells the command where that matters
(show_priority-group_watermark_headroom.txt, nv_show_interface_swp1s0_counters.json).
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from railwright.collect.switch import System, systems
from railwright.collect.switch_filter import keep
from railwright.parse.base import NotUnderstoodError, text_of
from railwright.parse.json_text import json_values
from railwright.store.evidence import Answer
from railwright.store.ingest import parse_answer

_CONFIGURATION = "sonic_config_db"
_COMMAND = re.compile(r"(?:nv )?show [a-z0-9 -]{1,120}", re.ASCII)


class Place(NamedTuple):
    """Whose output it is, what was asked if somebody says so, and when."""

    target: str
    instance: str
    at: float


class _Reading(NamedTuple):
    """One probe's reading of it."""

    probe: str
    kept: bytes
    dropped: int
    rows: int
    trouble: str


def command_of(system: System, file: Path) -> str:
    """The command that a file's name tells; '' where it tells none."""
    words = " ".join(re.split(r"[\s_.]+", file.stem.removesuffix(".json"))).lower()
    known = {command.instance.lower(): command.instance for command in system.commands}
    for text, instance in sorted(known.items(), key=lambda item: -len(item[0])):
        if text and (words == text or words.endswith(f" {text}")):
            return instance
    found = _COMMAND.search(words)
    return found[0].strip() if found else ""


def _readings(system: System, data: bytes, instance: str) -> Iterator[_Reading]:
    for probe in system.probes:
        kept, dropped, trouble = keep(data, system.keep[probe])
        rows = 0
        if not trouble:
            found, trouble = parse_answer(probe, instance, kept)
            rows = len(found)
        yield _Reading(probe, kept, dropped, rows, trouble)


def _pieces(data: bytes) -> list[bytes]:
    """A file may hold the JSON of several commands, one after the other."""
    try:
        values = list(json_values(text_of(data)))
    except NotUnderstoodError:
        return [data]
    return [json.dumps(value).encode() for value in values] if len(values) > 1 else [data]


def switch_answers(file: Path, data: bytes, kind: str, place: Place) -> Iterator[Answer]:
    """The answers that a file holds. What no parser understands is not kept."""
    system = systems()[kind]
    instance = place.instance or command_of(system, file)
    for number, piece in enumerate(_pieces(data)):
        readings = list(_readings(system, piece, instance))
        known = [one for one in readings if not one.trouble]
        best = max(known, key=lambda one: one.rows, default=None)
        if best is None:
            yield Answer(
                place.target, readings[0].probe, instance or file.name, "not understood",
                reason=readings[0].trouble, dropped=readings[0].dropped, started=place.at,
            )  # fmt: skip
            continue
        named = "" if best.probe == _CONFIGURATION else instance or file.stem
        yield Answer(
            place.target, best.probe, f"{named} #{number + 1}" if number else named, "ok",
            stdout=best.kept, dropped=best.dropped, started=place.at,
        )  # fmt: skip
