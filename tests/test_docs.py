"""The documents hold: generated pages, command lines, exit statuses, links, licences."""

import re
import shlex
from collections.abc import Iterator
from importlib.metadata import distribution

import pytest
import typer
from conftest import REPOSITORY

from railwright.cli import program
from railwright.collect.probe import probes
from railwright.toml import load_toml
from tools.generate_docs import PAGES, page

DOCUMENTS = sorted([*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/**/*.md")])
NAMES = [str(path.relative_to(REPOSITORY)) for path in DOCUMENTS]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`(railwright [^`\n]+)`")


def text_of(name: str) -> str:
    return (REPOSITORY / name).read_text("utf-8")


def command_lines(text: str) -> Iterator[list[str]]:
    """The words behind `railwright`, of every line in a block and of every inline example."""
    lines = [
        line.removeprefix("$ ")
        for kind, block in FENCE.findall(text)
        for line in block.splitlines()
        if kind != "console" or line.startswith("$ ")  # the rest of a console is output
    ]
    lines += [line for line in text.splitlines() if line.startswith("    railwright ")]
    lines += INLINE.findall(FENCE.sub("", text))
    for line in lines:
        for part in re.split(r" [|>] | && ", re.sub(r"\s+#.*", "", line.strip())):
            if part.startswith("railwright "):
                yield shlex.split(part)[1:]


def parse(words: list[str]) -> None:
    """Let the command tree take the words apart, as it does before it runs anything."""
    command = typer.main.get_command(program())
    context = command.make_context("railwright", list(words))
    while hasattr(command, "resolve_command"):
        rest = [*getattr(context, "_protected_args", []), *context.args]
        name, command, rest = command.resolve_command(context, rest)
        context = command.make_context(name, rest, parent=context)


@pytest.mark.parametrize("name", list(PAGES))
def test_generated_pages_are_what_the_code_says(name: str) -> None:
    assert text_of(name) == page(name), "run: just docs"


def complaint(words: list[str]) -> str:
    """What the command line has against these words, '' if nothing."""
    try:
        # A verb alone (`railwright merge`) names it; its arguments are not the point there.
        parse([*words, "--help"] if len(words) == 1 else words)
    except Exception as error:
        # Exit: --help or --version, once it has printed.
        return "" if type(error).__name__ == "Exit" else str(error) or type(error).__name__
    return ""


@pytest.mark.parametrize("name", NAMES)
def test_every_command_line_parses(name: str) -> None:
    for words in command_lines(text_of(name)):
        assert not complaint(words), f"{name}: railwright {shlex.join(words)}"


def test_the_check_of_command_lines_would_notice() -> None:
    for wrong in ("collect --no-such", "colect -w a", "store prune --keep x", "show --store x"):
        assert complaint(wrong.split()), wrong
    found = list(command_lines("```sh\nrailwright runner > rw.py  # x\n```\n`railwright facts`\n"))
    assert found == [["runner"], ["facts"]]


def test_the_readme_shows_every_verb_that_there_is() -> None:
    used = {words[0] for words in command_lines(text_of("README.md")) if words}
    assert set(typer.main.get_command(program()).commands) <= used


def test_the_page_gives_the_exit_statuses_of_the_help() -> None:
    said = program().info.help or ""
    row = re.compile(r"^\| (\d) \| ([^|(:]+?)(?: \(|:| \|)", re.MULTILINE)
    listed = dict(row.findall(text_of("docs/exit-status.md")))
    assert list(listed) == ["0", "1", "2", "3", "4"]
    for number, meaning in listed.items():
        first_words = " ".join(re.split(r"[,:]", meaning)[0].split()[:2])
        assert f"{number} {first_words}" in said


@pytest.mark.parametrize("name", NAMES)
def test_links_between_documents_lead_somewhere(name: str) -> None:
    text = FENCE.sub("", text_of(name))
    for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)", text):
        if "://" in target:
            continue
        file = (REPOSITORY / name).parent / target if target else REPOSITORY / name
        assert file.exists(), f"{name}: {target}"
        if anchor:
            titles = re.findall(r"^#+ (.*)$", file.read_text("utf-8"), re.MULTILINE)
            assert anchor in [title.lower().replace(" ", "-") for title in titles]


def test_the_changelog_counts_the_probes_that_there_are() -> None:
    listed = re.search(r"(\d+) probes: ([^.]*)\.", text_of("CHANGELOG.md"))
    assert listed
    assert int(listed.group(1)) == len(probes())
    assert re.split(r",\s+", listed.group(2)) == list(probes())


@pytest.mark.slow  # it wants what developers have, and pip: not in each environment of CI
def test_every_dependency_has_its_row_and_its_licence() -> None:
    from tools.wheels import licence  # noqa: PLC0415 - pip's own modules

    project = load_toml(text_of("pyproject.toml"), "pyproject.toml")
    groups = project["dependency-groups"]
    wanted = [*project["project"]["dependencies"], *groups["dev"], *groups["test"], *groups["docs"]]
    wanted = [text for text in wanted if text != {"include-group": "test"}]
    names = [re.match(r"[\w-]+", text).group(0) for text in wanted]
    rows = text_of("docs/decisions/0003-dependencies.md")
    short = {"BSD License": "BSD", "MIT License": "MIT"}
    for name in names:
        row = re.search(rf"^\| (?:[^|]*, )?{re.escape(name)} [^\n]*$", rows, re.MULTILINE)
        assert row, f"{name} has no row in 0003-dependencies.md"
        if name == "tomli":  # not installed where Python has it already
            continue
        said = licence(distribution(name).metadata)
        said = short.get(said, said)
        family = re.search(r"LGPL|GPL|MPL|BSD|MIT|CC0|Apache", said)
        assert family, said
        assert family.group(0) in row.group(0), f"{name}: {said}"
