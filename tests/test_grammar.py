"""One grammar for all verbs: -h, what stands behind an option, --snapshot, and what Tab offers."""

import os
import re
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from lab.harness.by_hand import with_derived
from lab.harness.small_fabric import fabric
from railwright.cli import program
from railwright.errors import UsageError

# Words with which a help text may begin although they are small: names that are written so.
SMALL = ("ssh", "srun")
MOST_CPU_S = 0.5  # of a completion, beyond the start of the program


def commands(group: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield words, group
    for name, one in getattr(group, "commands", {}).items():
        yield from commands(one, (*words, name))


TREE = dict(commands(typer.main.get_command(program())))


def helped(words: tuple[str, ...], flag: str) -> str:
    done = CliRunner(env={"COLUMNS": "80", "TERMINAL_WIDTH": "80"}).invoke(
        program(), [*words, flag]
    )
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize("words", TREE, ids=" ".join)
def test_help_names_what_an_option_takes(words: tuple[str, ...]) -> None:
    text = helped(words, "--help")
    assert helped(words, "-h") == text
    assert not re.search(r"<[^=\s]", text), "a type of Python, or of ours"
    assert max(map(len, text.splitlines())) <= 80
    for one in TREE[words].get_params(typer.Context(TREE[words])):
        said = one.help or ""
        name = f"{' '.join(words)} {one.name}"
        assert said.endswith("."), name
        assert said[0].isupper() or said.startswith(SMALL), name
        if one.param_type_name == "option" and not one.is_flag:
            assert one.metavar, name
            assert re.fullmatch(r"[A-Z]+(?: [A-Z]+)*|[a-zA-Z]+(?:\|[a-zA-Z]+)+", one.metavar), name
        elif one.param_type_name == "option":
            assert one.metavar == "", name


def test_without_a_verb_it_prints_its_help() -> None:
    done = subprocess.run([sys.executable, "-m", "railwright"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "Usage: railwright [OPTIONS] COMMAND" in done.stdout
    assert done.stderr == "railwright: no command given\n"


# ---- the snapshot


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store")
    with_derived(folder, fabric())
    with_derived(folder, fabric(), "2026-11-15T2215Z")
    return folder


def test_every_verb_that_reads_a_snapshot_takes_the_option() -> None:
    found = {}
    for words, one in TREE.items():
        options = {name for parameter in one.params for name in parameter.opts}
        if "snapshot" in options or "--snapshot" in options:
            found[words] = {"-s", "--snapshot"} <= options
    assert len(found) >= 10
    assert [words for words, takes in found.items() if not takes] == []


@pytest.mark.parametrize("words", ["facts", "links", "rails", "intent init", "store upgrade"])
def test_an_argument_and_the_option_mean_the_same(words: str, store: Path) -> None:
    runner = CliRunner(env={"RAILWRIGHT_STORE": str(store), "HOME": str(store)})
    older = "2026-11-14T2215Z"
    told = {
        runner.invoke(program(), [*words.split(), *given]).stdout
        for given in ([older], ["-s", older], ["--snapshot", older], [older, "-s", older])
    }
    assert len(told) == 1
    assert older in told.pop()
    done = runner.invoke(program(), [*words.split(), older, "-s", "2026-11-15T2215Z"])
    assert isinstance(done.exception, UsageError)
    assert "two snapshots given" in done.exception.what


# ---- completion


def offered(store: Path, typed: str, words: list[str] | None = None) -> list[str]:
    """What bash is told: the words, parted as bash parts them, and the number of the last."""
    parts = words if words is not None else [*re.split(r" |(?<=:)|(?=:)", typed)]
    environment = {
        **os.environ, "_RAILWRIGHT_COMPLETE": "complete_bash", "COMP_WORDS": " ".join(parts),
        "COMP_CWORD": str(len(parts) - 1), "RAILWRIGHT_STORE": str(store), "HOME": str(store),
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "railwright"], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("railwright sto", ["store"]),
        ("railwright store ver", ["verify"]),
        ("railwright facts --js", ["--json"]),
        ("railwright facts 2026-11-15", ["2026-11-15T2215Z"]),
        ("railwright facts -s 2026-11-1", ["2026-11-14T2215Z", "2026-11-15T2215Z"]),
        ("railwright show gpu", ["gpu1", "gpu2"]),
        ("railwright show ", ["gpu1", "gpu2", "leaf1", "leaf2", "spine1", "spine2"]),
        ("railwright links --on gpu1,leaf", ["gpu1,leaf1", "gpu1,leaf2"]),
        ("railwright explain pcie-link-n", ["pcie-link-narrow"]),
        ("railwright check --select pci-l", []),
        ("railwright check --select gpu-x", ["gpu-xid"]),
        ("railwright evidence gpu1 mlxc", ["mlxconfig"]),
        ("railwright collect --without mlnx", ["mlnx_qos"]),
        ("railwright fit MCX755106AS", ["MCX755106AS-HEAT"]),
        ("railwright sql --describe rdma_p", ["rdma_port"]),
        ("railwright collect --via sl", ["slurm"]),
        # bash parts words at a colon, and puts back what stands behind it
        ("railwright path gpu1:mlx5_", ["mlx5_0", "mlx5_1"]),
        ("railwright path gpu1:mlx5_0 gpu2:", ["0000:10:10.0", "0000:11:10.0", "ens1", "ens2", "mlx5_0", "mlx5_1"]),
        ("railwright facts 1999", []),
    ],
)  # fmt: skip
def test_tab_offers(typed: str, expected: list[str], store: Path) -> None:
    assert offered(store, typed) == expected


def test_a_shell_that_does_not_part_at_colons(store: Path) -> None:
    words = ["railwright", "path", "gpu1:mlx5_"]
    assert offered(store, "", words) == ["gpu1:mlx5_0", "gpu1:mlx5_1"]


def test_whatever_is_wrong_tab_is_silent(store: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "2026-11-16T2215Z").mkdir()
    for place in (tmp_path / "file", tmp_path / "nothing", tmp_path):
        assert offered(place, "railwright show ") == []
    assert offered(store, "railwright nosuch x") == []


def test_tab_is_fast(store: Path) -> None:
    def cpu(arguments: list[str], **environment: str) -> float:
        best = 99.0
        for _ in range(3):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([sys.executable, *arguments], capture_output=True, env={**os.environ, **environment})  # fmt: skip
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        return best

    start = cpu(["-m", "railwright", "show", "--help"])
    tab = cpu(
        ["-m", "railwright"], _RAILWRIGHT_COMPLETE="complete_bash", COMP_CWORD="2",
        COMP_WORDS="railwright show gpu", RAILWRIGHT_STORE=str(store),
    )  # fmt: skip
    assert tab - start <= MOST_CPU_S
