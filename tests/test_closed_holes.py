"""Holes that an attack on an earlier release found, each as it was found there."""

import os
import stat
import subprocess
import sys
import unicodedata
from hashlib import sha256
from pathlib import Path

import pytest
from altered import NAME, copy_of, demo_store, railwright, rewrite, without_digests
from rich.text import Text

from railwright.collect import runner
from railwright.collect.probe import probes
from railwright.collect.request import lone_runner
from railwright.report.console import output
from railwright.store.duck import connect, spill_folder
from railwright.text import harmless, plain


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return demo_store(tmp_path_factory.mktemp("holes") / "store")


def digest_of(folder: Path) -> str:
    """Everything below a folder: names, modes and bytes."""
    found = sha256()
    for path in sorted(folder.rglob("*")):
        found.update(f"{path.relative_to(folder)} {path.lstat().st_mode:o}".encode())
        if path.is_file():
            found.update(path.read_bytes())
    return found.hexdigest()


# ---- reading cannot write -------------------------------------------------------------------

WRITING = [
    "EXPLAIN ANALYZE COPY (SELECT * REPLACE ('reached' AS status) FROM target) TO '{s}/facts/target.parquet' (FORMAT parquet)",
    "EXPLAIN ANALYZE COPY (SELECT 1 AS a) TO '{s}/facts/target.parquet' (FORMAT parquet, USE_TMP_FILE false)",
    "EXPLAIN ANALYZE COPY (SELECT 1) TO '{s}/y.csv'",
    "EXPLAIN ANALYZE CREATE TABLE z AS SELECT 1",
    "/* x */ EXPLAIN ANALYZE COPY (SELECT 1) TO '{s}/y.csv'",
    "-- x\nEXPLAIN ANALYSE COPY (SELECT 1) TO '{s}/y.csv'",
    "EXPLAIN (ANALYZE) COPY (SELECT 1) TO '{s}/y.csv'",
    "EXPLAIN COPY (SELECT 1) TO '{s}/y.csv'",
    "COPY (SELECT 1) TO '{s}/x.csv'",
    "COPY (SELECT 1) TO '{t}/x.csv'",
    "SELECT 1; COPY (SELECT 1) TO '{s}/x.csv'",
    "FROM query('COPY (SELECT 1) TO ''{s}/z.csv''')",
    "EXPORT DATABASE '{s}/xx'",
    "ATTACH '{s}/a.db'",
    "CREATE TABLE t AS SELECT 1",
    "DROP VIEW host",
    "SET enable_external_access = true",
    "PRAGMA database_list",
    "PREPARE a AS SELECT 1",
    "LOAD httpfs",
    "CALL enable_logging('all', storage = 'file', storage_path = '{s}/logs')",
]  # fmt: skip
READING_OTHERS = [
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM '/etc/passwd'",
    "SELECT * FROM read_text('{s}/run.json')",
    "SELECT * FROM read_text('{s}/../site.toml')",
    "SELECT * FROM glob('/etc/*')",
    "SELECT * FROM read_parquet('http://127.0.0.1:1/x.parquet')",
    "SELECT * FROM read_json('/proc/self/environ')",
]


@pytest.mark.parametrize("query", [*WRITING, *READING_OTHERS])
@pytest.mark.one_in(2)
def test_a_question_changes_and_reaches_nothing(query: str, store: Path, tmp_path: Path) -> None:
    before = digest_of(store)
    asked = query.format(s=store / NAME, t=tmp_path)
    done = railwright("sql", asked, store=store, cwd=tmp_path)
    assert digest_of(store) == before
    assert list(tmp_path.iterdir()) == []
    assert done.returncode == 2, done.stdout
    assert "Traceback" not in done.stderr


def test_the_kernel_refuses_what_the_parser_lets_pass(store: Path, tmp_path: Path) -> None:
    """Were a statement to slip through, the process still could not write: not even root's."""
    program = (
        "import sys\nfrom pathlib import Path\nfrom railwright.confine import read_only\n"
        "def work():\n"
        "    try: Path(sys.argv[1], 'x').write_text('x')\n"
        "    except PermissionError: return 'refused'\n"
        "    return 'written'\n"
        "print(read_only(work, []))\n"
    )
    argv = [sys.executable, "-c", program, str(tmp_path)]
    assert subprocess.run(argv, capture_output=True, text=True).stdout == "refused\n"
    assert list(tmp_path.iterdir()) == []


def test_questions_that_read_still_work(store: Path) -> None:
    for query in ("SELECT count(*) FROM host", "EXPLAIN SELECT 1", "WITH a AS (SELECT 1) FROM a",
                  "SUMMARIZE host", "SHOW TABLES", "SELECT count(*) FROM evidence"):  # fmt: skip
        assert railwright("sql", query, store=store).returncode == 0, query
    done = railwright("sql", "SELECT now()", store=store)
    assert done.returncode == 2
    assert "now()::TIMESTAMP" in done.stderr


# ---- a crash is not a finding ---------------------------------------------------------------


def test_a_fault_of_the_tool_is_two_and_names_a_file(store: Path, tmp_path: Path) -> None:
    program = (
        "import railwright.report.overview as o, railwright.cli.facts as f, sys\n"
        "def boom(*_, **__): raise ZeroDivisionError('x\\x1b[2J')\n"
        "f.print_overview = boom\n"
        "sys.argv = ['railwright', 'facts']\n"
        "from railwright.start import main; main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True,
        env={**os.environ, "RAILWRIGHT_STORE": str(store), "TMPDIR": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 2
    lines = done.stderr.splitlines()
    assert lines[0] == "railwright: internal error: ZeroDivisionError: x?[2J"
    assert len(lines) == 3
    (file,) = tmp_path.glob("railwright-fault-*.txt")
    assert str(file) in lines[1]
    assert "ZeroDivisionError" in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("empty", "cannot be read"),
        ("fifo", "not a regular file"),
        ("link", "not a regular file"),
        ("folder", "not a regular file"),
        ("column", "changed columns"),
        ("types", "changed columns"),
        ("nulls", "rows of no machine"),
        ("twice", "is there twice"),
        ("gone", "facts/host.parquet is missing"),
    ],
)
@pytest.mark.parametrize("verb", ["check", "facts"])
@pytest.mark.one_in(2)
def test_an_odd_table_is_words(
    verb: str, what: str, said: str, store: Path, tmp_path: Path
) -> None:
    path = copy_of(store, tmp_path / NAME)
    without_digests(path)
    file = path / "facts/host.parquet"
    changes = {
        "column": "SELECT * EXCLUDE (hostname) FROM {file}",
        "types": "SELECT * REPLACE ([1] AS hostname) FROM {file}",
        "nulls": "SELECT * REPLACE (NULL::VARCHAR AS target) FROM {file}",
        "twice": "FROM {file} UNION ALL FROM {file}",
    }
    if what in changes:
        rewrite(path, "host", changes[what])
    else:
        file.unlink()
    if what == "empty":
        file.write_bytes(b"")
    elif what == "fifo":
        os.mkfifo(file)
    elif what == "link":
        file.symlink_to("/etc/passwd")
    elif what == "folder":
        file.mkdir()
    done = railwright(verb, store=tmp_path, seconds=30)
    assert done.returncode == 2, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "text", ["[]", "[" * 100_000, '{"format": 1, "started": NaN}', '{"format": 1, "targets": [1]}',
             '{"format": 1, "started": 1e300}', "{", '{"format": 2}', ""]
)  # fmt: skip
@pytest.mark.one_in(2)
def test_an_odd_run_json_is_words(text: str, store: Path, tmp_path: Path) -> None:
    path = copy_of(store, tmp_path / NAME)
    (path / "run.json").write_text(text)
    for verb in ("check", "facts"):
        done = railwright(verb, store=tmp_path)
        assert done.returncode == 2
        assert "Traceback" not in done.stderr
    assert railwright("store", "list", store=tmp_path).returncode == 0


# ---- digests --------------------------------------------------------------------------------


def test_a_changed_file_is_not_believed(store: Path, tmp_path: Path) -> None:
    path = copy_of(store, tmp_path / NAME)
    assert railwright("store", "verify", store=tmp_path).returncode == 0
    rewrite(path, "target", "SELECT * REPLACE ('reached' AS status) FROM {file}")
    for words in (("check",), ("facts",), ("sql", "SELECT count(*) FROM target")):
        done = railwright(*words, store=tmp_path)
        assert done.returncode == 2
        assert "target.parquet was changed after it was written" in done.stderr
    done = railwright("store", "verify", store=tmp_path)
    assert done.returncode == 1
    assert "DAMAGED" in done.stdout


def test_one_without_digests_opens_and_says_so(store: Path, tmp_path: Path) -> None:
    path = copy_of(store, tmp_path / NAME)
    without_digests(path)
    done = railwright("facts", store=tmp_path)
    assert done.returncode == 3
    assert "no digests" in done.stderr
    assert "no digests" in railwright("store", "list", store=tmp_path).stdout
    assert railwright("store", "verify", store=tmp_path).returncode == 3


# ---- places that others can write to --------------------------------------------------------


def test_the_spill_folder_is_this_process_s_own() -> None:
    found = spill_folder()
    assert stat.S_IMODE(found.stat().st_mode) == 0o700
    assert str(os.getpid()) not in found.name
    with connect() as database:
        said = database.execute("SELECT current_setting('temp_directory')").fetchone()
    assert said == (str(found),)


def test_nothing_in_the_working_directory_is_imported(tmp_path: Path) -> None:
    """`collect` starts a process of its own beside it: that must not import from here either."""
    for name in ("duckdb", "ast", "json", "railwright"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'pwned')!r}, 'w')\n")
    program = Path(sys.executable).with_name("railwright")
    done = subprocess.run(
        [program, "collect", "--via", "local", "--state-from", "none", "--store", "store"],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode in (0, 3), done.stderr
    assert not (tmp_path / "pwned").exists()


def test_the_lone_runner_imports_nothing_from_beside_it(tmp_path: Path) -> None:
    for name in ("ast", "base64", "glob", "zlib"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'pwned')!r}, 'w')\n")
    (tmp_path / "rw.py").write_text(lone_runner([probes()["lscpu"]]))
    done = subprocess.run([sys.executable, "rw.py", "--help"], cwd=tmp_path, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "pwned").exists()


@pytest.mark.root
@pytest.mark.parametrize("kind", ["somebody's", "link", "writable", "file"])
def test_mstflint_is_not_run_beside_somebody_else_s_locks(kind: str, tmp_path: Path) -> None:
    machine = runner.Machine(str(tmp_path))
    folder = Path(machine.path(runner.LOCK_FOLDER))
    assert machine.lock_folder_is_safe(), "not there yet"
    folder.parent.mkdir(parents=True)
    if kind == "link":
        (tmp_path / "elsewhere").mkdir()
        folder.symlink_to(tmp_path / "elsewhere")
    elif kind == "file":
        folder.write_text("")
    else:
        folder.mkdir(mode=0o755)
        assert machine.lock_folder_is_safe(), "root's own"
        if kind == "writable":
            folder.chmod(0o777)
        else:
            os.chown(folder, 65534, 65534)
    assert not machine.lock_folder_is_safe()


# ---- one door to the terminal ---------------------------------------------------------------


def test_no_character_passes_that_a_terminal_acts_on_or_nobody_sees(
    capsys: pytest.CaptureFixture[str],
) -> None:
    odd = [
        chr(code)
        for code in range(0x110000)
        if unicodedata.category(chr(code)) in ("Cc", "Cf", "Zl", "Zp", "Cs") and chr(code) != "\n"
    ]
    assert len(odd) > 2000
    assert [one for one in odd if harmless(f"a{one}b") != "a?b"] == []
    assert [one for one in odd if len(plain(f"a{one}b").replace("?", "").strip()) > 3] == []
    output().print("a\x1b[2Jb", Text("c\u202ed", "bold"))
    assert capsys.readouterr().out == "a?[2Jb c?d\n"
    assert plain("naïve Größe 日本 ✓ │") == "naïve Größe 日本 ✓ │"
