"""The page about what stands behind the short names of sources, written from sources.toml."""

from collections.abc import Callable, Iterator

from railwright.check.rule import by_name, shipped
from railwright.check.sources import documents, reference, review
from tools.markdown import GENERATED, head, row


def _page() -> Iterator[str]:
    yield "# Sources: what the short names stand for"
    yield ""
    yield GENERATED.format("src/railwright/rules/sources.toml")
    yield ""
    yield "Rules, profiles, the reasons of their limits and [settings](settings/README.md) name"
    yield "their sources in short. A rule's own page, and `railwright explain RULE`, say in full"
    yield "where to look each of them up."
    yield ""
    yield "- `incident I-003`: one of the [public incidents](incidents.md)."
    yield "- `reference B6`: facts that were gathered from several [documents](#documents)."
    yield "- `review PCI-01`: what the condition of a rule rests on, as it was reviewed before it"
    yield "  was written. `G-…` are conditions that many rules share, `EFFECTS` is what a cure does"
    yield "  to a link or a card in use."
    yield "- `judgement`: no document says it."
    yield from ("", "## Reference", "")
    yield from head("name", "about", "documents")
    for name, (about, keys) in reference().items():
        yield row(name, about, ", ".join(keys))
    yield from ("", "## Review", "")
    yield from head("name", "rests on")
    now = by_name(shipped().values())
    for name, keys in review().items():
        shown = f"[{name}](rules/{now[name]}.md)" if name in now else name
        yield row(shown, ", ".join(keys))
    yield from ("", "## Documents", "")
    yield from head("key", "where")
    for key, where in documents().items():
        yield row(key, where)


def source_pages() -> dict[str, Callable[[], Iterator[str]]]:
    """Path -> what writes the page."""
    return {"docs/sources.md": _page}
