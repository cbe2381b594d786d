"""`check -w`, `--by` and `-o nodeset`: what is wrong with these machines, with that leaf, on which hosts.

The small fabric with faults at both hosts, at one switch, and at gpu1 as a whole; gpu3 did not answer.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from lab.harness.by_hand import target, with_derived
from lab.harness.small_fabric import Rows, change, fabric
from railwright.check.run import Choice, chosen
from railwright.cli import program
from railwright.intent.site import read_site
from railwright.nodes import fold
from railwright.report.findings_formats import NO_STEPS

SELECT = [
    word
    for rule in ("intent-mtu", "rdma-mtu-small", "pcie-below-port-rate", "switch-pfc-mismatch", "link-lossless-differs", "iommu-translates", "gid-not-routable", "host-config-differs", "cpu-saves-power")
    for word in ("--select", rule)
]  # fmt: skip


def faulty() -> Rows:
    rows = fabric()
    change(rows, "pci_function", {"target": "gpu1", "pci": "0000:10:10.0"}, link_width=8)
    change(rows, "netdev", {"target": "gpu1", "name": "ens1"}, mtu=1500)
    change(rows, "netdev", {"target": "gpu2", "name": "ens2"}, mtu=1500)
    change(rows, "switch_pfc", {"target": "leaf1", "port": "Ethernet4", "priority": 3}, enabled=False)  # fmt: skip
    change(rows, "switch_port_qos", {"target": "leaf1", "port": "Ethernet4"}, pfc_priorities="", pfc_mode="off")  # fmt: skip
    rows["cpu_governor"] = [
        {"target": "gpu1", "cpus": "0-63", "governor": "powersave", "cpu_count": 64}
    ]
    rows["cpu_frequency"] = [{"target": "gpu1", "driver": "intel_pstate", "energy_preference": "balance"}]  # fmt: skip
    rows["target"].append(target("gpu3", "silent"))
    return rows


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store")
    with_derived(folder, faulty())
    (folder / "site.toml").write_text('profile = "roce-lossless"\n[fabric]\nmtu = 9000\n')
    return folder


def invoke(store: Path, *words: str) -> Result:
    return CliRunner().invoke(program(), ["check", "--store", str(store), *words])


def told(store: Path, *words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(invoke(store, "--json", *SELECT, *words).stdout)
    return found


def subjects(data: dict[str, Any]) -> set[tuple[str, str]]:
    return {(one["rule"], one["subject"]) for one in data["findings"]}


@pytest.fixture(scope="module")
def everything(store: Path) -> dict[str, Any]:
    return told(store)


def test_of_a_machine_its_findings_and_those_of_its_links(
    store: Path, everything: dict[str, Any]
) -> None:
    found = told(store, "-w", "gpu2")
    assert found["on"] == ["gpu2"]
    assert everything["on"] is None
    # leaf1:Ethernet4 is the far end of gpu2's first cable.
    assert subjects(found) == {
        ("intent-mtu", "gpu2:mlx5_1/1"),
        ("rdma-mtu-small", "gpu2:mlx5_1/1"),
        ("switch-pfc-mismatch", "leaf1:Ethernet4"),
        ("link-lossless-differs", "leaf1:Ethernet4"),
    }
    assert {one["target"] for one in found["inconclusive"]} <= {"gpu2", "leaf1", "leaf2"}
    assert ("intent-mtu", "gpu1:mlx5_0/1") in subjects(everything)
    # Every rule has judged all machines: peers are needed to tell what is odd.
    assert found["rules"] == everything["rules"]
    text = invoke(store, *SELECT, "--on", "gpu2").stdout
    assert "Only findings of gpu2 and of links to it, compared with all peers\n" in text
    assert "gpu1 mlx5_0" not in text


def test_a_machine_that_is_not_there_is_not_sound(store: Path) -> None:
    done = invoke(store, "-w", "gpu[1-2],gpu9")
    assert done.exit_code != 0
    assert "unknown host or switch 'gpu9'" in str(done.exception)


def groups(text: str) -> dict[str, int]:
    """title -> how many findings stand in its heading."""
    found = re.findall(r"^(\S.*?)  (\d+) findings?: ", text, re.MULTILINE)
    return {title: int(count) for title, count in found}


@pytest.mark.parametrize(
    ("by", "titles"),
    [
        ("host", {"gpu1", "gpu2", "leaf1"}),
        ("leaf", {"leaf1", "leaf2", "no leaf known"}),
        ("rail", {"rail 0", "rail 1", "no rail known"}),
    ],
)
def test_however_they_are_grouped_there_are_as_many(
    store: Path, everything: dict[str, Any], by: str, titles: set[str]
) -> None:
    text = invoke(store, *SELECT, "--by", by).stdout
    opened = [one for one in everything["findings"] if one["state"] == "open"]
    assert f"\n{len(opened)} findings: " in text
    assert set(groups(text)) == titles
    assert sum(groups(text).values()) == len(opened)
    for one in opened:
        assert text.count(f"{one['rule']}  ") >= 1


def test_a_host_has_its_findings_below_it(store: Path) -> None:
    text = invoke(store, "--select", "intent-mtu", "--select", "rdma-mtu-small", "--by", "host").stdout  # fmt: skip
    assert (
        "gpu1  1 finding: 1 medium\n"
        "  medium    intent-mtu  Has MTU 1500; intent is 9000\n"
        "            gpu1 mlx5_0 (ens1, 0000:10:10.0), rail 0, leaf1:Ethernet0; also explains 1 finding\n"
        "            fix: ip link set ens1 mtu 9000  # on gpu1\n"
    ) in text


def test_the_node_set_alone_is_on_standard_output(store: Path) -> None:
    done = invoke(store, *SELECT, "-o", "nodeset")
    assert done.stdout == "gpu[1-2]\n"  # leaf1 is a switch, gpu3 is inconclusive
    assert done.exit_code == 1
    assert "1 host inconclusive and without findings: not in the node set" in done.stderr
    none = invoke(store, "--select", "gid-not-routable", "-o", "nodeset")
    assert (none.stdout, none.exit_code) == ("", 3)
    worse = invoke(store, *SELECT, "-o", "nodeset", "--severity", "blocker")
    assert worse.stdout == ""


def test_a_node_set_for_slurm_has_no_steps() -> None:
    names = [f"gpu{n:03}" for n in range(1, 16, 2)]
    assert fold(names) == "gpu[001-015/2]"
    assert fold(names, NO_STEPS) == "gpu[001,003,005,007,009,011,013,015]"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--by", "colour"], "unknown grouping 'colour'"),
        (["--by", "host", "--json"], "--by groups the text, and --format is json"),
        (["--json", "-o", "sarif"], "--json and --format sarif contradict each other"),
        (["gpu2"], "gpu2 is a machine, not a snapshot"),
    ],
)
def test_wrong_use(store: Path, words: list[str], said: str) -> None:
    done = invoke(store, *words)
    assert said in str(done.exception)


@pytest.mark.parametrize(
    ("given", "rules"),
    [
        ("MTU", {"rdma-mtu-small", "rdma-mtu-differs", "vf-mtu-above-port", "host-mtu-above-switch", "fabric-mtu-small"}),
        ("pci-02", {"pcie-link-narrow"}),
        ("Intent-MTU", {"intent-mtu"}),
        ("n-0", {"cc-priorities-not-aligned", "cnp-in-paused-class", "nic-drops-lossless", "pcie-back-pressure", "fec-uncorrectable", "nic-pause-storm", "pcie-payload-small", "pcie-capped-by-firmware"}),
        ("ADR", {"gid-not-routable", "gid-index-unusable", "gid-index-differs", "arp-flux", "gateway-silent", "gid-ipv6-only", "pkey-unusable", "rp-filter-strict", "address-twice", "rdma-mtu-small", "vf-mtu-above-port"}),
    ],
)  # fmt: skip
def test_rules_are_chosen_by_prefix_and_in_any_case(given: str, rules: set[str]) -> None:
    found = chosen(Choice((given,)), read_site('profile = "observe"', "s"))
    assert set(found) <= rules or set(found) == rules
    assert set(found) & rules


def test_a_topic_is_not_a_prefix_of_another() -> None:
    found = chosen(Choice(("GPU",)), read_site('profile = "observe"', "s"))
    assert {rule.topic for rule in found.values()} == {"gpu"}
    wider = chosen(Choice(("PCI",)), read_site('profile = "observe"', "s"))
    assert {rule.topic for rule in wider.values()} >= {"pcie"}
    assert "pcie-link-narrow" in wider
