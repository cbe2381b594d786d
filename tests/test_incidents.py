"""The map of public incidents: whole, true to the rules that there are, and counted rightly."""

import re
from collections import Counter
from collections.abc import Iterator

import pytest
from conftest import SHARED

from railwright.check.rule import shipped
from railwright.toml import load_toml
from tools.generate_docs import page
from tools.incident_docs import KINDS, STATES, Incident, incidents
from tools.rule_docs import COVERAGE

ALL = list(incidents().values())


def tables(text: str) -> Iterator[list[list[str]]]:
    """The cells of every table on a page, its heading first."""
    for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        rows = [line.strip().strip("|").split("|") for line in block.splitlines()]
        yield [[cell.strip() for cell in row] for row in rows if set(row) != {"---"}]


def planned() -> list[str]:
    """Ids that incidents.toml counts on and that are no rules yet."""
    return sorted({name for one in ALL for name in one.planned})


def test_there_are_all_154() -> None:
    assert list(incidents()) == [f"I-{number:03}" for number in range(1, 155)]


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.id)
def test_an_incident_says_what_it_must(one: Incident) -> None:
    assert one.by in KINDS
    assert one.topic
    assert 0 < len(one.title) <= 100
    assert re.fullmatch(r"https?://[^\s()|<>]+", one.link)
    assert len(one.why) <= 130
    assert bool(one.why) == (one.by != "host facts" or one.state != "found")
    assert not one.part or one.rules
    assert one.by != "not at all" or one.state == "no rule"


def test_titles_differ() -> None:
    assert len({one.title for one in ALL}) == len(ALL)


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.id)
def test_every_rule_that_is_named_exists(one: Incident) -> None:
    assert set(one.rules) <= set(shipped())
    assert set(re.findall(r"`([a-z0-9]+(?:-[a-z0-9]+)+)`", one.why)) <= set(shipped())
    proposed = load_toml(COVERAGE.read_text("utf-8"), "")["proposed"]
    assert set(re.findall(r"\b(?:[A-Z][A-Z0-9]{0,2}-\d\d[a-z]?)\b", one.why)) <= set(proposed)


def test_what_is_planned_was_proposed_and_is_not_written_yet() -> None:
    proposed = load_toml(COVERAGE.read_text("utf-8"), COVERAGE.name)["proposed"]
    assert set(planned()) <= set(proposed)
    decided = {name for rule in shipped().values() for name in (*rule.names, *rule.covers)}
    written = decided & set(planned())
    assert not written, "written by now: judge its condition, then move it to rules or take it out"


def test_counts_on_the_page_are_those_of_the_data() -> None:
    by_kind, by_topic, *lists = tables(page("docs/incidents.md"))
    for kind, _, count, *states in by_kind[1:]:
        group = [one for one in ALL if kind in (one.by, "all")]
        found = Counter(one.state for one in group)
        assert [int(count), *map(int, states)] == [len(group), *(found[state] for state in STATES)]
    assert [row[0] for row in by_kind[1:]] == [*KINDS, "all"]
    for topic, *numbers in by_topic[1:]:
        group = [one for one in ALL if topic in (one.topic, "all")]
        found = Counter(one.state for one in group)
        kinds = Counter(one.by for one in group)
        counted = [kinds[kind] for kind in KINDS] + [found[state] for state in STATES]
        assert [int(number) for number in numbers] == [len(group), *counted]
    assert [row[0] for one in lists for row in one[1:]] == list(incidents())
    assert len(lists) == len(by_topic) - 2


def test_the_page_says_how_many_rest_on_preview_alone() -> None:
    said = re.search(r"Of the (\d+) that are found .*, (\d+) are found", page("docs/incidents.md"))
    found = [one for one in ALL if one.state in ("found", "in part")]
    loud = [one for one in found if any(not shipped()[name].preview for name in one.rules)]
    assert said
    assert [int(number) for number in said.groups()] == [len(found), len(found) - len(loud)]


@pytest.mark.shared
def test_links_are_those_of_the_collection() -> None:
    text = (SHARED / "facts" / "incidents.md").read_text("utf-8")
    given = re.findall(r"^\| (I-\d{3}) \|.*\]\((\S+)\) \|$", text, re.MULTILINE)
    assert dict(given) == {one.id: one.link for one in ALL}
