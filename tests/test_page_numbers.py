"""Every number that the browser shows is one that a verb prints, at four sizes."""

import json
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from page_walk import is_clean, states, walk
from typer.testing import CliRunner, Result

from lab.fleet.fabric import SHAPES, build
from lab.fleet.fabric.plan import CABLING, cabling, site
from lab.fleet.faults.switch_fault import all_fabric_faults
from lab.fleet.faults.switch_places import apart
from lab.harness.by_hand import with_derived
from lab.harness.fabric import fabric_snapshot
from lab.harness.small_fabric import fabric as small_fabric
from railwright.check.rule import shipped
from railwright.cli import program
from railwright.demo import unpack
from railwright.nodes import fold

pytestmark = pytest.mark.timeout(600)


def _run(store: Path, *words: str) -> Result:
    return CliRunner().invoke(program(), [*words, "--store", str(store)])


def _said(store: Path, *words: str) -> Any:
    done = _run(store, *words, "--json")
    assert done.exit_code in (0, 1, 3), done.output
    return json.loads(done.stdout)


def _two_hosts(store: Path) -> None:
    with_derived(store, small_fabric())


def _demo(store: Path) -> None:
    unpack(store)


def _of_512(store: Path) -> None:
    fabric = build(SHAPES["rails_512"])
    usual = [one for one in all_fabric_faults().values() if one.site == "usual"]
    fabric_snapshot(store, fabric, apart(fabric, usual)[0])
    (store / "site.toml").write_text(site(fabric))
    (store / CABLING).write_text(cabling(fabric))


SIZES: dict[str, Callable[[Path], None]] = {
    "two hosts": _two_hosts,
    "demo": _demo,
    "the lab": lambda _: None,  # 16 hosts, 12 switches, 11 faults; made once for all tests
    "512 hosts": _of_512,
}
OF_ROOT = ("the lab", "512 hosts")


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(name, marks=pytest.mark.root if name in OF_ROOT else ()) for name in SIZES
    ],
)
def seen(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Path, dict[str, Any]]:
    """The store, the page, and what was on the screen."""
    folder = tmp_path_factory.mktemp("numbers")
    store = folder / "store"
    SIZES[request.param](store)
    if request.param == "the lab":
        shutil.copytree(request.getfixturevalue("eleven_faults"), store)
    page = folder / "page.html"
    assert _run(store, "report", "-o", str(page)).exit_code in (0, 1, 3)
    first, last = (rows[0]["target"] for rows in _ends(store))
    # tests/test_page.py does the whole walk of the demo: both themes, axe, 200 %, the keyboard.
    how = "whole" if request.param in OF_ROOT else "quick"
    return store, page, walk("chromium", page, how, also=[f"host/{first}", f"host/{last}"])


def _ends(store: Path) -> tuple[list[Any], list[Any]]:
    hosts = _said(store, "predict", "ceiling")["hosts"]
    return hosts[:1], hosts[-1:]


Seen = tuple[Path, Path, dict[str, Any]]


def test_every_view_is_quiet(seen: Seen) -> None:
    """No message, no request; of the lab and of 512 hosts nothing that axe objects to either."""
    assert is_clean(seen[2]) == {}


def test_every_view_is_quiet_in_firefox(seen: Seen) -> None:
    assert is_clean(walk("firefox", seen[1])) == {}


def test_the_keyboard_alone_reaches_a_switch(seen: Seen) -> None:
    keys = seen[2]["keyboard"]
    if keys:  # of a whole walk
        assert "#/map" in keys
        assert any(one.startswith("#/switch/") for one in keys)


def test_findings_and_rules_are_those_of_check(seen: Seen) -> None:
    store, _, told = seen
    check = _said(store, "check")
    opened = [one for one in check["findings"] if one["state"] == "open"]
    blocks = {rule: cost for rule, _, cost in told["verdict"]["blocks"]}
    assert set(blocks) == {one["rule"] for one in opened}
    for rule, cost in blocks.items():
        priced = [one["cost_gbps"] for one in opened if one["rule"] == rule]
        total = sum(one for one in priced if one is not None)
        least = "" if None not in priced else "at least "
        assert cost == (f"{least}{total:,.0f} Gb/s" if total else "not priced"), rule
    count = len(check["findings"])
    assert told["findings"] == f"{count:,} finding{'' if count == 1 else 's'}"
    rows = {row[0]: row[2:6] for row in told["coverage"]}
    for rule in check["rules"]:
        numbers = (rule[name] for name in ("ok", "fail", "inconclusive", "not_applicable"))
        assert rows[rule["id"]] == [f"{number:,}" for number in numbers]
    gaps = sum(1 for one in check["inconclusive"] if one["state"] == "open")
    assert (f"{gaps:,} check" in told["verdict"]["headline"]) == bool(gaps)


def _shown(steps: list[Any]) -> list[Any]:
    return steps if len(steps) <= 6 else [*steps[:5], steps[-1]]


def test_the_pace_is_that_of_check_and_predict(seen: Seen) -> None:
    store, _, told = seen
    pace = _said(store, "check")["pace"]
    assert _said(store, "predict", "ceiling")["pace"]["steps"] == pace["steps"]
    assert [(who, gbps) for who, gbps in told["verdict"]["pace"]] == [
        (
            f"without {step['without']:,}" if step["without"] else "all hosts",
            f"{step['gbps']:,.1f}",
        )
        for step in _shown(pace["steps"])
    ]


def test_ceilings_are_those_of_predict(seen: Seen) -> None:
    store, _, told = seen
    ports: dict[str, dict[str, str]] = {}
    for one in _said(store, "predict", "ceiling")["ports"]:
        name = f"{one['device']}/{one['port']}" if one["port"] > 1 else one["device"]
        gbps, state = one["write_gbps"], one["binding"]
        said = "not known" if gbps is None else f"{gbps:,.1f}".removesuffix(".0")
        ports.setdefault(one["target"], {})[name] = "none" if state == "down" else said
    shown = {host: dict(rows) for host, rows in told["ceilings"].items() if rows}
    assert len(shown) >= 2
    for host, rows in shown.items():
        assert rows == ports[host], host


def test_the_matrix_is_that_of_rails(seen: Seen) -> None:
    store, _, told = seen
    rails = _said(store, "rails")
    columns = sorted({(c["rail"], c["plane"]) for row in rails["rows"] for c in row["ports"]})
    assert len(told["rails"]["head"]) == 2 + len(columns)
    rows = []
    for row in rails["rows"]:
        counts = {(c["rail"], c["plane"]): f"{c['count']:,}" for c in row["ports"]}
        many = f" ({len(row['leaves']):,})" if len(row["leaves"]) > 1 else ""
        leaves = f"{fold(row['leaves'])}{many}"
        rail = "?" if row["rail"] is None else str(row["rail"])
        rows.append([leaves, rail, *(counts.get(column, "") for column in columns)])
    shown = [[cell.rstrip("*") for cell in row] for row in told["rails"]["rows"]]
    assert shown == rows
    # `rails` also runs the rule that goes by the pattern of peers; in check it is in preview.
    listed = [one["rule"] for one in rails["misplaced"]]
    assert told["rails"]["moved"] == [one for one in listed if not shipped()[one].preview][:20]


def test_paths_are_those_of_path(seen: Seen) -> None:
    store, page, told = seen
    words = {"ok": "no fault", "broken": "fault", "unknown": "inconclusive"}
    assert told["paths"]
    for packets in told["paths"]:
        first, second = packets[0]["title"].removeprefix("Data: ").split(" → ")
        said = _said(store, "path", first, second)["packets"]
        assert [words[one["verdict"]] for one in said] == [one["verdict"] for one in packets]
        for one, shown in zip(said, packets, strict=True):
            groups = sum(len(level) for level in one["hops"])
            assert shown["hops"] == groups + 2 + (one["lost"] is not None), shlex.join(
                ["railwright", "path", first, second, "--store", str(store), str(page)]
            )


def test_the_part_without_scripts_says_the_same(seen: Seen) -> None:
    _, page, told = seen
    said = states(page)["scriptsOff"]
    assert told["verdict"]["headline"].rstrip(".") in said
    for rule, severity, cost in told["verdict"]["blocks"]:
        assert rule in said
        assert severity in said
        assert cost in said
    for _, gbps in told["verdict"]["pace"]:
        assert gbps in said
