"""Lines of Markdown for generated pages."""

from collections.abc import Iterator

GENERATED = "<!-- Written by `just docs`. Edit {0}, not this page. -->"


def cell(text: str) -> str:
    """Text that cannot break out of a table's cell."""
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def row(*cells: str) -> str:
    """A table's row."""
    return "| " + " | ".join(cell(one) for one in cells) + " |"


def head(*cells: str) -> Iterator[str]:
    """A table's first lines."""
    yield row(*cells)
    yield "|" + "---|" * len(cells)


def fence(lines: list[str]) -> Iterator[str]:
    """A block of text as it is."""
    yield "```text"
    yield from lines
    yield "```"
