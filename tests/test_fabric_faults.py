"""Faults of fabrics: found as declared, and nothing else, on a fabric of three systems.

`python -m bench.fabric_faults SHAPE` tries every fault at every kind of place.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from lab.fleet.fabric import SHAPES, build
from lab.fleet.faults.switch_fault import (
    CASES,
    FabricInjection,
    all_fabric_faults,
    end_text,
    places,
)
from lab.fleet.faults.switch_places import apart
from lab.harness.fabric_faults import TOPICS, Outcome, judge, judged, snapshots
from railwright.check.rule import shipped

pytestmark = [pytest.mark.root, pytest.mark.timeout(1800)]
RULES = {name for name, rule in shipped().items() if rule.topic in TOPICS}


def test_faults_name_rules_that_exist() -> None:
    for fault in all_fabric_faults().values():
        said = [text for case in CASES for text in getattr(fault, case)]
        assert {text.partition(" ")[0] for text in (*said, *fault.implies)} <= set(shipped())


def test_every_default_rule_on_switches_has_a_fault() -> None:
    default = {rule for rule in RULES if not shipped()[rule].preview}
    said = {
        text.partition(" ")[0]
        for fault in all_fabric_faults().values()
        for case in (*CASES, "implies")
        for text in getattr(fault, case)
    }
    assert default <= said


def found_otherwise(outcome: Outcome) -> list[str]:
    """What a system does not tell is unknown, and no difference."""
    return [words for words in outcome.differences() if not words.startswith("unknown: ")]


@pytest.mark.parametrize("shape", ["mixed", "onyx"])
@pytest.mark.one_in(2)
def test_a_healthy_fabric_has_nothing_to_say(tmp_path: Path, shape: str) -> None:
    fabric = build(SHAPES[shape])
    both = snapshots(tmp_path, fabric, [])
    for variant in ("usual", "observed"):
        outcome = judged(tmp_path, fabric, both, [], variant)
        assert outcome.fails == frozenset()
        assert outcome.trouble == {}


@pytest.mark.parametrize(("shape", "number"), [("mixed", 0), ("mixed", 1), ("onyx", 0)])
@pytest.mark.one_in(3)
def test_faults_are_found_as_declared(tmp_path: Path, shape: str, number: int) -> None:
    """By a site with a plan, and by the majority of like ends."""
    fabric = build(SHAPES[shape])
    faults = [one for one in all_fabric_faults().values() if one.site == "usual"]
    injections = apart(fabric, faults)[number]
    both = snapshots(tmp_path, fabric, injections)
    for variant in ("usual", "observed"):
        outcome = judged(tmp_path, fabric, both, injections, variant)
        assert outcome.expected or variant == "observed"
        assert found_otherwise(outcome) == [], variant


def test_without_intent_and_majority_both_ends_are_named_and_one_counts(tmp_path: Path) -> None:
    fabric = build(SHAPES["pair"])
    fault = all_fabric_faults()["switch_pfc_off"]
    place = next(places(fabric, fault, "leaf_up"))
    outcome = judge(tmp_path, fabric, [FabricInjection(fault, place)], "observed")
    ends = {end_text(fabric, place.end), end_text(fabric, place.peer)}
    assert {subject for rule, subject in outcome.fails if rule == "link-lossless-differs"} == ends
    assert {subject for rule, subject in outcome.open if rule == "link-lossless-differs"} == {
        min(ends)
    }
    assert found_otherwise(outcome) == []


def test_a_fault_that_is_not_as_declared_is_told(tmp_path: Path) -> None:
    fabric = build(SHAPES["pair"])
    fault = replace(
        all_fabric_faults()["switch_pfc_off"], expects=("switch-pfc-mismatch nobody:1",)
    )
    place = next(places(fabric, fault, "leaf_up"))
    said = found_otherwise(judge(tmp_path, fabric, [FabricInjection(fault, place)]))
    assert f"not declared: switch-pfc-mismatch {end_text(fabric, place.end)}" in said
    assert "not found: switch-pfc-mismatch nobody:1" in said
