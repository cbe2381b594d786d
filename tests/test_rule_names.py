"""What a rule was called before is a name of it for ever: in files that people keep, and on the command line."""

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import REPOSITORY

from railwright.check.pack import load_pack
from railwright.check.rule import LONGEST_NAME, by_name, shipped
from railwright.demo import unpack
from railwright.errors import RuleError
from railwright.toml import load_toml

FROZEN = REPOSITORY / "tests/old_rule_names.toml"
OLD = load_toml(FROZEN.read_text("utf-8"), FROZEN.name)
# In the demo's fabric: eight lanes instead of sixteen, on the one host that nobody has waived.
NARROW = "ember-h007:0000:29:00.0"


def railwright(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "railwright", *words], capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack(tmp_path_factory.mktemp("demo") / "store")


def test_every_old_name_is_still_one_of_its_rule() -> None:
    names = by_name(shipped().values())
    assert {old: names.get(old) for old in OLD} == OLD
    assert {one for rule in shipped().values() for one in rule.aliases} == set(OLD)


def test_a_name_says_what_is_wrong_and_is_that_of_the_file() -> None:
    for rule in shipped().values():
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", rule.id)
        assert len(rule.id) <= LONGEST_NAME
        assert rule.path.stem == rule.id.replace("-", "_")


def findings(store: Path, *words: str) -> dict[str, object]:
    done = railwright("check", "--store", str(store), "--format", "json", *words)
    assert done.returncode in (0, 1, 3), done.stderr
    return dict(json.loads(done.stdout))


def test_rules_are_chosen_by_either_name(store: Path) -> None:
    now = findings(store, "--select", "pcie-link-narrow", "--select", "intent-mtu")
    before = findings(store, "--select", "PCI-02", "--select", "INTENT.mtu")
    assert before == now
    assert {(one["id"], *one["aliases"]) for one in now["rules"]} == {
        ("pcie-link-narrow", "PCI-02"),
        ("intent-mtu", "INTENT.mtu"),
    }
    left = findings(store, "--select", "PCI-*", "--ignore", "PCI-02")
    names = {one["id"] for one in left["rules"]}
    assert "pcie-link-downtrained" in names
    assert "pcie-link-narrow" not in names


def test_a_finding_keeps_its_fingerprint(store: Path) -> None:
    """Whoever keeps findings by it has those of before the name."""
    expected = hashlib.sha256(f"PCI-02\0{NARROW}".encode()).hexdigest()[:32]
    chosen = ("--select", "pcie-link-narrow")
    rows = findings(store, *chosen)["findings"]
    assert {one["subject"]: one["fingerprint"] for one in rows}[NARROW] == expected
    done = railwright("check", "--store", str(store), "--format", "sarif", *chosen)
    (run,) = json.loads(done.stdout)["runs"]
    marks = [one["partialFingerprints"] for one in run["results"] if one["kind"] == "fail"]
    assert {"ruleAndSubject/v1": expected} in marks


@pytest.mark.parametrize("name", ["PCI-02", "pcie-link-narrow"])
def test_a_waiver_covers_by_either_name(store: Path, tmp_path: Path, name: str) -> None:
    file = tmp_path / "waivers.toml"
    file.write_text(
        f'[[waive]]\nrule = "{name}"\nsubjects = ["ember-h007"]\nreason = "riser"\n'
        'owner = "kim"\nexpires = 2099-12-31\n'
    )
    rows = findings(store, "--waivers", str(file))["findings"]
    states = {(one["rule"], one["subject"]): one["state"] for one in rows}
    assert states["pcie-link-narrow", NARROW] == "waived"
    assert states["pcie-below-port-rate", NARROW] == "waived"  # which it implies


@pytest.mark.parametrize("name", ["PCI-02", "pcie-link-narrow"])
def test_a_gap_is_accepted_by_either_name(store: Path, tmp_path: Path, name: str) -> None:
    file = tmp_path / "waivers.toml"
    file.write_text(
        f'[[accept_gap]]\nrule = "{name}"\nsubjects = ["ember-h029"]\nreason = "in repair"\n'
        'owner = "kim"\nexpires = 2099-12-31\n'
    )
    rows = findings(store, "--waivers", str(file), "--select", name)["inconclusive"]
    assert {one["target"]: one["state"] for one in rows}["ember-h029"] == "accepted"


@pytest.mark.parametrize("name", ["N-08", "pcie-payload-small"])
def test_a_threshold_is_set_by_either_name(store: Path, tmp_path: Path, name: str) -> None:
    """No NIC of the demo carries payloads of 4096 bytes, and none has less than 256."""
    site = tmp_path / "site.toml"
    site.write_text(f'profile = "observe"\n[parameters."{name}"]\nenough_bytes = 4096\n')
    (usual,) = findings(store, "--select", name)["rules"]
    (strict,) = findings(store, "--select", name, "--site", str(site))["rules"]
    assert (usual["fail"], usual["ok"] > 0) == (0, True)
    assert (strict["fail"], strict["ok"]) == (usual["ok"], 0)


def test_explain_knows_the_old_name_and_says_the_new(store: Path) -> None:
    done = railwright("explain", "SWQ-15", "--store", str(store))
    assert done.returncode == 0
    assert done.stdout.startswith("switch-cnp-queue  ")
    assert "formerly SWQ-15" in done.stdout


def test_a_waiver_is_written_by_the_name_of_now(tmp_path: Path) -> None:
    file = tmp_path / "waivers.toml"
    words = ("--reason", "riser", "--owner", "kim", "--expires", "2099-12-31")
    done = railwright("waive", "PCI-02", "gpu001", *words, "--waivers", str(file))
    assert done.returncode == 0, done.stderr
    assert 'rule = "pcie-link-narrow"' in file.read_text()


@pytest.mark.parametrize(
    ("slip", "meant"),
    [
        ("pcie-link-narow", "pcie-link-narrow"),
        ("pcie-link-narrow-x", "Did you mean pcie-link-narrow"),
    ],
)
def test_a_slip_is_met_with_what_was_meant(store: Path, slip: str, meant: str) -> None:
    done = railwright("explain", slip, "--store", str(store))
    assert done.returncode == 2
    assert meant in done.stderr


def test_a_name_counts_in_any_case(store: Path) -> None:
    done = railwright("explain", "pci-02", "--store", str(store))
    assert done.stdout.startswith("pcie-link-narrow  "), done.stderr


def test_what_is_written_for_no_rule_is_told(store: Path, tmp_path: Path) -> None:
    file = tmp_path / "waivers.toml"
    file.write_text(
        '[[waive]]\nrule = "pcie-link-narow"\nsubjects = ["*"]\nreason = "riser"\n'
        'owner = "kim"\nexpires = 2099-12-31\n'
    )
    site = tmp_path / "site.toml"
    site.write_text('profile = "observe"\n[parameters.PCI-99]\nleast = 1\n')
    words = ("--store", str(store), "--select", "pcie", "--waivers", str(file))
    done = railwright("check", *words, "--site", str(site))
    assert "No rule is called pcie-link-narow: what is waived of it stays open." in done.stderr
    assert "No rule is called PCI-99: its parameters change nothing." in done.stderr


def _pack(folder: Path, name: str, cause: str) -> Path:
    folder.mkdir()
    text = shipped()["pcie-payload-small"].path.read_text("utf-8")
    text = re.sub(r"^id = .*$", f'id = "{name}"', text, flags=re.MULTILINE)
    text = re.sub(r"^aliases = .*\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"^implied_by = .*\n", "", text, flags=re.MULTILINE)
    text = text.replace("since = ", f'implied_by = ["{cause}"]\nsince = ', 1)
    (folder / "own.sql").write_text(text)
    cases = shipped()["pcie-payload-small"].cases_path.read_text("utf-8")
    (folder / "own.cases.yaml").write_text(cases)
    return folder


def test_a_pack_may_name_its_causes_as_it_always_did(tmp_path: Path) -> None:
    (rule,) = load_pack(_pack(tmp_path / "pack", "SITE-01", "PCI-02")).values()
    assert rule.id == "SITE-01"
    assert rule.implied_by == ("pcie-link-narrow",)


@pytest.mark.parametrize("name", ["PCI-02", "pcie-link-narrow"])
def test_no_name_is_given_again(tmp_path: Path, name: str) -> None:
    with pytest.raises(RuleError, match="is or was the name of a built-in rule"):
        load_pack(_pack(tmp_path / "pack", name, "PCI-01"))
