"""The page about what repairs disturb, written from the settings and the rules."""

from collections.abc import Callable, Iterator

from railwright.check.rule import Rule, shipped
from railwright.settings.words import DISTURBANCES, REACH, TAKES_HOLD, WAY_BACK
from tools.markdown import GENERATED, head, row


def _link(rule: Rule) -> str:
    return f"[{rule.id}](rules/{rule.id}.md)"


def _page() -> Iterator[str]:
    yield "# Repairs: what they disturb"
    yield ""
    yield GENERATED.format("src/railwright/settings and the rules")
    yield ""
    yield "`check` says under each rule what its repair disturbs, in one of these words (JSON:"
    yield "`disturbs`). A rule that sets something has the word of its setting; any other has that"
    yield "of its action, or says it itself. Of switch systems it is the worst that is documented;"
    yield "a remark says where or when it is something else. If a repair does not help, the next"
    yield "step of *What to do* may disturb more. [Settings](settings/README.md) has all of them."
    yield ""
    yield from head("disturbs", "meaning", "rules")
    for word, meaning in DISTURBANCES.items():
        rules = [_link(rule) for rule in shipped().values() if rule.disturbs == word]
        yield row(word, meaning, ", ".join(rules))
    for title, words in (
        ("Takes hold", {code: meaning for code, (meaning, _) in TAKES_HOLD.items()}),
        ("Reach", REACH),
        ("Way back", WAY_BACK),
    ):
        yield from ("", f"## {title}", "")
        yield from head("word", "meaning")
        yield from (row(f"`{word}`", meaning) for word, meaning in words.items() if word)


def repair_pages() -> dict[str, Callable[[], Iterator[str]]]:
    """Path -> what writes the page."""
    return {"docs/repairs.md": _page}
