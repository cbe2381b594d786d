"""The process in which rules run, apart from whatever holds keys and connections.

    python -m railwright.check.child       a request as JSON on standard input

Each rule leaves one Parquet file in the folder that the request names; standard output tells which
rule is under way, so that whoever started this knows what to stop.
"""

import json
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb

from railwright.check.account import silent_targets, verdicts
from railwright.check.lint import columns_of, with_parameters
from railwright.check.rule import Rule, load_rule
from railwright.check.tables import Folders, close, make_macros, make_scopes, show_files
from railwright.facts.duck import connect, copy_query

MEMORY, DISK = "2GB", "8GB"


def _say(*words: object) -> None:
    print(*words, flush=True)  # noqa: T201 (the parent reads it)


def _open(request: dict[str, Any]) -> duckdb.DuckDBPyConnection:
    before = Path(request["before"]) if request["before"] else None
    folders = Folders(Path(request["facts"]), Path(request["intent"]), before)
    out = Path(request["out"])
    database = connect(out / "tmp", threads=2, memory=MEMORY)
    show_files(database, folders)
    make_macros(database)
    make_scopes(database)
    readable = [folder for folder in (folders.facts, folders.intent, before, out) if folder]
    close(database, readable, MEMORY, DISK)
    return database


class _Stopwatch:
    """Interrupts a query that takes too long."""

    def __init__(self, database: duckdb.DuckDBPyConnection, seconds: float) -> None:
        self._timer = threading.Timer(seconds, self._stop)
        self._database = database
        self.stopped = False

    def _stop(self) -> None:
        self.stopped = True
        self._database.interrupt()

    def __enter__(self) -> "_Stopwatch":
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()


def _run(database: duckdb.DuckDBPyConnection, rule: Rule, request: dict[str, Any]) -> str:
    """Why it could not be run; '' when it could."""
    query = with_parameters(rule.sql, rule.parameters)
    seconds, file = request["seconds"], Path(request["out"]) / f"{rule.id}.parquet"
    with _Stopwatch(database, seconds) as watch:
        try:
            parts = [verdicts(rule, query, columns_of(database, query), each=request["each"])]
            if rule.subject.probe:
                parts.append(silent_targets(rule))
            copy_query(database, " UNION ALL BY NAME ".join(parts), file)
        except duckdb.Error as error:
            if watch.stopped:
                return f"stopped after {seconds:.0f} s"
            return str(error).split("\n", maxsplit=1)[0]
    return ""


def _rule(path: str, folder: str, values: dict[str, float | int | str]) -> Rule:
    rule = load_rule(Path(path), Path(folder))
    changed = (replace(p, default=values[p.name]) for p in rule.parameters)
    return replace(rule, parameters=tuple(changed))


def main() -> None:
    """Run every rule of the request."""
    request = json.load(sys.stdin)
    rules = [_rule(*one) for one in request["rules"]]
    database = _open(request)
    for rule in rules:
        _say("run", rule.id)
        began = time.process_time()
        trouble = _run(database, rule, request)
        spent = time.process_time() - began
        _say("failed" if trouble else "done", rule.id, f"{spent:.4f}", trouble)
    _say("end")


if __name__ == "__main__":
    main()
