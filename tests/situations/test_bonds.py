"""RoCE over a bond (mlx5_bond_0): its QoS is that of its members."""

from collections.abc import Callable
from pathlib import Path

import pytest

from lab.harness.fleets import Reading
from situations.by_text import (
    MEDIUM_OR_WORSE,
    Fleet,
    Report,
    change,
    each,
    without_nccl_file,
    words,
)

pytestmark = pytest.mark.root
Make = Callable[[dict[str, Reading]], Fleet]
Healthy = Callable[..., dict[str, Reading]]

SITE = """profile = "roce-lossless"
[[role]]
role = "compute"
devices = ["mlx5_bond_0"]
[[role]]
role = "unused"
devices = ["mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3", "mlx5_4", "mlx5_5", "mlx5_6", "mlx5_7"]
"""
QOS = ("intent-trust", "intent-pfc", "intent-data-dscp", "intent-ecn", "intent-dcbx-owner",
       "intent-cnp-dscp", "trust-pcp-untagged", "data-dscp-lossy", "host-global-pause", "ecn-half-enabled")  # fmt: skip


@pytest.fixture(scope="module")
def bonds(lasting_fleet: Make, healthy: Healthy) -> Fleet:
    """The first host is sound; on the second, one member trusts another field."""
    hosts = each(healthy("hgx_a100_infiniband", 2), without_nccl_file)
    trusts = words(("trust state: dscp", "trust state: pcp"))
    host = change(hosts["basalt-h002"], "mlnx_qos", trusts, "enp225s0f1np1")
    # The driver takes the kernel's entries for DSCPs away with it.
    hosts["basalt-h002"] = change(host, "dcb_app", lambda _: "{}", "enp225s0f1np1")
    return lasting_fleet(hosts)


@pytest.fixture(scope="module")
def report(bonds: Fleet) -> Report:
    return bonds.check(SITE)


def test_qos_of_a_sound_bond_is_known(report: Report) -> None:
    bond = "basalt-h001:mlx5_bond_0/1"
    assert [(rule, why) for rule in QOS if (why := report.reason(rule, bond))] == []
    assert report.at(bond) == []


def test_one_member_trusts_another_field(report: Report) -> None:
    assert report.severity("intent-trust", "basalt-h002:mlx5_bond_0/1") in MEDIUM_OR_WORSE
    assert report.exit_status == 1


def test_the_members_are_what_explain_shows(bonds: Fleet, tmp_path: Path) -> None:
    site = tmp_path / "site.toml"
    site.write_text(SITE)
    bond = ("--subject", "basalt-h002:mlx5_bond_0/1", "--site", str(site))
    shown = bonds.run("explain", "intent-trust", *bond).stdout
    for member, trust in (("enp225s0f0np0", "dscp"), ("enp225s0f1np1", "pcp")):
        assert f"  {member}  {trust}" in shown
        assert f"railwright evidence basalt-h002 mlnx_qos {member}" in shown
