"""Rule packs by somebody who means harm: refused when they are loaded, or stopped when they run."""

import re
import time
from dataclasses import replace
from pathlib import Path

import pytest

from lab.harness.by_hand import by_hand, target
from railwright.check.cases import load_cases
from railwright.check.guarded import guarded
from railwright.check.lint import binding_database, faults
from railwright.check.pack import load_pack
from railwright.check.rule import load_rule, shipped
from railwright.check.run import checked
from railwright.errors import RuleError
from railwright.intent.site import Site
from railwright.store.snapshot import Snapshot

HEADER = """/* +++
id = "{id}"
title = "t"
severity = "high"
subject = "host"
needs = {needs}
message = "{{subject}}"
since = "1"
sources = ["judgement: none"]
+++
## Why it matters
It does not.

## What to do
Nothing.

## Exceptions
Always.
*/
"""
CASES = """
good: {target: [{target: a, status: reached}], ok: [a]}
bad: {target: [{target: a, status: timeout}], fail: [a]}
open: {target: [{target: a, status: null}], unknown: [a]}
"""
ROW = "select t.target, t.status as observed, 'reached' as expected, true as applies, t.status <> 'reached' as fault"


def write(
    folder: Path, sql: str, *, name: str = "EVIL-01", needs: str = '["target.status"]'
) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "evil.sql"
    path.write_text(HEADER.format(id=name, needs=needs) + sql)
    path.with_suffix(".cases.yaml").write_text(CASES)
    return path


def test_a_pack_that_means_well_is_taken(tmp_path: Path) -> None:
    write(tmp_path / "pack", f"{ROW} from target as t")
    assert list(load_pack(tmp_path / "pack")) == ["EVIL-01"]


MARK = "__MARK__"
REFUSED = {
    "reads a file": f"{ROW} from target as t cross join read_text('/etc/hostname') as f",
    "reads files by pattern": f"{ROW} from target as t cross join (select count(*) from glob('/etc/*')) as g",
    "writes a file": f"copy (select 1) to '{MARK}'",
    "attaches a database": f"attach '{MARK}' as other",
    "installs an extension": "install httpfs",
    "two statements": f"{ROW} from target as t; drop table target",
    "opens the lock": "set enable_external_access = true",
    "closes the parenthesis": f"{ROW} from target as t) ; copy (select 1) to '{MARK}' --",
    "says what is not agreed": "select target, true as fault from target",
    "hides what was not read": f"{ROW.replace('t.status <>', 'coalesce(t.status, chr(1)) <>')} from target as t",
    "takes the larger of what was read": f"{ROW.replace('t.status <>', 'greatest(t.status, chr(1)) <>')} from target as t",
    "looks at settings": f"{ROW} from target as t cross join duckdb_settings() as s",
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused_when_loaded(what: str, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    write(tmp_path / "pack", REFUSED[what].replace(MARK, str(mark)))
    with pytest.raises(RuleError, match="refused"):
        load_pack(tmp_path / "pack")
    assert not mark.exists()


@pytest.mark.parametrize(
    ("line", "is_refused"),
    [
        ("greatest(a, b)", True),
        ("LEAST (a, b)", True),
        ("sum(a)", True),
        ("median(a)", True),
        ("bit_or(a)", True),
        ("list_max(a)", True),
        ("concat(a, b)", True),
        ("first(a)", True),
        ("greatest(a, b) -- null: for the words", False),
        ("sum_known(a) + at_least(a, 1)", False),
        ("b.mode || b.first", False),  # columns
        ("'sum(a)'", False),
        ("max(a) filter (b)", False),
    ],
)
def test_what_skips_null_needs_a_reason(line: str, is_refused: bool) -> None:
    rule = replace(next(iter(shipped().values())), sql=f"select {line}")
    with binding_database() as database:
        found = faults(rule, database)
    assert any("without `-- null: reason`" in one for one in found) is is_refused


def test_a_header_that_lies_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "a", f"{ROW} from target as t", needs='["netdev.mtu"]')
    with pytest.raises(RuleError, match="does not name"):
        load_pack(tmp_path / "a")
    write(tmp_path / "b", f"{ROW} from target as t", needs='["target.status", "netdev.mtu"]')
    with pytest.raises(RuleError, match="does not read"):
        load_pack(tmp_path / "b")
    write(tmp_path / "c", f"{ROW} from target as t", name="intent-trust")
    with pytest.raises(RuleError, match="of a built-in rule"):
        load_pack(tmp_path / "c")


def test_a_threshold_of_nothing_takes_no_need_away() -> None:
    """The planner folds `0 > 0 and ...`; a site may ask for 1."""
    first = shipped()["port-slower-than-peers"]
    (least,) = first.parameters
    off = replace(least, default=0)
    sql = first.sql.replace("p.role = 'compute'", "($least_members > 0 and p.role = 'compute')")
    assert sql != first.sql
    with binding_database() as database:
        assert faults(replace(first, sql=sql, parameters=(off,)), database) == []


@pytest.mark.parametrize(
    ("asked", "refused"),
    [
        ("{least_members: 9}", None),
        ("{most_members: 9}", "unknown parameter 'most_members'"),
        ("{least_members: many}", "must have the same type as 4"),
        ("9", "must be a mapping"),
    ],
)
def test_a_case_may_ask_only_for_parameters_of_its_rule(
    asked: str, refused: str | None, tmp_path: Path
) -> None:
    rule = replace(shipped()["port-slower-than-peers"], path=tmp_path / "a.sql")
    (tmp_path / "a.cases.yaml").write_text(f"more: {{parameters: {asked}}}")
    if refused is None:
        assert load_cases(rule)[0].rows["parameters"] == [{"least_members": 9}]
        return
    with pytest.raises(RuleError, match=refused):
        load_cases(rule)


def test_a_pack_without_its_cases_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "pack", f"{ROW} from target as t")
    path.with_suffix(".cases.yaml").write_text(
        "good: {target: [{target: a, status: reached}], ok: [a]}"
    )
    with pytest.raises(RuleError, match="no case is fail or unknown"):
        load_pack(tmp_path / "pack")


FOREVER = "(with recursive r as (select 1::hugeint as x union all select x + 1 from r) select max(x) as x from r)"


def test_one_that_never_ends_is_killed_when_it_is_tested(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("railwright.check.pack.SECONDS", 3.0)
    write(tmp_path / "pack", f"{ROW} from target as t cross join {FOREVER} as f")
    began = time.monotonic()
    with pytest.raises(RuleError, match="killed after"):
        load_pack(tmp_path / "pack")
    assert time.monotonic() - began < 15


# What a run must stop by itself: the rule is run without having been tested.
STOPPED = {
    "never ends": (f"{ROW} from target as t cross join {FOREVER} as f", "stopped after|killed"),
    "eats memory": (
        f"{ROW} from target as t cross join (select list(i || repeat('x', 4000)) as l from range(100000000) as r(i)) as f where len(f.l) > 0",
        "Out of Memory|out of memory|killed|stopped after",
    ),
    "eats disk": (
        f"{ROW} from target as t cross join (select i from range(2000000000) as r(i) order by hash(i) limit 1 offset 1999999999) as f",
        "Out of Memory|out of memory|max_temp|killed|stopped after",
    ),
    "reads a file": (
        f"{ROW} from target as t cross join read_text('/etc/hostname') as f",
        "disabled",
    ),
    "reads the evidence": (f"{ROW} from target as t cross join evidence as f", "does not exist"),
}


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    return by_hand(tmp_path_factory.mktemp("hostile"), {"target": [target("a")]})


@pytest.mark.parametrize("what", STOPPED)
def test_stopped_when_run(what: str, snapshot: Snapshot, tmp_path: Path) -> None:
    sql, words = STOPPED[what]
    bad = load_rule(write(tmp_path / "pack", sql), tmp_path / "pack")
    good_path = tmp_path / "pack" / "good.sql"
    good_path.write_text(
        HEADER.format(id="GOOD-01", needs='["target.status"]') + f"{ROW} from target as t"
    )
    rules = {"EVIL-01": bad, "GOOD-01": load_rule(good_path, tmp_path / "pack")}
    began = time.monotonic()
    with checked(snapshot, rules, Site(), [], seconds=4.0) as findings:
        accounts = {one.rule: one for one in findings.accounts()}
    assert time.monotonic() - began < 60
    assert re.search(words, accounts["EVIL-01"].trouble), accounts["EVIL-01"].trouble
    assert accounts["EVIL-01"].ok == 0
    assert accounts["GOOD-01"].ok == 1  # the others still run


def test_the_child_has_no_agent_and_no_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSH_AUTH_SOCK", "/tmp/agent")
    monkeypatch.setenv("SECRET_TOKEN", "s3cret")
    with guarded("json.tool", "{}") as child:
        told = Path(f"/proc/{child._process.pid}/environ").read_bytes()
    assert b"SSH_AUTH_SOCK" not in told
    assert b"s3cret" not in told
