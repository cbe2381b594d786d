"""How bad a NIC is that does not count: a blocker, unless a role that was only inferred may be why."""

import json
from pathlib import Path

from test_port_roles import Host, hgx
from typer.testing import CliRunner

from lab.harness.by_hand import with_derived
from railwright.cli import program


def severities(folder: Path, host: Host, rule: str, *wanted: int) -> list[str]:
    """What the rule finds, by the number of compute NICs of the host's class; 0 = it has no class."""
    host.rows["rdma_system"] = [{"target": host.name, "netns_mode": "shared"}]
    for function in host.rows["pci_function"]:
        function["driver"] = "mlx5_core" if function["vendor"] == "15b3" else "other"
    with_derived(folder / "store", host.rows)
    site, found = folder / "site.toml", []
    for number in wanted:
        text = f'[[class]]\nname = "hgx"\nhosts = "gpu1"\ncompute_nics = {number}\n'
        site.write_text(text if number else "")
        line = ["check", "--select", rule, "--format", "json", "--site", str(site)]
        told = CliRunner().invoke(program(), [*line, "--store", str(folder / "store")])
        found.append(" ".join(one["severity"] for one in json.loads(told.stdout)["findings"]))
    return found


def test_a_card_that_may_be_the_missing_one_caps_the_severity(tmp_path: Path) -> None:
    host = hgx()
    host.lose_nic(1)
    # Three rails are left, and a storage card that is one by its place alone.
    found = severities(tmp_path, host, "intent-compute-nics", 3, 4, 5)
    assert found == ["", "medium", "blocker"]


def test_a_silent_nic_is_a_blocker_where_its_class_misses_one(tmp_path: Path) -> None:
    host = hgx()
    (function,) = [f for f in host.rows["rdma_device"] if f["device"] == "mlx5_1"]
    kept = [f for f in host.rows["pci_function"] if f["pci"] == function["pci"]]
    host.lose_nic(1)
    host.rows["pci_function"] += kept
    found = severities(tmp_path, host, "nic-without-rdma", 0, 3, 4)
    assert found == ["medium", "medium", "blocker"]
