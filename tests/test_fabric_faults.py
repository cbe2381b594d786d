"""Faults of fabrics: found as declared, and nothing else, on a fabric of three systems.

`python -m bench.fabric_faults SHAPE` tries every fault at every kind of place.
"""

from pathlib import Path

import pytest

from bench.fabric_faults import TOPICS, apart, judge
from lab.fleet.fabric import SHAPES, build
from lab.fleet.faults.switch_fault import CASES, all_fabric_faults
from railwright.check.rule import shipped

pytestmark = [pytest.mark.root, pytest.mark.timeout(1800)]
RULES = {rule for rule in shipped() if rule.startswith(TOPICS)}
if "SWQ-01" not in RULES:
    pytest.skip("the rules on switches are not there yet", allow_module_level=True)


def test_faults_name_rules_that_exist() -> None:
    for fault in all_fabric_faults().values():
        said = [text for case in CASES for text in getattr(fault, case)]
        assert {text.partition(" ")[0] for text in (*said, *fault.implies)} <= set(shipped())


def test_every_default_rule_on_switches_has_a_fault() -> None:
    default = {rule for rule in RULES if not shipped()[rule].preview and "INTENT" not in rule}
    said = {
        text.partition(" ")[0]
        for fault in all_fabric_faults().values()
        for case in (*CASES, "implies")
        for text in getattr(fault, case)
    }
    assert default - said == {"TOP-03"}, "which is about InfiniBand hosts, and has its fault there"


@pytest.mark.parametrize("variant", ["usual", "observed"])
def test_a_healthy_fabric_has_nothing_to_say(tmp_path: Path, variant: str) -> None:
    outcome = judge(tmp_path, build(SHAPES["mixed"]), [], variant)
    assert outcome.fails == frozenset()
    assert outcome.trouble == {}


@pytest.mark.parametrize("variant", ["usual", "observed"])
def test_faults_of_one_set_are_found_as_declared(tmp_path: Path, variant: str) -> None:
    fabric = build(SHAPES["mixed"])
    faults = [
        fault
        for fault in all_fabric_faults().values()
        if not {"leaf", "spine", "host"} & set(fault.at) and fault.site == "usual"
    ]
    outcome = judge(tmp_path, fabric, next(apart(fabric, faults)), variant)
    assert [words for words in outcome.differences() if not words.startswith("unknown")] == []
