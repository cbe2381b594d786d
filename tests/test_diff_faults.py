"""`railwright diff` over a fabric with eleven faults: each is told once, and nothing but what follows from it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import REPOSITORY

pytestmark = [pytest.mark.root, pytest.mark.timeout(1800)]
WIDTH = 120
MOST = 25  # lines
# By reasoning from the faults: what is said, in this order, how much hangs on it aside.
EXPECTED = [
    "gpu002   NIC 0000:5b:00.0 (mlx5_3, enp91s0np0) gone",
    "6 RDMA devices renamed: mlx5_4 -> mlx5_3, mlx5_5 -> mlx5_4, mlx5_6 -> mlx5_5, …",
    "rebooted",
    "gpu003   NIC 0000:a9:00.0 (mlx5_5, enp169s0np0): link ACTIVE -> DOWN",
    "gpu004   NIC 0000:3a:00.0 (mlx5_2, enp58s0np0): MTU 9000 -> 1500",
    "gpu005   NIC 0000:29:00.0 (mlx5_1, enp41s0np0): PCIe width 16 -> 8",
    "gpu006   NIC 0000:98:00.0 (mlx5_4, enp152s0np0): trust dscp -> pcp",
    "gpu007   NIC 0000:18:00.0 (mlx5_0, enp24s0np0): firmware parameter ROCE_CC_PRIO_MASK_P1: 255 -> 8, pending",
    "gpu008   GPU 0000:aa:00.0 gone",
    "gpu011   NIC 0000:18:00.0 (mlx5_0, enp24s0np0): LLDP neighbor leaf001 Ethernet40 -> leaf002 swp11",
    "NIC 0000:29:00.0 (mlx5_1, enp41s0np0): LLDP neighbor leaf002 swp11 -> leaf001 Ethernet40",
    "leaf001  port Ethernet40: LLDP neighbor gpu011 enp24s0np0 -> gpu011 enp41s0np0",
    "leaf002  port swp10: PFC 3: on -> off",
    "port swp11: LLDP neighbor gpu011 enp41s0np0 -> gpu011 enp24s0np0",
    "leaf004  DSCP map Eth1/1 26 and 31 more: 3 -> 0",
    "leaf006  port swp3: link up -> down",
    "leaf007  port Ethernet5/1: MTU 9216 -> 1500",
]


@pytest.fixture(scope="module")
def store(eleven_faults: Path) -> Path:
    return eleven_faults


def diff(store: Path, *arguments: str) -> tuple[int, str]:
    """Exit status and output, of which nothing is cut in a pipe."""
    done = subprocess.run(
        [sys.executable, "-m", "railwright", "diff", *arguments, "--store", str(store)],
        capture_output=True, text=True, check=False,
        env={**os.environ, "XDG_CACHE_HOME": str(store.parent / "cache")},
    )  # fmt: skip
    assert not done.stderr.startswith("Traceback"), done.stderr
    return done.returncode, done.stdout


def test_each_fault_is_told_once_on_one_screen(store: Path) -> None:
    status, said = diff(store)
    lines = said.splitlines()
    assert status == 1
    assert len(lines) <= MOST
    assert max(map(len, lines)) <= WIDTH
    assert [line.strip().partition("  [+")[0] for line in lines[1:-1]] == EXPECTED


def test_the_page_shows_what_is_printed(store: Path) -> None:
    page = (REPOSITORY / "docs/diff.md").read_text("utf-8")
    block = page.partition("$ railwright diff\n")[2].partition("```")[0]
    assert block == diff(store)[1]


def test_every_change_hangs_on_one_of_them(store: Path) -> None:
    _, said = diff(store, "--json")
    found = json.loads(said)
    roots = [one for one in found["changes"] if one["depends_on"] is None]
    assert {one["target"] for one in roots} == {
        *(f"gpu{number:03d}" for number in (2, 3, 4, 5, 6, 7, 8, 11)),
        *(f"leaf{number:03d}" for number in (1, 2, 4, 6, 7)),
    }
    known = {(one["subject"]["name"], one["fact"]) for one in roots}
    for one in found["changes"]:
        cause = one["depends_on"]
        assert cause is None or (cause["subject"], cause["fact"]) in known
    assert found["not_compared"] == []


def test_machines_without_a_fault_have_no_change(store: Path) -> None:
    status, said = diff(store, "-w", "gpu[012-016],spine[001-004]")
    assert status == 0
    assert "No change in what could be compared." in said
