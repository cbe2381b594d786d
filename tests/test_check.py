"""`railwright check` from the front door: verdicts, causes, decisions, exit statuses, formats.

The rules here are two small ones of its own, so that every expected value can be worked out by hand.
"""

import json
import re
import shutil
import subprocess
import sys
import xml.dom.minidom
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import duckdb
import jsonschema
import pytest
from conftest import REPOSITORY

from lab.harness.by_hand import answers, target, with_derived
from railwright.check.findings import Findings
from railwright.report.findings import blocks, cost_words

HEADER = """/* +++
id = "{id}"
title = "{title}"
severity = "{severity}"
subject = "netdev"
needs = ["netdev.{column}"]
message = "{{subject}} has {{observed}}, not {{expected}}"
implied_by = {implied_by}
since = "1"
sources = ["judgement: a test"]
+++
## Why it matters
For the test.

## What to do
Nothing.

## Exceptions
Never.
*/
select target, name, {column} as observed, {expected} as expected, name <> 'lo' as applies,
    {column} <> {expected} as fault{more}
from netdev
"""
# A network device that is down is a blocker, one whose state is something else is low.
GRADES = '[grades]\nblocker = "it is down"\nlow = "it is in between"'
GRADE = "case when operstate = 'down' then 'blocker' else 'low' end"
CASES = """
good: {{netdev: [{{name: a0, {column}: {good}}}], ok: ["a:a0"]}}
bad: {{netdev: [{{name: a0, {column}: {bad}}}], fail: ["a:a0"]}}
open: {{netdev: [{{name: a0}}], unknown: ["a:a0"]}}
loopback: {{netdev: [{{name: lo}}], not applicable: ["a:lo"]}}
"""


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pack")
    for name, values, case in (
        (
            "mtu",
            {"id": "SITE-01", "title": "Small MTU", "severity": "high", "column": "mtu",
             "expected": "9000", "implied_by": '["SITE-02"]', "more": ", 25.0 as cost_gbps"},
            {"good": "9000", "bad": "1500"},
        ),
        (
            "state",
            {"id": "SITE-02", "title": "Not up", "severity": "blocker", "column": "operstate",
             "expected": "'up'", "implied_by": "[]", "more": ""},
            {"good": "up", "bad": "down"},
        ),
    ):  # fmt: skip
        (folder / f"{name}.sql").write_text(HEADER.format(**values))
        text = CASES.format(column=values["column"], **case)
        (folder / f"{name}.cases.yaml").write_text(text)
    return folder


def netdev(
    host: str, name: str, mtu: int | None = 9000, state: str | None = "up"
) -> dict[str, object]:
    return {"target": host, "name": name, "mtu": mtu, "operstate": state, "pci": ""}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """gpu1 is sound; gpu2 has a small MTU; gpu3 is down and small; gpu4 was denied; gpu5 is gone."""
    folder = tmp_path_factory.mktemp("store")
    rows = {
        "target": [
            *(target(f"gpu{n}") for n in (1, 2, 3, 4)),
            target("gpu5", "silent"),
            target("gpu6", "silent", out_of_service="Slurm: drained"),
        ],
        "probe_result": [
            *(row for n in (1, 2, 3) for row in answers(f"gpu{n}", "netdev")),
            *answers("gpu4", netdev="denied"),
        ],
        "netdev": [
            netdev("gpu1", "ens1"),
            netdev("gpu1", "lo", 65536, "unknown"),
            netdev("gpu2", "ens1", 1500),
            netdev("gpu2", "ens2", None),
            netdev("gpu3", "ens1", 1500, "down"),
        ],
    }
    with_derived(folder, rows)
    return folder


def check(
    store: Path, pack: Path, *words: str, cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "railwright", "check", "--store", str(store), "--rules", str(pack),
         "--select", "SITE-*", *words],
        capture_output=True, text=True, check=False, cwd=cwd,
        env={"PATH": "/usr/bin:/bin", "HOME": str(pack), **environment},
    )  # fmt: skip


def test_a_cost_that_is_not_known_is_not_taken_for_none() -> None:
    rows = [
        *(("ALL", "a", 100.0), ("ALL", "b", 62.2)),
        *(("SOME", "a", 50.0), ("SOME", "b", None)),
        *(("NONE", "a", None), ("ZERO", "a", 0.0)),
    ]
    with duckdb.connect() as database:
        database.execute(
            "CREATE TABLE finding AS SELECT unnest(?) AS rule, unnest(?) AS target, "
            "unnest(?) AS cost_gbps, 'high' AS severity, 1 AS rank, 'fail' AS verdict, "
            "'open' AS state, NULL AS cause",
            [[row[column] for row in rows] for column in range(3)],
        )
        found = blocks(cast("Findings", SimpleNamespace(database=database)))
    assert [(one.rule, cost_words(one)) for one in found] == [
        ("ALL", ", costs 162 Gb/s"),
        ("SOME", ", costs at least 50 Gb/s"),
        ("NONE", ""),
        ("ZERO", ""),
    ]


def test_what_is_wrong_and_what_is_unknown(store: Path, pack: Path) -> None:
    done = check(store, pack)
    assert done.returncode == 1
    text = done.stdout
    # 25 Gb/s at gpu2; that of gpu3 is shown under its cause and not counted twice.
    assert "SITE-01  Small MTU: 1 netdev on 1 host, costs 25 Gb/s" in text
    assert "Has 1500, not 9000  gpu2" in text
    assert "SITE-02  Not up: 1 netdev on 1 host" in text
    assert "SITE-01 (Small MTU)" in text
    # SITE-02 is worse, and comes first though SITE-01 has a cost.
    assert text.index("SITE-02  Not up") < text.index("SITE-01  Small")
    assert re.search(r"1 host  netdev denied: every rule \(2\)  gpu4", text)
    assert re.search(r"1 host  unreachable: ssh timed out: every rule \(2\)  gpu5", text)
    away = "1 host  out of service, Slurm: drained: ssh timed out, 0 findings, 2 inconclusive  gpu6"
    assert away in text
    assert re.search(r"1 host  values not read: SITE-01 \(1\)  gpu2", text)
    # SITE-01: 3 judged of 4 that apply; SITE-02: 4; unknown: ens2, and 3 machines for 2 rules.
    assert "2 rules: 7 checks decided, 7 inconclusive, 2 not applicable" in text


def waivers(tmp_path: Path, *entries: tuple[str, str, str, str]) -> Path:
    path = tmp_path / "waivers.toml"
    path.write_text(
        "".join(
            f'[[{kind}]]\nrule = "{rule}"\nsubjects = ["{subject}"]\nreason = "r"\nowner = "kim"\n'
            f"expires = {day}\n"
            for kind, rule, subject, day in entries
        )
    )
    return path


LATE = "2999-01-01"


def test_decisions_are_printed_and_lead_to_peace(store: Path, pack: Path, tmp_path: Path) -> None:
    path = waivers(
        tmp_path,
        ("waive", "SITE-01", "gpu[2-3]", LATE),
        ("waive", "SITE-02", "gpu3:ens1", LATE),
        ("accept_gap", "*", "gpu[4-5]", LATE),
        ("accept_gap", "SITE-01", "gpu2:ens2", LATE),
    )
    done = check(store, pack, "--waivers", str(path))
    assert done.returncode == 0, done.stdout  # what is out of service is counted apart
    assert "2  waived until 2999-01-01 by kim: SITE-01 on gpu[2-3]: r" in done.stdout
    assert "4  accepted until 2999-01-01 by kim: * on gpu[4-5]: r" in done.stdout
    assert "out of service" in done.stdout


def test_gaps_alone_are_status_three(store: Path, pack: Path, tmp_path: Path) -> None:
    path = waivers(tmp_path, ("waive", "SITE-01", "*", LATE), ("waive", "SITE-02", "*", LATE))
    assert check(store, pack, "--waivers", str(path)).returncode == 3


def test_an_ended_waiver_is_a_finding(store: Path, pack: Path, tmp_path: Path) -> None:
    path = waivers(
        tmp_path,
        ("waive", "*", "gpu[1-6]", LATE),
        ("accept_gap", "*", "gpu[1-6]", LATE),
        ("waive", "SITE-02", "gpu3", "2020-01-01"),
    )
    done = check(store, pack, "--waivers", str(path))
    assert done.returncode == 1
    assert "Waiver of SITE-02 expired on 2020-01-01" in done.stdout


def test_a_waiver_of_a_name_does_not_cover_longer_names(
    store: Path, pack: Path, tmp_path: Path
) -> None:
    path = waivers(tmp_path, ("accept_gap", "SITE-01", "gpu2:ens", LATE))
    assert "values not read" in check(store, pack, "--waivers", str(path)).stdout


def test_json_is_what_its_schema_says(store: Path, pack: Path) -> None:
    data = json.loads(check(store, pack, "--format", "json").stdout)
    schema = json.loads((REPOSITORY / "docs/schemas/findings-2.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(data, schema)
    found = {(f["rule"], f["subject"]): f for f in data["findings"]}
    assert set(found) == {
        ("SITE-01", "gpu2:ens1"),
        ("SITE-01", "gpu3:ens1"),
        ("SITE-02", "gpu3:ens1"),
    }
    assert found["SITE-01", "gpu3:ens1"]["state"] == "implied"
    assert found["SITE-01", "gpu3:ens1"]["cause"] == "SITE-02"
    assert (
        found["SITE-01", "gpu2:ens1"]["observed"],
        found["SITE-01", "gpu2:ens1"]["expected"],
    ) == ("1500", "9000")
    unknown = {(u["rule"], u["subject"]): (u["why"], u["state"]) for u in data["inconclusive"]}
    assert unknown["SITE-01", "gpu4:*"] == ("netdev denied", "open")
    assert unknown["SITE-01", "gpu6:*"] == ("not reached: silent", "out of service")
    assert len(unknown) == 7
    assert data["exit_status"] == 1
    assert {
        r["id"]: (r["ok"], r["fail"], r["inconclusive"], r["not_applicable"]) for r in data["rules"]
    } == {
        "SITE-01": (1, 2, 4, 1),
        "SITE-02": (3, 1, 3, 1),
    }


def test_the_other_formats(store: Path, pack: Path) -> None:
    suites = xml.dom.minidom.parseString(check(store, pack, "--format", "junit").stdout)
    assert len(suites.getElementsByTagName("failure")) == 3
    assert len(suites.getElementsByTagName("error")) == 5  # those out of service are left out
    sarif = json.loads(check(store, pack, "--format", "sarif").stdout)
    kinds = [result["kind"] for result in sarif["runs"][0]["results"]]
    # Those out of service are suppressed: two of gpu6.
    assert (kinds.count("fail"), kinds.count("open")) == (3, 7)
    suppressed = [r for r in sarif["runs"][0]["results"] if "suppressions" in r]
    assert [r["suppressions"][0]["justification"] for r in suppressed] == ["out of service"] * 2
    markdown = check(store, pack, "--format", "markdown").stdout
    assert "## SITE-02 Not up (blocker)" in markdown
    assert "| 1 | high | 1500 | 9000 | gpu2:ens1 | gpu2 |" in markdown


@pytest.fixture
def graded(pack: Path, tmp_path: Path) -> Path:
    """The same two rules; the second one gives two severities."""
    folder = tmp_path / "graded"
    shutil.copytree(pack, folder)
    text = (folder / "state.sql").read_text()
    text = text.replace('since = "1"\nsources = ["judgement: a test"]\n', "")
    text = text.replace(
        "implied_by = []", f'since = "1"\nsources = ["judgement: a test"]\n{GRADES}'
    )
    text = text.replace(" as fault", f" as fault, {GRADE} as severity")
    (folder / "state.sql").write_text(text)
    cases = folder / "state.cases.yaml"
    cases.write_text(
        'good: {netdev: [{name: a0, operstate: up}], ok: ["a:a0"]}\n'
        'bad: {netdev: [{name: a0, operstate: down}], fail: [{subject: "a:a0", severity: blocker}]}\n'
        'odd: {netdev: [{name: a0, operstate: dormant}], fail: [{subject: "a:a0", severity: low}]}\n'
        'open: {netdev: [{name: a0}], unknown: ["a:a0"]}\n'
    )
    return folder


@pytest.fixture(scope="module")
def dormant(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """gpu1 is down and small, gpu2 is dormant and small, gpu3 was denied."""
    folder = tmp_path_factory.mktemp("dormant")
    rows = {
        "target": [target(f"gpu{n}") for n in (1, 2, 3)],
        "probe_result": [
            *answers("gpu1", "netdev"),
            *answers("gpu2", "netdev"),
            *answers("gpu3", netdev="denied"),
        ],
        "netdev": [
            netdev("gpu1", "ens1", 1500, "down"),
            netdev("gpu2", "ens1", 1500, "dormant"),
        ],
    }
    with_derived(folder, rows)
    return folder


def test_a_rule_may_grade_its_findings(dormant: Path, graded: Path) -> None:
    data = json.loads(check(dormant, graded, "--format", "json").stdout)
    schema = json.loads((REPOSITORY / "docs/schemas/findings-2.json").read_text())
    jsonschema.validate(data, schema)
    found = {(f["rule"], f["subject"]): (f["severity"], f["cause"]) for f in data["findings"]}
    assert found == {
        ("SITE-02", "gpu1:ens1"): ("blocker", None),
        ("SITE-02", "gpu2:ens1"): ("low", None),
        ("SITE-01", "gpu1:ens1"): ("high", "SITE-02"),
        # The milder grade does not explain what is worse than it.
        ("SITE-01", "gpu2:ens1"): ("high", None),
    }
    told = {rule["id"]: rule["severities"] for rule in data["rules"]}
    assert told == {"SITE-01": ["high"], "SITE-02": ["blocker", "low"]}
    text = check(dormant, graded).stdout
    assert re.search(r"^blocker +SITE-02  Not up: 2 netdevs on 2 hosts", text, re.MULTILINE)
    assert re.search(r"^ +1  Has down, not up  gpu1", text, re.MULTILINE)
    assert re.search(r"^low +1  Has dormant, not up  gpu2", text, re.MULTILINE)


def test_severity_chooses_findings_and_not_only_rules(dormant: Path, graded: Path) -> None:
    data = json.loads(check(dormant, graded, "--severity", "high", "--format", "json").stdout)
    assert {(f["rule"], f["subject"]) for f in data["findings"]} == {
        ("SITE-02", "gpu1:ens1"),
        ("SITE-01", "gpu1:ens1"),
        ("SITE-01", "gpu2:ens1"),
    }
    # What is unknown may be as bad as the rule can tell.
    assert {(u["rule"], u["subject"]) for u in data["inconclusive"]} == {
        ("SITE-01", "gpu3:*"),
        ("SITE-02", "gpu3:*"),
    }


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("low = ", "lowly = ", "unknown grade 'lowly'"),
        ("blocker = ", "high = ", "severity the worst of them"),
        ("'low' end", "'high' end", "has severity 'high', which is not a grade"),
        (" as severity", " as detail", "a column severity and [grades] belong together"),
        ('since = "1"', 'since = "1"\nseveral = true', "several rows of one subject need a detail"),
        (
            'since = "1"',
            'on_path = {packets = ["pings"], sides = ["in"]}\nsince = "1"',
            "on_path must have packets (data, CNP, other",
        ),
    ],
)
def test_a_header_that_does_not_fit_is_refused(
    dormant: Path, graded: Path, old: str, new: str, said: str
) -> None:
    path = graded / "state.sql"
    path.write_text(path.read_text().replace(old, new))
    done = check(dormant, graded)
    assert done.returncode == 2
    assert said in " ".join(done.stderr.split())


def test_an_odd_one_goes_under_the_worst_other_finding_there(
    store: Path, pack: Path, tmp_path: Path
) -> None:
    """`*`: at gpu3 it is explained, at gpu2 by SITE-01 too; the machine as a whole is odd alone at gpu1."""
    odd = tmp_path / "odd"
    odd.mkdir()
    values = {"id": "SITE-03", "title": "Odd", "severity": "medium", "column": "mtu",
              "expected": "4200", "implied_by": '["*"]', "more": ""}  # fmt: skip
    (odd / "odd.sql").write_text(HEADER.format(**values))
    (odd / "odd.cases.yaml").write_text(CASES.format(column="mtu", good=4200, bad=1500))
    data = json.loads(check(store, pack, "--rules", str(odd), "--format", "json").stdout)
    found = {
        f["subject"]: (f["state"], f["cause"]) for f in data["findings"] if f["rule"] == "SITE-03"
    }
    assert found == {
        "gpu1:ens1": ("open", None),
        "gpu2:ens1": ("implied", "SITE-01"),
        "gpu3:ens1": ("implied", "SITE-02"),  # SITE-01 stands there under SITE-02 itself
    }
    both = HEADER.format(**{**values, "implied_by": '["*", "SITE-01"]'})
    (odd / "odd.sql").write_text(both)
    refused = check(store, pack, "--rules", str(odd))
    assert refused.returncode == 2
    assert "implied_by must name either rules or * alone" in refused.stderr


def test_where_nothing_was_judged_nothing_is_in_order(pack: Path, tmp_path: Path) -> None:
    rows = {"target": [target("gpu1", "silent")]}
    with_derived(tmp_path / "s", rows)
    accepted = waivers(tmp_path, ("accept_gap", "*", "gpu1", LATE))
    for words in ([], ["--waivers", str(accepted)]):
        done = check(tmp_path / "s", pack, *words)
        assert done.returncode == 3, done.stdout
        assert "No result: every check" in done.stdout
        assert "No findings" not in done.stdout


def test_explain_says_first_that_the_subject_is_wrong(store: Path, pack: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "railwright", "explain", "SITE-01", "--store", str(store), "--rules",
         str(pack), "--subject", "gpu1:nothing"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert not done.stdout
    assert "has no result for 'gpu1:nothing'" in done.stderr


def test_facts_without_their_bytes_say_so(store: Path, tmp_path: Path) -> None:
    copy = tmp_path / "s"
    shutil.copytree(store, copy)
    shutil.rmtree(copy / "2026-11-14T2215Z" / "evidence", ignore_errors=True)
    done = subprocess.run(
        [sys.executable, "-m", "railwright", "evidence", "gpu1", "netdev", "--store", str(copy)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "has no bytes of netdev on gpu1" in done.stderr


def test_relative_folders_are_found(store: Path, pack: Path) -> None:
    assert store.parent == pack.parent
    name, rules = Path(store.name), Path(pack.name)
    for words in ([], [f"./{name}/2026-11-14T2215Z"]):
        done = check(name, rules, *words, cwd=store.parent)
        assert done.returncode == 1, done.stderr
    for verb in (
        ["facts"],
        ["sql", "SELECT 1"],
        ["store", "list"],
        ["explain", "port-down", "--subject", "x"],
    ):
        done = subprocess.run(
            [sys.executable, "-m", "railwright", *verb, "--store", str(name)],
            capture_output=True, text=True, check=False, cwd=store.parent,
        )  # fmt: skip
        assert done.returncode in (0, 3) or "unknown host or switch 'x'" in done.stderr, (
            verb,
            done.stderr,
        )


def test_a_store_says_what_its_fabric_is_meant_to_be(
    store: Path, pack: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "s"
    shutil.copytree(store, copy)
    assert "against the profile observe without a site file" in check(copy, pack).stdout
    (copy / "site.toml").write_text('profile = "roce-lossy"\n')
    waivers(copy, ("waive", "SITE-01", "gpu2", LATE))
    done = check(copy, pack)
    assert f"against the profile roce-lossy of {copy / 'site.toml'}\n" in done.stdout
    assert "waived until 2999-01-01 by kim: SITE-01 on gpu2" in done.stdout
    other = tmp_path / "other.toml"
    other.write_text('profile = "infiniband"\n')
    none = tmp_path / "none.toml"
    none.write_text("")
    for words, environment in (
        (["--site", str(other), "--waivers", str(none)], {}),
        ([], {"RAILWRIGHT_SITE": str(other), "RAILWRIGHT_WAIVERS": str(none)}),
    ):
        done = check(copy, pack, *words, **environment)
        assert f"against the profile infiniband of {other}\n" in done.stdout
        assert "waived" not in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--select", "NONE-01"], "unknown rule or topic 'NONE-01'"),
        (["--severity", "bad"], "unknown severity 'bad'"),
        (["--format", "xml"], "unknown format 'xml'"),
        (["--site", "/nowhere"], "cannot read the site file"),
        (["--waivers", "/nowhere"], "cannot read the waiver file"),
        (["--rules", "/nowhere"], "is not a folder of rules"),
        (["1999"], "unknown snapshot '1999'"),
    ],
)
def test_wrong_use(store: Path, pack: Path, words: list[str], said: str) -> None:
    done = check(store, pack, *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_explain_one_subject(store: Path, pack: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "railwright", "explain", "SITE-01", "--store", str(store), "--rules",
         str(pack), "--subject", "gpu1:ens1"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "gpu1:ens1: ok" in done.stdout
    assert re.search(r"ens1 +9000", done.stdout)
    assert "railwright evidence gpu1 netdev" in done.stdout
