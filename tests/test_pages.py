"""Pages for readers: what they show is printed on the demo, and what they count is so.

In a console block … stands for what is left out: the end of a line, or lines.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from conftest import REPOSITORY

from railwright.cli import VERBS
from railwright.demo import unpack

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ON_THE_DEMO = (
    "docs/concepts.md",
    "docs/plan.md",
    *sorted(f"docs/tasks/{path.name}" for path in (REPOSITORY / "docs/tasks").glob("*.md")),
)
# In plain blocks of all pages below: what wants a cluster, a file of the reader's or a new machine.
ELSEWHERE = re.compile(
    r"^(?:railwright (?:collect|merge|waive|import|runner|report)\b|railwright --install|just|pipx?|podman"
    r"|python3? |man |scontrol|railwright demo$)"
)
NOT_ON_THE_DEMO = ("store finish",)  # nothing was cut off there


def text_of(name: str) -> str:
    return (REPOSITORY / name).read_text("utf-8")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack(tmp_path_factory.mktemp("demo") / "store")


def steps(name: str) -> Iterator[tuple[str, str]]:
    """What is typed in console blocks, and what is printed then."""
    for kind, block in FENCE.findall(text_of(name)):
        if kind == "console":
            parts = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)
            assert parts[0] == "", f"{name}: a console block begins with what is typed"
            yield from zip(parts[1::2], parts[2::2], strict=True)


def shows(expected: str, printed: str) -> bool:
    """Whether a text with … in it is what was printed."""
    pattern = re.escape(expected).replace("…\\\n", "…\n")
    pattern = re.sub(r"(?<![^\n])…\n", "(?:.*\n)*?", pattern)  # whole lines, or none
    return bool(re.fullmatch(pattern.replace("…", ".*"), printed))


def bash(line: str, folder: Path, store: Path) -> "subprocess.CompletedProcess[str]":
    """What is typed, in a folder."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    environment["RAILWRIGHT_STORE"] = str(store)
    return subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, text=True, env=environment)  # fmt: skip


@cache
def printed(store: Path, command: str) -> tuple[int, str]:
    if "plan.json" in command and not (store / "plan.json").is_file():
        bash("railwright plan -o plan.json", store, store)  # which the page made above
    done = bash(command, store, store)
    return done.returncode, re.sub(r" +$", "", done.stdout, flags=re.MULTILINE)


@pytest.mark.parametrize(
    ("name", "command", "expected"),
    [pytest.param(name, *step, id=f"{name} {step[0]}") for name in ON_THE_DEMO for step in steps(name)],
)  # fmt: skip
@pytest.mark.one_in(3)
def test_a_page_shows_what_is_printed_on_the_demo(
    store: Path, name: str, command: str, expected: str
) -> None:
    status, text = printed(store, command)
    assert status in (0, 1, 3)
    assert shows(expected, text), text


def test_what_is_left_out_is_marked() -> None:
    assert shows("a\n…\nd\n", "a\nb\nc\nd\n")
    assert shows("a\n…\nd\n", "a\nd\n")
    assert shows("a … d\n", "a b c d\n")
    assert shows("…\nb\n…\n", "a\nb\n")
    assert not shows("a\nd\n", "a\nb\nd\n")
    assert not shows("a … d\n", "a b\nc d\n")
    assert not shows("…\nx\n…\n", "a\nb\n")


WITH_PLAIN = (
    *ON_THE_DEMO, "docs/install.md", "docs/files.md",
    *sorted(f"docs/operate/{path.name}" for path in (REPOSITORY / "docs/operate").glob("*.md")),
)  # fmt: skip
PLAIN = [
    (name, line)
    for name in WITH_PLAIN
    for kind, block in FENCE.findall(text_of(name)) if kind == "sh"
    for line in (one.partition("  #")[0].strip() for one in block.splitlines()) if line
]  # fmt: skip


def runs_on_the_demo(line: str) -> bool:
    return not ELSEWHERE.match(line) and not any(word in line for word in NOT_ON_THE_DEMO)


@pytest.mark.parametrize(("name", "line"), [one for one in PLAIN if runs_on_the_demo(one[1])])
@pytest.mark.one_in(3)
def test_a_plain_command_runs_on_the_demo(store: Path, name: str, line: str) -> None:
    assert line.startswith("railwright "), f"{name}: {line}"
    status, text = printed(store, line.partition(" > ")[0].replace("gpu0", "ember-h0"))
    assert status in (0, 1, 3), f"{name}: {line}"
    assert text or "verify" in line


def test_the_script_tells_statuses_apart(store: Path, tmp_path: Path) -> None:
    page = text_of("docs/exit-status.md")
    [block] = [block for kind, block in FENCE.findall(page) if kind == "sh"]
    quick = block.replace("check --json", "check --json --select {}")
    for rule, says in (
        ("pcie-link-narrow", "findings: see findings.json"),
        ("address-twice", "no findings, but not everything is known"),
    ):
        done = bash(quick.format(rule), tmp_path, store)
        assert (done.returncode, done.stdout) == (0, f"{says}\n"), done.stderr
        assert json.loads((tmp_path / "findings.json").read_text())["rules"][0]["id"] == rule
    done = bash(quick.format("nosuch"), tmp_path, store)
    assert (done.returncode, done.stdout) == (1, "")
    assert "railwright itself failed" in done.stderr


def test_a_pod_or_a_host_without_ssh_takes_these_steps(tmp_path: Path) -> None:
    """The block of docs/operate/air-gap.md, with this machine as the host."""
    [block] = [
        block
        for _, block in FENCE.findall(text_of("docs/operate/air-gap.md"))
        if "rw.py >" in block
    ]
    assert [line.split()[:2] for line in block.splitlines()] == [
        ["railwright", "runner"], ["python3", "-I"], ["railwright", "import"],
    ]  # fmt: skip
    # 3: what only root, or a host with NICs, could have answered is missing.
    block = block.replace("import gpu017.rw", "import gpu017.rw || test $? = 3")
    done = bash(f"set -e\n{block}", tmp_path, tmp_path / "store")
    assert done.returncode == 0, done.stderr
    assert "1 reached" in done.stdout


# ---- what pages count


def figures() -> dict[str, str]:
    """The sections of docs/figures.md by title."""
    parts = re.split(r"^## (.*)\n", text_of("docs/figures.md"), flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def test_figures_of_scale_are_those_that_were_measured() -> None:
    measured = (
        text_of("docs/operate/scale.md").partition("## What was measured")[2].partition("\n## ")[0]
    )
    rows = re.findall(r"^\| (.*?) \| (.*?) \| (.*?) \|$", measured, re.MULTILINE)[1:]
    assert len(rows) > 10
    sections = figures()
    for what, figure, section in rows:
        assert re.search(rf"(?<![\d.,]){re.escape(figure)}(?!\w)", sections[section]), what
    # Derived from them, as the text says: CPU per host, and what a snapshot takes.
    seconds = 0.190 * 10_000
    assert 25 < seconds / 60 < 35
    assert 5 < seconds * 10 / 3600 < 6
    assert 9 < seconds * 10 / 32 / 60 < 11
    assert round(83.6 * 100_000 / 1e6) == 8


def test_every_exit_status_has_its_row() -> None:
    rows = re.findall(r"^\| (\d+) \| (.*?) \|$", text_of("docs/exit-status.md"), re.MULTILINE)
    assert [number for number, _ in rows] == ["0", "1", "2", "3", "4", "130", "141"]


def test_every_variable_that_is_read_is_listed() -> None:
    read = {
        name
        for path in (REPOSITORY / "src/railwright").rglob("*.py")
        if path.name != "runner.py"  # which reads those of the host
        for name in re.findall(r"environ(?:\.get\(|\[)\"([A-Z_]+)\"", path.read_text("utf-8"))
        if not name.startswith(("_", "COMP_")) and name not in ("PATH", "LANG", "LC_ALL")
    } | {"RAILWRIGHT_SITE", "RAILWRIGHT_WAIVERS"}  # through a function of config.py
    page = text_of("docs/files.md").partition("## Environment variables")[2]
    assert {name for name in read if f"`{name}`" not in page} == set()
    assert len(read) >= 6


def test_every_folder_has_its_row_in_the_architecture() -> None:
    folders = {path.parent.name for path in (REPOSITORY / "src/railwright").glob("*/__init__.py")}
    page = text_of("docs/architecture.md")
    named = {name for row in re.findall(r"^\| (`.*?) \|", page, re.MULTILINE) for name in re.findall(r"`(\w+)/`", row)}  # fmt: skip
    assert named == folders | {"rules"}


def test_verbs_of_the_pages_are_verbs() -> None:
    """A planned one may be named, and only as planned."""
    page = text_of("docs/comparison.md")
    for planned in ("apply", "prove"):
        assert planned not in VERBS, f"docs/comparison.md says that {planned} is planned"
        assert f"`{planned}`" in page
