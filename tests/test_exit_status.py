"""The exit status: chosen in one module, and the same in every format of a verb."""

import ast
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from conftest import REPOSITORY
from typer.testing import CliRunner

from lab.harness.by_hand import target, with_derived
from lab.harness.small_fabric import change, fabric
from railwright.cli import program

PACKAGE = REPOSITORY / "src/railwright"
STATUS = "report/status.py"
# Programs of their own, on a host and beside a collect: their status is for who started them.
OF_THEIR_OWN = {"runner.py", "ingesting.py"}
ENDS = {"Exit", "exit", "SystemExit"}
# What a verb is asked so that it answers 0, 1 or 3 as the snapshot is. By verb, several questions.
ASKED = {
    "check": [["--select", "link-lossless-differs"]],
    "links": [[]],
    "rails": [[]],
    "path": [[], ["gpu1:mlx5_0", "gpu2:mlx5_0"]],
    "predict ceiling": [[], ["--pair", "gpu1:mlx5_0", "gpu2:mlx5_0"]],
    "predict nccl": [["--gpu", "H100"], ["--gpu", "H100", "--collective", "all_to_all"]],
    "report": [["--out", "-"]],
    "fit": [
        ["MCX755106AS-HEAT", "--slot", "gen5x16"],
        ["MCX755106AS-HEAT", "--slot", "gen4x16"],
        ["MCX755106AS-HEAT"],
    ],
    "hardware": [["MCX755106AS-HEAT"]],
    "sql": [["SELECT 1"]],
    "facts": [[]],
    "rules": [[]],
    "evidence": [["gpu1"]],
    "intent init": [[]],
    "intent profiles": [[]],
    "store list": [[]],
    "store verify": [[]],
    "store upgrade": [[]],
    "store prune": [["--keep", "9"]],
    "diff": [["2026-11-13"]],
    "show": [["gpu1"], ["leaf1"]],
    "explain": [
        ["link-lossless-differs"],
        ["link-lossless-differs", "--subject", "leaf1:Ethernet0"],
    ],
}
MAKE_SNAPSHOTS = {"collect", "import", "merge", "store finish"}  # tests/test_json.py asks them
READ_A_FILE = {"plan show"}  # tests/test_plan.py asks it
WITHOUT_STORE = ("fit", "hardware", "rules", "intent profiles")


# ---- one module chooses


def leaves(node: ast.expr) -> Iterator[object]:
    """The constants that an expression may come to."""
    if isinstance(node, ast.IfExp):
        yield from leaves(node.body)
        yield from leaves(node.orelse)
    elif isinstance(node, ast.Constant):
        yield node.value


def chooses(source: str) -> list[int]:
    """Lines that end the program with 0, 1 or 3 of their own, or return such a number."""
    found = []
    for node in ast.walk(ast.parse(source)):
        values: list[object] = []
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            values = [one for word in node.args for one in leaves(word)] if name in ENDS else []
        elif isinstance(node, ast.IfExp):
            said = [one for one in leaves(node) if type(one) is int]
            values = said if 3 in said and set(said) <= {0, 1, 2, 3} else []
        elif isinstance(node, ast.FunctionDef) and "status" in node.name:
            values = [
                one
                for inner in ast.walk(node)
                if isinstance(inner, ast.Return) and inner.value is not None
                for one in leaves(inner.value)
            ]
        if any(type(one) is int and one in (0, 1, 3) for one in values):
            found.append(node.lineno)
    return found


def test_no_other_module_chooses_an_exit_status() -> None:
    found = {
        path.relative_to(PACKAGE).as_posix()
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.name not in OF_THEIR_OWN and chooses(path.read_text("utf-8"))
    }
    assert found == {STATUS}


@pytest.mark.parametrize(
    "line",
    [
        "raise typer.Exit(3)",
        "raise typer.Exit(0 if whole else 3)",
        "raise typer.Exit(INTERRUPTED if stopped else 0 if whole else 3)",
        "sys.exit(1)",
        "status = 1 if changed else 3 if lacking else 0",
        "def exit_status(self): return 1",
    ],
)
def test_a_choice_is_seen(line: str) -> None:
    assert chooses(line)
    assert not chooses("raise typer.Exit(exit_status(unknown=True))")
    assert not chooses("wide = 1 if first else 0")


# ---- one status in every format


def formats() -> dict[str, list[list[str]]]:
    """Every verb that prints in several formats, and the words that choose one."""
    found: dict[str, list[list[str]]] = {}

    def look(command: Any, name: str) -> None:
        for word, inner in getattr(command, "commands", {}).items():
            look(inner, f"{name} {word}".strip())
        for option in command.params:
            if "--json" in option.opts:
                found.setdefault(name, [[]]).append(["--json"])
            elif "--format" in option.opts:
                told = re.findall(r"[\w-]+", (option.help or "").lower())
                found.setdefault(name, [[]]).extend(
                    ["--format", one] for one in told if one not in ("print", "or")
                )

    look(typer.main.get_command(program()), "")
    return found


def sound(folder: Path) -> None:
    with_derived(folder, fabric())


def unread(folder: Path) -> None:
    with_derived(folder, change(fabric(), "switch_port_qos", {"target": "leaf1"}, trust=None))


def broken(folder: Path) -> None:
    port = {"target": "leaf1", "port": "Ethernet0"}
    with_derived(folder, change(fabric(), "switch_pfc", port, enabled=False))


def outdated(folder: Path) -> None:
    """The newest run reached no machine."""
    sound(folder)
    with_derived(folder, {"target": [target("gpu1", status="silent")]}, "2026-11-15T2215Z")


def statuses(store: Path, verb: str, words: list[str]) -> set[int]:
    """What a verb ends with, in every format; JSON must tell the same number."""
    where = [] if verb in WITHOUT_STORE else ["--store", str(store)]
    found = set()
    for form in formats()[verb]:
        line = [*verb.split(), *words, *form, *where]
        done = CliRunner(env={"HOME": str(store)}).invoke(program(), line)
        assert isinstance(done.exception, (SystemExit, type(None))), (line, done.exception)
        found.add(done.exit_code)
        if form and form[-1] in ("json", "--json"):
            told = json.loads(done.stdout)
            found.add(told.get("exit_status", done.exit_code) if isinstance(told, dict) else 0)
    return found


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    made = {}
    for make in (sound, unread, broken, outdated):
        made[make.__name__] = tmp_path_factory.mktemp(make.__name__)
        make(made[make.__name__])
        (made[make.__name__] / "site.toml").write_text('profile = "roce-lossless"\n')
        # One day earlier, when nothing was different yet.
        earlier = made[make.__name__] / "2026-11-13T2215Z"
        shutil.copytree(made["sound"] / "2026-11-14T2215Z", earlier)
    return made


def test_every_verb_with_formats_is_asked() -> None:
    assert set(formats()) == set(ASKED) | MAKE_SNAPSHOTS | READ_A_FILE
    assert ["--format", "sarif"] in formats()["check"]


@pytest.mark.parametrize("state", ["broken", "outdated"])
@pytest.mark.parametrize("verb", ASKED)
@pytest.mark.one_in(3)
def test_the_status_is_the_same_in_every_format(
    verb: str, state: str, stores: dict[str, Path]
) -> None:
    for words in ASKED[verb]:
        assert len(statuses(stores[state], verb, words)) == 1, words


def test_the_states_are_what_they_are_meant_to_be(stores: dict[str, Path]) -> None:
    """Otherwise the comparison of formats would compare 0 with 0."""
    told = {}
    for state, store in stores.items():
        line = ["check", "--select", "link-lossless-differs", "--store", str(store)]
        told[state] = CliRunner(env={"HOME": str(store)}).invoke(program(), line).exit_code
    assert told == {"sound": 0, "unread": 3, "broken": 1, "outdated": 3}


@pytest.mark.parametrize("verb", ["facts", "show gpu1", "links", "rails", "path", "diff"])
@pytest.mark.one_in(3)
def test_an_older_snapshot_that_had_to_serve_is_no_success(
    verb: str, stores: dict[str, Path], tmp_path: Path
) -> None:
    store = stores["outdated"]
    words = verb.split()
    if verb == "diff":  # against one in which nothing was different
        with_derived(tmp_path, fabric(), "2026-11-13T2215Z")
        words += [str(tmp_path / "2026-11-13T2215Z")]
    done = CliRunner(env={"HOME": str(store)}).invoke(program(), [*words, "--store", str(store)])
    assert done.exit_code == 3, done.output
