"""What a finding costs in Gb/s: every default rule says it, or rule_costs.toml says why it cannot."""

from collections import Counter
from pathlib import Path
from typing import Any, cast

from railwright.check.cases import load_cases
from railwright.check.rule import Rule, shipped
from railwright.toml import load_toml

DATA = Path(__file__).with_name("rule_costs.toml")
NONE = cast("list[dict[str, Any]]", load_toml(DATA.read_text("utf-8"), DATA.name)["none"])
DEFAULT = [rule for rule in shipped().values() if not rule.preview and not rule.baseline]


def shows_a_cost(rule: Rule) -> bool:
    told = [texts.get("cost_gbps") for case in load_cases(rule) for texts in case.texts.values()]
    return any(float(one or 0) > 0 for one in told)


def test_every_default_rule_has_a_cost_or_a_reason() -> None:
    excused = Counter(rule for group in NONE for rule in group["rules"])
    assert [rule for rule, count in excused.items() if count > 1] == []
    assert set(excused) == {rule.id for rule in DEFAULT if "cost_gbps" not in rule.optional}
    assert all(group["why"] for group in NONE)


def test_every_cost_is_shown_by_a_case() -> None:
    priced = [rule for rule in shipped().values() if "cost_gbps" in rule.optional]
    assert [rule.id for rule in priced if not shows_a_cost(rule)] == []
