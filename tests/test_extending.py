"""docs/extending.md: every command of the page, in a copy of the repository, and every file it names.

A block `sh` is run as it stands; of a block `console` each `$` line is run, and the lines below it
must be in what it prints, in this order. What a section changes must be named in that section.
"""

import os
import re
import subprocess
import sys
import venv
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

import pytest
from conftest import REPOSITORY

PAGE = REPOSITORY / "docs/extending.md"
TOYS = "docs/examples/toy-"
# What is done by people who look at the lab's hosts; nothing of it can be a toy.
WITHOUT_TOY = {
    *("A fault of a host", "A fault of a fabric"),
    *("A kind of host", "Output of a tool for the lab"),
}
_BLOCK = re.compile(r"^```(sh|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PATH = re.compile(r"`((?:src|tests|lab|docs|tools|bench)/[^`\s]+|[A-Z]+\.md)`")
_WRITES = re.compile(r"(?:>> |^ *sed -i .* )\"?((?:src|lab)/[^\s\"$]+)\"?(?: <<|$)", re.MULTILINE)


class Section(NamedTuple):
    """One unit of extension."""

    title: str
    text: str

    @property
    def blocks(self) -> list[tuple[str, str]]:
        return _BLOCK.findall(self.text)

    @property
    def named(self) -> set[str]:
        """The files that its words name, `<name>` as `*`."""
        words = _BLOCK.sub("", self.text)
        return {re.sub(r"<\w+>", "*", path) for path in _PATH.findall(words)}


def sections() -> list[Section]:
    head, *parts = re.split(r"^## ", PAGE.read_text("utf-8"), flags=re.MULTILINE)
    return [Section("", head)] + [Section(*part.split("\n", 1)) for part in parts]


def tracked() -> list[str]:
    """The files of the repository, and those that are about to be."""
    done = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=REPOSITORY, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [name for name in done.stdout.split("\0") if name and (REPOSITORY / name).is_file()]


class Copy:
    """A copy of the repository, as somebody has it who has just cloned and installed it."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "railwright"
        for name in tracked():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes((REPOSITORY / name).read_bytes())
        self._programs = folder / "venv/bin"
        self._install(folder / "venv")
        kept = {name: value for name, value in os.environ.items() if "PYTHON" not in name}
        self._environment = {
            **kept, "PATH": f"{self._programs}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "RAILWRIGHT_STORE": str(folder / "store"),
            # Somebody's repository around the folder would be taken for that of the patches.
            "GIT_CEILING_DIRECTORIES": str(folder),
        }  # fmt: skip
        self._environment.pop("RAILWRIGHT_CI", None)

    def _install(self, folder: Path) -> None:
        """As `pip install -e .` does it, with what is installed here: also `python -I` finds the copy."""
        venv.create(folder, symlinks=True)
        (site,) = folder.glob("lib/python*/site-packages")
        installed = [path for path in sys.path if path.endswith("site-packages")]
        (site / "copy.pth").write_text("\n".join([str(self.root / "src"), *installed]))
        for name, run in (("railwright", "railwright"), ("pytest", "pytest")):
            script = self._programs / name
            script.write_text(f'#!/bin/sh\nexec {self._programs}/python -m {run} "$@"\n')
            script.chmod(0o755)

    def run(self, script: str) -> subprocess.CompletedProcess[str]:
        # One process is enough for a few tests, and a cache would be a change.
        script = re.sub(
            r"^just test ", "just parallel='-p no:cacheprovider' test ", script, flags=re.MULTILINE
        )
        return subprocess.run(
            ["bash", "-euc", script], cwd=self.root, env=self._environment,
            capture_output=True, text=True,
        )  # fmt: skip

    def state(self) -> dict[str, bytes]:
        return {
            path.relative_to(self.root).as_posix(): path.read_bytes()
            for path in self.root.rglob("*")
            if path.is_file() and not {".hypothesis", "__pycache__"} & set(path.parts)
        }


class Done(NamedTuple):
    """What became of a section: its first trouble, and the files that it changed."""

    trouble: str
    changed: set[str]


def told(copy: Copy, block: str) -> str:
    """The trouble with a console: a command that fails, or a line that is not printed."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, *lines = part.rstrip("\n").split("\n")
        done = copy.run(command)
        if done.returncode not in (0, 1, 3):  # 1: findings; 3: something was not read
            return f"$ {command}\n{done.stdout}{done.stderr}"
        rest = done.stdout
        for line in filter(None, lines):
            _, found, rest = rest.partition(line)
            if not found:
                return f"$ {command}\nis not printed: {line}\n{done.stdout}{done.stderr}"
    return ""


def performed(copy: Copy, section: Section) -> str:
    for kind, block in section.blocks:
        if kind == "console":
            trouble = told(copy, block)
        else:
            done = copy.run(block)
            trouble = done.stdout + done.stderr if done.returncode else ""
        if trouble:
            return trouble
    return ""


@pytest.fixture(scope="module")
def all_done(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Done]:
    """Every section of the page, one after the other in one copy."""
    copy = Copy(tmp_path_factory.mktemp("extending"))
    found, before = {}, copy.state()
    for section in sections()[1:]:
        trouble = performed(copy, section)
        after = copy.state()
        changed = {
            name for name in before.keys() | after.keys() if before.get(name) != after.get(name)
        }
        found[section.title], before = Done(trouble, changed), after
    return found


# `just docs` -> the files that it writes, as the table at the head of the page has them.
RECIPES = {
    line.split("`")[1]: {f"{name}*" for name in _PATH.findall(line)}
    for line in sections()[0].text.splitlines()
    if line.startswith("| `just ")
}
each_section = pytest.mark.parametrize("section", sections()[1:], ids=lambda one: one.title)


@each_section
def test_a_section_does_what_it_says(all_done: dict[str, Done], section: Section) -> None:
    assert all_done[section.title].trouble == ""


@each_section
def test_a_section_names_what_it_changes(all_done: dict[str, Done], section: Section) -> None:
    changed = all_done[section.title].changed
    assert bool(changed) == (section.title not in WITHOUT_TOY)
    patterns = section.named | {
        name for recipe in RECIPES if recipe in section.text for name in RECIPES[recipe]
    }
    assert [n for n in sorted(changed) if not any(fnmatch(n, one) for one in patterns)] == []
    written = {name for kind, block in section.blocks for name in _WRITES.findall(block)}
    assert written <= changed, "a command that changes nothing"


@each_section
def test_every_file_that_is_named_exists(section: Section) -> None:
    there = tracked()
    names = {name for name in section.named if not any(fnmatch(one, f"{name}*") for one in there)}
    assert names == set()


def toy_files() -> Iterator[str]:
    return (name for name in tracked() if name.startswith(TOYS))


def test_every_toy_is_on_the_page() -> None:
    """A toy that no command takes would be tried by nobody."""
    page = PAGE.read_text("utf-8")
    tops = {name.removeprefix("docs/examples/").partition("/")[0] for name in toy_files()}
    assert len(tops) > 5
    assert [top for top in sorted(tops) if f"docs/examples/{top}" not in page] == []
    assert [name for name in toy_files() if not re.search("toy", name.removeprefix(TOYS))] == [
        f"{TOYS}{name}" for name in ("column.patch", "switch-command.patch")
    ]


def test_what_is_not_as_the_page_says_is_seen() -> None:
    section = Section(
        "x", "Write `src/railwright/parse/<name>.py`.\n```sh\ncat >> src/a.toml\n```\n"
    )
    assert section.named == {"src/railwright/parse/*.py"}
    assert _WRITES.findall(section.blocks[0][1]) == ["src/a.toml"]
    assert _WRITES.findall("cat >> src/a.toml <<'END'\n") == ["src/a.toml"]
