"""Rules that a review judged wrong or doubtful: their pages say what they do now, and a test shows it."""

import ast
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from conftest import REPOSITORY

from railwright.check.cases import load_cases
from railwright.check.rule import Rule, by_name, shipped
from railwright.toml import load_toml

FILE = Path(__file__).parent / "truth_rows.toml"
ROWS: list[dict[str, Any]] = load_toml(FILE.read_text("utf-8"), FILE.name)["row"]
WRONG = {
    *("PCI-03", "DRV-05", "LNK-01", "LNK-02", "N-26", "SWQ-03", "SWQ-06"),
    *("INTENT.compute_nics", "INTENT.gpus", "INTENT.port_rate"),
}
DOUBTFUL = {
    *("PCI-07", "GDR-01", "GDR-07", "GDR-11", "N-11", "N-12", "LNK-04", "THM-01", "QOS-07", "N-02"),
    *("ADR-08", "NCC-02", "SWQ-01", "SWQ-08", "SWQ-09", "SWQ-13", "SWQ-15", "SWQ-17", "SWQ-18"),
    *("XHP-01", "TOP-05"),
}
SETTLED = [row for row in ROWS if "open" not in row]
each_row = pytest.mark.parametrize("row", SETTLED, ids=lambda row: row["old"])


def of(row: dict[str, Any], key: str) -> list[str]:
    """One text or several."""
    said = row.get(key, [])
    return [said] if isinstance(said, str) else said


def rule_of(row: dict[str, Any]) -> Rule:
    rules = shipped()
    return rules[by_name(rules.values())[row["old"]]]


def plain(text: str) -> str:
    return " ".join(text.split())


@cache
def functions(file: str) -> set[str]:
    tree = ast.parse((REPOSITORY / file).read_text("utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_row_is_there_once() -> None:
    assert sorted((row["old"], row["verdict"]) for row in ROWS) == sorted(
        [(old, "wrong") for old in WRONG] + [(old, "doubtful") for old in DOUBTFUL]
    )
    assert len(ROWS) == 31
    for row in ROWS:
        assert row["point"]
        wanted = {"open"} if "open" in row else {"says", "case", "test"}
        assert set(row) - {"old", "verdict", "point"} <= wanted, row["old"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["old"])
def test_the_old_name_is_of_a_shipped_rule(row: dict[str, Any]) -> None:
    assert row["old"] in rule_of(row).aliases


@each_row
def test_the_page_says_what_the_rule_does_now(row: dict[str, Any]) -> None:
    rule = rule_of(row)
    page = plain("\n".join((rule.why, rule.do, rule.wrong)))
    assert of(row, "says")
    assert [phrase for phrase in of(row, "says") if plain(phrase) not in page] == []


@each_row
def test_a_test_shows_it(row: dict[str, Any]) -> None:
    assert of(row, "case") or of(row, "test")
    names = {case.name for case in load_cases(rule_of(row))}
    assert [name for name in of(row, "case") if name not in names] == []
    for place in of(row, "test"):
        file, function = place.split("::")
        assert function.startswith("test_")
        assert function in functions(file), place


def test_nothing_serves_two_rules() -> None:
    used: dict[tuple[str, str], set[str]] = {}
    for row in SETTLED:
        for key in ("says", "case", "test"):
            for text in of(row, key):
                used.setdefault((key, plain(text)), set()).add(rule_of(row).id)
    assert {text: rules for text, rules in used.items() if len(rules) > 1} == {}
