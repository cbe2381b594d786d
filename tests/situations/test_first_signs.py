"""What one visit is enough to see: the kernel's log, a hot module, rails that NCCL will not take,
a storage port that is down.

Four hosts, each with signs of its own.
"""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from lab.harness.fleets import Reading
from situations.by_text import (
    HIGH_OR_WORSE,
    MEDIUM_OR_WORSE,
    RAILS,
    Fleet,
    Report,
    change,
    change_list,
    each,
    entries,
    entry,
    naming,
    port_down,
    without_nccl_file,
    words,
)

pytestmark = pytest.mark.root
Make = Callable[[dict[str, Reading]], Fleet]
Healthy = Callable[..., dict[str, Reading]]
LOG, HOT, VERSION_6, STORAGE = (f"ember-h00{n}" for n in range(1, 5))

# Lines as drivers and kernel write them (mlx5_core, pcieport, NVRM, nvidia-nvswitch).
MESSAGES = """\
[  409.000000] mlx5_core 0000:18:00.0: Port module event[error]: module 0, Cable error, High Temperature
[  410.000000] mlx5_core 0000:29:00.0: temp_warn:189:(pid 0): High temperature on sensors with bit set 0x0 0x1
[  506.000000] pcieport 0000:37:01.0: AER: Multiple Uncorrected (Non-Fatal) error received: 0000:3a:00.0
[  507.000000] NVRM: Xid (PCI:0000:19:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.
[  508.000000] nvidia-nvswitch0: SXid (PCI:0000:83:00.0): 12028, Fatal, Link 41 egress non-posted PRIV error (First)
[  509.000000] infiniband mlx5_3: dump_cqe:272:(pid 0): dump error cqe
"""


def with_messages(host: Reading) -> Reading:
    return change(host, "dmesg", lambda text: text.rstrip("\n") + "\n" + MESSAGES)


def with_hot_module(host: Reading) -> Reading:
    """95 degrees, above the alarm at 75, and the module itself raises the flag."""
    flags = words(
        *(
            (f"Module temperature high {flag}: Off", f"Module temperature high {flag}: On")
            for flag in ("alarm             ", "warning           ")
        )
    )
    measured = re.compile(r"Module temperature( +): [0-9.]+ degrees C / [0-9.]+ degrees F")
    hot = r"Module temperature\1: 95.00 degrees C / 203.00 degrees F"
    host = change(host, "ethtool_module", lambda text: measured.sub(hot, flags(text)), RAILS[2])
    shown = re.compile(r": [0-9]+ \[-5\.\.75\]")
    return change(host, "mlxlink", lambda text: shown.sub(": 95 [-5..75]", text), "0000:3a:00.0")


def by_version_6_alone(host: Reading) -> Reading:
    """Rails have addresses by SLAAC and no others; NCCL looks for IPv4 where nobody tells it."""

    def gids(text: str) -> str:
        told = ""
        for kind, zeros, path, content in entries(text):
            rail = re.search(r"/mlx5_([0-7])/ports/1/gids/[23]$", path)
            mapped = "0000:0000:0000:0000:0000:ffff:0a15:"
            if rail and content.startswith(mapped):
                content = f"2001:0db8:0021:000{rail[1]}:5e25:73ff:fea0:03{rail[1]}0\n"  # noqa: PLW2901
            told += entry(path, content, kind, zeros)
        return told

    def addresses(listed: list[dict[str, Any]]) -> list[dict[str, Any]]:
        for one in listed:
            if one["ifname"] in RAILS:
                rail = RAILS.index(one["ifname"])
                own = f"2001:db8:21:{rail}:5e25:73ff:fea0:3{rail}0"
                link_local = [a for a in one["addr_info"] if a["family"] == "inet6"]
                slaac = {**link_local[0], "local": own, "scope": "global", "dynamic": True}
                one["addr_info"] = [slaac, *link_local]
        return listed

    def routes(listed: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [one for one in listed if one.get("dev") not in RAILS or ":" in one["dst"]]

    host = change(host, "infiniband", gids)
    host = change_list(host, "ip_address", addresses)
    host = change_list(host, "ip_route", routes)
    return change(host, "ip_rule", _without_rails)


def _without_rails(text: str) -> str:
    return json.dumps([one for one in json.loads(text) if "10.21." not in json.dumps(one)])


@pytest.fixture(scope="module")
def report(lasting_fleet: Make, healthy: Healthy) -> Report:
    hosts = each(healthy("hgx_h100", 4), without_nccl_file)
    hosts[LOG] = with_messages(hosts[LOG])
    hosts[HOT] = with_hot_module(hosts[HOT])
    hosts[VERSION_6] = by_version_6_alone(hosts[VERSION_6])
    hosts[STORAGE] = port_down(hosts[STORAGE], "mlx5_8", "enp132s0f0np0")
    return lasting_fleet(hosts).check()


ANY = ("info", "low", *MEDIUM_OR_WORSE)


@pytest.mark.parametrize(
    ("place", "about", "severities"),
    [
        ("19:00", "79", HIGH_OR_WORSE),
        (LOG, "12028", HIGH_OR_WORSE),  # the switch it names may be known to nobody else
        ("3a:00.0", "uncorrect|non-fatal|aer", MEDIUM_OR_WORSE),
        ("29:00.0", "temperature", MEDIUM_OR_WORSE),
        ("18:00.0", "cable error|temperature", MEDIUM_OR_WORSE),
        ("mlx5_3", "cqe", ANY),
    ],
    ids=["Xid", "SXid", "AER", "NIC temperature", "module", "CQE"],
)
def test_what_the_kernel_log_tells(
    report: Report, place: str, about: str, severities: tuple[str, ...]
) -> None:
    found = [one for one in report.at(LOG) if place in naming(one)]
    told = [one["severity"] for one in found if re.search(about, naming(one).lower())]
    assert any(severity in severities for severity in told)


def test_a_module_that_raises_its_alarm(report: Report) -> None:
    assert report.severity("module-hot", f"{HOT}:mlx5_2/1") in MEDIUM_OR_WORSE


def test_rails_that_have_version_6_alone(report: Report) -> None:
    found = [report.severity("gid-ipv6-only", f"{VERSION_6}:mlx5_{rail}/1") for rail in range(8)]
    assert [one in MEDIUM_OR_WORSE for one in found] == [True] * 8


def test_a_storage_port_is_down(report: Report) -> None:
    found = report.at(f"{STORAGE}:mlx5_8")
    down = [one["severity"] for one in found if "down" in naming(one).lower()]
    assert any(severity in MEDIUM_OR_WORSE for severity in down)


def test_such_hosts_are_not_in_order(report: Report) -> None:
    assert report.exit_status == 1
