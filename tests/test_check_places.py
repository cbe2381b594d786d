"""Each finding has its place and its remedy: device, network device, PCI function, rail, link partner.

The fabric is the small one: gpu1's mlx5_0 is ens1 at 0000:10:10.0 on rail 0, cabled to leaf1:Ethernet0.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from lab.harness.by_hand import with_derived
from lab.harness.small_fabric import Rows, change, fabric
from railwright.check.places import Place, aside
from railwright.check.remedy import FILLED, NEVER, Subject, commands, fix_of
from railwright.check.rule import Rule, load_rule, shipped
from railwright.cli import program
from railwright.errors import RuleError
from railwright.report.finding_groups import Example, Group

SETTINGS = ("nic", "netdev", "link", "bond", "pci", "host", "library", "kubernetes", "switch")
PLACE = ("device", "port", "netdev", "pci", "switch_port", "rail", "link_partner", "partner_device")


def faulty() -> Rows:
    """gpu1's first NIC runs at x8 and has a small MTU; leaf1 has no PFC at gpu2's port."""
    rows = fabric()
    change(rows, "pci_function", {"target": "gpu1", "pci": "0000:10:10.0"}, link_width=8)
    change(rows, "netdev", {"target": "gpu1", "name": "ens1"}, mtu=1500)
    change(rows, "switch_pfc", {"target": "leaf1", "port": "Ethernet4", "priority": 3}, enabled=False)  # fmt: skip
    change(rows, "switch_port_qos", {"target": "leaf1", "port": "Ethernet4"}, pfc_priorities="", pfc_mode="off")  # fmt: skip
    return rows


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store")
    with_derived(folder, faulty())
    (folder / "site.toml").write_text('profile = "roce-lossless"\n[fabric]\nmtu = 9000\n')
    return folder


def run(store: Path, *words: str) -> str:
    done = CliRunner().invoke(program(), ["check", "--store", str(store), *words])
    assert done.exit_code in (0, 1, 3), (done.output, done.exception)
    return done.stdout


def places(store: Path, *words: str) -> dict[tuple[str, str], tuple[Any, ...]]:
    told = json.loads(run(store, "--format", "json", *words))
    return {(one["rule"], one["subject"]): tuple(one[k] for k in PLACE) for one in told["findings"]}


def test_whatever_the_subject_is_all_its_names_are_told(store: Path) -> None:
    found = places(store, "--select", "pcie-below-port-rate", "--select", "intent-mtu", "--select", "switch-pfc-mismatch")  # fmt: skip
    host = ("mlx5_0", 1, "ens1", "0000:10:10.0", None, 0, "leaf1:Ethernet0", None)
    assert found["pcie-below-port-rate", "gpu1:0000:10:10.0"] == host
    assert found["intent-mtu", "gpu1:mlx5_0/1"] == host
    # Of a switch port: the machine behind it, its device and its rail.
    switch = (None, None, None, None, "Ethernet4", 0, "gpu2:ens1", "mlx5_0")
    assert found["switch-pfc-mismatch", "leaf1:Ethernet4"] == switch


def test_the_text_has_them_in_one_line(store: Path) -> None:
    text = run(store, "--select", "pcie-below-port-rate", "--select", "switch-pfc-mismatch")
    assert "\n                 gpu1 mlx5_0 (ens1, 0000:10:10.0), rail 0, leaf1:Ethernet0\n" in text
    assert "\n                 leaf1 Ethernet4, rail 0, gpu2:ens1 (mlx5_0)\n" in text


def test_a_cable_that_is_not_known_is_not_guessed(tmp_path: Path) -> None:
    rows = faulty()
    rows["lldp_neighbor"] = []
    rows["switch_neighbor"] = []
    with_derived(tmp_path, rows)
    found = places(tmp_path, "--select", "pcie-below-port-rate")
    assert found == {
        ("pcie-below-port-rate", "gpu1:0000:10:10.0"): ("mlx5_0", 1, "ens1", "0000:10:10.0", None, 0, None, None)
    }  # fmt: skip


# ---- what is peculiar to one of several findings ----------------------------------------------


@pytest.mark.parametrize(
    ("detail", "left"),
    [
        (None, ""),
        ("ens1", ""),  # the port's network device
        ("at 0000:10:10.0", ""),
        ("link partner leaf1:Ethernet0; which of the two is wrong is unknown", "which of the two is wrong is unknown"),
        ("ens1, 10.21.0.254", "10.21.0.254"),
        ("leaf1, planned leaf2:Ethernet0", "planned leaf2:Ethernet0"),
        ("ens10", "ens10"),
        ("leaf", "leaf"),
        ("at 0000:10:02.0; booted with pci=noacs", "at 0000:10:02.0; booted with pci=noacs"),
        ("DSCP 26 on ens1", "DSCP 26 on ens1"),
    ],
)  # fmt: skip
def test_a_detail_tells_what_does_not_stand_beside_it(detail: str | None, left: str) -> None:
    assert aside(detail, "gpu1 mlx5_0 (ens1, 0000:10:10.0), rail 0, leaf1:Ethernet0") == left


def with_errors(*places: tuple[str, str]) -> Rows:
    rows = fabric()
    log = {"kind": "aer_uncorrected", "text": "Non-Fatal", "driver": "pcieport", "place": 7}
    rows["kernel_message"] = [{**log, "target": target, "pci": pci} for target, pci in places]
    return rows


ERRORS = ("--select", "pcie-uncorrected-errors")


def test_findings_that_say_the_same_are_one_line_wherever_they_are(tmp_path: Path) -> None:
    with_derived(tmp_path, with_errors(("gpu1", "0000:10:10.0"), ("gpu2", "0000:11:10.0")))
    text = run(tmp_path, *ERRORS)
    assert "\n              2  An uncorrectable error  gpu[1-2]\n" in text
    assert (
        "\n                 gpu1; at 0000:10:10.0\n                 gpu2; at 0000:11:10.0\n" in text
    )
    by_host = run(tmp_path, *ERRORS, "--by", "host")
    assert "gpu1; at 0000:10:10.0\n" in by_host
    assert "gpu2; at 0000:11:10.0\n" in by_host


def test_of_many_that_say_the_same_one_is_an_example() -> None:
    one = Example("gpu1", "gpu1", "at 0000:10:10.0", "")
    assert Group("high", "x", None, 4, ["gpu1"], [one]).line(one) == "e.g. gpu1; at 0000:10:10.0"
    assert Group("high", "x", None, 1, ["gpu1"], [one]).line(one) == "at 0000:10:10.0"
    plain = one._replace(aside="")  # the hosts stand above
    assert Group("high", "x", None, 4, ["gpu1"], [plain]).line(plain) == ""
    port = Example("gpu1:ens1", "gpu1 ens1, rail 0", "", "")
    assert Group("high", "x", None, 4, ["gpu1"], [port]).line(port) == "e.g. gpu1 ens1, rail 0"


def test_what_is_told_of_one_finding_says_where_in_every_format(tmp_path: Path) -> None:
    with_derived(tmp_path, with_errors(("gpu1", "0000:10:10.0")))
    text = run(tmp_path, *ERRORS)
    assert (
        "\n              1  An uncorrectable error  gpu1\n                 at 0000:10:10.0\n"
        in text
    )
    said = "gpu1: an uncorrectable error (at 0000:10:10.0)"
    assert f'message="{said}"' in run(tmp_path, *ERRORS, "--format", "junit")
    assert f'"{said}"' in run(tmp_path, *ERRORS, "--format", "sarif")
    assert "| gpu1 (at 0000:10:10.0) | gpu1 |" in run(tmp_path, *ERRORS, "--format", "markdown")


# ---- what to do -------------------------------------------------------------------------------


def of_rule(store: Path, rule: str) -> list[dict[str, Any]]:
    told = json.loads(run(store, "--format", "json", "--select", rule))
    return [one for one in told["findings"] if one["rule"] == rule]


def test_a_fix_has_the_real_device_in_it(store: Path) -> None:
    (found,) = of_rule(store, "intent-mtu")
    told = (found["action"], found["setting"], found["disturbs"])
    assert told == ("set", "netdev.mtu", "packet loss")
    assert found["commands"] == [
        {"command": "ip link set ens1 mtu 9000", "fix": True, "missing": []}
    ]
    text = run(store, "--select", "intent-mtu")
    fix = "                 fix: ip link set ens1 mtu 9000  # on gpu1\n"
    assert f"\n{fix}                 repair disturbs: packet loss\n" in text


def test_what_its_repair_disturbs_is_told_of_a_rule_and_of_its_findings(store: Path) -> None:
    rules = json.loads(run(store, "--json", "--select", "intent-mtu"))["rules"]
    assert [one["disturbs"] for one in rules] == ["packet loss"]
    sarif = json.loads(run(store, "--format", "sarif", "--select", "intent-mtu"))["runs"][0]
    (failed,) = [one for one in sarif["results"] if one["kind"] == "fail"]
    assert failed["properties"]["disturbs"] == "packet loss"
    assert [r["properties"]["disturbs"] for r in sarif["tool"]["driver"]["rules"]] == [
        "packet loss"
    ]


def test_of_a_device_that_no_one_may_change_no_fix_is_told(store: Path, tmp_path: Path) -> None:
    site = tmp_path / "site.toml"
    site.write_text('never_touch = ["ens*"]\n' + (store / "site.toml").read_text())
    words = ("--select", "intent-mtu", "--site", str(site))
    assert "fix: " not in run(store, *words)
    (found,) = json.loads(run(store, "--json", *words))["findings"]
    assert [one["fix"] for one in found["commands"]] == [False]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("a b;reboot", "ip link set 'a b;reboot' mtu 9000"),
        ("$(reboot)", "ip link set '$(reboot)' mtu 9000"),
        ("-force", None),  # ip would take it for an option
        ("../../x", None),
        ("a\nreboot", None),
    ],
)
def test_a_name_from_a_machine_is_one_word_of_the_shell_or_left_out(
    name: str, said: str | None
) -> None:
    place = Place("mlx5_0", 1, name, "0000:10:10.0", None, None, 0, None, None)
    rule = shipped()["intent-mtu"]
    subject = Subject("port", place, "9000")
    assert fix_of(rule.do, rule.fix, subject) == (said or "")
    (command,) = commands(rule.do, rule.fix, subject)
    assert command.missing == (() if said else ("NETDEV",))


def test_every_word_in_capitals_of_a_command_is_known() -> None:
    """One that is not would be printed as if it were part of the command."""
    own = {"CAP_EXP", "F000"}  # setpci's own words
    for rule in shipped().values():
        place = Place(*(None,) * 9)
        for command in commands(rule.do, rule.fix, Subject(rule.subject.kind, place, None)):
            words = re.findall(r"(?<![A-Za-z0-9_.-])[A-Z][A-Z0-9_]*(?![A-Za-z0-9_=])", command.text)
            parameters = re.findall(r" query ([A-Z0-9_ ]+)$", command.text)
            known = {*FILLED, *NEVER, *own, *" ".join(parameters).split()}
            assert set(words) <= known, (rule.id, command.text)


@pytest.mark.parametrize("rule", shipped().values(), ids=lambda rule: rule.id)
def test_a_shipped_rule_says_its_action_itself(rule: Rule) -> None:
    assert f'\naction = "{rule.action}"\n' in rule.path.read_text("utf-8")
    assert not rule.setting or rule.setting.partition(".")[0] in SETTINGS


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ('action = "mend"', "unknown action 'mend'"),
        ('action = "set"', "the action set needs a setting"),
        ('setting = "the MTU"', "'the MTU' is not a setting"),
        ('setting = "nic.pcf"', "unknown setting 'nic.pcf'; if it is right, say what it disturbs"),
        ('disturbs = "a bit"', "unknown disturbance 'a bit'; choose one of nothing, new jobs"),
        ('fix = "reboot"', "fix must stand in What to do, as code"),
        ("fix = \"echo 'NETDEV'\"", "a command with a placeholder must not have quotes"),
    ],
)
def test_a_remedy_that_does_not_fit_is_refused(more: str, said: str, tmp_path: Path) -> None:
    text = shipped()["intent-mtu"].path.read_text("utf-8")
    kept = [one for one in text.splitlines() if not re.match("action|setting|fix|aliases", one)]
    text = "\n".join(kept).replace('id = "intent-mtu"', f'id = "site-mtu"\n{more}', 1)
    text = text.replace("## What to do\n", "## What to do\nRun `echo 'NETDEV'`.\n", 1)
    (tmp_path / "mtu.sql").write_text(text)
    with pytest.raises(RuleError, match=re.escape(said)):
        load_rule(tmp_path / "mtu.sql", tmp_path)
