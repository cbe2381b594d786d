"""`railwright report` without a browser: what stands in the file, and that verbs say the same."""

import base64
import json
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from typer.testing import CliRunner, Result

from lab.harness.by_hand import with_derived
from lab.harness.small_fabric import fabric
from railwright.cli import program
from railwright.demo import unpack
from railwright.report.page.encode import as_json, packed
from railwright.report.page.heat import column_of
from railwright.report.page.static import headline


def _run(*words: str) -> Result:
    return CliRunner().invoke(program(), list(words))


def blocks(text: str) -> dict[str, bytes]:
    """The data of a page, as its script would read it."""
    found = re.findall(r'id="d:([^"]+)">([A-Za-z0-9+/=]*)</script>', text)
    return {name: zlib.decompress(base64.b64decode(data), -15) for name, data in found}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(unpack(tmp_path_factory.mktemp("report") / "demo"))


@pytest.fixture(scope="module")
def page(store: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    out = tmp_path_factory.mktemp("page") / "demo.html"
    ran = _run("report", "--store", store, "--before", "previous", "-o", str(out))
    assert ran.exit_code == 1, ran.output
    return out.read_text()


@pytest.fixture(scope="module")
def core(page: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(blocks(page)["core"])
    return found


def test_the_numbers_are_those_of_check(core: dict[str, Any], store: str) -> None:
    told = json.loads(_run("check", "--store", store, "--before", "previous", "--json").stdout)
    rows = [
        dict(zip(core["findings"], row, strict=True))
        for row in zip(*core["findings"].values(), strict=True)
    ]
    assert [(r["rule"], r["subject"], r["state"], r["cost_gbps"]) for r in rows] == [
        (r["rule"], r["subject"], r["state"], r["cost_gbps"]) for r in told["findings"]
    ]
    assert core["exit_status"] == told["exit_status"]
    assert core["head"]["pace"] == told["pace"]
    for mine, theirs in zip(core["rules"], told["rules"], strict=True):
        assert (mine["id"], mine["ok"], mine["fail"], mine["unknown"], mine["other"]) == tuple(
            theirs[name] for name in ("id", "ok", "fail", "inconclusive", "not_applicable")
        )


def test_ceilings_are_those_of_predict(page: str, core: dict[str, Any], store: str) -> None:
    told = json.loads(_run("predict", "ceiling", "--store", store, "--json").stdout)
    hosts = {one["target"]: one["write_gbps"] for one in told["hosts"]}
    for name, gbps in zip(core["hosts"]["name"], core["hosts"]["write"], strict=True):
        assert gbps == (None if hosts[name] is None else round(hosts[name], 1))
    ports = {(p["target"], f"{p['device']}"): p["write_gbps"] for p in told["ports"]}
    assert _heat(page, core, "ceiling") == {
        key: None if gbps is None else round(gbps, 1) for key, gbps in ports.items()
    }


def _numbers(data: bytes, width: int) -> list[int]:
    count = len(data) // width
    return [
        sum(data[plane * count + i] << 8 * (width - 1 - plane) for plane in range(width))
        for i in range(count)
    ]


def _heat(page: str, core: dict[str, Any], name: str) -> dict[tuple[str, str], Any]:
    """(host, port) -> value, read as page/columns.ts does it; only of hosts that were read."""
    data = blocks(page)
    [spec] = [one for one in core["heat"] if one["id"] == name]
    words = spec["words"] or json.loads(data[f"words.{name}"])
    codes = _numbers(data[f"heat.{name}"], spec["width"])
    hosts = [core["hosts"]["name"][h] for h in _numbers(data["port.host"], 4)]
    ports = [core["ports"]["name"][n - 1] for n in _numbers(data["port.name"], 4)]
    status = dict(zip(core["hosts"]["name"], core["hosts"]["status"], strict=True))
    return {
        (host, port): words[code - 2] if code > 1 else None
        for host, port, code in zip(hosts, ports, codes, strict=True)
        if status[host] == "reached"
    }


def test_the_part_without_scripts_says_the_same(page: str, core: dict[str, Any]) -> None:
    shown = page[page.index("<main") : page.index("</main>")]
    assert "10 findings: 8 high, 2 medium" in shown
    for block in core["blocks"]:
        assert f"<code>{block['rule']}</code>" in shown
    assert "229.9 Gb/s" in shown
    assert "ember-h029" in shown


def test_a_rule_that_could_not_be_run_is_in_the_headline(core: dict[str, Any]) -> None:
    quiet = {"severities": {}, "decided": 9, "open": 0, "stopped": 1, "expired": 0}
    assert headline({**core, "head": quiet}) == "No findings; 1 rule could not be run."


def test_levels_follow_findings(page: str, core: dict[str, Any]) -> None:
    """By hand: h007's second NIC is at x8; h029 was silent; h030 is out of service."""
    hosts = dict(zip(core["hosts"]["name"], core["hosts"]["level"], strict=True))
    assert (hosts["ember-h007"], hosts["ember-h029"], hosts["ember-h030"]) == (4, 6, 7)
    data = blocks(page)
    at = {
        (core["hosts"]["name"][h], core["ports"]["name"][n - 1]): level
        for h, n, level in zip(
            _numbers(data["port.host"], 4),
            _numbers(data["port.name"], 4),
            data["port.level"],
            strict=True,
        )
    }
    assert at["ember-h007", "mlx5_1"] == 4
    assert at["ember-h007", "mlx5_0"] in (0, 8)
    assert {level for (host, _), level in at.items() if host == "ember-h029"} == {6}


def test_static_has_no_script(store: str, tmp_path: Path) -> None:
    out = tmp_path / "mail.html"
    assert _run("report", "--store", store, "--static", "-o", str(out)).exit_code == 1
    text = out.read_text()
    assert "<script" not in text
    assert "script-src" not in text
    assert "default-src 'none'" in text.replace("&#x27;", "'")
    assert out.stat().st_size < 40_000


def test_a_demo_is_small_enough_to_send(page: str) -> None:
    assert len(page.encode()) < 200_000


def test_markdown_has_the_same_numbers(store: str, core: dict[str, Any]) -> None:
    words = ("--store", store, "--before", "previous", "--format", "markdown")
    text = _run("report", *words).stdout
    assert text == _run("check", *words).stdout
    assert "**10 findings: 8 high, 2 medium; 310 checks inconclusive.**" in text
    titles = [line.split()[1] for line in text.splitlines() if line.startswith("## ")]
    assert titles[: len(core["blocks"])] == [block["rule"] for block in core["blocks"]]
    assert titles[len(core["blocks"]) :] == ["Inconclusive", "Excluded", "Waived"]
    assert "costs 162 Gb/s" in text


def _machines(core: dict[str, Any]) -> list[str]:
    return [*core["hosts"]["name"], *core["switches"]["name"]]


def test_redacted_no_name_is_left(store: str, core: dict[str, Any], tmp_path: Path) -> None:
    """ember-… and cinder-… are all the names of the demo; kim owns its waivers."""
    out = tmp_path / "vendor.html"
    assert _run("report", "--store", store, "--redact", "-o", str(out)).exit_code == 1
    text = out.read_text()
    data = blocks(text)
    whole = text[: text.index("<script")] + "".join(
        block.decode("utf-8", "replace") for block in data.values()
    )
    assert not re.findall(r"\bember-|cinder-|kim|RMA 4711", whole)
    assert not re.findall(r"\b10\.[0-9]+\.[0-9]+\.[0-9]+\b", whole)
    told = json.loads(data["core"])
    assert len(_machines(told)) == len(_machines(core))
    assert {name[0] for name in _machines(told)} == {"h", "s"}
    # The same machine everywhere: h007 of the demo is the seventh host.
    narrow = [block for block in told["blocks"] if block["rule"] == "pcie-link-narrow"]
    assert narrow[0]["groups"][0]["hosts"] == "h07"
    assert told["head"]["pace"]["steps"][0]["targets"] == "h[04,07]"


def test_a_path_needs_two_ports(store: str) -> None:
    ran = _run("report", "--store", store, "--path", "ember-h001:mlx5_0", "-o", "/dev/null")
    assert "--path takes two ports" in str(ran.exception)


EIGHT = "SELECT idx, value, none FROM (SELECT i::INTEGER AS idx FROM range(8) AS r(i)) LEFT JOIN"


@pytest.fixture
def values() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as database:
        yield database


def test_rounded_numbers_keep_three_digits(values: duckdb.DuckDBPyConnection) -> None:
    """The code is turned back as web/src/columns.ts does it."""
    wanted = [0.0, 1.0, 7.25, 999.6, 123456.0, 1e-15, 9.87e18]
    rows = ", ".join(f"({i}, {value!r}::DOUBLE, false)" for i, value in enumerate(wanted))
    found = column_of(values, f"{EIGHT} (VALUES {rows}) AS t(idx, value, none) USING (idx)", 8, 3)
    assert (found.words, found.width, found.read) == ([], 2, 7)
    codes = _numbers(found.codes, 2)
    assert codes[7] == 0  # not collected
    for value, code in zip(wanted, codes, strict=False):
        again = 0.0 if code == 2 else ((code - 3) % 900 + 100) * 10.0 ** ((code - 3) // 900 - 32)
        assert again == pytest.approx(value, rel=0.006)


def test_none_is_not_the_same_as_not_collected(values: duckdb.DuckDBPyConnection) -> None:
    rows = "(0, 'a', false), (1, NULL, true), (2, NULL, NULL), (3, 'b', false), (4, 'a', NULL)"
    found = column_of(values, f"{EIGHT} (VALUES {rows}) AS t(idx, value, none) USING (idx)", 8, 9)
    assert (found.words, list(found.codes)) == (["a", "b"], [2, 1, 0, 3, 2, 0, 0, 0])
    assert (found.read, found.none, found.is_number) == (3, 1, False)


def test_what_is_no_number_is_not_collected(values: duckdb.DuckDBPyConnection) -> None:
    rows = "(0, 'nan'::DOUBLE, false), (1, 'inf'::DOUBLE, false), (2, 4.5, false)"
    found = column_of(values, f"{EIGHT} (VALUES {rows}) AS t(idx, value, none) USING (idx)", 8, 9)
    assert (found.words, list(found.codes)) == ([4.5], [0, 0, 2, 0, 0, 0, 0, 0])
    assert as_json({"a": [float("nan"), 1.5]}) == b'{"a":[null,1.5]}'


def test_a_port_that_is_there_twice_stands_there_once(
    values: duckdb.DuckDBPyConnection,
) -> None:
    rows = "(0, 7, false), (0, 8, false), (3, 9, false)"
    found = column_of(values, f"{EIGHT} (VALUES {rows}) AS t(idx, value, none) USING (idx)", 8, 1)
    assert (len(found.codes), found.read) == (16, 2)


def test_wide_codes_are_planes() -> None:
    assert packed([1, 258], 2) == bytes([0, 1, 1, 2])


SITE = """\
profile = "roce-lossless"
cabling = "cabling.csv"
[[class]]
name = "acme-gold"
hosts = "gpu[1-2]"
compute_nics = 4
[out_of_service]
"leaf2" = "kim from acme says broken"
"""
CABLES = """\
a_device,a_port,b_device,b_port,length_m,rail,plane
gpu1,ens1,leaf1,Ethernet0,3,0,0
gpu2,ens2,acme-planned-sw,Eth9,3,1,0
gpu1,ens2,leaf2,swp1s0,3,1,0
"""
WAIVERS = """\
[[waive]]
rule = "intent-mtu"
subjects = ["gpu1:*"]
reason = "acme: next week"
owner = "kim"
expires = 2020-01-01
[[waive]]
rule = "intent-mtu"
subjects = ["gpu9-acme:*"]
reason = "acme: never used"
owner = "kim"
expires = 2099-01-01
"""


@pytest.fixture(scope="module")
def lost(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two hosts, one of which has lost a NIC; a plan and waivers that name others."""
    rows = fabric()
    gone = {"0000:11:10.0", "mlx5_1", "ens2"}
    for name, listed in rows.items():
        rows[name] = [
            row
            for row in listed
            if row.get("target") != "gpu2"
            or not gone & {row.get("pci"), row.get("device"), row.get("netdev"), row.get("name")}
        ]
    store = tmp_path_factory.mktemp("lost")
    with_derived(store, rows)
    for name, text in (("site.toml", SITE), ("cabling.csv", CABLES), ("waivers.toml", WAIVERS)):
        (store / name).write_text(text)
    return store


def test_what_only_the_site_names_is_redacted_too(lost: Path, tmp_path: Path) -> None:
    out = tmp_path / "vendor.html"
    _run("report", "--store", str(lost), "--redact", "-o", str(out))
    text = out.read_text()
    parts = [text[: text.index("<script")].encode(), *blocks(text).values()]
    assert not [part for part in parts if re.search(rb"acme|kim|gpu[129]|leaf[12]\b", part)]


def test_an_expired_waiver_is_in_every_headline(lost: Path, tmp_path: Path) -> None:
    out = tmp_path / "mail.html"
    _run("report", "--store", str(lost), "--static", "-o", str(out))
    assert "1 waiver expired" in out.read_text()
    assert "expired on 2020-01-01: intent-mtu" in out.read_text()
    ticket = _run("report", "--store", str(lost), "--format", "markdown").stdout
    assert "1 waiver expired" in ticket
    assert "| intent-mtu | 2020-01-01 | kim | gpu1:* | acme: next week |" in ticket


def test_a_port_that_a_host_has_lost_keeps_its_square(lost: Path, tmp_path: Path) -> None:
    """Its leaf still hears it: it is drawn as what is found of its host, or else as not read."""
    (lost / "site.toml").unlink()
    out = tmp_path / "page.html"
    _run("report", "--store", str(lost), "-o", str(out))
    data = blocks(out.read_text())
    core = json.loads(data["core"])
    host = _numbers(data["port.host"], 4)
    mine = [i for i, h in enumerate(host) if core["hosts"]["name"][h] == "gpu2"]
    assert len(mine) == 2
    assert 6 in [data["port.level"][i] for i in mine]


LINES = {
    "pcie-link-narrow": "/sys/bus/pci/devices/0000:29:00.0/current_link_width: 8",
    "intent-mtu": "/sys/class/net/enp24s0np0/mtu: 1500",
    "intent-trust": "Priority trust state: pcp",
}


def test_findings_show_the_lines_that_say_it(page: str, store: str, tmp_path: Path) -> None:
    told = json.loads(blocks(page)["explained"])
    for rule, line in LINES.items():
        [found] = [one["lines"] for key, one in told.items() if key.startswith(f"{rule} ")]
        assert line in [text for answer in found for text in answer["lines"]], rule
        assert all(answer["command"].startswith("railwright evidence ") for answer in found)
    out = tmp_path / "vendor.html"
    _run("report", "--store", store, "--redact", "-o", str(out))
    hidden = json.loads(blocks(out.read_text())["explained"])
    assert hidden
    assert not any(one["lines"] for one in hidden.values())
