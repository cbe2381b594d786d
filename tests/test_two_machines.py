"""What is said of a link, of which only one machine may have been read, or both are at fault."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import REPOSITORY
from typer.testing import CliRunner

from lab.harness.by_hand import with_derived
from lab.harness.small_fabric import HOSTS, LEAVES, PORTS, SPINES, Rows, change, fabric
from railwright.check.reasons import REASONS
from railwright.check.rule import REASONS as REASONS_OF_RULES
from railwright.cli import program

LOSSLESS = 'profile = "roce-lossless"\ncabling = "plan.csv"\n'
WAIVE = """
[[waive]]
rule = "{rule}"
subjects = ["{subject}"]
reason = "known"
owner = "kim"
expires = 2999-01-31
"""


def plan() -> str:
    """Every cable, the hosts' ends by their RDMA devices."""
    lines = ["a_device,a_port,b_device,b_port"]
    for rail, leaf in enumerate(LEAVES):
        lines += [f"{leaf},{PORTS[leaf][host]},{host},mlx5_{rail}" for host in HOSTS]
        lines += [f"{leaf},{PORTS[leaf][s]},{s},{PORTS[s][leaf]}" for s in SPINES]
    return "\n".join(lines) + "\n"


def without(*silent: str) -> Rows:
    """The small fabric, of which some machines did not answer."""
    rows = fabric()
    for table in rows.keys() - {"target"}:
        rows[table] = [row for row in rows[table] if row["target"] not in silent]
    for name in silent:
        change(rows, "target", {"target": name}, status="silent")
    return rows


def check(folder: Path, rows: Rows, waivers: str = "", *more: str) -> dict[str, Any]:
    with_derived(folder, rows)
    (folder / "plan.csv").write_text(plan())
    (folder / "site.toml").write_text(LOSSLESS)
    (folder / "waivers.toml").write_text(waivers)
    done = CliRunner().invoke(
        program(), ["check", "--store", str(folder), "--format", "json", *more]
    )
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["exit_status"] == done.exit_code
    return found


def states(found: dict[str, Any]) -> dict[tuple[str, str], tuple[str, str | None]]:
    return {
        (one["rule"], one["subject"]): (one["state"], one["cause"]) for one in found["findings"]
    }


def no_fec(*hosts: str) -> Rows:
    rows = fabric()
    for host in hosts:
        change(rows, "netdev_fec", {"target": host, "netdev": "ens1"}, configured="Off", active="Off")  # fmt: skip
    return rows


@pytest.mark.parametrize(
    "silent", ["gpu1", "leaf1", "leaf2", "spine1", "spine2", "gpu2 leaf1", "gpu1 spine2"]
)
@pytest.mark.one_in(2)
def test_nothing_is_found_because_a_machine_is_silent(silent: str, tmp_path: Path) -> None:
    found = check(tmp_path, without(*silent.split()))
    assert found["findings"] == []
    assert found["exit_status"] == 3


def test_the_other_end_that_was_not_read_is_named(tmp_path: Path) -> None:
    found = check(tmp_path, without("leaf1"), "", "--select", "link-lossless-differs")
    why = {one["subject"]: (one["reason"], one["why"]) for one in found["inconclusive"]}
    said = ("other_end_unread", "the other end was not read: leaf1 silent")
    assert why["gpu1:ens1"] == why["spine1:Ethernet1/1"] == said
    assert why["leaf1:*"] == ("not_reached", "not reached: silent")


def test_every_reason_is_in_the_schema() -> None:
    schema = json.loads((REPOSITORY / "docs/schemas/findings-2.json").read_text())
    listed = schema["properties"]["inconclusive"]["items"]["properties"]["reason"]["enum"]
    assert listed == sorted({*REASONS, *REASONS_OF_RULES})


def test_what_is_said_at_both_ends_counts_at_one(tmp_path: Path) -> None:
    # All hosts of two differ from their leaf: who is wrong cannot be told.
    found = states(check(tmp_path, no_fec(*HOSTS)))
    assert found == {
        ("link-settings-differ", "gpu1:ens1"): ("open", None),
        ("link-settings-differ", "gpu2:ens1"): ("open", None),
        ("link-settings-differ", "leaf1:Ethernet0"): ("implied", "link-settings-differ"),
        ("link-settings-differ", "leaf1:Ethernet4"): ("implied", "link-settings-differ"),
    }


def test_a_waiver_covers_what_follows_at_the_other_end(tmp_path: Path) -> None:
    one = WAIVE.format(rule="link-settings-differ", subject="gpu1:ens1")
    found = states(check(tmp_path, no_fec(*HOSTS), one))
    assert found["link-settings-differ", "gpu1:ens1"] == ("waived", None)
    assert found["link-settings-differ", "leaf1:Ethernet0"] == ("waived", "link-settings-differ")
    assert found["link-settings-differ", "leaf1:Ethernet4"] == ("implied", "link-settings-differ")


def test_a_waiver_covers_what_the_finding_implies(tmp_path: Path) -> None:
    rows = change(fabric(), "qos_priority", {"target": "gpu1", "netdev": "ens1", "priority": 3}, pfc_enabled=False)  # fmt: skip
    open_ = check(tmp_path / "open", rows)
    assert states(open_)["intent-pfc", "gpu1:mlx5_0/1"] == ("open", None)
    assert states(open_)["link-lossless-differs", "gpu1:ens1"] == ("implied", "intent-pfc")
    assert open_["exit_status"] == 1
    one = WAIVE.format(rule="intent-pfc", subject="gpu1:mlx5_0/1")
    waived = check(tmp_path / "waived", rows, one)
    assert {state for state, _ in states(waived).values()} == {"waived"}
    assert {f["waiver"]["owner"] for f in waived["findings"]} == {"kim"}


def test_a_cause_that_is_not_waived_keeps_what_follows(tmp_path: Path) -> None:
    rows = change(fabric(), "qos_priority", {"target": "gpu1", "netdev": "ens1", "priority": 3}, pfc_enabled=False)  # fmt: skip
    one = WAIVE.format(rule="data-dscp-lossy", subject="gpu1:mlx5_0/1")
    found = states(check(tmp_path, rows, one))
    assert found["data-dscp-lossy", "gpu1:mlx5_0/1"][0] == "waived"
    assert found["link-lossless-differs", "gpu1:ens1"] == ("implied", "intent-pfc")


@pytest.mark.parametrize("silent", ["gpu2", "leaf1"])
@pytest.mark.one_in(2)
def test_a_silent_machine_is_not_known_to_any_verb(tmp_path: Path, silent: str) -> None:
    """Not a wrong use, and no link like another."""
    with_derived(tmp_path, without(silent))
    pair = ["gpu1:mlx5_0", "gpu2:mlx5_0"]
    verbs = [["path", *pair], ["links"], ["show", silent]]
    verbs += [["predict", "ceiling", "--pair", *pair]] if silent == "gpu2" else []
    for words in verbs:
        done = subprocess.run(
            [sys.executable, "-m", "railwright", *words, "--store", str(tmp_path)],
            capture_output=True,
            text=True,
        )
        assert done.returncode == 3, words
        if words == ["links"]:
            assert re.search(r"[1-9]\d* to machines that were not read", done.stdout)
