"""What the columns of the scopes are made of, written down: `just scopes`."""

from pathlib import Path

from railwright.check.lint import scope_reads
from railwright.check.tables import HERE
from railwright.toml import toml_text

FILE = HERE / "scope_reads.toml"
HEAD = """\
# What every column of a scope is made of. Written by `just scopes` from DuckDB's own plans; a test
# holds it to scope.sql.
"""


def text() -> str:
    """The whole file."""
    lines = (
        f"{toml_text(name)} = {toml_text(columns)}\n" for name, columns in scope_reads().items()
    )
    return HEAD + "".join(lines)


def main() -> None:
    """Write it."""
    Path(FILE).write_text(text(), "utf-8")


if __name__ == "__main__":
    main()
