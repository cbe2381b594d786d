"""Every word of the documents is in a dictionary, or among our own in tests/words.txt.

Code, addresses and names are left out: what has a capital behind its first letter, a digit, or a
sign that no word has.
"""

import re
import shutil
import subprocess
from collections.abc import Iterator

import pytest
from conftest import REPOSITORY

pytestmark = pytest.mark.skipif(not shutil.which("hunspell"), reason="hunspell is not installed")
PAGES = sorted([*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/**/*.md")])
OURS = (REPOSITORY / "tests/words.txt").read_text("utf-8").splitlines()
BLOCK = re.compile(r"^```.*?^```\s*$", re.DOTALL | re.MULTILINE)
# A span, where a link leads, an address, a tag, an indented block.
CODE = re.compile(r"`[^`\n]*`|\]\([^)]*\)|https?://\S+|<[^>\n]+>|^    .*$", re.MULTILINE)
BETWEEN = re.compile(r"[\s|()\[\]\"“”,;*\u2013—…]+")
WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*")


def words(text: str) -> Iterator[str]:
    for token in BETWEEN.split(CODE.sub(" ", BLOCK.sub(" ", text))):
        bare = token.strip(".:'!?-")
        if re.search(r"[\d_=<>@#&%$+~\\^/.:]", bare):
            continue
        for part in bare.split("-"):
            yield from (w for w in WORD.findall(part) if w[1:].removesuffix("'s").islower())


def unknown(listed: set[str]) -> set[str]:
    """What is in no dictionary: of all words at once, one process costs a tenth of a second."""
    done = subprocess.run(
        ["hunspell", "-d", "en_US", "-i", "utf-8", "-l"],
        input="\n".join(sorted(listed)), capture_output=True, text=True, check=True,
    )  # fmt: skip
    return {word for word in done.stdout.split() if word.lower().removesuffix("'s") not in OURS}


def test_every_word_is_known() -> None:
    found = {page: set(words(page.read_text("utf-8"))) for page in PAGES}
    bad = unknown(set().union(*found.values()))
    told = {str(p.relative_to(REPOSITORY)): sorted(w & bad) for p, w in found.items() if w & bad}
    assert told == {}, "mend it, put it into a code span, or add it to tests/words.txt"


def test_our_words_are_sorted_and_needed() -> None:
    assert sorted(set(OURS)) == OURS
    used = {w.lower().removesuffix("'s") for page in PAGES for w in words(page.read_text("utf-8"))}
    assert [word for word in OURS if word not in used] == []


def test_a_mistake_is_seen_and_a_name_is_not() -> None:
    text = "A recieved frame of `mlx5_cor` via ConnectX-7.\n```\nnonsens\n```\n[x](./nosuch.md)"
    assert unknown(set(words(text))) == {"recieved"}
