"""Every short name of a source leads to a document that can be looked up, or says judgement."""

import re
from pathlib import Path

import pytest

from railwright.check import sources
from railwright.check.rule import SHIPPED, shipped
from railwright.intent.site import profiles
from railwright.settings.setting import settings

PACKAGE = SHIPPED.parent
# Names of working papers that are not in the repository: nobody could look anything up there.
ELSEWHERE = re.compile(
    r"\b(?:(?:reference|rules-review|source-claims|peers|wishes|architecture)\.md|truth [A-Z][0-9]+)\b"
)


def _texts() -> dict[Path, str]:
    """What may name a source: rules with their cases, profiles, data and code."""
    kinds = ("*.sql", "*.toml", "*.yaml", "*.py")
    files = [file for kind in kinds for file in PACKAGE.rglob(kind)]
    return {file: file.read_text("utf-8") for file in files if file.name != "sources.toml"}


def _rule_texts() -> list[str]:
    texts = [source for rule in shipped().values() for source in rule.sources]
    texts += [one.reason for rule in shipped().values() for one in rule.parameters]
    texts += [source for one in settings().values() for source in one.sources]
    texts += [source for data in profiles().values() for source in data["sources"]]
    return [*texts, *(rule.cost for rule in shipped().values())]


@pytest.mark.parametrize("text", sorted(set(_rule_texts())))
def test_a_short_name_leads_somewhere(text: str) -> None:
    for name in sources.names(text):
        places = list(sources.behind(name))
        assert places
        assert all(place == sources.JUDGEMENT or len(place) > len(name) for place in places)


def test_a_rule_never_rests_on_a_short_name_alone() -> None:
    for rule in shipped().values():
        told = list(sources.told(rule.sources))
        assert all(line.strip() for line in told), rule.id
        assert len(told) > sum(line.startswith("review ") for line in told), rule.id


def test_nothing_of_the_file_is_left_over() -> None:
    used = {name for text in _texts().values() for name in sources.names(text)}
    used |= {name for text in _rule_texts() for name in sources.names(text)}
    held = [key for keys in sources.review().values() for key in keys]
    held += [key for _, keys in sources.reference().values() for key in keys]
    assert {f"review {name}" for name in sources.review()} <= used
    assert {f"reference {name}" for name in sources.reference()} <= used | set(held)
    assert set(sources.documents()) <= used | set(held) | {"judgement"}


def test_no_source_is_a_paper_that_is_not_here() -> None:
    found = [str(file) for file, text in _texts().items() if ELSEWHERE.search(text)]
    assert found == []


def test_a_site_may_have_reviews_and_incidents_of_its_own() -> None:
    own = ["incident I-999", "reference B99", "review SITE-7, and what came of it"]
    assert list(sources.told(own)) == own


def test_what_explain_says_by_hand() -> None:
    told = list(sources.told(["review GDR-01", "incident I-003", "CVT: the whole of it", "mine"]))
    assert told[:5] == [
        "incident I-003",
        "  https://github.com/NVIDIA/nccl-tests/issues/112",
        "CVT: the whole of it",
        "  docs.nvidia.com/networking/display/CableValidationTool/Introduction",
        "mine",
    ]
    assert told[5] == "review GDR-01"
    assert "  https://github.com/NVIDIA/nccl-tests/issues/252" in told
