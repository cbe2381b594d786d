"""Typed rows of hardware data, each with its source: `<kind>.toml` beside this file.

A file holds groups. What a group says counts for all its rows, a row says the rest:

    [[group]]
    title = "ConnectX-7, one OSFP cage"
    cage = "OSFP"
    source = ["KCO"]

    [group.row]
    MCX75310AAS-NEAT = { gbps = 400, power_w = 24.9, source = ["KCO", "CX7M9: table 9"] }
    MCX75310AAS-HEAT = { gbps = 200, power_w = "not documented", judged = ["gbps"] }

A kind of row is a frozen dataclass below `Row`; its annotations are the columns. What is written is
refused if a column is unknown, is missing, has another type, or if the row has no source that
`sources.toml` knows. A column may hold NOT_DOCUMENTED only if its annotation says so, and `judged`
names those columns whose value no document gives.
"""

import types
from dataclasses import MISSING, dataclass, fields
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Final, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from railwright.errors import RailwrightError
from railwright.toml import load_toml

FOLDER = Path(__file__).parent


class NotDocumented(Enum):
    """Nobody has published it, as far as we know. Neither zero, nor none, nor empty."""

    NOT_DOCUMENTED = "not documented"

    def __str__(self) -> str:
        return str(self.value)

    def __bool__(self) -> bool:
        # `if row.power_w:` would take it for a value, or for none: both are wrong.
        raise TypeError("not documented is neither true nor false")


NOT_DOCUMENTED: Final = NotDocumented.NOT_DOCUMENTED


@dataclass(frozen=True, kw_only=True)
class Row:
    """What every row has."""

    name: str
    source: tuple[str, ...]  # "KEY" or "KEY: where in it", KEY of sources.toml
    judged: tuple[str, ...] = ()  # columns whose value no document gives
    note: str = ""


AnyRow = TypeVar("AnyRow", bound=Row)


@cache
def sources() -> dict[str, str]:
    """Where each source key points to."""
    file = FOLDER / "sources.toml"
    return cast("dict[str, str]", load_toml(file.read_text("utf-8"), file.name)["source"])


def _fits(value: object, wanted: object) -> bool:
    """Whether a value of a TOML file is of an annotated type."""
    origin, inner = get_origin(wanted), get_args(wanted)
    if origin in (Union, types.UnionType):
        return any(_fits(value, one) for one in inner)
    if origin is Literal:
        return value in inner
    if origin is tuple:
        return isinstance(value, tuple) and all(_fits(one, inner[0]) for one in value)
    if wanted is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    # bool is an int to Python, never to a reader.
    return type(value) is wanted


def _value(column: str, written: object, wanted: object) -> object:
    """A value as the dataclass holds it; raises ValueError where it is of another type."""
    value = tuple(written) if isinstance(written, list) else written
    if value == NOT_DOCUMENTED.value:
        value = NOT_DOCUMENTED
    if not _fits(value, wanted):
        shown = getattr(wanted, "__name__", None) or str(wanted)
        raise ValueError(f"{column}: {written!r} is not {shown}")
    return value


def _check_sources(row: Row) -> None:
    if not row.source:
        raise ValueError("no source")
    for one in row.source:
        if one.partition(":")[0] not in sources():
            raise ValueError(f"source {one!r} is not in sources.toml")
    for column in row.judged:
        if column not in {field.name for field in fields(row)}:
            raise ValueError(f"judged: unknown column {column!r}")


def _row(kind: type[AnyRow], written: dict[str, object]) -> AnyRow:
    hints = get_type_hints(kind)
    unknown = sorted(set(written) - set(hints))
    if unknown:
        raise ValueError(f"unknown column {', '.join(unknown)}")
    required = [one.name for one in fields(kind) if one.default is MISSING]
    missing = [name for name in required if name not in written]
    if missing:
        raise ValueError(f"no {', '.join(missing)}")
    ready = {name: _value(name, value, hints[name]) for name, value in written.items()}
    row = kind(**ready)  # type: ignore[arg-type]
    _check_sources(row)
    return row


def parse_rows(kind: type[AnyRow], text: str, file: str) -> dict[str, AnyRow]:
    """The rows of a text, by name."""
    found: dict[str, AnyRow] = {}
    for group in cast("list[dict[str, object]]", load_toml(text, file)["group"]):
        common = {key: group[key] for key in group if key not in ("row", "title")}
        for name, own in cast("dict[str, dict[str, object]]", group["row"]).items():
            try:
                row = _row(kind, {"name": name, **common, **own})
            except ValueError as error:
                raise RailwrightError(f"{file}: {name}: {error}") from error
            if found.setdefault(name, row) is not row:
                raise RailwrightError(f"{file}: {name} is there twice")
    return found


@cache
def load_rows(kind: type[AnyRow], file: str) -> dict[str, AnyRow]:
    """The rows of a file of this folder, by name."""
    return parse_rows(kind, (FOLDER / file).read_text("utf-8"), file)
