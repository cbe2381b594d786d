"""docs/fabric.md: every command is run on a fabric with eleven faults, and answers as the page shows."""

import re
from pathlib import Path

import pytest

from lab.guide import commands
from tools import fabric_page

PAGE = fabric_page.PAGE.read_text("utf-8")
VERBS = {"check", "diff", "rails", "intent", "links", "explain", "waive"}
MOST_LINES_OF_DIFF = 25
# By reasoning from lab/harness/eleven_faults.py, each with the machine and the part that has to be named.
FAULTS = (
    ("part-missing", "0000:5b:00.0", "gpu002"), ("port-down", "mlx5_5", "gpu003"),
    ("intent-mtu", "mlx5_2", "gpu004"), ("pcie-link-narrow", "mlx5_1", "gpu005"),
    ("intent-trust", "mlx5_4", "gpu006"), ("firmware-parameter-pending", "mlx5_0", "gpu007"),
    ("part-missing", "0000:aa:00.0", "gpu008"), ("cable-unlike-plan", "mlx5_0", "gpu011"),
    ("switch-pfc-mismatch", "swp10", "leaf002"), ("switch-data-class", "Eth1/1", "leaf004"),
    ("host-mtu-above-switch", "Ethernet5/1", "leaf007"),
)  # fmt: skip


def output_of(command: str) -> str:
    """What the page shows below it."""
    return re.split(r"^(?:\$ |```)", PAGE.partition(f"$ {command}\n")[2], flags=re.MULTILINE)[0]


@pytest.mark.root
def test_the_page_is_what_the_commands_print(eleven_faults: Path) -> None:
    found = fabric_page.differences(eleven_faults)
    assert found == [], "run: python -m tools.fabric_page\n" + "\n".join(found)


def test_it_uses_the_verbs_of_a_fabric() -> None:
    typed = [line.split() for line in commands(PAGE)]
    assert {words[1] for words in typed if words[0] == "railwright"} >= VERBS


@pytest.mark.parametrize(("rule", "part", "machine"), FAULTS)
def test_check_names_each_of_the_eleven_faults(rule: str, part: str, machine: str) -> None:
    sections = output_of("railwright check").split("\n\n")
    [section] = [one for one in sections if re.match(rf"\w+ +{rule} ", one)]
    lines = section.splitlines()
    # The host stands at the end of what is found, its device there or in the line below.
    told = zip(lines, [*lines[1:], ""], strict=True)
    assert [said for said, below in told if machine in said and part in said + below], section
    assert re.search(rf"^\| {machine} \| .*\b{rule}\b", PAGE, re.MULTILINE)


def test_diff_fits_on_a_screen_and_names_every_machine_that_changed() -> None:
    lines = output_of("railwright diff").splitlines()
    assert len(lines) <= MOST_LINES_OF_DIFF
    named = {line.split()[0] for line in lines if re.match(r"  (gpu|leaf)\d", line)}
    assert named == {machine for *_, machine in FAULTS} | {"leaf001", "leaf006"}  # the other ends
