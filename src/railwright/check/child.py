"""The process in which rules run, apart from whatever holds keys and connections.

    python -m railwright.check.child       a request as JSON on standard input

Each rule leaves one Parquet file in the folder that the request names; standard output tells which
rules are under way, so that whoever started this knows what to stop.
"""

import json
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb

from railwright.check.tables import (
    SILENT,
    Folders,
    close,
    make_lookups,
    make_macros,
    make_scopes,
    show_files,
)
from railwright.confine import write_only_below
from railwright.store.duck import connect, copy_query, words

MEMORY, DISK = "2GB", "8GB"


def _say(*words: str) -> None:
    sys.stdout.write(" ".join(words) + "\n")  # in one piece: several threads say something
    sys.stdout.flush()


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


class Run:
    """One request."""

    def __init__(self, request: dict[str, Any]) -> None:
        self._request = request
        before = Path(request["before"]) if request["before"] else None
        self._folders = Folders(Path(request["facts"]), Path(request["intent"]), before)
        self._out = Path(request["out"])
        forms = ("query", "silent", "folded")
        said = (one.get(form, "") for one in request["rules"] for form in forms)
        self._named = words(" ".join(said)).union({"likeness"}, *request["groups"])

    def all(self) -> None:
        """Every rule: those that can be folded over examples, the others over all machines."""
        rules = self._request["rules"]
        folded = [one for one in rules if "group" in one]
        if folded:
            done = self._over_examples(folded)
            rules = [one for one in rules if one["rule"] not in done]
        if rules:
            with self._open() as database:
                self._finish(database)
                self._each(database, "all", "query", rules)

    def _open(self) -> duckdb.DuckDBPyConnection:
        threads = self._request["threads"]
        database = connect(self._out / "tmp", threads=threads, memory=MEMORY)
        show_files(database, self._folders, self._named)
        make_macros(database)
        return database

    def _finish(self, database: duckdb.DuckDBPyConnection) -> None:
        folders = self._folders
        make_scopes(database, "table")
        make_lookups(database, "", with_before=folders.before is not None)
        readable = (folders.facts, folders.intent, folders.before, self._out)
        close(database, [folder for folder in readable if folder], MEMORY, DISK)

    def _over_examples(self, rules: list[dict[str, Any]]) -> set[str]:
        """Rules whose verdict on one machine is that of all that are alike; which ones ran."""
        from railwright.check.alike import find_examples, keep_examples  # noqa: PLC0415 (seldom)

        groups = self._request["groups"]
        with self._open() as database:
            worth = find_examples(database, groups)
            chosen = [one for one in rules if one["group"] in worth]
            if chosen:
                keep_examples(database, worth, groups, self._folders.facts)
                self._finish(database)
                self._each(database, "examples", "folded", chosen)
        return {one["rule"] for one in chosen}

    def _each(
        self,
        database: duckdb.DuckDBPyConnection,
        over: str,
        form: str,
        rules: list[dict[str, Any]],
    ) -> None:
        found = database.execute(f"SELECT DISTINCT probe FROM {SILENT}").fetchall()
        silent = {probe for (probe,) in found}
        queries = [
            (
                one["rule"],
                # Seldom is there one, and planning is most of what a small query costs.
                f"{one[form]} UNION ALL BY NAME {one['silent']}"
                if one["probe"] in silent
                else one[form],
            )
            for one in rules
        ]
        at_once = self._request["at_once"][over]
        clock = time.thread_time if at_once > 1 else time.process_time
        with ThreadPoolExecutor(at_once) as pool:
            done = pool.map(lambda one: self._one(database.cursor(), clock, *one), queries)
            list(done)

    def _one(
        self,
        cursor: duckdb.DuckDBPyConnection,
        clock: Callable[[], float],
        rule: str,
        query: str,
    ) -> None:
        _say("run", rule)
        began = clock()
        trouble = self._trouble(cursor, rule, query)
        _say("failed" if trouble else "done", rule, f"{clock() - began:.4f}", trouble)

    def _trouble(self, cursor: duckdb.DuckDBPyConnection, rule: str, query: str) -> str:
        """Why it could not be run; '' when it could."""
        seconds = self._request["seconds"]
        with _Stopwatch(cursor, seconds) as watch:
            try:
                copy_query(cursor, query, self._out / f"{rule}.parquet")
            except duckdb.Error as error:
                if watch.stopped:
                    return f"stopped after {seconds:.0f} s"
                return str(error).split("\n", maxsplit=1)[0]
        return ""


if __name__ == "__main__":
    asked = json.load(sys.stdin)
    write_only_below([Path(asked["out"])])  # whatever a rule asks for
    try:
        Run(asked).all()
    except Exception as error:  # whoever started this says it in words
        _say("fault", "-", " ".join(str(error).split("\n\nLINE")[0].split()))
    _say("end")
