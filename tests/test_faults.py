"""The fault matrix over the evidence: nothing missed, no false alarm, everything as declared.

Hosts are read by the real runner. `python -m bench.faults` runs each fault on every model that can
have it, and many more sets.
"""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from lab.fleet import MODELS
from lab.fleet.faults import Fault, all_faults
from lab.fleet.faults.sites import site_text
from lab.fleet.faults.switch_fault import all_fabric_faults
from lab.harness.fault_fleet import Outcome, Reader, Trial, judge
from lab.harness.fault_sets import overlapping, packed
from lab.harness.fleets import snapshot_of
from railwright.check.rule import shipped

pytestmark = [pytest.mark.root, pytest.mark.timeout(1800)]
# Each fault is tried on one model: the one that is read fastest, of those that can have it.
BY_COST = (
    *("socket_direct", "two_socket_4x400g", "passthrough_vm"),
    *("hgx_a100_infiniband", "hgx_h100", "kubernetes_worker"),
)


def of_model(model: str) -> list[Fault]:
    return [one for one in all_faults().values() if min(one.models, key=BY_COST.index) == model]


ALONE = [trial for model in BY_COST for trial in packed(model, of_model(model))]
TOGETHER = [overlapping("hgx_h100", 20, 1)]


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    """Reads every distinct host of this file once."""
    return Reader(tmp_path_factory.mktemp("fleets"))


def test_every_default_rule_has_a_fault() -> None:
    default = {rule.id for rule in shipped().values() if not rule.preview}
    of_fabrics = {
        text.partition(" ")[0]
        for fault in all_fabric_faults().values()
        for text in (*fault.expects, *fault.by_cohort, *fault.implies)
    }
    assert default - {fault.rule for fault in all_faults().values()} - of_fabrics == set()


def test_faults_name_what_exists() -> None:
    for fault in all_faults().values():
        said = (*fault.expects, *fault.implies, *fault.hides, *fault.excuses)
        assert {text.partition(" ")[0] for text in said} - {"*"} <= set(shipped()), fault.name
        assert set(fault.models) <= set(MODELS), fault.name
        assert set(fault.clashes) <= set(all_faults()), fault.name


def test_a_fault_that_is_not_as_declared_is_told() -> None:
    trial = ALONE[0]
    declared = trial.declared()
    as_declared = Outcome(
        trial,
        dict.fromkeys(declared.fails, "") | {v: one.fault.severity for one in trial.injections
                                             for v in one.expected},
        dict.fromkeys(declared.unknown, ""),
    )  # fmt: skip
    assert as_declared.differences() == []
    first = min(declared.fails)
    less = replace(as_declared, fails={v: s for v, s in as_declared.fails.items() if v != first})
    assert less.differences() == [f"not found: {first[0]} {first[1]}"]
    more = replace(
        as_declared, fails={**as_declared.fails, ("pcie-link-downtrained", "h:0"): "high"}
    )
    assert more.differences() == ["not declared: pcie-link-downtrained h:0"]
    open_question = replace(
        as_declared, unknown={**as_declared.unknown, ("pcie-link-downtrained", "h:0"): "why"}
    )
    assert open_question.differences() == ["unknown: pcie-link-downtrained h:0 (why)"]
    stopped = replace(as_declared, trouble={"pcie-link-downtrained": "killed"})
    assert stopped.differences() == ["not run: pcie-link-downtrained: killed"]


def test_healthy_hosts_of_every_model_are_beside_the_faults() -> None:
    """What is said of one of them is not declared, and told: no fleet without faults is needed."""
    usual = [trial for trial in ALONE if trial.site == "usual"]
    assert {trial.model for trial in usual} == set(MODELS)
    for trial in usual:
        struck = {one.place.host.name for one in trial.injections}
        assert len({host.name for host in trial.hosts()} - struck) >= 4, trial.model


@pytest.mark.parametrize("trial", ALONE, ids=lambda one: f"{one.model}-{one.site}")
@pytest.mark.one_in(3)
def test_each_fault_is_found_as_declared(reader: Reader, trial: Trial) -> None:
    assert judge(reader, trial).differences() == []


@pytest.mark.parametrize("trial", TOGETHER, ids=lambda one: one.name)
def test_sets_of_faults_are_found_as_declared(reader: Reader, trial: Trial) -> None:
    assert judge(reader, trial).differences() == []


WAIVERS = """
[[accept_gap]]
rule = "*"
subjects = ["{host}"]
reason = "its kernel log may not leave the host"
owner = "kim"
expires = 2999-01-01
"""


@pytest.mark.parametrize("model", ["hgx_h100", "kubernetes_worker"])
@pytest.mark.one_in(2)
def test_known_gaps_leave_peace(reader: Reader, model: str, tmp_path: Path) -> None:
    hosts = Trial("healthy", model, "usual", ()).hosts()
    said = dict(zip((host.name for host in hosts), reader.read(hosts), strict=True))
    away, silent = hosts[-1].name, hosts[0].name
    del said[away]
    answers = tuple(
        replace(one, status="denied", stdout=b"", packed=b"") if one.probe == "dmesg" else one
        for one in said[silent].answers
    )
    said[silent] = replace(said[silent], answers=answers)
    snapshot_of(tmp_path / "store", said, gone=[away], out_of_service={away: "Slurm: drained"})
    (tmp_path / "site.toml").write_text(site_text(model))
    (tmp_path / "waivers.toml").write_text(WAIVERS.format(host=silent))
    done = subprocess.run(
        [sys.executable, "-m", "railwright", "check", "--store", str(tmp_path / "store"),
         "--site", str(tmp_path / "site.toml"), "--waivers", str(tmp_path / "waivers.toml")],
        capture_output=True, text=True, check=False,
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"accepted until 2999-01-01 by kim: * on {silent}" in done.stdout
    apart = f"1 host  out of service, Slurm: drained: ssh timed out, 0 findings, [0-9]+ inconclusive  {away}\n"
    assert re.search(apart, done.stdout)
