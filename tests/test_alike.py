"""Machines that are alike are looked at once, and every verdict and every count stays."""

import io
from pathlib import Path

import duckdb
import pytest
from rich.console import Console

from lab.fleet import hgx_h100
from lab.harness.by_hand import STARTED, answers, target, with_derived
from lab.harness.fleets import evidence_of, snapshot_of
from railwright.check.alike import folding
from railwright.check.engine import Request, run
from railwright.check.rule import shipped
from railwright.check.run import Choice, chosen
from railwright.intent.site import read_site
from railwright.intent.write import write_intent
from railwright.report import machines
from railwright.report.machines import Machines, read_by
from railwright.report.overview import print_overview
from railwright.report.screen import Screen
from railwright.report.sections import LLDP, SECTIONS
from railwright.schema.table import feeding_probes, tables
from railwright.store.duck import words
from railwright.store.snapshot import Snapshot


def _verdicts(snapshot: Snapshot, folder: Path, *, fold: bool) -> list[tuple[object, ...]]:
    """All verdicts of the default catalogue, subject by subject where it is not in order."""
    site = read_site('profile = "roce-lossless"\n[[class]]\nname = "h"\ncompute_nics = 8\n', "t")
    rules = {name: rule for name, rule in chosen(Choice(), site).items() if not rule.baseline}
    facts, intent, out = snapshot.path / "facts", folder / "intent", folder / "out"
    write_intent(site, facts, intent)
    ran = run(Request(tuple(rules.values()), facts, intent, out, fold=fold))
    assert not [one for one in ran if one.trouble]
    with duckdb.connect() as database:
        return database.execute(
            "SELECT rule, verdict, target, subject, observed, expected, detail, inferred, "
            f"cost_gbps, sum(subjects)::BIGINT FROM '{out}/*.parquet' GROUP BY ALL ORDER BY ALL"
        ).fetchall()


def _fleet(tmp_path: Path) -> Snapshot:
    """Two kinds of hosts, one with faults that several share, and one that did not answer."""
    faults = {("mlx5_3", "qos.trust"): "pcp", ("mlx5_1", "mtu"): 1500}
    hosts = [hgx_h100(1), hgx_h100(2, faults)]
    read = evidence_of(tmp_path / "answers", hosts)
    healthy, faulty = read.values()
    fleet = {f"gpu{number:02d}": healthy for number in range(1, 13)}
    fleet |= {f"gpu{number:02d}": faulty for number in range(13, 18)}
    return snapshot_of(tmp_path / "store", fleet, gone=["gpu18"])


@pytest.mark.root
def test_folding_changes_no_verdict(tmp_path: Path) -> None:
    snapshot = _fleet(tmp_path)
    folded = _verdicts(snapshot, tmp_path / "folded", fold=True)
    assert folded == _verdicts(snapshot, tmp_path / "whole", fold=False)
    failed = {(row[0], row[3]) for row in folded if row[1] == "fail"}
    assert {("intent-trust", f"gpu{number}:mlx5_3/1") for number in range(13, 18)} <= failed


def test_most_rules_are_folded() -> None:
    """The saving is real: of the rules that judge a machine by itself nearly all are folded."""
    default = tuple(rule for rule in shipped().values() if not rule.preview and not rule.baseline)
    by_itself = [rule for rule in default if not rule.peers]
    assert len(by_itself) > 0.6 * len(default)
    assert len(folding(default).place) > 0.8 * len(by_itself)


def _overview(snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch, fewest: int) -> str:
    """`railwright facts`, machines folded from so many on."""
    monkeypatch.setattr(machines, "FEWEST", fewest)
    text = io.StringIO()
    print_overview(Screen(Console(file=text, width=200)), snapshot, STARTED)
    return text.getvalue()


@pytest.mark.root
def test_folding_changes_nothing_in_the_overview(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshot = _fleet(tmp_path)
    folded = _overview(snapshot, monkeypatch, 1)
    assert folded == _overview(snapshot, monkeypatch, 1_000)
    # Of 170 netdevs five have another MTU and five are trusted by PCP, on the same five hosts.
    assert "      5        5  1500  up     gpu[13-17]" in folded
    assert "      5        5  pcp    3       -           -           gpu[13-17]" in folded
    assert "known on 17 of 18 hosts; not known: 1 not reached" in folded
    with snapshot.database() as database:
        chosen = Machines(database, 1_000)
        chosen.ask(LLDP)
        (asked,) = database.execute("SELECT count(*) FROM machine").fetchall()
    assert asked == (3,)


def _heard(number: int, **more: object) -> dict[str, object]:
    name = {"target": f"gpu{number:02d}", "netdev": "eth0", "rid": 1}
    return name | {"chassis_id": f"mac 02:00:00:00:00:{number:02d}", "system_name": ""} | more


def test_alike_hosts_may_hear_different_switches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A chassis is no part of what makes hosts alike: all are asked for it. Nor is the kernel of
    what their netdevs tell: only the section that shows it cannot be told by one host for all."""
    names = [f"gpu{number:02d}" for number in range(12)]
    card = {"pci": "0000:11:00.0", "physical_function": "", "vendor": "15b3", "class": "020000"}
    netdev = {"name": "eth0", "pci": "0000:11:00.0", "kind": "physical", "port_name": ""}
    netdev |= {"operstate": "up", "mtu": 9000, "arp_type": 1}
    rows = {
        "target": [target(name) for name in names],
        "host": [{"target": name, "kernel": f"6.8.{place}"} for place, name in enumerate(names)],
        "probe_result": [
            row for name in names for row in answers(name, "pci", "infiniband", "netdev", "lldpctl")
        ],
        "pci_function": [{"target": name, **card} for name in names],
        "rdma_device": [
            {"target": name, "device": "mlx5_0", "pci": "0000:11:00.0"} for name in names
        ],
        "netdev": [{"target": name, **netdev} for name in names],
        "lldp_neighbor": [_heard(number) for number in range(12)],
    }
    snapshot = with_derived(tmp_path, rows)
    text = _overview(snapshot, monkeypatch, 1)
    assert text == _overview(snapshot, monkeypatch, 1_000)
    assert "      1  unknown  6.8.11  unknown  gpu11" in text
    assert "     12       12  1          up         gpu[00-11]" in text
    assert "heard: 12 switches" in text


def test_a_switch_stands_for_no_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both answered everything and have no disagreement, and only one of them is a host."""
    hosts, switches = [f"gpu{n}" for n in range(8)], [f"eos{n}" for n in range(4)]
    of_eos = [probe for probe in feeding_probes("switch") if probe.startswith("eos_")]
    asked = dict.fromkeys(hosts, feeding_probes("host")) | dict.fromkeys(switches, of_eos)
    rows = {
        "target": [target(n) for n in hosts] + [target(n, kind="switch") for n in switches],
        "probe_result": [row for name, probes in asked.items() for row in answers(name, *probes)],
    }
    snapshot = with_derived(tmp_path, rows)
    text = _overview(snapshot, monkeypatch, 1)
    assert text == _overview(snapshot, monkeypatch, 1_000)
    assert "8 hosts: 8 reached, 0 not reached" in text
    assert "4 switches: 4 reached, 0 not reached" in text
    assert "      8  unknown  unknown     -      unknown   gpu[0-7]\n" in text


def test_sections_show_only_what_alike_machines_share() -> None:
    """Nothing that moves, and nothing that belongs to one machine alone."""
    for section in SECTIONS:
        text = words(f"{section.before} {section.query}")
        for name in read_by(section):
            own = {c.name for c in tables()[name].columns if c.volatile or c.identity}
            assert not own & text, (section.title, name)
