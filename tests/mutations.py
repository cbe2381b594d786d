"""Snapshots that were damaged in every way we can think of, and what verbs may say of them.

    mutate(folder, random.Random(7))      one way, by chance; says which
    with Damaging(folder) as damaging:    a small sealed snapshot, mutated and put right again
        damaging.trial(17)                the 17th of a fixed row of mutations: what was wrong with it

Verbs run in forks of a process that has read the program once: a run costs a third of what a new
process would, and one that crashes takes nobody along.
"""

import contextlib
import hashlib
import json
import os
import random
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import duckdb

from railwright import cli
from railwright.check.reasons import scope_reads
from railwright.check.rule import shipped
from railwright.demo import unpack
from railwright.schema.table import tables
from railwright.store.snapshot import seal

REPOSITORY = Path(__file__).parents[1]
NAME = "2026-11-14T2215Z"
# One with a finding of pcie-link-narrow, one of intent-mtu, one that is in order, one that did not answer.
HOSTS = ("ember-h001", "ember-h007", "ember-h026", "ember-h029")
SECONDS = 30.0  # for a verb over four hosts, on a machine with nobody else at work
USUAL = 2.0  # what `check` takes there
FIRST = 600.0  # for a sound snapshot, which is looked at for the first time
ADDRESS_SPACE = 8 << 30  # a length that was damaged must not take the machine along
NO_DIGESTS = "no digests"
NOTICES = (NO_DIGESTS, "another version wrote")  # of the snapshot, before whatever a verb says

Chance = random.Random
How = Callable[[Path, Chance], str]  # damages a snapshot, and says what it did


# ---- the snapshot -----------------------------------------------------------------------------


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


# ---- mutations of bytes -----------------------------------------------------------------------


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


# ---- mutations of run.json --------------------------------------------------------------------

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


# ---- mutations of files -----------------------------------------------------------------------


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


# ---- mutations of rows ------------------------------------------------------------------------


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
        ("7", "'x'", "NULL::VARCHAR", "[{'a': 1}]", "'x'::BLOB", "DATE '2026-11-14'", "1e400::DOUBLE",
         "{'a': 1}", "true", "now()", "9e18::HUGEINT", "uuid()", "MAP {'a': 1}", "INTERVAL 1 DAY")
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
    more = ", ".join(f'{n} AS "{chance.choice(("x", "target_", "a b", chr(27) + "[2J"))}{n}"' for n in range(count))  # fmt: skip
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


# ---- running ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Done:
    """How one verb ended."""

    status: int  # less than 0: by a signal
    out: bytes
    err: str
    seconds: float
    peak_mb: float
    is_late: bool = False


class Verbs:
    """A process that has read the program; each verb runs in a fork of it."""

    def __init__(self, folder: Path) -> None:
        self._out, self._err = folder / "out", folder / "err"
        temporary = folder / "tmp"
        temporary.mkdir()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.mutations"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=REPOSITORY, text=True,
            env={**os.environ, "RAILWRIGHT_STORE": str(folder / "store"), "TMPDIR": str(temporary),
                 "XDG_CACHE_HOME": str(folder / "cache"), "XDG_CONFIG_HOME": str(folder / "config"),
                 "LANG": "C.UTF-8"},
        )  # fmt: skip

    def run(self, seconds: float, *words: object) -> Done:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        asked = {"words": [*map(str, words)], "out": str(self._out), "err": str(self._err),
                 "seconds": seconds}  # fmt: skip
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        told = json.loads(self._process.stdout.readline())
        err = self._err.read_bytes().decode("utf-8", "replace")
        seconds, peak_mb = told["cost"]
        return Done(told["status"], self._out.read_bytes(), err, seconds, peak_mb, told["late"])

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def serve() -> None:
    """Run what each line of standard input says, in a process of its own."""
    warm_up()
    for line in sys.stdin:
        asked = json.loads(line)
        began = time.monotonic()
        child = os.fork()
        if not child:
            become(asked)
            cli.main()
            sys.exit(0)
        late = False
        while True:
            ended, status, used = os.wait4(child, os.WNOHANG)
            if ended:
                break
            if time.monotonic() - began > asked["seconds"] and not late:
                late = True
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child, signal.SIGKILL)
            time.sleep(0.002)
        cost = [time.monotonic() - began, used.ru_maxrss / 1024]
        code = os.waitstatus_to_exitcode(status)
        sys.stdout.write(json.dumps({"status": code, "cost": cost, "late": late}) + "\n")
        sys.stdout.flush()


def warm_up() -> None:
    """What every verb would read anew: the program, its rules and tables, and what they read."""
    for verb in cli.VERBS:
        cli.program(verb)
    shipped()
    tables()
    scope_reads()
    with (  # typer reads half of itself when the first command line is taken apart
        open(os.devnull, "w") as nothing,
        contextlib.redirect_stdout(nothing),
        contextlib.redirect_stderr(nothing),
        contextlib.suppress(SystemExit),
    ):
        cli.program("store")(["list"])


def become(asked: dict[str, Any]) -> None:
    """In the fork: a process like any that a shell starts."""
    os.setsid()
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(os.open(asked["out"], flags, 0o600), 1)
    os.dup2(os.open(asked["err"], flags, 0o600), 2)
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.argv = ["railwright", *asked["words"]]


# ---- what is wanted ---------------------------------------------------------------------------

CHECK = ("check", "--select", "pcie-link-narrow", "--select", "intent-mtu", "--format", "json")
COUNTED = ("target", "host", "rdma_port", "probe_result", "pci_function", "netdev", "nic_parameter")
COUNTS = "SELECT " + ", ".join(f"(SELECT count(*) FROM {name}) AS {name}" for name in COUNTED)
PORTS = "SELECT target, device, port, state, netdev FROM rdma_port ORDER BY ALL"
ANSWERS = (
    "SELECT target, probe, count(*) AS n, sum(octet_length(stdout))::BIGINT AS size FROM evidence "
    "GROUP BY ALL ORDER BY ALL"
)
OTHERS: dict[str, tuple[str, ...]] = {
    "counts": ("sql", "--format", "json", COUNTS),
    "rows": ("sql", "--format", "json", PORTS),
    "evidence counts": ("sql", "--format", "json", ANSWERS),
    "tables": ("sql",),
    "facts": ("facts",),
    "show": ("show", "ember-h007"),
    "links": ("links", "--json"),
    "rails": ("rails", "--json"),
    "path": ("path", "--json"),
    "ceiling": ("predict", "ceiling", "--format", "json"),
    "nccl": ("predict", "nccl", "--format", "json"),
    "intent": ("intent", "init"),
    "answers": ("evidence", "ember-h007"),
    "evidence": ("evidence", "ember-h007", "lscpu"),
    "explain": ("explain", "pcie-link-narrow", "--subject", "ember-h007:0000:29:00.0"),
    "list": ("store", "list"),
    "verify": ("store", "verify"),
    "diff": ("diff", "{good}"),
    "merge": ("merge", "{path}", "--store", "{merged}"),
}  # fmt: skip
STORE_VERBS = ("list", "verify")  # these say it in their report
# What differs from run to run, whatever the snapshot: ages, the names of new snapshots, sizes.
_CHANGING = re.compile(
    rb"[\d,]+ (?:second|minute|hour|day)s? (?:old|ago)|\d{4}-\d\d-\d\dT\d{4}Z(?:-\d+)?|[\d.]+ MB"
)


def steady(out: bytes) -> bytes:
    return _CHANGING.sub(b"", out)


@dataclass(frozen=True)
class Trial:
    """One mutation, what was run over it, and what was wrong with that."""

    number: int
    mutation: str
    runs: dict[str, Done]
    faults: list[str]

    def words(self) -> str:
        return "\n".join(f"{self.number}: {self.mutation}: {fault}" for fault in self.faults)


class Damaging:
    """A snapshot in a store, mutated and put right again: what is remembered of it stays warm."""

    def __init__(self, folder: Path, seed: int = 7) -> None:
        self._seed = seed
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._good = small_snapshot(folder / "good")
        self._store = folder / "store"
        self._merged = folder / "merged"
        shutil.copytree(folder / "good", self._store)
        self._path = self._store / NAME
        self._content = content(self._good)
        self._verbs = Verbs(folder)
        self._patience = FIRST
        self._wanted = {name: self._run(name) for name in ("check", *OTHERS)}
        self._patience = SECONDS * max(self._run("check").seconds / USUAL, 1)
        bad = {n: d for n, d in self._wanted.items() if d.status not in (0, 1, 3)}
        if bad:
            self._verbs.close()
            raise RuntimeError(f"verbs that fail on a sound snapshot: {bad}")

    def __enter__(self) -> "Damaging":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._verbs.close()

    def _run(self, name: str) -> Done:
        words = CHECK if name == "check" else OTHERS[name]
        given = {"good": self._good, "merged": self._merged, "path": self._path}
        done = self._verbs.run(
            self._patience, *(w.format(**given) if w[:1] == "{" else w for w in words)
        )
        shutil.rmtree(self._merged, ignore_errors=True)
        return done

    def trial(self, number: int) -> Trial:
        """The same for the same number and seed, however many came before."""
        chance = random.Random(f"{self._seed}-{number}")
        mutation = mutate(self._path, chance)
        other = chance.choice(sorted(OTHERS))
        try:
            before = content_of_mutated(self._path)
            runs = {name: self._run(name) for name in ("check", other)}
            state = State(self._path, self._content)
            faults = [
                f"{name}: {fault}"
                for name, done in runs.items()
                for fault in wrong(name, done, self._wanted[name], state)
            ]
            if content_of_mutated(self._path) != before:
                faults.append("the snapshot was written to")
        finally:
            self._restore()
        return Trial(number, mutation, runs, faults)

    def _restore(self) -> None:
        """What was changed is as it was; the rest is not touched, and remembered as good."""
        good, path = self._good, self._path
        for one in sorted(path.rglob("*"), reverse=True) if not path.is_symlink() else []:
            name = str(one.relative_to(path))
            kept = self._content.get(name)
            if isinstance(kept, bytes) and is_file_of(one, kept):
                continue
            if isinstance(kept, int) and one.is_dir() and not one.is_symlink():
                continue
            shutil.rmtree(one) if one.is_dir() and not one.is_symlink() else one.unlink()
        for name, kept in self._content.items():
            if isinstance(kept, int):
                (path / name).mkdir(exist_ok=True)
        for name, kept in self._content.items():
            if isinstance(kept, bytes) and not (path / name).exists():
                shutil.copy(good / name, path / name)


def is_file_of(path: Path, data: bytes) -> bool:
    return stat.S_ISREG(path.lstat().st_mode) and path.read_bytes() == data


def content_of_mutated(path: Path) -> dict[str, object]:
    return content(path) if path.is_dir() else {}


class State:
    """What a mutation left: whether there are digests, and whether they still hold."""

    def __init__(self, path: Path, good: dict[str, object]) -> None:
        now = content_of_mutated(path)
        run = parsed(now.get("run.json"))
        self.has_digests = not (
            isinstance(run, dict) and "digest" not in run and run.get("format") in (1, True)
        )
        sealed = [name for name in good if name.endswith(".parquet")]
        same_run = json.dumps(run) == json.dumps(parsed(good["run.json"]))  # 2.0 is not 2
        same_files = all(now.get(name) == good[name] for name in sealed)
        self.is_whole = same_run and same_files
        # A verb that goes on may say "damaged" only where something is, besides the digests.
        self.run_was_damaged = besides_digests(run) != besides_digests(parsed(good["run.json"]))
        self.was_damaged = self.run_was_damaged or not same_files or now.keys() != good.keys()


def besides_digests(run: object) -> str:
    """What run.json says apart from what is taken away with the digests."""
    if not isinstance(run, dict):
        return ""
    return json.dumps({k: v for k, v in run.items() if k not in ("files", "digest", "format")})


def parsed(data: object) -> object:
    if not isinstance(data, bytes):
        return None
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def wrong(name: str, done: Done, wanted: Done, state: State) -> list[str]:
    """Why this is neither a refusal in plain words nor an honest answer."""
    found = [*_ill(done)]
    if found:
        return found
    if done.status == 2:
        lines = [one for one in done.err.splitlines() if not any(n in one for n in NOTICES)]
        if not 2 <= len(lines) <= 3:  # what happened, why it matters, what to do
            found.append(f"{len(lines)} lines: {done.err[:300]!r}")
        if state.is_whole:
            found.append(f"refused, although no sealed file was changed: {done.err[:300]!r}")
        return found
    if not state.has_digests:
        said = done.err + (done.out.decode() if name in STORE_VERBS else "")
        is_told = (name == "verify" and state.was_damaged and "DAMAGED" in said) or (
            name == "list" and state.run_was_damaged and "damaged: " in said
        )
        return [] if is_told or NO_DIGESTS in said else [f"does not say {NO_DIGESTS!r}"]
    if name == "verify":
        if (done.status == 0) != state.is_whole:
            found.append(f"status {done.status}: {done.out.decode()[-300:]!r}")
    elif name == "list" and not state.is_whole:
        pass  # it reads run.json alone, and says of a damaged one that it is
    elif (done.status, steady(done.out)) != (wanted.status, steady(wanted.out)):
        found.append(
            f"another answer, without a word: status {done.status}: {_differs(done, wanted)}"
        )
    return found


def _ill(done: Done) -> list[str]:
    """What no verb may do over any snapshot."""
    found = []
    if done.is_late:
        found.append(f"was at work for {done.seconds:.0f} s and more")
    elif done.status < 0:
        found.append(f"ended by signal {-done.status}")
    elif done.status not in (0, 1, 2, 3):
        found.append(f"ended with {done.status}: {done.err[:300]!r}")
    if "Traceback" in done.err:
        found.append(f"a traceback: {done.err[-300:]!r}")
    if "internal error" in done.err:
        found.append(f"a fault of the tool: {done.err[:300]!r}")
    if re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", done.err):
        found.append(f"control characters: {done.err[:300]!r}")
    return found


def _differs(done: Done, wanted: Done) -> str:
    now, then = steady(done.out).splitlines(), steady(wanted.out).splitlines()
    first = next((pair for pair in zip(now, then, strict=False) if pair[0] != pair[1]), (b"", b""))
    return f"{len(now)} lines, not {len(then)}: {first[0][:100]!r}, not {first[1][:100]!r}"


if __name__ == "__main__":
    serve()
