"""docs/commands and man: every verb and every option that the program itself names, and no other."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from conftest import IN_CI, REPOSITORY
from typer.testing import CliRunner

from railwright.cli import VERBS, program
from tools.command_docs import EXAMPLES, GROUPS, examples
from tools.command_tree import Command, tree
from tools.man_pages import _line, _lines

PAGES, MAN = REPOSITORY / "docs/commands", REPOSITORY / "man"
WIDE = {"COLUMNS": "400", "TERMINAL_WIDTH": "400"}
OPTION = re.compile(r"(?<![\w-])--?[a-zA-Z][a-z-]*(?![\w-])")
COMMANDS = [one for one in tree().all() if one.words]


@cache
def helped(command: Command) -> frozenset[str]:
    """The options that --help lists in its boxes; words of the remarks that look alike stay out."""
    done = CliRunner(env=WIDE).invoke(program(), [*command.words, "--help"])
    assert done.exit_code == 0, done.output
    lines = [line for line in done.stdout.splitlines() if re.match(r"│ \*? *-", line)]
    heads = [re.match(r"│ \*? *((?:-[\w-]+ +)+)", line) for line in lines]
    return frozenset(name for head in heads if head for name in OPTION.findall(head[1]))


def section(text: str, command: Command) -> str:
    """What a page says of one command: of several on one page each has its own part."""
    if len(command.words) == 1:
        return text
    return re.split(r"^## ", text.partition(f"## {command.title}\n")[2], flags=re.MULTILINE)[0]


@pytest.mark.parametrize(
    "command", [one for one in COMMANDS if not one.commands], ids=lambda one: " ".join(one.words)
)
def test_a_page_has_every_option_of_the_help_and_no_other(command: Command) -> None:
    text = section((PAGES / f"{command.words[0]}.md").read_text("utf-8"), command)
    rows = re.findall(r"^\| ((?:`-[^|]*?)) \|", text, re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"`(-[\w-]+)`", row)} == helped(command)
    assert f"usage: {command.usage}\n" in text


def test_every_verb_is_listed_once() -> None:
    listed = re.findall(
        r"^\| \[`(\w+)`\]\(\1\.md\)", (PAGES / "README.md").read_text("utf-8"), re.MULTILINE
    )
    assert sorted(listed) == sorted(VERBS)
    assert [name for names in GROUPS.values() for name in names if listed.count(name) > 1] == []
    assert {path.stem for path in PAGES.glob("*.md")} == {"README", *VERBS}


def test_examples_are_lines_of_pages_that_tests_run() -> None:
    readme = "".join((REPOSITORY / page).read_text("utf-8") for page in EXAMPLES)
    for verb, lines in examples().items():
        assert all(line.split()[1] == verb and f"\n{line}\n" in readme for line in lines)
    typed = [line.partition(" #")[0].strip() for line in examples()["check"]]
    assert len(typed) == len(set(typed)) > 3


# ---- man pages


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Every man page as man shows it, with what man has against it behind."""
    if not shutil.which("man"):
        pytest.skip("man is not installed")
    found = {}
    for path in sorted(MAN.glob("*.1")):
        done = subprocess.run(
            ["man", "--warnings", "-E", "UTF-8", "-P", "cat", "-l", str(path)],
            capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", "MANWIDTH": "400", "LC_ALL": "C.UTF-8"},
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, ""), path.name
        found[path.stem] = re.sub(r".\x08", "", done.stdout)
    return found


def test_man_has_a_page_for_each_verb(shown: dict[str, str]) -> None:
    assert set(shown) == {"railwright", *(f"railwright-{verb}" for verb in VERBS)}
    for name, text in shown.items():
        # What `man -k` takes: one line, the name first.
        assert re.search(rf"^NAME\n +{name} - [a-z]\S* ", text, re.MULTILINE), name


@pytest.mark.parametrize("verb", VERBS)
def test_a_man_page_has_every_option_and_example_as_they_are_typed(
    verb: str, shown: dict[str, str]
) -> None:
    text = shown[f"railwright-{verb}"]
    tags = re.findall(r"^ {7}(-.*)$", text, re.MULTILINE)
    commands = [one for one in COMMANDS if one.words[0] == verb and not one.commands]
    assert {name for tag in tags for name in OPTION.findall(tag)} == set().union(
        *map(helped, commands)
    )
    for line in examples().get(verb, ()):
        typed = line.partition(" #")[0].strip()
        assert re.search(rf"^ +{re.escape(typed)}$", text, re.MULTILINE), typed


def test_the_first_man_page_has_what_all_commands_share(shown: dict[str, str]) -> None:
    text = shown["railwright"]
    for said in (
        "EXIT STATUS\n       0 ",
        "RAILWRIGHT_STORE\n",
        "~/.config/railwright/site.toml\n",
    ):
        assert said in text
    assert {f"railwright-{verb}(1)" for verb in VERBS} <= set(
        re.findall(r"railwright-\w+\(1\)", text)
    )


def complaints(path: Path) -> Iterator[str]:
    """What mandoc has against a page, but that it has no date: it is as old as the program."""
    done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", str(path)], capture_output=True, text=True)  # fmt: skip
    yield from (line for line in done.stdout.splitlines() if "missing date" not in line)


@pytest.mark.skipif(not shutil.which("mandoc") and not IN_CI, reason="mandoc is not installed")
def test_mandoc_has_nothing_against_them(tmp_path: Path) -> None:
    assert [said for path in sorted(MAN.glob("*.1")) for said in complaints(path)] == []
    (tmp_path / "bad.1").write_text('.TH BAD 1 "" "x"\n.SH NAME\nbad \\- bad\n.NOSUCH\n')
    assert list(complaints(tmp_path / "bad.1")) != []


@pytest.mark.parametrize(
    ("text", "roff"),
    [
        ("a-b", r"a\-b"),
        (".x", r"\&.x"),
        ("'previous' is", r"\&\(aqprevious\(aq is"),
        (r"a\b", r"a\eb"),
        ("run `check -w`", r"run \fBcheck \-w\fR"),
        ("µs", r"\[u00B5]s"),
        ("[site file](site.md)", "site file"),
    ],
)
def test_nothing_in_a_text_is_a_request(text: str, roff: str) -> None:
    assert _line(text) == roff
    assert not any(line.startswith((".", "'")) for line in _lines(f"{'word ' * 15}.x {text}"))
