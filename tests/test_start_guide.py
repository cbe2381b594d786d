"""docs/start.md: every command is run on real sshd hosts, and its output is what the page shows."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from lab import guide

REPOSITORY = Path(__file__).parents[1]
MOST_COMMANDS = 5  # from a login that can only read to a first verdict, the installation with them
PAGE = guide.PAGE.read_text("utf-8")


@pytest.mark.fleet
def test_the_first_hour_is_as_the_page_tells_it(tmp_path: Path) -> None:
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    subprocess.run(
        ["bash", str(REPOSITORY / "tools/wheelhouse.sh"), "--python", version, "--only-needed",
         "--output", str(tmp_path / "wheelhouse")],
        check=True, capture_output=True, env={"PYTHON": sys.executable, "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    ran = guide.run_on_site(guide.commands(PAGE), tmp_path / "wheelhouse")
    found = guide.differences(PAGE, ran)
    assert found == [], "run: just guide\n" + "\n".join(found)


def test_a_read_only_login_gets_a_first_verdict_in_five_commands() -> None:
    typed = guide.to_first_verdict(PAGE)
    assert len(typed) <= MOST_COMMANDS
    assert not [line for line in typed if re.search(r"[;|]|&&|--become|sudo", line)]
    *_, collect, check = typed
    hosts = re.fullmatch(r"railwright collect -w 'gpu\[001-(\d+)\]'", collect)
    assert hosts
    assert int(hosts.group(1)) == guide.HOSTS == 16
    assert check == "railwright check"
    # What that check prints: the two faults of gpu003, found without root.
    verdict = PAGE.partition("$ railwright check\n")[2].partition("```")[0]
    assert re.search(r"^2 findings: ", verdict, re.MULTILINE)
    for rule, place in (("rdma-mtu-small", "mlx5_3"), ("pcie-link-narrow", "mlx5_2")):
        assert re.search(rf"^\w+ +{rule} .*\n.* gpu003\n +gpu003 {place} ", verdict, re.MULTILINE)


def test_the_hints_lead_from_collect_to_check_to_explain() -> None:
    """Up to the explanation, what is typed is what the screen before proposes."""
    typed = guide.commands(PAGE)
    first = len(guide.to_first_verdict(PAGE))
    hints = re.findall(r"^Next: (.*)$", PAGE, re.MULTILINE)[:2]
    assert hints[0] == typed[first - 1]
    assert typed[first].startswith(f"{hints[1]} --subject ")


def test_the_page_has_commands() -> None:
    typed = guide.commands(PAGE)
    assert len(typed) >= 12
    verbs = {line.split()[1] for line in typed if line.startswith("railwright ")}
    assert verbs >= {"collect", "check", "explain", "facts", "show", "store"}
