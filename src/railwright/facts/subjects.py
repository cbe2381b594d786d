"""What a statement can be about, as data: subjects.toml."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Formatter
from typing import cast

from railwright.errors import RailwrightError
from railwright.facts.schema import tables
from railwright.toml import load_toml


@dataclass(frozen=True)
class Subject:
    """A kind of thing: which columns name one, and how that is written."""

    kind: str
    meaning: str
    table: str
    key: tuple[str, ...]
    text: str
    probe: str  # '' = nobody has to be asked which there are
    where: str = ""  # which rows of the table, as SQL

    def write(self, values: dict[str, object]) -> str:
        """gpu017:mlx5_3#3."""
        return self.text.format(**values)


def _subject(kind: str, data: dict[str, object]) -> Subject:
    key = tuple(map(str, cast("list[str]", data.pop("key"))))
    subject = Subject(kind, key=key, **cast("dict[str, str]", data))
    table = tables().get(subject.table)
    if table is None:
        raise RailwrightError(f"subject {kind}: no table {subject.table}")
    missing = set(key) - set(table.column_types())
    named = [name for _, name, _, _ in Formatter().parse(subject.text) if name]
    if missing or named != list(key):
        raise RailwrightError(f"subject {kind}: bad key {sorted(missing)} or text {subject.text}")
    return subject


@cache
def subjects() -> dict[str, Subject]:
    """All kinds by name."""
    file = Path(__file__).with_suffix(".toml")
    raw = load_toml(file.read_text("utf-8"), file.name)
    return {kind: _subject(kind, dict(cast("dict[str, object]", d))) for kind, d in raw.items()}
