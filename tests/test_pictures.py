"""The pictures of a terminal in the documents: what the commands print on the demo today.

RAILWRIGHT_GOLDEN=write draws them again; then look at them.
"""

import html
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from conftest import REPOSITORY

from railwright.demo import unpack
from tools.terminal_picture import COLUMNS, bare, beginning, picture, printed

IMAGES = REPOSITORY / "docs/images"
# name -> what is typed, and the line before which the picture ends
PICTURES = {
    "check": ("railwright check", "high      acs-redirect"),
    "explain": (
        "railwright explain pcie-link-narrow --subject ember-h007:0000:29:00.0",
        "Exceptions and false positives",
    ),
}
STORE = ".local/state/railwright-demo"
RULES = re.compile(r"\d+ rules(?:: .* decided|  ?skipped)")
MOST_LINES, MOST_BYTES = 40, 40_000


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    """A home whose name always has the same length: it stands in a line that may be wrapped."""
    folder = Path(tempfile.mkdtemp(prefix="rw-", dir="/tmp"))
    try:
        (folder / ".local/state").mkdir(parents=True)
        unpack(folder / STORE)
        yield folder
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="module", params=PICTURES)
def shown(request: pytest.FixtureRequest, home: Path) -> tuple[str, str, str]:
    """The name of a picture, what is typed and what is printed."""
    command, until = PICTURES[request.param]
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "LC_ALL": "C.UTF-8"}
    environment["RAILWRIGHT_STORE"] = str(home / STORE)
    text = printed([sys.executable, "-m", *command.split()], environment)
    return request.param, command, beginning(text, until).replace(str(home), "~")


def with_rules_of(text: str, svg: str) -> str:
    """With the counts of rules that the picture has: how many there are is no matter of a picture."""
    for then in filter(RULES.match, lines_of(svg)):
        form = re.compile("".join(r"[\d,]+" if n % 2 else re.escape(part) for n, part in enumerate(
            re.split(r"([\d,]+)", then))))  # fmt: skip
        text = form.sub(then, text)
    return text


def test_a_picture_is_what_the_command_prints(shown: tuple[str, str, str]) -> None:
    name, command, text = shown
    file = IMAGES / f"{name}.svg"
    if os.environ.get("RAILWRIGHT_GOLDEN") == "write":
        file.write_text(picture(command, text), "utf-8")
    drawn = picture(command, with_rules_of(text, file.read_text("utf-8")))
    assert drawn == file.read_text("utf-8"), "RAILWRIGHT_GOLDEN=write pytest tests/test_pictures.py"


def lines_of(svg: str) -> list[str]:
    """What a reader sees, line by line, read from the picture alone."""
    found: dict[int, str] = {}
    for x, clip, text in re.findall(
        r'<text class="[^"]*" x="([\d.]+)"[^>]*clip-path="url\(#railwright-line-(\d+)\)">(.*?)</text>', svg
    ):  # fmt: skip
        at = round(float(x) / 12.2)  # Rich's width of a sign
        line = int(clip)
        found[line] = found.get(line, "").ljust(at) + html.unescape(text).replace("\xa0", " ")
    return [found.get(line, "").rstrip() for line in range(max(found) + 1)]


def test_the_text_in_the_picture_is_the_output(shown: tuple[str, str, str]) -> None:
    name, command, text = shown
    svg = (IMAGES / f"{name}.svg").read_text("utf-8")
    lines = [line.rstrip() for line in bare(with_rules_of(text, svg)).splitlines()]
    assert lines_of(svg) == [f"$ {command}", *lines]
    assert len(lines) <= MOST_LINES
    assert max(map(len, lines)) <= COLUMNS
    assert bare(text) != text, "a terminal has colors"


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_loads_nothing_and_is_named_in_a_page(name: str) -> None:
    text = (IMAGES / f"{name}.svg").read_text("utf-8")
    assert len(text) < MOST_BYTES
    addresses = re.findall(r"[a-z]+://[^\"'\s)]*", text)
    assert set(addresses) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"@font-face|@import|<image|<script|xlink|\bon\w+=", text)
    assert set(re.findall(r"url\(([^)#]*)", text)) == {""}  # its own parts
    root = ElementTree.fromstring(text)
    named = [one.get("id") for one in root.iter() if one.get("id")]
    assert len(named) == len(set(named))
    pages = [*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/**/*.md")]
    assert [p for p in pages if f"images/{name}.svg)" in p.read_text("utf-8")]


def test_every_picture_is_drawn_here() -> None:
    assert {path.stem for path in IMAGES.glob("*.svg")} == set(PICTURES)
