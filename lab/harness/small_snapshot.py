"""A small sealed snapshot, to be damaged."""

import json
import os
import stat
from pathlib import Path

import duckdb

from railwright.demo import unpack
from railwright.store.snapshot import seal

NAME = "2026-11-14T2215Z"
# One with a finding of pcie-link-narrow, one of intent-mtu, one that is in order, and one that did
# not answer.
HOSTS = ("ember-h001", "ember-h007", "ember-h026", "ember-h029")


def _in_two_parts(database: duckdb.DuckDBPyConnection, evidence: Path) -> None:
    """As a longer run has it: what belongs in one file may then be found in another."""
    (whole,) = evidence.glob("*.parquet")
    for number, half in enumerate(("target <= ", "target > ")):
        part = evidence / f"part-{number:05d}-001.parquet"
        query = f"SELECT * FROM read_parquet('{whole}') WHERE {half} '{HOSTS[0]}'"
        database.execute(f"COPY ({query}) TO '{part}' (FORMAT parquet, COMPRESSION zstd)")
    whole.unlink()


def small_snapshot(store: Path) -> Path:
    """Four hosts of the demonstration, sealed like any other."""
    path = unpack(store) / NAME
    kept = ", ".join(f"'{host}'" for host in HOSTS)
    writable(path)
    with duckdb.connect() as database:
        for file in sorted(path.glob("*/*.parquet")):
            new = file.with_suffix(".new")
            query = f"SELECT * FROM read_parquet('{file}') WHERE target IN ({kept})"
            database.execute(f"COPY ({query}) TO '{new}' (FORMAT parquet, COMPRESSION zstd)")
            found = database.execute(f"SELECT count(*) FROM read_parquet('{new}')").fetchall()
            new.replace(file)
            if found == [(0,)] and file.parent.name == "evidence":
                file.unlink()
        _in_two_parts(database, path / "evidence")
    run = json.loads((path / "run.json").read_text())
    run["targets"] = {
        "reached": {"count": 3, "targets": "ember-h[001,007,026]"},
        "silent": {"count": 1, "targets": "ember-h029"},
    }
    seal(path, {key: value for key, value in run.items() if key not in ("files", "digest")})
    writable(path)
    return path


def writable(path: Path) -> None:
    for one in (path, *path.rglob("*")):
        if not one.is_symlink():
            one.chmod(0o700 if one.is_dir() else 0o600)


def content(path: Path) -> dict[str, object]:
    """What is there, by its name: bytes of files, and what else is no file."""
    found: dict[str, object] = {}
    for one in sorted(path.rglob("*")):
        name, mode = str(one.relative_to(path)), one.lstat().st_mode
        if stat.S_ISREG(mode):
            found[name] = one.read_bytes()
        else:
            found[name] = os.readlink(one) if stat.S_ISLNK(mode) else stat.S_IFMT(mode)
    return found
