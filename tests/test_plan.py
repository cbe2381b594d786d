"""`railwright plan`: from the demo's findings to a plan that can be read, written and compared."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from conftest import REPOSITORY
from typer.testing import CliRunner, Result

from railwright.cli import program
from railwright.demo import unpack
from railwright.plan.order import ordered
from railwright.plan.paths import Limits
from railwright.settings.setting import settings

SCHEMA = json.loads((REPOSITORY / "docs/schemas/plan-1.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack(tmp_path_factory.mktemp("demo") / "store")


def run(store: Path, *words: str) -> Result:
    return CliRunner(env={"HOME": str(store), "COLUMNS": "80"}).invoke(
        program(), ["plan", *words], catch_exceptions=False
    )


@pytest.fixture(scope="module")
def plan_file(store: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("plan") / "plan.json"
    done = run(store, "--path", "aggressive", "-o", str(file), "--store", str(store))
    assert done.exit_code == 1  # as check does: there are findings
    return file


def test_the_file_is_as_its_schema_says(plan_file: Path) -> None:
    plan = json.loads(plan_file.read_text("utf-8"))
    jsonschema.validate(plan, SCHEMA)
    assert plan["exit_status"] == 1


def test_the_demo_by_hand(plan_file: Path) -> None:
    """Of the demo's faults two are settings that may be written, two are refused, the rest is hands."""
    plan = json.loads(plan_file.read_text("utf-8"))
    told = [(c["setting"], c["from"], c["to"], c["hosts"]) for c in plan["changes"]]
    assert sorted(told) == [
        ("netdev.mtu", "1500", "9000", "ember-h026"),
        ("nic.trust", "pcp", "dscp", "ember-h019"),
    ]
    mtu = next(c for c in plan["changes"] if c["setting"] == "netdev.mtu")
    (machine,) = mtu["machines"]
    assert machine["steps"] == [{"argv": ["ip", "link", "set", "dev", "enp24s0np0", "mtu", "9000"]}]
    assert machine["undo"] == [{"argv": ["ip", "link", "set", "dev", "enp24s0np0", "mtu", "1500"]}]
    assert mtu["found_by"] == ["intent-mtu"]
    assert {c["setting"] for c in plan["refused"]} == {"pci.acs", "switch.pfc"}
    assert {c["setting"] for c in plan["undecided"]} == {"nic.reset"}
    assert {"cable-wrong-rail", "pcie-link-narrow"} <= {one["rule"] for one in plan["by_hand"]}


def test_no_open_finding_is_left_out(store: Path, plan_file: Path) -> None:
    """Whatever check finds and calls open is in one of the lists, by its rule."""
    words = ["check", "--json", "--store", str(store)]
    done = CliRunner(env={"HOME": str(store)}).invoke(program(), words)
    open_rules = {
        one["rule"] for one in json.loads(done.stdout)["findings"] if one["state"] == "open"
    }
    plan = json.loads(plan_file.read_text("utf-8"))
    lists = ("changes", "held_back", "refused", "undecided")
    told = {rule for name in lists for one in plan[name] for rule in one["found_by"]}
    assert open_rules <= told | {one["rule"] for one in plan["by_hand"]}


def test_a_file_prints_as_the_plan_did(store: Path, plan_file: Path) -> None:
    first = run(store, "--path", "aggressive", "--store", str(store)).stdout
    assert run(store, "show", str(plan_file)).stdout == first


def test_the_ticket_has_the_same_changes(store: Path, plan_file: Path) -> None:
    done = run(store, "show", str(plan_file), "--format", "markdown")
    assert done.exit_code == run(store, "show", str(plan_file)).exit_code == 0
    text = done.stdout
    assert "| netdev.mtu | 1500 | 9000 |" in text
    assert "## No setting mends these" in text


def test_two_plans_differ_in_what_one_leaves_out(
    store: Path, plan_file: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.json"
    words = ("--path", "aggressive", "--exclude", "netdev.*", "-o", str(other))
    run(store, *words, "--store", str(store))
    done = run(store, "diff", str(plan_file), str(other))
    assert done.exit_code == 1
    assert done.stdout == "- netdev.mtu  1500 -> 9000  1  ember-h026\n"
    assert run(store, "diff", str(other), str(other)).exit_code == 0


def test_without_a_site_file_nothing_is_guessed_but_from_peers(store: Path, tmp_path: Path) -> None:
    """The MTU of the demo, once nobody names it: the other ports of the fabric have 9000."""
    copy = tmp_path / "store"
    shutil.copytree(store, copy, symlinks=True)
    (copy / "site.toml").unlink()
    words = ("--path", "aggressive", "--store", str(copy))
    file = tmp_path / "plan.json"
    run(copy, *words, "-o", str(file))
    before = json.loads(file.read_text("utf-8"))
    assert "netdev.mtu" in {one["setting"] for one in before["undecided"]}
    run(copy, *words, "--from-peers", "-o", str(file))
    plan = json.loads(file.read_text("utf-8"))
    jsonschema.validate(plan, SCHEMA)
    mtu = next(one for one in plan["changes"] if one["setting"] == "netdev.mtu")
    assert (mtu["to"], mtu["by_peers"]) == ("9000", True)
    assert (
        "the site file names none; most like machines have it"
        in run(store, "show", str(file)).stdout
    )


def test_what_is_excluded_is_not_lost(store: Path) -> None:
    text = run(store, "--select", "nic.trust", "--store", str(store)).stdout
    assert "intent-mtu  ember-h026" in text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--path", "bold"], "unknown path 'bold'"),
        (["--allow", "everything"], "cannot allow 'everything'"),
        (["--select", "nic.pcf"], "no setting is called 'nic.pcf'"),
        (["show", "none.json"], "cannot read none.json"),
        (["--snapshot", "2030"], "2030"),
    ],
)
def test_mistakes_are_told(store: Path, words: list[str], said: str) -> None:
    with pytest.raises(Exception, match=said):
        run(store, *words, *([] if words[0] == "show" else ["--store", str(store)]))


def test_what_is_no_plan_is_told(store: Path, tmp_path: Path) -> None:
    for text, said in (("{}", "is not a plan of this version"), ("{", "is not a plan")):
        (tmp_path / "p.json").write_text(text)
        with pytest.raises(Exception, match=said):
            run(store, "show", str(tmp_path / "p.json"))


# ---- order and limits


def test_settings_come_after_what_they_name() -> None:
    order = ordered(settings().values())
    place = {name: number for number, name in enumerate(order)}
    for one in settings().values():
        assert all(place[name] < place[one.id] for name in one.after), one.id
        assert all(place[name] > place[one.id] for name in one.before), one.id


def test_a_circle_is_refused() -> None:
    one = replace(settings()["nic.pfc"], after=("netdev.mtu",))
    other = replace(settings()["netdev.mtu"], after=("nic.pfc",), before=())
    with pytest.raises(Exception, match="wait for each other"):
        ordered([one, other])


@pytest.mark.parametrize(
    ("path", "allow", "setting", "held_back"),
    [
        ("conservative", (), "nic.trust", ""),
        ("conservative", (), "pci.max_read_request", ""),
        ("conservative", (), "netdev.mtu", "--path aggressive"),
        ("conservative", (), "nic.pfc", "--allow link"),
        ("conservative", ("link",), "nic.pfc", ""),
        ("conservative", (), "nic.parameter", "--allow reset"),
        ("conservative", (), "host.iommu", "--allow reboot"),
        ("aggressive", (), "nic.pfc", ""),
        ("aggressive", (), "host.iommu", ""),
        ("aggressive", (), "nic.firmware", "--allow firmware"),
        ("aggressive", ("firmware",), "nic.firmware", ""),
    ],
)
def test_what_goes_in(path: str, allow: tuple[str, ...], setting: str, held_back: str) -> None:
    assert Limits(path, frozenset(allow)).held_back(settings()[setting]) == held_back
