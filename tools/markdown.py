"""Lines of Markdown for generated pages."""

import re
from collections.abc import Iterator

GENERATED = "<!-- Written by `just docs`. Edit {0}, not this page. -->"


_BAR_IN_CODE = re.compile(r"`([^`\n]*\|[^`\n]*)`")
_TEXT_BEFORE_LIST = re.compile(r"^(?!\s|\d+\. |- )(.+)\n(?=1\. |- )", re.MULTILINE)


def cell(text: str) -> str:
    """Text that cannot break out of a table's cell.

    A bar in a code span is written as a tag's content: not every Markdown unescapes it there.
    """
    text = text.replace("<", "&lt;").replace("\n", " ")
    text = _BAR_IN_CODE.sub(lambda m: f"<code>{m[1].replace('|', '&#124;')}</code>", text)
    return text.replace("|", "\\|")


def lists_apart(text: str) -> str:
    """With an empty line before each list, which Python-Markdown wants."""
    return _TEXT_BEFORE_LIST.sub(r"\1\n\n", text)


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
