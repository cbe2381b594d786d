"""Hostile text in every text column of every table: no verb runs it, obeys it or passes it on.

The copies have no digests, as one that came by mail may have none: whoever wrote it wrote what they
liked. Machines' names are checked when a snapshot is opened; everything else has to be made harmless
where it is printed.
"""

import csv
import fcntl
import hashlib
import io
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import tty
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import duckdb
import pytest
from altered import NAME, copy_of, demo_store, without_digests

from lab.harness.by_hand import with_derived
from lab.harness.small_fabric import fabric
from railwright import cli
from railwright.check import run as check_run
from railwright.check.waivers import load_waivers
from railwright.schema.table import Table, tables
from railwright.store.duck import identifier, quote
from railwright.toml import load_toml

# ---- what is planted --------------------------------------------------------------------------

# A blinking, reversed, overlined red: no report of ours ever asks for that, so it can be told apart.
ODD_COLOUR = "\x1b[31;5;7;53m"
FORGED = "FORGED_LINE"  # at the beginning of a line it was text that could break one
BELL = "\x1b]0;owned\x07"
TERMINAL = f"{BELL}\x1b[2J{ODD_COLOUR}\x9b31m\x90q\x9c\x85\x08\x7f\x0b\r\t"
INVISIBLE = "\u202e\u2066\u200b\u200d\u200e\u00ad\u061c\u2060\ufeff\ufff9\U000e0041\u2028\u2029"
LINE = f"\n{FORGED} = 1 #"
RICH = "[bold red]M[/] [link=http://x.example]M[/link] [/] :smile:"
MARKDOWN = "|M| ![](http://x.example/M) [M](http://x.example) <img src=x onerror=M> `M` \\|M \\"
MARKUP = f"<b>M</b> &amp; ]]> --> </testcase> <![CDATA[ {MARKDOWN}"
SQL = "') ; DROP VIEW host; -- \" $1 ?"
FORMATS = "{observed:>3000000000} {0.__class__} {subject!r} {} { %s %n %999999999d"
STRUCTURE = '{"a": ["\\u001b[2J", null]}, "b": "\\'
LONG = "x" * 100_000
FORMULAS = ("=cmd|' /C calc'!A0", "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(1+1)*cmd|' /C calc'!A0",
            "\t=1+1", "\r=1+1", "\n=1+1", " =1+1", "=HYPERLINK(\"http://x.example\")")  # fmt: skip
APPENDED = TERMINAL + INVISIBLE + RICH + MARKUP + SQL + FORMATS + STRUCTURE + LINE


def shell(sentinel: Path) -> str:
    """What makes a file if anybody hands it to a shell, to ClusterShell's group resolver or to eval."""
    return f"@x';touch {sentinel};' $(touch {sentinel}) `touch {sentinel}` ;touch {sentinel}\n"


# Words that queries compare with constants: where they stay as they are, rules come as far as the
# code that prints.
KEPT = frozenset((
    "acs", "action", "address", "architecture", "cable_length_kind", "class", "counter", "dcbx_mode", "device_id",
    "direction", "domain", "driver", "facing", "fact_table", "family", "fec", "gid",
    "gpu_driver_kind", "gpu_relation", "hypervisor", "iommu_type", "kind", "link_layer",
    "membership", "mii_status", "module_state", "netns_mode", "operstate", "peer_kind",
    "peermem_module", "physical_function", "physical_state", "port_id_type", "probe", "protocol",
    "relation", "role", "scope", "severity", "smi_status", "state", "status", "system",
    "told_by", "transport", "trust", "type", "vendor", "virtualization", "vlan_mode",
))  # fmt: skip
# `name` is a network device here; elsewhere it is the name of a setting.
NAMES_OF_DEVICES = ("netdev", "ip_link")
# These rows are tainted; the others are what the majority has, by which rules judge them. The hosts
# are those of which `check` has something to say, and one that is in order.
MACHINES = (
    *("ember-h001", "ember-h004", "ember-h007", "ember-h012", "ember-h019", "ember-h026"),
    *("ember-h029", "ember-h030", "gpu1", "leaf1", "leaf2", "spine1", "spine2"),
)
# Those that are left out: enough others remain to be a majority, at half the cost.
LEFT_OUT = (
    *(f"ember-h{n:03d}" for n in (*range(13, 19), *range(20, 26), 27, 28, 31, 32)),
    *(f"ember-leaf{n:02d}" for n in range(1, 9)),
    *(f"ember-spine{n:02d}" for n in range(1, 5)),
    *("cinder-leaf01", "cinder-leaf02"),
)
CHECKED = ("target", "host")  # the tables whose machines are looked at when they are opened


def text_columns(table: Table) -> list[str]:
    return [column.name for column in table.columns if column.type == "VARCHAR"]


KEYS = {"parent", *(name for table in tables().values() for name in table.key)}


def is_kept(table: str, column: str) -> bool:
    return column in KEPT or (column == "name" and table not in NAMES_OF_DEVICES)


@dataclass(frozen=True)
class Variant:
    """One way to taint a copy."""

    # Which columns, by table and name.
    columns: Callable[[str, str], bool]
    # SQL of the new value of `{c}`: $1 is the list of taints. The same value becomes the same text
    # in every table, so that what was joined is joined still.
    value: str
    taints: tuple[str, ...]
    rows: int = 1 << 40  # of each table at most
    named: str = ""  # the same for columns that name something

    def changed(self, columns: list[str]) -> str:
        """What a SELECT replaces, in the rows that are odd."""
        forms = {c: self.named if self.named and c in KEYS else self.value for c in columns}
        return ", ".join(
            f"CASE WHEN odd THEN {form.format(c=identifier(c))} ELSE {identifier(c)} END "
            f"AS {identifier(c)}"
            for c, form in forms.items()
        )

    def apply(self, path: Path, sentinel: Path) -> None:
        planted = [taint.replace("SHELL", shell(sentinel)) for taint in self.taints]
        listed = ", ".join(map(quote, MACHINES))
        with duckdb.connect() as database:
            for name, table in tables().items():
                columns = [c for c in text_columns(table) if self.columns(name, c)]
                if columns:
                    file = path / "facts" / f"{name}.parquet"
                    rewritten(
                        database,
                        file,
                        f"SELECT * EXCLUDE (odd) REPLACE ({self.changed(columns)}) FROM (SELECT *, "
                        f"target IN ({listed}) AND row_number() OVER (PARTITION BY target IN "
                        f"({listed}) ORDER BY target) <= {self.rows} AS odd FROM {{file}})",
                        [planted],
                    )
            for file in path.glob("evidence/*.parquet"):
                text = quote(self.taints[0].replace("SHELL", "") * (self.rows > 9))
                rewritten(
                    database,
                    file,
                    f"SELECT * REPLACE (reason || {text} AS reason, stdout || encode({text}) AS "
                    f"stdout, list_transform(argv, lambda one: one || {text}) AS argv) FROM {{file}}",
                )


def rewritten(
    database: duckdb.DuckDBPyConnection, file: Path, query: str, values: list[object] | None = None
) -> None:
    """A table anew, from a SELECT that reads it as `{file}`."""
    source = f"read_parquet({quote(str(file))})"
    new = file.with_suffix(".new")
    database.execute(
        f"COPY ({query.replace('{file}', source)}) TO {quote(str(new))} (FORMAT parquet)",
        values or [],
    )
    new.replace(file)


_BY_VALUE = "$1[1 + (hash({c}) % len($1))::INTEGER]"  # one of the taints, by what was there
# Where a column names something, two things stay two: else rows would be there twice.
_NAMED = f"({_BY_VALUE} || '~' || left(md5({{c}}), 8))"
APPEND = "CASE WHEN {c} <> '' THEN {c} || $1[1] ELSE {c} END"
EACH = ("", TERMINAL, INVISIBLE, LINE, RICH, MARKUP, "SHELL", SQL, FORMATS, STRUCTURE, *FORMULAS,
        "null", "NULL", "''", "0", "-1", "1e400", "NaN", "../../etc/passwd", "ünï\u0301 漢字 🙂")  # fmt: skip
VARIANTS = {
    "appended": Variant(
        lambda t, c: c != "target" and not is_kept(t, c), APPEND, (APPENDED + "SHELL",)
    ),
    "every word": Variant(lambda _, c: c != "target", APPEND, (APPENDED + "SHELL",)),
    "replaced": Variant(
        lambda t, c: c != "target" and not is_kept(t, c),
        f"CASE WHEN {{c}} <> '' THEN {_BY_VALUE} ELSE {{c}} END",
        EACH,
        named=f"CASE WHEN {{c}} <> '' THEN {_NAMED} ELSE {{c}} END",
    ),
    "every word replaced": Variant(
        lambda _, c: c != "target",
        f"CASE WHEN {{c}} IS NULL THEN NULL ELSE {_BY_VALUE} END",
        EACH,
        named=f"CASE WHEN {{c}} IS NULL THEN NULL ELSE {_NAMED} END",
    ),
    "long": Variant(
        lambda t, c: c != "target" and not is_kept(t, c), APPEND, (LONG + TERMINAL,), rows=3
    ),
    "all alike": Variant(
        lambda t, c: c != "target" and not is_kept(t, c),
        "CASE WHEN {c} <> '' THEN $1[1] ELSE {c} END",
        ("x",),
    ),
    "machines of nobody": Variant(
        lambda t, c: c == "target" and t not in CHECKED,
        "{c} || $1[1]",
        (APPENDED + "SHELL",),
        rows=40,
    ),
}


# ---- the copies -------------------------------------------------------------------------------


def filled(database: duckdb.DuckDBPyConnection, table: Table) -> str:
    """One row for a table that is empty in every snapshot at hand: something to be tainted."""
    plain = {"VARCHAR": "'x'", "BOOLEAN": "true", "TIMESTAMP": "TIMESTAMP '2026-11-14 22:15:00'"}
    values = {
        "target": "'leaf1'" if table.machines == "switch" else "'ember-h001'",
        "probe": quote(table.probes[0] if table.probes else table.fed_by),
    }
    return "SELECT " + ", ".join(
        f"{values.get(c.name, plain.get(c.type, '1'))}::{c.type} AS {identifier(c.name)}"
        for c in table.columns
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tainted")


@pytest.fixture(scope="module")
def whole(folder: Path) -> Path:
    """A store whose snapshot has rows in every table: the demonstration, a fabric, and the rest."""
    store = demo_store(folder / "whole")
    other = with_derived(folder / "fabric", fabric()).path
    facts = store / NAME / "facts"
    with duckdb.connect() as database:
        for name, table in tables().items():
            file = facts / f"{name}.parquet"
            query = (
                f"FROM {{file}} WHERE target NOT IN ({', '.join(map(quote, LEFT_OUT))}) "
                f"UNION ALL BY NAME FROM '{other}/facts/{name}.parquet'"
            )
            kept = query.format(file=f"'{file}'")
            if database.execute(f"SELECT count(*) FROM ({kept})").fetchall() == [(0,)]:
                query = filled(database, table)
            rewritten(database, file, query)
    without_digests(store / NAME)
    return store


@dataclass
class Copy:
    """A tainted snapshot in a store of its own, and where verbs are run on it."""

    variant: str
    store: Path
    work: Path  # the working directory
    temporary: Path
    sentinel: Path
    good: Path  # what it was made of
    engine: dict[object, Any] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        return self.store / NAME

    def state(self) -> dict[str, object]:
        """Everything that no reading verb may change."""
        return {str(root): tree(root) for root in (self.store, self.work, self.good)}

    @cached_property
    def findings(self) -> list[dict[str, Any]]:
        """What `check` found on machines that are tainted, one of each rule."""
        done = run(self, *judged("--format", "json")(self))
        found = [row for row in json.loads(done.out)["findings"] if row["target"] in MACHINES]
        return [next(rows) for _, rows in groupby(found, lambda row: row["rule"])]

    def one(self, query: str) -> list[Any]:
        """A row of its tables, as they are."""
        with duckdb.connect() as database:
            for name in ("port", "probe_result"):
                database.execute(f"CREATE VIEW {name} AS FROM '{self.path}/facts/{name}.parquet'")
            found = database.execute(query).fetchone()
        return list(found or [])

    def ports(self, *hosts: str) -> list[str]:
        """A port of each, as an operator would write it who copied its name from a report."""
        query = "SELECT target || ':' || device FROM port WHERE target = '{}' ORDER BY device"
        return [(self.one(query.format(host)) or [f"{host}:mlx5_0"])[0] for host in hosts]


def empty_copy(place: Path, good: Path, variant: str = "") -> Copy:
    """A place for one; the snapshot itself is still to come."""
    for name in ("store", "work", "tmp"):
        (place / name).mkdir(parents=True, exist_ok=True)
    return Copy(variant, place / "store", place / "work", place / "tmp", place / "pwned", good)


def tree(folder: Path) -> dict[str, str]:
    """Every file below a folder, with what is in it."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        if path.is_file()
        else "a folder"
        for path in sorted(folder.rglob("*"))
    }


@pytest.fixture(scope="module")
def copies(folder: Path, whole: Path) -> Callable[[str], Copy]:
    made: dict[str, Copy] = {}

    def of(name: str) -> Copy:
        if name not in made:
            copy = empty_copy(folder / name.replace(" ", "-"), whole, name)
            copy_of(whole, copy.path)
            for file in ("site.toml", "waivers.toml", "cabling.csv"):
                shutil.copy(whole / file, copy.store / file)
            VARIANTS[name].apply(copy.path, copy.sentinel)
            said = VARIANTS[name].taints[0] or APPENDED
            run_json = json.loads((copy.path / "run.json").read_text())
            without_digests(
                copy.path,
                via=said,
                asked_by=said,
                merged_from=[said],
                targets={**run_json["targets"], f"reached{said}": {"count": 1, "targets": said}},
            )
            made[name] = copy
        return made[name]

    return of


# ---- running ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Done:
    status: int
    raw: bytes
    err: str

    @property
    def out(self) -> str:
        return self.raw.decode("utf-8")


def environment(copy: Copy) -> dict[str, str]:
    return {
        "RAILWRIGHT_STORE": str(copy.store),
        "XDG_CACHE_HOME": str(copy.temporary.parent / "cache"),
        "XDG_CONFIG_HOME": str(copy.temporary.parent / "config"),
        "TMPDIR": str(copy.temporary),
    }


def remembered(engine: dict[object, Any]) -> Callable[[Any], Any]:
    """Rules are run once per copy: to judge takes seconds, to print it in one more form does not."""
    really = check_run.run

    def judged(request: Any) -> Any:
        before = str(request.before)
        key = (str(request.facts), before, request.each, *(rule.id for rule in request.rules))
        if key not in engine:
            ran = really(request)
            engine[key] = ran, {f.name: f.read_bytes() for f in request.out.iterdir()}
        ran, files = engine[key]
        request.out.mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            (request.out / name).write_bytes(data)
        return list(ran)

    return judged


def run(copy: Copy, *words: object) -> Done:
    """The command line as it is started, but for a process of its own: that would take as long again."""
    held = {number: os.dup(number) for number in (1, 2)}
    with (
        pytest.MonkeyPatch.context() as patch,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
        open(os.devnull) as nothing,
    ):
        for name, value in environment(copy).items():
            patch.setenv(name, value)
        patch.setattr(tempfile, "tempdir", str(copy.temporary))
        patch.setattr(check_run, "run", remembered(copy.engine))
        patch.chdir(copy.work)
        patch.setattr(sys, "argv", ["railwright", *map(str, words)])
        patch.setattr(sys, "stdin", nothing)
        try:
            sys.stdout.flush()
            sys.stderr.flush()
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            patch.setattr(sys, "stdout", open(1, "w", encoding="utf-8", closefd=False))  # noqa: SIM115
            patch.setattr(
                sys, "stderr",
                open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False),  # noqa: SIM115
            )  # fmt: skip
            status = ended(cli.main)
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            for number, kept in held.items():
                os.dup2(kept, number)
                os.close(kept)
        out.seek(0)
        err.seek(0)
        return Done(status, out.read(), err.read().decode("utf-8"))


def ended(main: Callable[[], None]) -> int:
    try:
        main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    return 0


# ---- what is wanted ---------------------------------------------------------------------------


def hostile(text: str, allowed: str = "\n") -> list[str]:
    """Every character that a terminal could obey or that nobody can see, by its name."""
    found = {
        sign
        for sign in set(text) - set(allowed)
        if unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Zl", "Zp")
    }
    return sorted(f"U+{ord(sign):04X}" for sign in found)


def forged(text: str) -> list[str]:
    """Lines that begin with what was planted behind a line break."""
    return [line[:80] for line in text.splitlines() if line.startswith(FORGED)]


def hold(copy: Copy, done: Done, before: dict[str, object], *, raw: bool = False) -> None:
    """What holds for every verb."""
    assert not copy.sentinel.exists(), "something that was planted was run"
    assert done.status in (0, 1, 2, 3), done.err
    assert "Traceback" not in done.err
    assert "internal error" not in done.err, done.err
    # A full disk or a stopped rule would be a fault of this test.
    assert "could not be run" not in done.err + ("" if raw else done.out)
    assert not hostile(done.err), f"on standard error: {hostile(done.err)}\n{done.err[:500]!r}"
    assert not forged(done.err)
    assert copy.state() == before, "something was written"
    if not raw:
        assert not hostile(done.out), f"{hostile(done.out)}\n{where(done.out)}"


def where(text: str) -> str:
    """The first lines that have such a character in them, to find the code that printed it."""
    lines = [line for line in text.split("\n") if hostile(line)]
    return "\n".join(repr(cut_to_first(line)) for line in lines[:3])


def cut_to_first(line: str) -> str:
    at = next(number for number, sign in enumerate(line) if hostile(sign))
    return line[max(at - 120, 0) : at + 40]


def wanted_text(done: Done) -> None:
    assert not forged(done.out)


def wanted_bytes(_done: Done) -> None:
    """As they came: that is what `evidence` is for."""


def wanted_answer(done: Done) -> None:
    assert done.status == 0, done.err
    assert not forged(done.out)


def wanted_toml(done: Done) -> None:
    """A site file that we propose can be read, and says nothing that we do not ask for."""
    assert done.status == 0, done.err
    found = load_toml(done.out, "the proposal")
    assert set(found) <= {"profile", "fabric", "class", "nic", "role"}
    assert not forged(done.out)


def wanted_path(done: Done) -> None:
    """Text in place of a link layer leaves no port that a path could begin at, or none that was read."""
    if (done.status, "no Ethernet port of an RDMA device" in done.err) == (2, True):
        return
    if (done.status, "not read" in done.err) == (3, True):
        assert not done.out
        return
    wanted_json(done)


def wanted_json(done: Done) -> None:
    assert done.status != 2, done.err
    json.loads(done.out)


def wanted_lines(done: Done) -> None:
    assert done.status == 0, done.err
    for line in done.out.splitlines():
        json.loads(line)


def wanted_xml(done: Done) -> None:
    ET.fromstring(done.out)
    assert not forged(done.out)


UNESCAPED = r"(?<!\\)(?:\\\\)*"
IN_MARKDOWN = {
    "HTML": "<(?:img|b>|/b>|/testcase|!\\[)",
    "an image": r"!\[",
    "a link": r"\]\(http",
    "a pipe": r"\|M",
    "a code span": "`M",
}


def wanted_markdown(done: Done) -> None:
    """In the rows of its tables stands what machines say; all else is ours."""
    assert not forged(done.out)
    rows = [line for line in done.out.splitlines() if line.startswith("|")]
    for what, pattern in IN_MARKDOWN.items():
        found = [row for row in rows if re.search(UNESCAPED + pattern, row)]
        assert not found, f"{what}: {found[0][:300]!r}"
    for is_table, lines in groupby(done.out.splitlines(), lambda line: line.startswith("|")):
        if is_table:
            cells = [len(re.findall(UNESCAPED + r"\|", line)) for line in lines]
            assert set(cells) == {cells[0]}, "a row has other cells than its head"


def wanted_csv(done: Done) -> None:
    """A text that a spreadsheet would take for a formula has an apostrophe before it."""
    rows = list(csv.reader(io.StringIO(done.out)))
    assert done.status == 0, done.err
    assert {len(row) for row in rows} == {len(rows[0])}
    for row in rows[1:]:
        found = [cell for cell in row if cell[:1] and cell[0] in "=+-@\t\r"]
        assert not found, f"a formula: {found[0][:80]!r}"


Words = Callable[[Copy], list[object]]


@dataclass(frozen=True)
class Command:
    words: Words
    wanted: Callable[[Done], None] = wanted_text
    raw: bool = False  # standard output has the bytes as they came, on purpose


def always(*words: object) -> Words:
    return lambda _copy: list(words)


# All rules take most of the time of a copy: they are run where they come as far as printing.
SOME = [word for rules in ("PCI-0[23]", "acs-redirect", "intent-trust", "intent-mtu", "MTU-0[12]", "host-config-differs",
        "port-down", "TOP-0[1-3]", "SWQ-0[1-3]") for word in ("--select", rules)]  # fmt: skip


def judged(*words: object) -> Words:
    return lambda copy: ["check", *words, *([] if copy.variant == "appended" else SOME)]


def every_text_column(part: int) -> str:
    """Two rows of each table beside each other: all text columns of a fourth of all tables."""
    listed = ", ".join(map(quote, MACHINES))
    parts, columns = [], []
    for name, table in list(tables().items())[part::4]:
        named = {c: identifier(f"{name}.{c}") for c in text_columns(table)}
        columns += named.values()
        picked = ", ".join(f"{identifier(c)} AS {as_name}" for c, as_name in named.items())
        parts.append(
            f"(SELECT {picked} FROM {identifier(name)} WHERE target IN ({listed}) LIMIT 2)"
        )
    return f"SELECT {', '.join(columns)} FROM {' POSITIONAL JOIN '.join(parts)}"


def explained(number: int) -> Words:
    def words(copy: Copy) -> list[object]:
        found = copy.findings[number % len(copy.findings)] if copy.findings else {}
        rule, subject = found.get("rule", "pcie-link-narrow"), found.get("subject", "x")
        return ["explain", rule, "--subject", subject]

    return words


def waived(copy: Copy) -> list[object]:
    subject = copy.findings[0]["subject"] if copy.findings else "ember-h001"
    file = copy.temporary / "waivers.toml"
    return ["waive", "pcie-link-narrow", subject, "--reason", APPENDED, "--owner", APPENDED,
            "--expires", "2099-12-31", "--waivers", file]  # fmt: skip


COMMANDS = {
    "check": Command(judged("--coverage")),
    "check json": Command(judged("--format", "json"), wanted_json),
    "check junit": Command(judged("--format", "junit"), wanted_xml),
    "check sarif": Command(judged("--format", "sarif"), wanted_json),
    "check markdown": Command(judged("--format", "markdown"), wanted_markdown),
    "explain first": Command(explained(0)),
    "explain last": Command(explained(-1)),
    "explain nothing": Command(lambda copy: [*explained(0)(copy)[:3], f"{explained(0)(copy)[3]}!"]),
    "facts": Command(always("facts")),
    "show host": Command(always("show", "ember-h007")),
    "show switch": Command(always("show", "leaf1")),
    "links": Command(always("links")),
    "links odd": Command(always("links", "--odd", "--on", "gpu1,leaf1")),
    "links json": Command(always("links", "--json"), wanted_json),
    "rails": Command(always("rails")),
    "rails json": Command(always("rails", "--json"), wanted_json),
    "path": Command(always("path")),
    "path json": Command(always("path", "--json"), wanted_json),
    "path pair": Command(lambda copy: ["path", *copy.ports("gpu1", "gpu2")]),
    "path pair json": Command(lambda copy: ["path", *copy.ports("gpu1", "gpu2"), "--json"], wanted_path),
    "path of none": Command(always("path", "ember-h007:mlx5_77", "ember-h026:mlx5_0")),
    "ceiling": Command(always("predict", "ceiling")),
    "ceiling json": Command(always("predict", "ceiling", "--format", "json"), wanted_json),
    "ceiling pair": Command(lambda copy: ["predict", "ceiling", "--pair", *copy.ports("ember-h007", "ember-h026")]),
    "ceiling of none": Command(always("predict", "ceiling", "--pair", "ember-h007:mlx5_77", "ember-h026:mlx5_0")),
    "nccl": Command(always("predict", "nccl")),
    "nccl json": Command(always("predict", "nccl", "--format", "json"), wanted_json),
    "diff": Command(lambda copy: ["diff", copy.good / NAME, copy.path]),
    "diff back": Command(lambda copy: ["diff", copy.path, copy.good / NAME]),
    "sql tables": Command(always("sql")),
    **{f"sql text {n}": Command(always("sql", every_text_column(n)), wanted_answer) for n in range(4)},
    **{f"sql csv {n}": Command(always("sql", every_text_column(n), "--format", "csv"), wanted_csv) for n in range(4)},
    **{f"sql json {n}": Command(always("sql", every_text_column(n), "--format", "json"), wanted_lines) for n in range(4)},
    "sql mistake": Command(always("sql", "SELECT (firmware_version || target)::INTEGER FROM rdma_device WHERE target = 'ember-h007'")),
    "evidence list": Command(always("evidence", "ember-h007")),
    "evidence": Command(always("evidence", "ember-h007", "lscpu"), wanted_bytes, raw=True),
    "evidence of none": Command(always("evidence", "ember-h007", "lspc")),
    "store list": Command(always("store", "list")),
    "store verify": Command(always("store", "verify")),
    "intent init": Command(always("intent", "init"), wanted_toml),
    "waive": Command(waived),
    "merge": Command(lambda copy: ["merge", copy.path, "--store", copy.temporary / "merged"]),
}  # fmt: skip
# What costs most is said once or twice: these are other words for what others say too.
DEAR = ("diff", *(f"sql {form} {n}" for form in ("text", "json") for n in (1, 2, 3)),
        "explain last", "explain nothing", "diff back", "nccl json", "ceiling of none", "sql tables",
        "evidence of none", "sql mistake", "path of none")  # fmt: skip
# Where the text is long, or rows are of nobody, the ways that it could take are fewer.
FEWER = ("check", "check markdown", "facts", "show host", "links", "rails", "path pair", "ceiling",
         "sql text 0", "evidence list", "store list", "intent init", "merge")  # fmt: skip
USUAL = tuple(name for name in COMMANDS if name not in DEAR)
WANTED = {
    "appended": tuple(COMMANDS),
    "every word": USUAL,
    "replaced": USUAL,
    "every word replaced": (
        *FEWER,
        "check json",
        "check junit",
        "links json",
        "path json",
        *(f"sql csv {n}" for n in range(4)),
    ),
    "long": FEWER,
    "machines of nobody": FEWER,
}


def cases() -> Iterator[Any]:
    for variant, names in WANTED.items():
        for name in names:
            yield pytest.param(variant, name, id=f"{variant}: {name}")


@pytest.mark.parametrize(("variant", "name"), list(cases()))
@pytest.mark.one_in(5)
def test_hostile_text_is_only_text(copies: Callable[[str], Copy], variant: str, name: str) -> None:
    copy, command = copies(variant), COMMANDS[name]
    words = command.words(copy)
    before = copy.state()
    began = time.monotonic()
    done = run(copy, *words)
    assert time.monotonic() - began < 60
    hold(copy, done, before, raw=command.raw)
    command.wanted(done)


@pytest.mark.parametrize(
    "name", ["check", "facts", "show host", "links", "path pair", "ceiling", "merge"]
)
@pytest.mark.one_in(3)
def test_things_that_all_have_one_name_come_to_an_end(
    copies: Callable[[str], Copy], name: str
) -> None:
    """A row joined with itself, a bridge above itself: in a process of its own, which can be ended."""
    copy = copies("all alike")
    words = COMMANDS[name].words(copy)
    before = copy.state()
    process = subprocess.Popen(
        [sys.executable, "-m", "railwright", *map(str, words)], stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=copy.work,
        env={**os.environ, **environment(copy)},
    )  # fmt: skip
    try:
        out, err = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)  # which ends those that it has started, too
        process.communicate(timeout=30)
        raise
    hold(copy, Done(process.returncode, out, err.decode()), before)


def test_rules_still_reach_what_prints(copies: Callable[[str], Copy]) -> None:
    """Else the copies above would only show that nothing was said."""
    copy = copies("appended")
    assert {"pcie-link-narrow", "acs-redirect", "intent-trust", "intent-mtu"} <= {
        r["rule"] for r in copy.findings
    }
    said = json.dumps(copy.findings)
    assert json.dumps(ODD_COLOUR)[1:-1] in said, "no finding has any of it"


def test_every_table_has_something_to_taint(whole: Path) -> None:
    with duckdb.connect() as database:
        for name in tables():
            file = whole / NAME / "facts" / f"{name}.parquet"
            listed = ", ".join(map(quote, MACHINES))
            query = f"SELECT count(*) FROM '{file}' WHERE target IN ({listed})"
            assert database.execute(query).fetchall() != [(0,)], name


@pytest.fixture(scope="module")
def misnamed(folder: Path, whole: Path) -> Callable[[str], Copy]:
    made: dict[str, Copy] = {}

    def of(table: str) -> Copy:
        if table not in made:
            copy = made[table] = empty_copy(folder / f"misnamed-{table}", whole)
            copy_of(whole, copy.path)
            taint = quote(APPENDED + shell(copy.sentinel))
            with duckdb.connect() as database:
                changed = f"SELECT * REPLACE (target || {taint} AS target) FROM {{file}}"
                rewritten(database, copy.path / "facts" / f"{table}.parquet", changed)
        return made[table]

    return of


@pytest.mark.parametrize(
    ("table", "words"),
    [("target", ("check",)), ("target", ("diff", "{good}")),
     ("target", ("merge", NAME)), ("target", ("store", "list")), ("target", ("store", "verify")),
     ("host", ("facts",))],
)  # fmt: skip
def test_a_machine_with_such_a_name_is_not_let_in(
    misnamed: Callable[[str], Copy], table: str, words: tuple[str, ...]
) -> None:
    copy = misnamed(table)
    before = copy.state()
    done = run(copy, *(str(word).format(good=copy.good / NAME) for word in words))
    hold(copy, done, before)
    if words[0] != "store":
        assert done.status == 2
        assert "is not a host name" in done.err


def test_a_proposal_says_only_what_was_asked(whole: Path, tmp_path: Path) -> None:
    """Versions stand behind a #, roles and kinds in quotes: both could be left."""
    copy = empty_copy(tmp_path, whole)
    copy_of(whole, copy.path)
    taint = quote(f'x"{LINE}\n{FORGED}_2 = """')
    for table, column in (("rdma_device", "firmware_version"), ("port", "role"), ("port", "device"),
                          ("host_kind", "kind"), ("rdma_device", "psid"), ("qos_port", "trust")):  # fmt: skip
        odd = "target IN ('ember-h007', 'ember-h012')"
        new = f"CASE WHEN {odd} THEN {taint} ELSE {column} END"
        if column == "device":  # a key: two devices stay two
            new = f"CASE WHEN {odd} THEN device || {taint} ELSE device END"
        with duckdb.connect() as database:
            changed = f"SELECT * REPLACE ({new} AS {column}) FROM {{file}}"
            rewritten(database, copy.path / "facts" / f"{table}.parquet", changed)
        done = run(copy, "intent", "init")
        hold(copy, done, copy.state())
        wanted_toml(done)


@pytest.mark.parametrize(
    "words", ["riser on order", "Björn sagt: 漢字", "🙂", "\x7f", "\"\\'#\n\t"]
)
def test_a_decision_in_any_words_is_kept(copies: Callable[[str], Copy], words: str) -> None:
    copy = copies("appended")
    file = copy.temporary / f"{len(list(copy.temporary.iterdir()))}.toml"
    done = run(copy, "waive", "pcie-link-narrow", "ember-h007", "--reason", words, "--owner", words,
               "--expires", "2099-12-31", "--waivers", file)  # fmt: skip
    assert done.status == 0, done.err
    (found,) = load_waivers(file)
    assert (found.reason, found.owner) == (words, words)


def test_numbers_stay_numbers_in_csv(copies: Callable[[str], Copy]) -> None:
    query = "SELECT -1 AS a, -1.5::DOUBLE AS b, '-x' AS c, '=1+1' AS d, 'x=1' AS e, '' AS f"
    done = run(copies("appended"), "sql", query, "--format", "csv")
    assert done.out == "a,b,c,d,e,f\n-1,-1.5,'-x,'=1+1,x=1,\n"


def test_a_folder_that_is_named_so(whole: Path, tmp_path: Path) -> None:
    """A snapshot that came by mail is called what its sender called it."""
    copy = empty_copy(tmp_path, whole)
    called = tmp_path / f"snap{BELL}\x9b31m\u202e"  # without [ * ?, which are refused at once
    copy_of(whole, called)
    for words in (
        ("check", "--select", "pcie-link-narrow"),
        ("facts",),
        ("links", "--json"),
        ("rails",),
    ):
        before = copy.state()
        done = run(copy, *words, called)
        hold(copy, done, before)
        assert done.status != 2, done.err


def test_half_a_character_in_run_json(whole: Path, tmp_path: Path) -> None:
    """JSON can name what no terminal can print and no file can hold."""
    copy = empty_copy(tmp_path, whole)
    copy_of(whole, copy.path)
    half = "\ud800"
    without_digests(copy.path, via=half, asked_by=half, version=half, merged_from=[half])
    for words in (("store", "list"), ("store", "verify"), ("show", "ember-h007")):
        before = copy.state()
        hold(copy, run(copy, *words), before)


# ---- on a terminal ----------------------------------------------------------------------------

COLOURS = re.compile(r"\x1b\[[0-9;]*m")
ON_A_TERMINAL = (
    "check", "explain first", "facts", "show host", "show switch", "links", "path pair",
    "path of none", "ceiling", "sql text 0", "evidence list", "evidence", "store list",
)  # fmt: skip


def on_a_terminal(copy: Copy, *words: object) -> tuple[int, str]:
    """Run it where both outputs are a terminal of 80 columns that changes nothing."""
    master, slave = pty.openpty()
    tty.setraw(slave)  # else the kernel would add a carriage return to every line
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    surroundings = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR")}
    process = subprocess.Popen(
        [sys.executable, "-m", "railwright", *map(str, words)],
        stdin=subprocess.DEVNULL, stdout=slave, stderr=slave, cwd=copy.work,
        env={**surroundings, **environment(copy), "TERM": "xterm-256color", "LANG": "C.UTF-8"},
    )  # fmt: skip
    os.close(slave)
    data = b""
    end = time.monotonic() + 60
    try:
        while time.monotonic() < end:
            ready, _, _ = select.select([master], [], [], 1)
            if not ready:
                continue
            try:
                piece = os.read(master, 1 << 16)
            except OSError:  # nobody has the other end open any more
                break
            data += piece
        return process.wait(timeout=max(end - time.monotonic(), 1)), data.decode("utf-8")
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        os.close(master)


@pytest.mark.parametrize("name", ON_A_TERMINAL)
@pytest.mark.one_in(4)
def test_a_terminal_is_not_spoken_to(copies: Callable[[str], Copy], name: str) -> None:
    copy = copies("appended")
    words = COMMANDS[name].words(copy)
    if name == "check":  # all rules would take as long as the rest of this file
        words = ["check", *(w for row in copy.findings for w in ("--select", row["rule"]))]
    before = copy.state()
    status, text = on_a_terminal(copy, *words)
    assert ODD_COLOUR not in text
    hold(copy, Done(status, COLOURS.sub("", text).encode(), ""), before)
    if name != "evidence":  # whose lines are those of the answer
        assert not forged(COLOURS.sub("", text))
