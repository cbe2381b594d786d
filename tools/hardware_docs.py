"""docs/hardware.md: all of the hardware data, with its sources."""

from collections.abc import Iterator

from railwright.hardware.data import Row, sources
from railwright.hardware.parts import catalogue
from railwright.report.hardware import values
from tools.markdown import GENERATED, head, row

_PLURALS = {"switch": "switches"}
_DATA = "src/railwright/hardware/*.toml"


def hardware_page() -> Iterator[str]:
    """One table per kind."""
    yield "# Hardware: what is documented of parts, and where"
    yield ""
    yield GENERATED.format(_DATA)
    yield ""
    yield "`railwright hardware NAME` prints the same for one part, `railwright fit` judges by it."
    yield "*Not documented* means that, as far as we know, it is not published: neither zero nor"
    yield "none. A star marks judgement: no document says it. A missing part, or a value that you"
    yield "have a document for, is one line in the data ([CONTRIBUTING.md](../CONTRIBUTING.md))."
    for kind, rows in catalogue().items():
        yield ""
        plural = _PLURALS.get(kind, f"{kind}s")
        yield f"## {plural[:1].upper()}{plural[1:]}"
        yield ""
        yield from _table(kind, list(rows.values()))
    yield ""
    yield "## Sources"
    yield ""
    yield from head("key", "where")
    for key, place in sorted(sources().items()):
        yield row(key, place)


def _table(kind: str, rows: list[Row]) -> Iterator[str]:
    names = [name for name, _, _ in values(rows[0])]
    yield from head(kind, *names, "note", "source")
    for one in rows:
        cells = [f"{text} \\*" if judged else text for _, text, judged in values(one)]
        yield row(one.name, *cells, one.note, "; ".join(one.source))
