"""Snapshots damaged in every way we can think of: `mutate` takes one by chance, and says which."""

import hashlib
import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import duckdb

Chance = random.Random
How = Callable[[Path, Chance], str]  # damages a snapshot, and says what it did


# ---- bytes ------------------------------------------------------------------------------------


def parquet_files(path: Path, chance: Chance) -> Path:
    """One of them; evidence every fifth time, although there are many more tables."""
    folder = "evidence" if chance.random() < 0.2 else "facts"
    return chance.choice(sorted(path.glob(f"{folder}/*.parquet")))


def flip_anywhere(path: Path, chance: Chance) -> str:
    file = parquet_files(path, chance)
    data = bytearray(file.read_bytes())
    for _ in range(chance.randint(1, 20)):
        data[chance.randrange(len(data))] = chance.randrange(256)
    file.write_bytes(data)
    return file.name


def flip_footer(path: Path, chance: Chance) -> str:
    file = parquet_files(path, chance)
    data = bytearray(file.read_bytes())
    footer = int.from_bytes(data[-8:-4], "little")
    for _ in range(chance.randint(1, 6)):
        data[chance.randrange(max(4, len(data) - 8 - footer), len(data) - 8)] = chance.randrange(
            256
        )
    file.write_bytes(data)
    return file.name


def flip_a_bit(path: Path, chance: Chance) -> str:
    file = parquet_files(path, chance)
    data = bytearray(file.read_bytes())
    at = chance.randrange(len(data))
    data[at] ^= 1 << chance.randrange(8)
    file.write_bytes(data)
    return f"{file.name} at {at} of {len(data)}"


def zero_a_range(path: Path, chance: Chance) -> str:
    file = parquet_files(path, chance)
    data = bytearray(file.read_bytes())
    at = chance.randrange(len(data))
    length = min(chance.randint(1, 512), len(data) - at)
    data[at : at + length] = bytes(length)
    file.write_bytes(data)
    return f"{file.name} {length} at {at} of {len(data)}"


def truncate(path: Path, chance: Chance) -> str:
    file = parquet_files(path, chance)
    size = file.stat().st_size
    length = chance.choice((0, 1, 4, 8, 12, size - 1, size - 4, size - 8, chance.randrange(size)))
    os.truncate(file, length)
    return f"{file.name} to {length} of {size}"


def footer_length(path: Path, chance: Chance) -> str:
    file = parquet_files(path, chance)
    data = bytearray(file.read_bytes())
    length = chance.choice((0, 1, 2**31 - 1, 2**31, 2**32 - 1, len(data), chance.randrange(2**32)))
    data[-8:-4] = length.to_bytes(4, "little")
    file.write_bytes(data)
    return f"{file.name}: {length}"


def grow(path: Path, chance: Chance) -> str:
    file = parquet_files(path, chance)
    with file.open("ab") as out:
        out.write(chance.choice((b"\0", b"PAR1", file.read_bytes(), bytes(1 << 20))))
    return file.name


# ---- run.json ---------------------------------------------------------------------------------

DEEP = 50_000
# Written as text: json.dumps would not write some of them.
VALUES = (
    "null", "true", '""', "0", "-1", "[]", "{}", "NaN", "Infinity", "-Infinity", "1e400", "1e308",
    "9" * 400, "9" * 6000, '"\\ud800"', '"\\u0000\\u001b[2J"', '"x"', "[1, {}]", '{"a": {"b": 1}}',
    "[" * DEEP + "]" * DEEP, '{"a":' * DEEP + "1" + "}" * DEEP, '"' + "x" * 1_000_000 + '"',
    '{"reached": {"count": -1}}', '{"reached": {"count": 1.5}}', '{"reached": 4}',
    '{"\\u001b[2J": {"count": 3, "targets": 7}}', '{"../../etc/passwd": "x"}',
)  # fmt: skip


def run_file(path: Path) -> Path:
    return path / "run.json"


def run_value(path: Path, chance: Chance) -> str:
    """One value is of another kind."""
    run = json.loads(run_file(path).read_text())
    key = chance.choice([*run, "switches", "filled_from", "interrupted", "cut_off", "limits"])
    value = chance.choice(VALUES)
    run[key] = "\x01here"
    run_file(path).write_text(json.dumps(run).replace(json.dumps("\x01here"), value))
    return f"{key} = {value[:40]}"


def run_without(path: Path, chance: Chance) -> str:
    run = json.loads(run_file(path).read_text())
    gone = chance.sample(sorted(run), chance.randint(1, min(3, len(run))))
    run_file(path).write_text(json.dumps({k: v for k, v in run.items() if k not in gone}))
    return ", ".join(gone)


def run_format(path: Path, chance: Chance) -> str:
    run = json.loads(run_file(path).read_text())
    run["format"] = chance.choice((0, 1, 2, 3, -1, 2**70, "2", 2.0, 1.0, True, None, [2], "1"))
    run_file(path).write_text(json.dumps(run))
    return repr(run["format"])


def run_bytes(path: Path, chance: Chance) -> str:
    data = bytearray(run_file(path).read_bytes())
    for _ in range(chance.randint(1, 4)):
        data[chance.randrange(len(data))] = chance.randrange(256)
    run_file(path).write_bytes(data)
    return "flipped"


def run_cut(path: Path, chance: Chance) -> str:
    length = chance.choice((0, 1, 2, chance.randrange(run_file(path).stat().st_size)))
    os.truncate(run_file(path), length)
    return str(length)


def run_other(path: Path, chance: Chance) -> str:
    """Something else altogether."""
    text = chance.choice(
        ("[]", "null", "7", '"x"', "{}", "\ufeff{}", "[" * DEEP, "{" * DEEP, "NaN")
    )
    run_file(path).write_text(text)
    return text[:20]


def run_digest_of(path: Path, chance: Chance) -> str:
    """The digest of one file is another; or is of a file that is not there."""
    run = json.loads(run_file(path).read_text())
    files = run.get("files") or {"facts/host.parquet": ""}
    name = chance.choice(sorted(files))
    said = files.pop(name)
    how = chance.choice(("removed", "renamed", "other", "no text"))
    if how == "renamed":
        files[name.replace("parquet", "parque")] = said
    elif how != "removed":
        files[name] = hashlib.sha256(b"x").hexdigest() if how == "other" else 7
    run_file(path).write_text(json.dumps({**run, "files": files}))
    return f"{name} {how}"


# ---- files ------------------------------------------------------------------------------------


def some_file(path: Path, chance: Chance) -> Path:
    return run_file(path) if chance.random() < 0.15 else parquet_files(path, chance)


def remove(path: Path, chance: Chance) -> str:
    file = some_file(path, chance)
    file.unlink()
    return file.name


def swap(path: Path, chance: Chance) -> str:
    one, other = parquet_files(path, chance), some_file(path, chance)
    held = one.with_suffix(".held")
    one.rename(held)
    if other.exists():
        other.rename(one)
    held.rename(other)
    return f"{one.name} and {other.name}"


def replace_by(path: Path, chance: Chance) -> str:
    """Something that is no file stands where one should be."""
    file = some_file(path, chance)
    what = chance.choice(
        ("/etc/passwd", "/dev/zero", "/dev/stdin", "/nowhere", file.name, "a FIFO", "a folder")
    )
    file.unlink()
    if what == "a FIFO":
        os.mkfifo(file)
    elif what == "a folder":
        file.mkdir()
        (file / "x").write_text("x")
    else:
        file.symlink_to(what)
    return f"{file.name} by {what}"


def replace_folder(path: Path, chance: Chance) -> str:
    folder = path / chance.choice(("facts", "evidence"))
    how = chance.choice(("gone", "a file", "a link", "empty"))
    shutil.rmtree(folder)
    if how == "a file":
        folder.write_text("x")
    elif how == "a link":
        folder.symlink_to("/proc")
    elif how == "empty":
        folder.mkdir()
    return f"{folder.name}: {how}"


def add(path: Path, chance: Chance) -> str:
    """What nobody asked for."""
    folder = path / chance.choice(("facts", "evidence", "."))
    what = chance.choice(("file", "table", "FIFO", "link", "folder", "zeros", "odd name"))
    new = folder / chance.choice(("zz.parquet", "000.parquet", "zz", ".hidden.parquet"))
    if what == "table":
        shutil.copy(parquet_files(path, chance), new)
    elif what == "FIFO":
        os.mkfifo(new)
    elif what == "link":
        new.symlink_to(chance.choice(("/etc/passwd", "/dev/zero", ".", "/")))
    elif what == "zeros":
        new.symlink_to("/dev/zero")
    elif what == "folder":
        (new / "zz.parquet").mkdir(parents=True)
    elif what == "odd name":
        new = folder / "\x1b[2J'\"*?[\u202e\n.parquet"
        new.write_bytes(parquet_files(path, chance).read_bytes())
    else:
        new.write_bytes(chance.choice((b"", b"x", b"PAR1" + bytes(100) + b"PAR1")))
    return f"{what} {new.relative_to(path)!r}"


# ---- rows -------------------------------------------------------------------------------------


def anew(file: Path, query: str) -> None:
    """A table anew, from a SELECT that reads it as `{file}`."""
    new = file.with_suffix(".new")
    with duckdb.connect() as database:
        source = query.replace("{file}", f"read_parquet('{file}')")
        database.execute(f"COPY ({source}) TO '{new}' (FORMAT parquet)")
    new.replace(file)


def busy_file(path: Path, chance: Chance) -> Path:
    """Mostly one of the tables that every report counts."""
    if chance.random() < 0.5:
        return parquet_files(path, chance)
    names = ("target", "host", "rdma_port", "port", "probe_result", "pci_function", "netdev")
    return path / "facts" / f"{chance.choice(names)}.parquet"


def columns_of(file: Path) -> dict[str, str]:
    with duckdb.connect() as database:
        found = database.execute(f"DESCRIBE FROM read_parquet('{file}')").fetchall()
    return {str(row[0]): str(row[1]) for row in found}


def rows_doubled(path: Path, chance: Chance) -> str:
    file = busy_file(path, chance)
    anew(file, "FROM {file} UNION ALL FROM {file}")
    return file.name


def rows_lost(path: Path, chance: Chance) -> str:
    file = busy_file(path, chance)
    anew(
        file, chance.choice(("FROM {file} LIMIT 0", "FROM {file} LIMIT 1", "FROM {file} OFFSET 1"))
    )
    return file.name


def rows_of_nobody(path: Path, chance: Chance) -> str:
    file = busy_file(path, chance)
    other = chance.choice(
        ("NULL::VARCHAR", "''", "'@x'", "'a b'", "repeat('x', 300)", "'ember-h999'")
    )
    anew(file, f"SELECT * REPLACE ({other} AS target) FROM {{file}}")
    return f"{file.name}: {other}"


def column_of_another_type(path: Path, chance: Chance) -> str:
    file = busy_file(path, chance)
    column = chance.choice(sorted(columns_of(file)))
    other = chance.choice(
        ("7", "'x'", "NULL::VARCHAR", "[{'a': 1}]", "'x'::BLOB", "DATE '2026-11-14'",
         "1e400::DOUBLE", "{'a': 1}", "true", "now()", "9e18::HUGEINT", "uuid()", "MAP {'a': 1}",
         "INTERVAL 1 DAY")
    )  # fmt: skip
    anew(file, f'SELECT * REPLACE ({other} AS "{column}") FROM {{file}}')
    return f"{file.name}.{column}: {other}"


def column_lost(path: Path, chance: Chance) -> str:
    file = busy_file(path, chance)
    column = chance.choice(sorted(columns_of(file)))
    anew(file, f'SELECT * EXCLUDE ("{column}") FROM {{file}}')
    return f"{file.name}.{column}"


def column_more(path: Path, chance: Chance) -> str:
    file = busy_file(path, chance)
    count = chance.choice((1, 1, 3000))
    odd = ("x", "target_", "a b", chr(27) + "[2J")
    more = ", ".join(f'{n} AS "{chance.choice(odd)}{n}"' for n in range(count))
    anew(file, f"SELECT *, {more} FROM {{file}}")
    return f"{file.name}: {count}"


def column_renamed(path: Path, chance: Chance) -> str:
    file = busy_file(path, chance)
    column = chance.choice(sorted(columns_of(file)))
    other = chance.choice((column.upper(), f"{column} ", "\x1b[2J", "x"))
    anew(file, f'SELECT * RENAME ("{column}" AS "{other}") FROM {{file}}')
    return f"{file.name}.{column}: {other!r}"


def columns_in_another_order(path: Path, chance: Chance) -> str:
    file = busy_file(path, chance)
    names = list(columns_of(file))
    chance.shuffle(names)
    listed = ", ".join(f'"{name}"' for name in names)
    anew(file, f"SELECT {listed} FROM {{file}}")
    return file.name


BYTES = (flip_anywhere, flip_footer, flip_a_bit, zero_a_range, truncate, footer_length, grow)
RUN = (run_value, run_value, run_value, run_without, run_format, run_bytes, run_cut, run_other,
       run_digest_of)  # fmt: skip
FILES = (remove, swap, replace_by, replace_by, replace_folder, add, add)
ROWS = (rows_doubled, rows_lost, rows_of_nobody, column_of_another_type, column_lost, column_more,
        column_renamed, columns_in_another_order)  # fmt: skip


def mutate(path: Path, chance: Chance) -> str:
    """Damage a snapshot in one way, in half of the cases after its digests were taken away."""
    group = chance.choice((BYTES, BYTES, RUN, FILES, ROWS))
    how = chance.choice(group)
    words = ""
    if chance.random() < 0.5:
        words = "without digests, "
        run = json.loads(run_file(path).read_text())
        left = {key: value for key, value in run.items() if key not in ("files", "digest")}
        run_file(path).write_text(json.dumps({**left, "format": 1}))
    said = how(path, chance)
    return f"{words}{how.__name__}: {said}"
