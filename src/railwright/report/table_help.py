"""Which tables there are and what their columns mean: the help of `railwright sql`."""

from difflib import get_close_matches

from railwright.errors import UsageError
from railwright.report.screen import Screen, cut, padded, widths, wrapped
from railwright.schema.table import Table, tables
from railwright.schema.value_state import none_words


def print_tables(screen: Screen, counts: dict[str, int]) -> None:
    """Every table with its rows and its meaning; those without rows come last."""
    rows = [
        (name, f"{counts[name]:,}", ", ".join(table.probes) or table.fed_by, table.meaning)
        for name, table in sorted(tables().items(), key=lambda item: (not counts[item[0]], item[0]))
    ]
    title = ("table", "rows", "from probe", "one row is")
    columns = widths([title, *rows])
    screen.line(padded(title, columns), "bold")
    for row in rows:
        cells = (row[0], row[1].rjust(columns[1]), *row[2:])
        screen.line(cut(screen, padded(cells, columns)), "" if row[1] != "0" else "dim")
    screen.line()
    screen.line("railwright sql --describe TABLE tells its columns; `evidence` holds the bytes.")


def find_table(name: str) -> Table:
    """A table by its name; a misspelt one gets a hint."""
    found = tables().get(name)
    if found is None:
        near = get_close_matches(name, tables(), 3, 0.5)
        raise UsageError(
            f"no table named {name}",
            do=f"Did you mean {' or '.join(near)}?" if near else "railwright sql lists them.",
        )
    return found


def print_table_help(screen: Screen, name: str) -> None:
    """Every column: type, unit, meaning, source, and what "there is none" looks like."""
    table = find_table(name)
    screen.heading(name, f": {table.meaning}")
    source = ", ".join(table.probes) or table.fed_by
    screen.line(f"key: {', '.join(table.key)}; from: {source}")
    screen.line("NULL means not read, unless `none` says when it means that there is none")
    screen.line()
    rows = [(column.name, f"{column.type}{f' ({column.unit})' if column.unit else ''}")
            for column in table.columns]  # fmt: skip
    columns = widths(rows)
    for row, column in zip(rows, table.columns, strict=True):
        screen.line("  " + padded(row, columns))
        none = none_words(column)
        for text in (column.meaning, f"none: {none}" if none else ""):
            for line in wrapped(screen, text, 6):
                screen.line(line)
        for line in wrapped(screen, f"source: {column.source}", 6):
            screen.line(line, "dim")
