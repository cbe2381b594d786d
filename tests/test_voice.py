"""How we write: titles that are diagnoses, and no phrase that reads as translated.

The phrases are those of which readers stumbled. Code spans and blocks are left out: there a word is
a name or a program's own.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from railwright.check.rule import Rule, shipped
from railwright.cli import program

REPOSITORY = Path(__file__).parents[1]
RULES = list(shipped().values())
LONGEST_TITLE, MOST_WORDS = 60, 8
DENIED = re.compile(
    r"\b(?:anew|nobody|somebody|of like|counted apart|what binds|comes along|taken for granted"
    r"|the site wants|keeps falling|so long(?! as)|(?<!there )(?:is|are) no(?! longer| more))\b",
    re.IGNORECASE,
)
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
# Pages that people write; those that are made of rules and tables are read where they come from.
PAGES = sorted(
    path.relative_to(REPOSITORY).as_posix()
    for folder in (".", "docs", "docs/decisions", "docs/operate", "docs/tasks")
    for path in (REPOSITORY / folder).glob("*.md")
    if path.name != "CHANGELOG.md"  # what was noticed then stands as it was said
)


def denied(text: str) -> list[str]:
    bare = CODE.sub("", text)
    return [" ".join(bare[max(0, m.start() - 30) : m.end() + 30].split()) for m in DENIED.finditer(bare)]  # fmt: skip


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_title_is_a_diagnosis(rule: Rule) -> None:
    assert len(rule.title) <= LONGEST_TITLE
    assert 2 <= len(rule.title.split()) <= MOST_WORDS
    assert not re.match(r"(?:A|An|The)\b", rule.title)
    assert not rule.title.endswith(".")
    assert rule.title[0].isupper() or not rule.title.split()[0].isalpha()


def test_no_two_rules_have_one_title() -> None:
    titles = [rule.title for rule in RULES]
    assert sorted(titles) == sorted(set(titles))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_speaks_plainly(rule: Rule) -> None:
    texts = (rule.title, rule.message, rule.why, rule.do, rule.wrong, *rule.grades.values())
    assert [found for text in texts for found in denied(text)] == []


@pytest.mark.parametrize("name", PAGES)
def test_a_page_speaks_plainly(name: str) -> None:
    assert denied((REPOSITORY / name).read_text("utf-8")) == []


def commands(group: typer.core.TyperGroup, words: str = "") -> Iterator[tuple[str, typer.core.TyperCommand]]:  # fmt: skip
    for name, one in group.commands.items():
        if isinstance(one, typer.core.TyperGroup):
            yield from commands(one, f"{words}{name} ")
        else:
            yield f"{words}{name}", one


def test_help_speaks_plainly() -> None:
    program_ = typer.main.get_command(program())
    assert isinstance(program_, typer.core.TyperGroup)
    found = dict(commands(program_))
    assert len(found) > 20
    wrong = {}
    for name, one in found.items():
        texts = [one.help or "", *(getattr(p, "help", "") or "" for p in one.params)]
        if said := [hit for text in texts for hit in denied(text)]:
            wrong[name] = said
    assert wrong == {}


def test_a_phrase_that_is_denied_is_seen() -> None:
    assert len(denied("It is no message size, and nobody knows; `nobody` is a user.")) == 2
    assert denied("There is no snapshot. It is no longer there.") == []
