"""A table that is too wide for a terminal, in several blocks of columns: nothing is cut off."""

from collections.abc import Sequence

from railwright.report.screen import Screen, cut, padded, widths

INDENT = "  "


def blocks(screen: Screen, columns: Sequence[int], keys: int = 1) -> list[list[int]]:
    """Which columns stand together; each block begins with the keys."""
    first = list(range(min(keys, len(columns))))
    if not screen.is_terminal:
        return [list(range(len(columns)))]
    room = screen.width - len(INDENT)
    found: list[list[int]] = [[*first]]
    for number in range(len(first), len(columns)):
        taken = sum(columns[n] + 2 for n in found[-1])
        if taken + columns[number] > room and len(found[-1]) > len(first):
            found.append([*first])
        found[-1].append(number)
    return found


def print_folded(
    screen: Screen,
    title: Sequence[str],
    rows: Sequence[Sequence[str]],
    styles: Sequence[str] = (),
    keys: int = 1,
) -> None:
    """The rows below their title, each in a style."""
    columns = widths([title, *rows])
    for block in blocks(screen, columns, keys):
        shape = [columns[n] for n in block]
        head = INDENT + padded([title[n] for n in block], shape)
        screen.line(cut(screen, head.rstrip()), "dim")
        for number, row in enumerate(rows):
            line = INDENT + padded([row[n] for n in block], shape)
            screen.line(cut(screen, line.rstrip()), styles[number] if styles else "")
