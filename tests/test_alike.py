"""Machines that are alike are judged once, and every verdict stays what it was."""

from pathlib import Path

import duckdb
import pytest

from bench.fleets import evidence_of, snapshot_of
from lab.fleet import hgx_h100
from railwright.check.alike import folding
from railwright.check.engine import Request, run
from railwright.check.rule import shipped
from railwright.check.run import Choice, chosen
from railwright.facts.snapshot import Snapshot
from railwright.intent.site import read_site
from railwright.intent.write import write_intent


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


@pytest.mark.root
def test_folding_changes_no_verdict(tmp_path: Path) -> None:
    """Two kinds of healthy hosts, one with faults that several share, one that did not answer."""
    faults = {("mlx5_3", "qos.trust"): "pcp", ("mlx5_1", "mtu"): 1500}
    hosts = [hgx_h100(1), hgx_h100(2, faults)]
    read = evidence_of(tmp_path / "answers", hosts)
    healthy, faulty = read.values()
    fleet = {f"gpu{number:02d}": healthy for number in range(1, 13)}
    fleet |= {f"gpu{number:02d}": faulty for number in range(13, 18)}
    snapshot = snapshot_of(tmp_path / "store", fleet, gone=["gpu18"])
    folded = _verdicts(snapshot, tmp_path / "folded", fold=True)
    assert folded == _verdicts(snapshot, tmp_path / "whole", fold=False)
    failed = {(row[0], row[3]) for row in folded if row[1] == "fail"}
    assert {("INTENT.trust", f"gpu{number}:mlx5_3/1") for number in range(13, 18)} <= failed


def test_most_rules_are_folded() -> None:
    """The saving is real: most rules of the default catalogue need not look at every machine."""
    default = tuple(rule for rule in shipped().values() if not rule.preview and not rule.baseline)
    assert len(folding(default).place) > 0.6 * len(default)
