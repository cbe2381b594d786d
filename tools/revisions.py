"""The revision of every fact table, written down: `just revisions`.

Made of what decides its rows: its columns, and the code and data that fill it, without comments
and docstrings. To work it out takes seconds, so every verb reads the file.
"""

import ast
import hashlib
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import railwright
from railwright.model.derive import HERE as DERIVED
from railwright.model.revision import FILE
from railwright.schema.table import Table, tables
from railwright.toml import toml_text

PACKAGE = Path(railwright.__file__).parent
HEAD = """\
# The revision of every fact table. Written by `just revisions`; a test holds it to the code.
"""
# What parsers and derived tables may be made of; the engine around them is the same for all.
_FLOORS = ("railwright.parse", "railwright.schema", "railwright.hardware", "railwright.model.")


def _file(module: str) -> Path | None:
    file = PACKAGE.joinpath(*module.split(".")[1:]).with_suffix(".py")
    return file if file.is_file() else None


@cache
def _code(file: Path) -> ast.Module:
    """The module without its docstrings."""
    tree = ast.parse(file.read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(
            node
        ):
            node.body = node.body[1:] or [ast.Pass()]
    return tree


@cache
def _imports(file: Path) -> list[str]:
    return [
        name
        for node in ast.walk(_code(file))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(_FLOORS)
        for name in (node.module, *(f"{node.module}.{one.name}" for one in node.names))
    ]


@cache
def _queries(file: Path) -> list[Path]:
    """The SQL files that a module reads: read_sql(__file__, "gap_row.sql")."""
    found = []
    for node in ast.walk(_code(file)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "read_sql":
            name = node.args[1]
            if not isinstance(name, ast.Constant):
                raise TypeError(f"{file.name}:{node.lineno}: read_sql needs the name in words")
            found.append(file.parent / str(name.value))
    return found


def _sources(file: Path) -> set[Path]:
    """A module, the modules of our floors that it imports, and the data beside each."""
    found: set[Path] = set()
    waiting = [file]
    while waiting:
        one = waiting.pop()
        if one in found:
            continue
        found |= {one, *(p for p in (one.with_suffix(".toml"),) if p.is_file())}
        found |= set(one.with_name(f"{one.stem}s").glob("*.toml"))  # system.py: systems/*.toml
        found |= set(_queries(one))
        waiting += [
            f for f in map(_file, _imports(one)) if f and f != _file("railwright.schema.table")
        ]
    return found


@cache
def _text(file: Path) -> str:
    return ast.dump(_code(file)) if file.suffix == ".py" else file.read_text("utf-8")


def _made_of(table: Table) -> Iterator[Path]:
    for probe in table.probes:
        if file := _file(f"railwright.parse.{probe}"):
            yield from _sources(file)
    if table.fed_by == "derived":
        query = DERIVED / f"{table.name}.sql"
        yield from [query] if query.is_file() else _sources(DERIVED / f"{table.name}.py")


def revision(table: Table) -> str:
    """Sixteen hexadecimal digits."""
    shape = [table.key, table.fed_by, table.probes, table.after, [*table.column_types().items()]]
    digest = hashlib.sha256(json.dumps(shape).encode())
    for file in sorted(set(_made_of(table))):
        digest.update(f"\n{file.relative_to(PACKAGE)}\n{_text(file)}".encode())
    return digest.hexdigest()[:16]


def text() -> str:
    """The whole file."""
    return HEAD + "".join(f"{name} = {toml_text(revision(t))}\n" for name, t in tables().items())


def main() -> None:
    """Write it."""
    FILE.write_text(text(), "utf-8")


if __name__ == "__main__":
    main()
