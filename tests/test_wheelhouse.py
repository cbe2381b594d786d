"""The wheelhouse: an air-gapped site installs from it, with no index anywhere near."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest
from conftest import IN_CI, REPOSITORY

from lab.harness import first_answer

VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"
MACHINES = sorted({os.uname().machine, "aarch64"})  # what --only-needed brings
NOWHERE = "http://127.0.0.1:9/"  # the discard port: nothing answers there
UNREACHABLE = re.compile(
    r"NewConnectionError|Max retries|name resolution|timed out|No matching distribution|ConnectionError"
)
# The build machine's own pip settings must not help the site.
SITE = {
    **{name: value for name, value in os.environ.items() if not name.startswith("PIP_")},
    "PIP_CONFIG_FILE": os.devnull,
    "PIP_INDEX_URL": NOWHERE,
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
}


# CPU of install, demo and check: a gross regression; the seconds are in docs/figures.md.
MOST_CPU_S = 60.0


def run(*argv: object, **options: object) -> subprocess.CompletedProcess[str]:
    options.setdefault("env", SITE)
    return subprocess.run(
        [str(part) for part in argv], capture_output=True, text=True, timeout=240, **options
    )


@pytest.fixture(scope="module")
def wheelhouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "wheelhouse"
    made = run(
        REPOSITORY / "tools/wheelhouse.sh",
        *("--python", VERSION, "--only-needed", "--output", folder),
        env={**os.environ, "PYTHON": sys.executable},
    )
    if made.returncode and not IN_CI and UNREACHABLE.search(made.stderr):
        pytest.skip("no package registry can be reached from here")
    assert made.returncode == 0, made.stderr
    return folder


@pytest.fixture(scope="module")
def site(wheelhouse: Path) -> Path:
    """The bin folder of a fresh environment, installed by the command that INSTALL.txt gives."""
    home = wheelhouse.parent / "environment"
    venv.create(home, with_pip=True)
    command = re.search(
        r"^ +pip (install .*)$", (wheelhouse / "INSTALL.txt").read_text(), re.MULTILINE
    )
    assert command, "INSTALL.txt has no pip command"
    words = command.group(1).split()
    assert words == ["install", "--no-index", "--find-links", "wheelhouse", "railwright"]
    done = run(home / "bin/pip", *words, cwd=wheelhouse.parent)
    assert done.returncode == 0, done.stderr
    return home / "bin"


def test_both_architectures_have_their_wheels(wheelhouse: Path) -> None:
    names = [path.name for path in wheelhouse.glob("*.whl")]
    for machine in MACHINES:
        for binary in ("duckdb", "pyyaml"):
            assert [n for n in names if n.startswith(f"{binary}-") and f"_{machine}.whl" in n], (
                names
            )
    assert [n for n in names if n.startswith("railwright-") and n.endswith("-py3-none-any.whl")]


def test_every_file_has_its_checksum_and_every_wheel_its_licence(wheelhouse: Path) -> None:
    sums = dict(
        reversed(line.split("  ")) for line in (wheelhouse / "SHA256SUMS").read_text().splitlines()
    )
    files = {path.name for path in wheelhouse.iterdir()} - {"SHA256SUMS"}
    assert set(sums) == files
    for name, digest in sums.items():
        assert hashlib.sha256((wheelhouse / name).read_bytes()).hexdigest() == digest
    lines = (wheelhouse / "LICENSES.txt").read_text().splitlines()[2:]
    listed = {line.split()[0].lower().replace("-", "_"): line for line in lines}
    assert {path.name.split("-")[0].lower() for path in wheelhouse.glob("*.whl")} == set(listed)
    assert "not stated" not in "".join(lines)
    assert listed["railwright"].endswith("Apache-2.0")
    assert "LGPL" in listed["clustershell"]


def test_it_installs_and_runs_without_any_index(site: Path, tmp_path: Path) -> None:
    version = run(site / "railwright", "--version")
    assert version.stdout.startswith("railwright "), version
    runner = run(site / "railwright", "runner")
    assert runner.returncode == 0
    compile(runner.stdout, "rw.py", "exec")
    store = tmp_path / "store"
    collected = run(
        *(site / "railwright", "collect", "--via", "local"),
        *("--state-from", "none", "--store", store),
    )
    assert collected.returncode in (0, 3), collected  # 3: not root here, so something is not known
    (snapshot,) = store.iterdir()
    assert json.loads((snapshot / "run.json").read_text())["targets"]["reached"]["count"] == 1


def test_three_commands_from_a_clean_machine_to_the_first_findings(
    wheelhouse: Path, tmp_path: Path
) -> None:
    assert first_answer.typed_first() == ["pipx install .", "railwright demo", "railwright check"]
    steps = first_answer.on_a_clean_machine(wheelhouse, tmp_path)
    assert re.search(r"^8 findings: 6 high, 2 medium$", steps[-1].output, re.MULTILINE)
    assert sum(step.cpu_s for step in steps) < MOST_CPU_S


@pytest.mark.parametrize("machine", MACHINES)
def test_pip_resolves_it_for_the_other_architecture_too(
    wheelhouse: Path, tmp_path: Path, machine: str
) -> None:
    done = run(
        *(sys.executable, "-m", "pip", "install", "--dry-run", "--no-index"),
        *("--find-links", wheelhouse, "--only-binary=:all:", "--python-version", VERSION),
        *("--platform", f"manylinux_2_28_{machine}", "--platform", f"manylinux_2_17_{machine}"),
        *("--target", tmp_path / "target", "railwright"),
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"Would install .*duckdb-\S+ .*railwright-", done.stdout), done.stdout


def test_what_pip_leaves_out_for_another_python_is_found_in_the_wheels(wheelhouse: Path) -> None:
    """tomli is needed before Python 3.11 alone; pip asks the Python that it runs in."""
    tool = REPOSITORY / "tools/wheels.py"
    for machine in MACHINES:
        assert run(sys.executable, tool, "missing", wheelhouse, VERSION, machine).stdout == ""
    asked = run(sys.executable, tool, "missing", wheelhouse, "3.10", "aarch64")
    if sys.version_info >= (3, 11):
        assert "tomli>=2\n" in asked.stdout
        assert "duckdb>=1.4\n" in asked.stdout


# ---- pipx, as docs/install.md has it


@pytest.fixture(scope="module")
def builders(wheelhouse: Path) -> Path:
    """What the site lacks: a recent pip, which pipx works with, and what an sdist is built with."""
    folder = wheelhouse.parent / "builders"
    done = run(
        *(sys.executable, "-m", "pip", "download", "--quiet", "--dest", folder, "pip", "hatchling"),
        env=os.environ,
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def sdist(builders: Path) -> Path:
    """Built by hatchling alone, in an environment of its own."""
    home, folder = builders.parent / "building", builders.parent / "dist"
    venv.create(home, with_pip=True)
    done = run(
        home / "bin/pip", "install", "-q", "--no-index", "--find-links", builders, "hatchling"
    )
    assert done.returncode == 0, done.stderr
    done = run(home / "bin/python", "-m", "hatchling", "build", "-t", "sdist", "-d", folder, cwd=REPOSITORY)  # fmt: skip
    assert done.returncode == 0, done.stderr
    [made] = folder.glob("railwright-*.tar.gz")
    return made


@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_pipx_takes_it_on_a_clean_machine(
    kind: str, wheelhouse: Path, builders: Path, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    [wheel] = wheelhouse.glob("railwright-*.whl")
    what = wheel if kind == "wheel" else request.getfixturevalue("sdist")
    clean = {
        "PATH": f"{tmp_path}/.local/bin:/usr/bin:/bin", "HOME": str(tmp_path), "LC_ALL": "C.UTF-8",
        "PIPX_DEFAULT_PYTHON": sys.executable, "PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": f"{wheelhouse} {builders}",
    }  # fmt: skip
    pipx = Path(sys.executable).with_name("pipx")
    done = run(pipx, "install", what, env=clean)
    assert done.returncode == 0, done.stderr
    said = run("bash", "-c", "railwright --version && railwright check --help", env=clean)
    assert said.returncode == 0, said.stderr
    # man finds the pages by where the program is.
    for name in ("railwright", "railwright-check", "railwright-store"):
        shown = run("man", name, env=clean | {"MANWIDTH": "120"})
        assert shown.stdout.lstrip().startswith(f"{name.upper()}(1)"), shown.stderr
    gone = run(pipx, "uninstall", "railwright", env=clean)
    assert gone.returncode == 0, gone.stderr
    assert not list((tmp_path / ".local/bin").iterdir())


def test_the_files_that_the_container_gets_make_the_same_wheel(
    sdist: Path, wheelhouse: Path, tmp_path: Path
) -> None:
    [wheel] = wheelhouse.glob("railwright-*.whl")
    lines = (REPOSITORY / ".dockerignore").read_text("utf-8").splitlines()
    for name in (line[1:] for line in lines if line.startswith("!")):
        source = REPOSITORY / name
        if source.is_dir():
            shutil.copytree(source, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, tmp_path)
    hatchling = sdist.parent.parent / "building/bin/python"
    done = run(hatchling, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path / "out", cwd=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    [made] = (tmp_path / "out").glob("*.whl")
    assert zipfile.ZipFile(made).namelist() == zipfile.ZipFile(wheel).namelist()
