"""Snapshots of other versions open: what changed since is made again, once, in the cache.

`snapshots/release-0.1.0.tar.xz` is one that release 0.1.0 wrote: two hosts, ember-h007 with 8 of 16
lanes at its second NIC, and ember-h008 that did not answer. What is expected of it is what that
release said of it.
"""

import json
import os
import shutil
import subprocess
import sys
import tarfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
from conftest import REPOSITORY

from railwright.model import remake
from railwright.model.remake import Work, remade, work_on
from railwright.model.revision import older, revisions
from railwright.store.integrity import run_digest
from railwright.store.snapshot import Snapshot, load
from tools import revisions as written

ARCHIVE = REPOSITORY / "tests" / "snapshots" / "release-0.1.0.tar.xz"
NAME = "2026-11-17T0830Z"
NARROW = ("pcie-link-narrow", "ember-h007:0000:29:00.0")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with the release's snapshot in it, and a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(tmp_path / "store", filter="data")
    return tmp_path / "store"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, for many verbs."""
    folder = tmp_path_factory.mktemp("shared")
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder / "store", filter="data")
    return folder


def railwright(store: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "railwright", *words, "--store", str(store)],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def findings(done: "subprocess.CompletedProcess[str]") -> set[tuple[str, str]]:
    return {(one["rule"], one["subject"]) for one in json.loads(done.stdout)["findings"]}


def content(folder: Path) -> dict[str, bytes]:
    return {str(f.relative_to(folder)): f.read_bytes() for f in folder.rglob("*") if f.is_file()}


def places(store: Path) -> list[Path]:
    """What was made of snapshots."""
    return sorted((store.parent / "cache" / "railwright").glob("*/*/made.json"))


def held(path: Path, **changed: str | None) -> Snapshot:
    """A snapshot whose run.json says that some of its tables are of another revision."""
    run = json.loads((path / "run.json").read_text())
    kept = {**run["revisions"], **changed}
    run["revisions"] = {name: value for name, value in kept.items() if value is not None}
    run["digest"] = run_digest(run)
    (path / "run.json").chmod(0o600)
    (path / "run.json").write_text(json.dumps(run))
    return load(path)


def rows(snapshot: Snapshot, query: str) -> list[tuple[Any, ...]]:
    with snapshot.database() as database:
        return database.execute(query).fetchall()


def test_the_revisions_are_those_of_the_code() -> None:
    assert written.FILE.read_text("utf-8") == written.text(), "just revisions"


def test_a_snapshot_of_the_release_is_checked(store: Path) -> None:
    before = content(store)
    done = railwright(store, "check", "--format", "json")
    assert done.returncode == 1, done.stderr
    assert NARROW in findings(done)
    assert f"another version wrote {NAME}" in done.stderr
    assert content(store) == before  # as it was written
    [place] = places(store)
    assert all(f.stat().st_mode & 0o077 == 0 for f in (place.parents[1], place.parents[2]))
    made = place.stat().st_ctime_ns
    again = railwright(store, "check", "--format", "json")
    assert again.stdout == done.stdout
    assert "rebuilt" not in again.stderr
    assert [p.stat().st_ctime_ns for p in places(store)] == [made]


@pytest.mark.parametrize(
    "words",
    [
        ("facts",),
        ("show", "ember-h007"),
        ("links", "--json"),
        ("rails", "--json"),
        ("predict", "ceiling"),
        ("sql", "SELECT count(*) FROM dmi_or_any_table_of_today"),
        ("evidence", "ember-h007"),
        ("intent", "init"),
        ("store", "verify"),
        ("store", "list"),
        ("merge", NAME),
    ],
)
def test_every_verb_opens_it(
    shared: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """The first of them makes it again; the others find that."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(shared / "cache"))
    store = shared / "store"
    done = railwright(store, *words)
    if words[0] == "sql":  # the words of DuckDB, not of a snapshot that cannot be opened
        assert "does not exist" in done.stderr + done.stdout
        return
    assert done.returncode in (0, 1, 3), done.stderr
    assert "Traceback" not in done.stderr
    assert "DAMAGED" not in done.stdout


def test_it_is_compared_with_one_like_it(store: Path) -> None:
    """A verb that opens two: the same evidence under an earlier name has no differences."""
    earlier = "2026-11-13T2215Z"
    shutil.copytree(store / NAME, store / earlier)
    done = railwright(store, "diff", earlier, NAME)
    assert done.returncode in (0, 3), done.stderr
    assert "Traceback" not in done.stderr


def test_what_takes_long_is_asked_for(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", _short_patience(store.parent))
    done = railwright(store, "check", "--format", "json")
    assert f"railwright store upgrade {NAME}" in done.stderr
    assert done.returncode == 3, done.stderr
    said = json.loads(done.stdout)
    assert said["findings"] == []
    # Two rules ask the run itself alone: by which name each machine was reached, and which boot it is.
    assert {rule["id"] for rule in said["rules"] if rule["ok"]} == {
        "machine-twice",
        "hostname-of-another",
    }
    whys = {one["why"] for one in said["inconclusive"] if one["target"] != "ember-h008"}
    assert all("outdated" in why for why in whys), whys
    upgraded = railwright(store, "store", "upgrade")
    assert upgraded.returncode == 0, upgraded.stderr
    assert "parsing" in upgraded.stderr
    after = railwright(store, "check", "--format", "json")
    assert NARROW in findings(after)
    assert "store upgrade" not in after.stderr


def _short_patience(folder: Path) -> str:
    """Python starts with this: nothing is parsed again unless somebody asks."""
    (folder / "sitecustomize.py").write_text(
        "from railwright.model import remake\nremake.AT_ONCE_S = -1.0\n"
    )
    return str(folder)


def test_only_what_changed_is_parsed_again(store: Path) -> None:
    railwright(store, "merge", NAME)
    path = max(p for p in store.iterdir() if p.name != NAME)
    assert older(load(path)) is None
    whole = json.loads(railwright(store, "check", path.name, "--format", "json").stdout)
    snapshot = held(path, pci_function="0" * 16)
    work = work_on(snapshot)
    assert work is not None
    assert work.older.parsed == {"pci_function"}
    now = remade(snapshot, work, parsed=True)
    tables = set(now.remade_tables)
    assert {"pci_function", "probe_result", "port"} <= tables
    assert "netdev" not in tables
    assert (now.facts / "netdev.parquet").readlink() == path / "facts" / "netdev.parquet"
    # Rules run where only the files that they were given can be read: links are no way around it.
    judged = railwright(store, "check", path.name, "--format", "json")
    assert json.loads(judged.stdout)["rules"] == whole["rules"], judged.stderr
    for query in (
        "FROM pci_function ORDER BY target, pci",
        "SELECT target, probe, instance, status FROM probe_result ORDER BY ALL",
        "SELECT * FROM port ORDER BY target, device, port",
    ):
        assert rows(now, query) == rows(load(path), query)


def test_a_table_that_is_new_is_empty_and_its_probe_a_gap(store: Path) -> None:
    """The file of a table that the version did not know is not there at all."""
    railwright(store, "merge", NAME)
    path = max(p for p in store.iterdir() if p.name != NAME)
    run = json.loads((path / "run.json").read_text())
    del run["files"]["facts/lldp_neighbor.parquet"]
    (path / "run.json").chmod(0o600)
    (path / "run.json").write_text(json.dumps(run))
    (path / "facts" / "lldp_neighbor.parquet").unlink()
    with duckdb.connect() as database:  # nor was its probe asked
        for file in path.glob("evidence/*.parquet"):
            file.chmod(0o600)
            database.execute(
                f"COPY (FROM read_parquet('{file}') WHERE probe <> 'lldpctl') TO '{file}.new' "
                "(FORMAT parquet)"
            )
            os.replace(f"{file}.new", file)
    run = {k: v for k, v in run.items() if k not in ("files", "digest")}
    del run["revisions"]["lldp_neighbor"]
    (path / "run.json").write_text(json.dumps({**run, "format": 1}))
    snapshot = load(path)
    work = work_on(snapshot)
    assert work is not None
    now = remade(snapshot, work, parsed=True)
    assert rows(now, "FROM lldp_neighbor") == []
    statuses = rows(now, "SELECT DISTINCT status FROM probe_result WHERE probe = 'lldpctl'")
    assert statuses in ([("outdated",)], [("absent",)], [("outdated",), ("absent",)])


@pytest.mark.whole
def test_two_sessions_make_it_once(store: Path) -> None:
    commands = [sys.executable, "-m", "railwright", "check", "--store", str(store)]
    both = [
        subprocess.Popen(commands, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in "ab"
    ]
    said = [process.communicate(timeout=240) for process in both]
    assert [process.returncode for process in both] == [1, 1], said
    assert said[0][0] == said[1][0]
    assert len(places(store)) == 1


@pytest.mark.whole
def test_what_a_killed_session_left_is_cleared(store: Path) -> None:
    assert railwright(store, "check").returncode == 1
    [place] = places(store)
    left = place.parents[1] / ".making-x" / "facts"
    left.mkdir(parents=True)
    place.unlink()  # and the folder is half of one
    assert railwright(store, "check").returncode == 1
    assert places(store) == [place]
    assert not left.exists()


def test_prune_clears_what_was_made(store: Path) -> None:
    railwright(store, "check")
    assert places(store)
    assert railwright(store, "store", "prune", "--keep", "0", "--yes").returncode == 0
    assert not places(store)


def test_a_copy_with_other_files_is_another_snapshot(store: Path) -> None:
    """Without digests run.json does not tell two copies apart: their files have to."""
    snapshot = load(store / NAME)
    work = work_on(snapshot)
    assert isinstance(work, Work)
    first = remade(snapshot, work, parsed=True)
    file = next((store / NAME / "evidence").glob("*.parquet"))
    with duckdb.connect() as database:
        database.execute(
            f"COPY (FROM read_parquet('{file}') WHERE target <> 'ember-h007') TO '{file}.new' "
            "(FORMAT parquet)"
        )
    os.replace(f"{file}.new", file)
    second = remade(load(store / NAME), work, parsed=True)
    assert first.facts != second.facts


def test_the_oldest_go_when_there_is_too_much(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    snapshot = load(store / NAME)
    work = work_on(snapshot)
    assert work is not None
    first = remade(snapshot, work, parsed=True)
    monkeypatch.setattr(remake, "MOST_BYTES", 0)
    run = {**snapshot.run, "started": 1.0}
    remade(replace(snapshot, run=run), work, parsed=True)
    assert not first.facts.exists()


def test_a_cache_that_cannot_be_written_is_said(store: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    done = railwright(store, "check")
    assert done.returncode == 2
    assert "XDG_CACHE_HOME" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_snapshot_of_this_version_is_not_made_again(store: Path) -> None:
    railwright(store, "merge", NAME)
    path = max(p for p in store.iterdir() if p.name != NAME)
    assert json.loads((path / "run.json").read_text())["revisions"] == revisions()
    assert work_on(load(path)) is None
