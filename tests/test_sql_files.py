"""SQL of reports, fabrics, checks, ceilings and proposals lies in files, and every file binds against the schema."""

import ast
import re
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import date
from pathlib import Path

import duckdb
import pytest
from conftest import REPOSITORY

from lab.harness.by_hand import by_hand
from railwright.check.findings import Findings
from railwright.check.links import make_links
from railwright.check.lint import empty_database
from railwright.check.rails import make_rail_rules
from railwright.fabric.ends import CLASS_FACT
from railwright.intent.roles import make_site_ports
from railwright.intent.site import read_site
from railwright.intent.write import write_intent
from railwright.model import derive
from railwright.model.compare import changes_query, find, narrow, open_both
from railwright.model.compare_plan import compared_tables
from railwright.predict.fleet import make_ceilings, make_ceilings_of
from railwright.predict.pace import pace
from railwright.report.machines import Machines
from railwright.report.overview_facts import shown_table
from railwright.report.page.fabric import make_places
from railwright.report.sections import SECTIONS
from railwright.schema.table import tables
from railwright.store.duck import read_sql
from railwright.store.snapshot import Snapshot

SOURCES = REPOSITORY / "src/railwright"
SETTINGS = SOURCES / "settings"
PACKAGES = ("check", "fabric", "intent", "model", "predict", "report", "store")
FILES = sorted(file for name in PACKAGES for file in (SOURCES / name).rglob("*.sql"))
# Text with places for values of the program: what is made before a rule runs, and the ceilings.
FILLED_IN = {
    *("report/views/facts/optics.sql", "report/views/show/ports.sql"),
    *("check/scope.sql", "check/lookups.sql", "check/rises.sql", "predict/ceilings.sql"),
    "intent/site_port.sql",
    *("model/derived/class_found.sql", "model/derived/class_host.sql"),
    *("model/derived/class_model.sql", "model/derived/class_part.sql"),
    *("model/derived/gap_row.sql", "model/derived/system_fact.sql"),
    *("model/answers_again.sql", "model/compare_rows.sql", "model/route_ways.sql"),
    *("model/reference_known.sql", "model/reference_seen.sql", "store/build_targets.sql"),
}
PARAMETER = re.compile(r"\$([a-z_]+)")
MOST_LINES = 3  # of SQL in a Python module
# Put together from names of columns, tables and files, which cannot be parameters.
PUT_TOGETHER = {
    "check/account.py": 2,
    "intent/cabling.py": 1,
    "model/alike.py": 1,
    "model/compare.py": 1,
    "model/derived/digest.py": 1,
    "model/derived/disagreement.py": 1,
    "model/merge.py": 3,
    "report/machines.py": 1,
    "report/page/heat.py": 2,
}
SQL = re.compile(
    r"\bselect\s|\binsert\s+into\s|\bcreate\s+(or\s+replace\s+)?(temp\s+)?(table|view|macro)\s|\bjoin\s+\w",
    re.IGNORECASE,
)
KEYWORDS = re.compile(
    r"\b(SELECT|FROM|WHERE|JOIN|GROUP|ORDER|BY|CASE|WHEN|THEN|ELSE|END|AS|AND|OR|NOT|IS|ON|WITH)\b"
)
TEXT_OR_COMMENT = re.compile(r"'(?:[^']|'')*'|--.*")


def name_of(file: Path) -> str:
    return file.relative_to(SOURCES).as_posix()


def of_reports(snapshot: Snapshot) -> duckdb.DuckDBPyConnection:
    """What `facts` makes before it asks: macros, helpers, `machine`, `shown`, and what a section wants first."""
    database = snapshot.database()
    database.execute(make_site_ports(None))
    machines = Machines(database, 0)
    for section in SECTIONS:
        machines.ask(section)
        shown_table(database, section)
    return database


def of_checks(snapshot: Snapshot) -> duckdb.DuckDBPyConnection:
    """What a check makes: verdicts, findings, and what is said of links and their ends."""
    intent = snapshot.path.parent / "intent"
    write_intent(read_site('profile = "observe"', "s"), snapshot.facts, intent)
    findings = Findings(snapshot, {}, [], intent, intent)
    findings.settle([], date(2026, 11, 18))
    make_links(findings)
    make_rail_rules(findings)
    findings.database.execute(CLASS_FACT)
    return findings.database


def of_ceilings(snapshot: Snapshot) -> duckdb.DuckDBPyConnection:
    """The tables of predict/ceilings.sql."""
    database = snapshot.database()
    make_ceilings(database)
    return database


def of_pages(snapshot: Snapshot) -> duckdb.DuckDBPyConnection:
    """What a report makes of a check: ceilings, places, and a column of the heat map."""
    database = of_checks(snapshot)
    make_ceilings_of(database)
    pace(database)
    make_places(database)
    database.execute("CREATE TEMP TABLE page_value (idx INTEGER, value DOUBLE, none BOOLEAN)")
    return database


def of_derived(snapshot: Snapshot) -> duckdb.DuckDBPyConnection:
    """The tables of a snapshot, and what is worked out before the classes of hosts."""
    database = snapshot.database()
    derive.prepare(database, "host_class")
    return database


def of_two(snapshot: Snapshot) -> duckdb.DuckDBPyConnection:
    """What `diff` has, with the tables of one snapshot beside it."""
    database = open_both(snapshot, snapshot)
    narrow(database)
    find(database)
    for name in snapshot.files():
        database.execute(f"CREATE VIEW main.{name} AS FROM now.{name}")
    return database


@pytest.fixture(scope="module")
def databases(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[dict[str, duckdb.DuckDBPyConnection]]:
    """By folder: a snapshot without a row, with the tables that are at hand when its files are run."""
    snapshot = by_hand(tmp_path_factory.mktemp("empty"), {})
    checks, ceilings = of_checks(snapshot), of_ceilings(snapshot)
    found = {
        "report/views/facts": of_reports(snapshot),
        "report/views/show": of_reports(snapshot),
        "report/views/check": checks,
        "report/views/predict": ceilings,
        "report/page/views": of_pages(snapshot),
        "predict": ceilings,
        "check": checks,
        "fabric": checks,
        "intent": snapshot.database(),
        "model": of_two(snapshot),
        "model/derived": of_derived(snapshot),
    }
    with ExitStack() as stack:
        for database in found.values():
            stack.enter_context(database)
        yield found


def bind(database: duckdb.DuckDBPyConnection, sql: str) -> None:
    """Run it; what it makes may be there already."""
    again = re.sub(r"^create (?!or replace)", "create or replace ", sql, flags=re.MULTILINE)
    database.execute(again, dict.fromkeys(PARAMETER.findall(sql)))


@pytest.mark.parametrize(
    "name", [name_of(file) for file in FILES if name_of(file) not in FILLED_IN]
)
def test_a_file_binds(name: str, databases: dict[str, duckdb.DuckDBPyConnection]) -> None:
    bind(databases[name.rpartition("/")[0]], read_sql(str(SOURCES / "x"), name))


def test_what_is_filled_in_binds(databases: dict[str, duckdb.DuckDBPyConnection]) -> None:
    """By the code that fills it in."""
    with empty_database() as database:
        for name in ("host_scope", "port_qos", "rdma_rise"):
            database.execute(f"FROM {name}")
    databases["predict"].execute("FROM host_ceiling")
    for name, table in tables().items():
        if table.fed_by == "derived":
            derive.prepare(databases["model/derived"], name)
            for query in derive.queries_of(name):
                databases["model/derived"].execute(query)
    for table in compared_tables():
        databases["model"].execute(changes_query(table))
    assert {name_of(file) for file in FILES} >= FILLED_IN


@pytest.mark.parametrize("wrong", ["select no_such_column from target", "from no_such_table"])
def test_the_binding_would_notice(
    wrong: str, databases: dict[str, duckdb.DuckDBPyConnection]
) -> None:
    for database in databases.values():
        with pytest.raises((duckdb.BinderException, duckdb.CatalogException)):
            bind(database, wrong)


def test_every_file_is_run_by_a_module() -> None:
    for file in FILES:
        modules = [*SOURCES.glob(f"{name_of(file).partition('/')[0]}/**/*.py")]
        if file.parent == derive.HERE and file.stem in tables():
            continue  # a table's own SELECT, which model/derive.py takes by its name
        if file.with_suffix(".toml").exists() and SETTINGS in file.parents:
            continue  # a setting's own SELECT
        said = re.compile(rf'["/]{file.stem}(\.sql)?"')
        assert any(said.search(module.read_text("utf-8")) for module in modules), name_of(file)


def test_files_are_written_alike() -> None:
    for file in FILES:
        text = file.read_text("utf-8")
        assert text.endswith("\n"), name_of(file)
        for number, line in enumerate(text.splitlines(), 1):
            place = f"{name_of(file)}:{number}"
            assert line == line.rstrip(), place
            assert "\t" not in line, place
            assert not KEYWORDS.search(TEXT_OR_COMMENT.sub("", line)), place


# ---- SQL in Python ----------------------------------------------------------------------------


def strings(text: str) -> Iterator[tuple[int, int]]:
    """Line and length in lines of every string with SQL in it; documentation is none."""
    tree = ast.parse(text)
    aside: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            aside.add(node.value)
        if isinstance(node, ast.JoinedStr):
            aside |= {part for part in ast.walk(node) if part is not node}
    for node in ast.walk(tree):
        if node in aside or not isinstance(node, ast.Constant | ast.JoinedStr):
            continue
        parts = node.values if isinstance(node, ast.JoinedStr) else [node]
        value = "".join(str(p.value) if isinstance(p, ast.Constant) else "x" for p in parts)
        if SQL.search(value):
            inside = len(value.strip().splitlines())
            outside = (node.end_lineno or node.lineno) - node.lineno + 1
            yield node.lineno, inside if inside > 1 else outside


def test_a_long_query_is_no_string_of_a_module() -> None:
    found = {}
    for module in sorted(file for name in PACKAGES for file in (SOURCES / name).rglob("*.py")):
        long = [line for line, lines in strings(module.read_text("utf-8")) if lines > MOST_LINES]
        allowed = PUT_TOGETHER.get(name_of(module), 0)
        if len(long) != allowed:
            found[name_of(module)] = f"lines {long}, {allowed} allowed"
    assert not found, "give it a .sql file beside the module (railwright.store.duck.read_sql)"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ('A = """\nSELECT a\nFROM b\nWHERE c\nORDER BY a\n"""', [4]),
        ('A = f"""\nSELECT {a}\nFROM b\nWHERE c\nORDER BY a\n"""', [4]),
        ('A = (\n"SELECT a "\n"FROM b "\nf"WHERE {c} "\n"ORDER BY a"\n)', [4]),
        ('A = """\nFROM b\nLEFT JOIN c\nUSING (d)\nWHERE e"""', [4]),
        ('A = "SELECT a FROM b"', [1]),
        ('def a():\n    """Select\n    one\n    of\n    many."""', []),
        ('A = """\nPlain\nwords\nof\nhelp"""', []),
    ],
)
def test_the_measuring_would_notice(text: str, lines: list[int]) -> None:
    assert [length for _, length in strings(text)] == lines
