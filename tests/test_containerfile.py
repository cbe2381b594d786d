"""Containerfile: what can be held without building it. `just lint` has hadolint look at it too."""

import re
import subprocess
from pathlib import Path

import pytest
from conftest import REPOSITORY

from railwright.toml import load_toml

TEXT = (REPOSITORY / "Containerfile").read_text("utf-8")
LINES = re.sub(r"^#.*\n", "", TEXT, flags=re.MULTILINE).replace("\\\n", " ").splitlines()
STEPS = [(line.split()[0], line.split(maxsplit=1)[1]) for line in LINES if line.strip()]
PROJECT = load_toml((REPOSITORY / "pyproject.toml").read_text("utf-8"), "pyproject.toml")


def of(kind: str) -> list[str]:
    return [rest for name, rest in STEPS if name == kind]


def context() -> set[str]:
    """What .dockerignore lets through."""
    lines = (REPOSITORY / ".dockerignore").read_text("utf-8").splitlines()
    assert "*" in lines
    return {line[1:] for line in lines if line.startswith("!")}


def test_it_does_not_run_as_root() -> None:
    last = [rest for name, rest in STEPS[max(n for n, step in enumerate(STEPS) if step[0] == "FROM") :]
            if name == "USER"]  # fmt: skip
    assert last == ["${UID}"]
    [uid] = re.findall(r"^ARG UID=(\d+)$", TEXT, re.MULTILINE)
    assert int(uid) > 1000
    page = (REPOSITORY / "docs/operate/container.md").read_text("utf-8")
    assert set(re.findall(r"uid[= ](\d+)", page)) == {uid}


def test_it_copies_what_is_there_and_let_through() -> None:
    named = {
        part for rest in of("COPY") if "--from" not in rest for part in rest.split()[:-1]
    }  # fmt: skip
    assert named == context()
    assert all((REPOSITORY / name).exists() for name in named)


def test_it_starts_the_program_of_the_wheel() -> None:
    assert of("ENTRYPOINT") == ['["railwright"]']
    assert "railwright" in PROJECT["project"]["scripts"]
    [venv] = re.findall(r"python -m venv (\S+)", TEXT)
    assert f"PATH={venv}/bin:" in " ".join(of("ENV"))
    assert f"--from=build {venv} {venv}" in of("COPY")


def test_its_python_is_one_that_has_hashes() -> None:
    [minor] = re.findall(r"^ARG PYTHON=python:3\.(\d+)-slim$", TEXT, re.MULTILINE)
    assert int(minor) >= int(PROJECT["project"]["requires-python"].rpartition(".")[2])
    assert "--require-hashes --requirement constraints.txt" in " ".join(of("RUN"))
    pins = re.split(r"\n(?=\w)", (REPOSITORY / "constraints.txt").read_text("utf-8"))
    assert all("--hash=sha256:" in pin for pin in pins if "==" in pin)


@pytest.mark.parametrize("step", of("RUN"), ids=lambda step: step.split()[0])
def test_its_steps_are_shell(step: str) -> None:
    done = subprocess.run(["sh", "-n", "-c", step], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_what_is_let_through_builds_the_wheel() -> None:
    """Every file that the build reads; tests/test_wheelhouse.py builds from exactly these."""
    targets = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    named = (*PROJECT["project"]["license-files"], *targets["packages"], *targets["shared-data"])
    read = {
        PROJECT["project"]["readme"],
        "pyproject.toml",
        *(Path(name).parts[0] for name in named),
    }
    assert read <= context()
