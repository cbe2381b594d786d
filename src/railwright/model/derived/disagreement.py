"""Table `disagreement`: the pairs of disagreement.toml, compared where both sides were read."""

from functools import cache
from pathlib import Path
from typing import NamedTuple, cast

from railwright.store.duck import quote
from railwright.toml import load_toml


class Pair(NamedTuple):
    """Two sources of one fact."""

    fact: str
    subject: str
    a: str
    b: str
    source_a: str
    source_b: str
    joined: str

    @property
    def first(self) -> str:
        """The alias of the table whose reading time counts."""
        return self.joined.partition(" join ")[0].rpartition(" ")[2]

    def query(self) -> str:
        """The rows that differ."""
        return (
            f"SELECT {self.first}.target, {self.first}.read_at, {quote(self.fact)} AS fact, "
            f"({self.subject})::VARCHAR AS subject, {quote(self.source_a)} AS source_a, "
            f"({self.a})::VARCHAR AS value_a, {quote(self.source_b)} AS source_b, "
            f"({self.b})::VARCHAR AS value_b FROM {self.joined} WHERE ({self.a}) <> ({self.b})"
        )


@cache
def pairs() -> tuple[Pair, ...]:
    """What two sources both tell."""
    file = Path(__file__).with_suffix(".toml")
    raw = cast("list[dict[str, str]]", load_toml(file.read_text("utf-8"), file.name)["pair"])
    return tuple(Pair(**{key: v for key, v in row.items() if key != "from"}, joined=row["from"])
                 for row in raw)  # fmt: skip


def queries() -> list[str]:
    """The SELECT of the derived table: most pairs agree everywhere, so one file is enough."""
    return [" UNION ALL ".join(f"({pair.query()})" for pair in pairs())]
