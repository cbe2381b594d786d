"""What a statement can be about, as data: subjects.toml."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from string import Formatter
from typing import cast

from railwright.errors import RailwrightError
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
    unsaid: dict[str, object] = field(default_factory=dict, hash=False)  # column -> left out then

    def parts(self) -> Iterator[tuple[str, str, str]]:
        """(what stands before it, key column, what stands behind it), in the order of the text."""
        for before, name, form, _ in Formatter().parse(self.text):
            opening, _, closing = (form or "#").partition("#")
            yield before + opening, name or "", closing

    def write(self, values: dict[str, object]) -> str:
        """gpu017:mlx5_3#3."""
        said = (
            f"{before}{values[name]}{behind}"
            for before, name, behind in self.parts()
            if name not in self.unsaid or values[name] != self.unsaid[name]
        )
        return "".join(said)


def _subject(kind: str, data: dict[str, object]) -> Subject:
    key = tuple(map(str, cast("list[str]", data.pop("key"))))
    subject = Subject(kind, key=key, **cast("dict[str, str]", data))  # type: ignore[arg-type]
    if [name for _, name, _ in subject.parts()] != list(key):
        raise RailwrightError(f"subject {kind}: the text {subject.text} is not that of its key")
    return subject


@cache
def subjects() -> dict[str, Subject]:
    """All kinds by name."""
    file = Path(__file__).with_suffix(".toml")
    raw = load_toml(file.read_text("utf-8"), file.name)
    return {kind: _subject(kind, dict(cast("dict[str, object]", d))) for kind, d in raw.items()}
