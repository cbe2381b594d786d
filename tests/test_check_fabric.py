"""`railwright check` on a snapshot of hosts and switches: who is meant is said in the right word."""

from pathlib import Path

from typer.testing import CliRunner

from lab.harness.by_hand import with_derived
from lab.harness.small_fabric import change, fabric
from railwright.cli import program


def test_the_report_tells_switches_from_hosts(tmp_path: Path) -> None:
    (tmp_path / "site.toml").write_text('profile = "roce-lossless"\n')
    small = {"target": "leaf1", "port": "Ethernet8"}
    with_derived(tmp_path, change(fabric(), "switch_port", small, mtu=1500))
    said = CliRunner().invoke(program(), ["check", "--store", str(tmp_path)]).stdout
    assert "fabric-mtu-small  MTU between switches below host MTU: 1 end on 1 machine" in said
    assert " 2 hosts  dcb_app, dcb_pfc, dmesg, … (18 probes) not asked: " in said
    assert " 1 switch  sonic_config_db not asked: " in said
    assert " 5 machines  values not read: " in said
