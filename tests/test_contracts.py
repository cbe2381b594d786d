"""The import contracts hold the boundary: each is broken once here, and must be seen to break.

The linter reads packages; tests are none. What they and the benches may import is looked at here.
"""

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
LINTER = Path(sys.executable).with_name("lint-imports")

# (module of the package, what is written into it, the contract that must say no)
BROKEN = [
    ("parse/__init__.py", "import railwright.store.duck", "The line goes one way"),
    ("schema/subjects.py", "import railwright.parse.base", "The line goes one way"),
    ("store/reader.py", "import railwright.model.derive", "The line goes one way"),
    ("model/compare.py", "import railwright.collect.probe", "The line goes one way"),
    ("report/__init__.py", "import railwright.reach.ssh", "Only collect, rollout and prove"),
    ("report/console.py", "import subprocess", "start processes or open sockets"),
    ("collect/saved.py", "import socket", "start processes or open sockets"),
    ("store/duck.py", "import multiprocessing", "start processes or open sockets"),
    ("cli/facts.py", "import urllib.request", "start processes or open sockets"),
    ("check/run.py", "import asyncio", "asyncio is for reach"),
    ("report/screen.py", "from ClusterShell.NodeSet import NodeSet", "one module knows ClusterShell"),
    ("store/evidence.py", "import pickle", "Nothing takes bytes for code"),
    ("check/child.py", "import ctypes", "Nothing takes bytes for code"),
    ("parse/base.py", "import os", "Parsers are pure"),
]  # fmt: skip


# folder -> whose modules nothing in it may import: what both need lies in lab/harness
APART = {
    "tests": {"bench"},
    "bench": {"tests"},
    "lab": {"bench", "tests"},
    "tools": {"bench", "tests"},
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package and the lab as the linter reads them, to be broken."""
    folder = tmp_path_factory.mktemp("tree")
    for name in ("src", "lab"):
        shutil.copytree(REPOSITORY / name, folder / name, ignore=shutil.ignore_patterns("*.xz"))
    shutil.copy(REPOSITORY / "pyproject.toml", folder)
    return folder


def contracts(tree: Path) -> tuple[int, str]:
    done = subprocess.run(
        [LINTER, "--no-cache"], cwd=tree, capture_output=True, text=True,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": f"{tree / 'src'}:{tree}"},
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def test_whole_they_hold(tree: Path) -> None:
    code, said = contracts(tree)
    assert code == 0, said


@pytest.fixture(scope="module")
def broken(tree: Path) -> str:
    """What the linter says when every one of them is broken at once."""
    whole = {path: path.read_text("utf-8") for path in (tree / "src").rglob("*.py")}
    for module, line, _ in BROKEN:
        path = tree / "src/railwright" / module
        path.write_text(f"{path.read_text('utf-8')}\n{line}\n", "utf-8")
    code, said = contracts(tree)
    for path, text in whole.items():
        path.write_text(text, "utf-8")
    assert code != 0
    return said


@pytest.mark.parametrize(("module", "line", "contract"), BROKEN)
def test_each_is_seen_to_break(broken: str, module: str, line: str, contract: str) -> None:
    importer = "railwright." + module.removesuffix(".py").removesuffix("/__init__").replace(
        "/", "."
    )
    imported = line.split()[1]
    imported = imported if imported.startswith("railwright") else imported.split(".")[0]
    assert any(contract in row and "BROKEN" in row for row in broken.splitlines()), broken
    assert f"{importer} -> {imported}" in broken, broken


def modules_of(folder: str) -> set[str]:
    """Names by which something in a folder can be imported: tests also by their own."""
    own = {path.stem for path in (REPOSITORY / folder).glob("*.py")} if folder == "tests" else set()
    return {folder} | own


def imported(source: str) -> set[str]:
    """The first part of the name of every module, imported anywhere, or by its name as a text."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add(node.module or "")
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            found |= {one.value for one in node.args if isinstance(one, ast.Constant)}
    return {name.partition(".")[0] for name in found}


@pytest.mark.parametrize("folder", APART)
def test_tests_and_benches_do_without_each_other(folder: str) -> None:
    others = set().union(*map(modules_of, APART[folder]))
    met = {
        str(path.relative_to(REPOSITORY)): sorted(found)
        for path in sorted((REPOSITORY / folder).rglob("*.py"))
        if (found := imported(path.read_text("utf-8")) & others)
    }
    assert not met, "what both need belongs into lab/harness"


def test_an_import_of_the_other_is_seen() -> None:
    ways = ("import bench.fleets", "from bench import x", 'importlib.import_module("bench.x")')
    assert [imported(f"def late():\n    {way}") for way in ways] == [{"bench"}] * 3
    assert {"tests", "conftest"} <= modules_of("tests")
