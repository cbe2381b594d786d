"""The first screen of README.md: short, and what it counts is so."""

import re

from conftest import REPOSITORY

from railwright.check.rule import shipped
from railwright.cli import VERBS
from railwright.collect.switch import systems

README = (REPOSITORY / "README.md").read_text("utf-8")
FIRST = README.partition("\n## ")[0]
MOST_LINES = 40
NAMES = {"sonic": "SONiC", "cumulus": "Cumulus Linux", "eos": "EOS", "onyx": "Onyx"}


def test_it_fits_on_a_screen() -> None:
    assert len(FIRST.splitlines()) <= MOST_LINES


def test_it_counts_no_rule_that_there_is_not() -> None:
    said = int(re.search(r"More than (\d+) rules", FIRST)[1])
    run = [rule for rule in shipped().values() if not rule.preview]
    assert said < len(run) < said + 50


def test_it_names_the_switch_systems_that_are_read() -> None:
    assert set(NAMES) == set(systems())
    line = " ".join(FIRST.partition("RoCE v2 over ")[2].split())
    assert all(name in line.partition(".")[0] for name in NAMES.values())


def test_the_minute_for_a_million_was_measured() -> None:
    assert "A million NICs are checked in about a minute on two cores" in FIRST
    figures = (REPOSITORY / "docs/figures.md").read_text("utf-8")
    taken = [
        float(part.partition("| wall, CPU | ")[2].partition(" s")[0])
        for part in figures.split("\n## ")
        if part.startswith("Check: 1,000,000 NICs")
    ]
    assert len(taken) == 2
    assert all(45 < seconds < 75 for seconds in taken)


def test_what_is_planned_is_not_there_yet() -> None:
    planned = re.search(r"^Planned: (.*?)\.", FIRST, re.MULTILINE)[1]
    assert re.findall(r"`(\w+)`", planned) == ["apply", "prove", "watch"]
    assert not set(re.findall(r"`(\w+)`", planned)) & set(VERBS)


def test_a_picture_of_check_says_what_it_shows() -> None:
    """That of the documents' first page; the report's are compared in tests/test_page.py."""
    page = (REPOSITORY / "docs/README.md").read_text("utf-8")
    [(words, picture)] = re.findall(r"!\[(.*?)\]\((.*?\.svg)\)", page)
    drawn = (REPOSITORY / "docs" / picture).read_text("utf-8").replace("&#160;", " ")
    assert "eight findings on 32 hosts and 14 switches" in words
    assert "8 findings: 6 high, 2 medium" in drawn
    assert "14 of 14 switches" in drawn
