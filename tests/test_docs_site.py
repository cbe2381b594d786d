"""The documents as a site: every page in the navigation, no dead link, nothing from outside.

It is built twice, with Zensical, which serves it, and with MkDocs, which is the way out.
"""

import html
import importlib.util
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

import pytest
import yaml
from conftest import IN_CI, REPOSITORY
from markdown_it import MarkdownIt

from tools.docs_site import BESIDE, navigation, pages_of, stage

HAS_BOTH = all(importlib.util.find_spec(name) for name in ("zensical", "mkdocs"))
SECTIONS = ["Start", "Concepts", "Tasks", "Commands", "Reference", "Report", "Operate", "Security",
            "Comparison", "Develop", "Changelog"]  # fmt: skip
# The same pages with a theme of MkDocs' own; its code colors would come from outside.
PLAIN = """
INHERIT: mkdocs.yml
site_dir: plain
theme: { name: mkdocs, highlightjs: false }
"""
COMMANDS = {
    "html": ["zensical", "build", "--strict", "--clean", "-f", "mkdocs.yml"],
    "plain": ["mkdocs", "build", "--strict", "-f", "plain.yml"],
}
SAID = {"html": "No issues found", "plain": "Documentation built"}


# ---- navigation


def test_the_navigation_has_these_sections() -> None:
    entries = yaml.safe_load((REPOSITORY / "mkdocs.yml").read_text("utf-8"))["nav"]
    assert [title for entry in entries for title in entry] == SECTIONS


def test_every_page_is_in_the_navigation_once() -> None:
    there = {str(path.relative_to(REPOSITORY / "docs")) for path in (REPOSITORY / "docs").rglob("*.md")}  # fmt: skip
    named = Counter(pages_of(navigation()))
    assert set(named) == there | set(BESIDE)
    assert {page: count for page, count in named.items() if count > 1} == {}


# ---- both builds


@pytest.fixture(scope="module")
def staged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    stage(folder)
    (folder / "plain.yml").write_text(PLAIN)
    return folder


@pytest.fixture(scope="module", params=COMMANDS)
def built(request: pytest.FixtureRequest, staged: Path) -> Path:
    """A site, built without a single remark; no network is asked for anything."""
    if not HAS_BOTH and not IN_CI:
        pytest.skip("needs pip install --group docs")
    done = subprocess.run(
        [sys.executable, "-m", *COMMANDS[request.param]], cwd=staged, capture_output=True, text=True,
        env={"PATH": "/usr/bin:/bin", "HOME": str(staged), "http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"},
    )  # fmt: skip
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert SAID[request.param] in said
    assert not re.search(r"warn|error", said, re.IGNORECASE), said
    return staged / str(request.param)


class Page(NamedTuple):
    """What a page refers to, what it loads, and where one can jump to."""

    links: list[str]
    loads: list[str]
    places: set[str]


TAG = re.compile(r"<(?:(a)|link|script|img|iframe|object|source)\s([^>]*)>")
ADDRESS = re.compile(r"(?<![\w-])(?:href|src|srcset|data)=(?:\"([^\"]*)\"|'([^']*)'|([^\s>]+))")
PLACE = re.compile(r"\s(?:id|name)=[\"']?([^\s\"'>]+)")
NEIGHBOR = re.compile(r"rel=[\"']?(?:next|prev|canonical)\b")  # a link that loads nothing


def read(site: Path) -> dict[Path, Page]:
    found = {}
    for path in sorted(site.rglob("*.html")):
        text = path.read_text("utf-8")
        page = Page([], [], set(PLACE.findall(text)))
        for tag in TAG.finditer(text):
            for one in ADDRESS.finditer(tag[2]):
                address = html.unescape(one[1] or one[2] or one[3] or "")
                if tag[1]:
                    page.links.append(address)
                elif not NEIGHBOR.search(tag[2]):
                    page.loads.append(address)
        found[path] = page
    return found


def dead(site: Path) -> Iterator[str]:
    """Links and files that lead nowhere, or outside of the site where they may not."""
    pages = read(site)
    for path, page in pages.items():
        at = path.relative_to(site)
        if at.name == "404.html":  # its addresses are those of a server
            continue
        for target in page.loads:
            if re.match(r"(?:[a-z]+:)?//", target):
                yield f"{at} loads {target}"
            elif not target.startswith("data:") and not (path.parent / unquote(target)).is_file():
                yield f"{at} loads {target}, which is not there"
        for target in page.links:
            file, _, place = unquote(target).partition("#")
            if re.match(r"[a-z]+:", file):
                continue
            to = (path.parent / file).resolve() if file else path
            to = to / "index.html" if to.is_dir() else to
            if not to.is_file():
                yield f"{at}: {target}"
            elif place and to.suffix == ".html" and place not in pages[to].places:
                yield f"{at}: {target}, where there is no such place"


def test_no_link_is_dead_and_nothing_comes_from_outside(built: Path) -> None:
    assert list(dead(built)) == []
    styles = [path for path in built.rglob("*.css") if re.search(
        r"@import|url\(\s*[\"']?(?:https?:)?//", path.read_text("utf-8"))]  # fmt: skip
    assert styles == []
    # What Zensical's script would load from elsewhere, if a page had it.
    texts = [path.read_text("utf-8") for path in built.rglob("*.html")]
    assert not any(re.search(r'class="(?:mermaid|glightbox|pyodide)', text) for text in texts)


def test_every_page_is_built(built: Path, staged: Path) -> None:
    pages = {path.relative_to(staged / "pages") for path in (staged / "pages").rglob("*.md")}
    expected = {
        p.with_name("index.html" if p.name == "README.md" else f"{p.stem}.html") for p in pages
    }
    there = {path.relative_to(built) for path in built.rglob("*.html")}
    assert there - expected == {Path("404.html")}
    assert expected <= there


def test_a_dead_link_would_be_seen(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<a href="b.html#here">1</a><a href="b.html#gone">2</a><a href="c.html">3</a>'
        '<img src="d.svg"><script src="https://example.org/x.js"></script>'
        '<link rel="stylesheet" href="//example.org/x.css"><a href="https://example.org">4</a>'
    )
    (tmp_path / "b.html").write_text('<h1 id="here">b</h1>')
    assert list(dead(tmp_path)) == [
        "a.html loads d.svg, which is not there",
        "a.html loads https://example.org/x.js",
        "a.html loads //example.org/x.css",
        "a.html: b.html#gone, where there is no such place",
        "a.html: c.html",
    ]


# ---- one page, whoever reads it


class Structure(HTMLParser):
    """The elements of a page, and its text without blanks."""

    COUNTED = frozenset(("h1", "h2", "h3", "h4", "ul", "ol", "li", "table", "tr", "th", "td", "pre", "code", "a", "img"))  # fmt: skip

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: Counter[str] = Counter()
        self.text = ""
        self.feed(page)
        self.text = "".join(self.text.split())

    def handle_starttag(self, tag: str, _attributes: list[tuple[str, str | None]]) -> None:
        self.elements[tag] += tag in self.COUNTED

    def handle_data(self, data: str) -> None:
        self.text += data


def as_read(text: str) -> list[tuple[Counter[str], str]]:
    """By GitHub's rules and by Python-Markdown's."""
    import markdown  # noqa: PLC0415 - comes with the group docs

    github = MarkdownIt("commonmark").enable("table").render(text)
    python = markdown.markdown(text, extensions=["tables", "fenced_code"])
    return [(one.elements, one.text) for one in map(Structure, (github, python))]


@pytest.mark.skipif(not HAS_BOTH and not IN_CI, reason="needs pip install --group docs")
def test_a_page_is_the_same_on_github_and_on_the_site(staged: Path) -> None:
    """Lists, tables and code: what the two Markdowns understand differently is written otherwise."""
    found = {}
    for path in sorted((staged / "pages").rglob("*.md")):
        (one, one_text), (other, other_text) = as_read(path.read_text("utf-8"))
        if one != other or one_text != other_text:
            found[str(path.relative_to(staged / "pages"))] = (one - other, other - one)
    assert found == {}
    for differs in ("text\n1. a\n2. b\n", "- a\n  - b\n", "| a |\n|---|\n| `x\\|y` |\n"):
        one, other = as_read(differs)
        assert one != other, differs
