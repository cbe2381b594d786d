"""Copies of the demonstration's snapshot that somebody has altered."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb

from railwright.demo import unpack

NAME = "2026-11-14T2215Z"


def demo_store(folder: Path) -> Path:
    """A store with the demonstration in it, its site file and its waivers; files can be written."""
    store = unpack(folder)
    for path in store.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
    return store


def copy_of(store: Path, folder: Path) -> Path:
    """One more snapshot like it."""
    shutil.copytree(store / NAME, folder)
    return folder


def without_digests(path: Path, **said: object) -> None:
    """run.json as versions before there were digests wrote it."""
    file = path / "run.json"
    run = {k: v for k, v in json.loads(file.read_text()).items() if k not in ("files", "digest")}
    file.chmod(0o600)
    file.write_text(json.dumps({**run, "format": 1, **said}))


def rewrite(path: Path, table: str, query: str, values: dict[str, object] | None = None) -> None:
    """A fact table anew, from a SELECT that reads it as `{file}`."""
    file = path / "facts" / f"{table}.parquet"
    file.chmod(0o600)
    with duckdb.connect() as database:
        source = f"read_parquet('{file}')"
        database.execute(
            f"COPY ({query.format(file=source)}) TO '{file}.new' (FORMAT parquet)", values or {}
        )
    os.replace(f"{file}.new", file)


def rename_target(path: Path, old: str, new: str) -> None:
    """One machine under another name, in every table that has it."""
    with duckdb.connect() as database:
        for file in [*path.glob("facts/*.parquet"), *path.glob("evidence/*.parquet")]:
            found = database.execute(f"DESCRIBE FROM read_parquet('{file}')").fetchall()
            if "target" not in [row[0] for row in found]:
                continue
            file.chmod(0o600)
            database.execute(
                "COPY (SELECT * REPLACE (CASE WHEN target = $old THEN $new ELSE target END AS "
                f"target) FROM read_parquet('{file}')) TO '{file}.new' (FORMAT parquet)",
                {"old": old, "new": new},
            )
            os.replace(f"{file}.new", file)


def railwright(
    *words: object, store: Path | None = None, seconds: float = 120, **more: object
) -> subprocess.CompletedProcess[str]:
    """The command line, as another program starts it."""
    environment = dict(os.environ) | ({"RAILWRIGHT_STORE": str(store)} if store else {})
    return subprocess.run(
        [sys.executable, "-m", "railwright", *map(str, words)],
        capture_output=True, text=True, timeout=seconds, env=environment,
        stdin=subprocess.DEVNULL, **more,  # type: ignore[call-overload]
    )  # fmt: skip
