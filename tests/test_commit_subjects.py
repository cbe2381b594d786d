"""Subjects of commits: in a repository of our own, as CI looks at them, and as the hook does."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import REPOSITORY

from tools.commit_subjects import FIRST

WHO = {
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@x",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@x",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "PATH": os.environ["PATH"],
}


def git(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *words], cwd=folder, env=WHO, capture_output=True, text=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """One commit that no check was there for; the tool takes it for the last of these."""
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "Figures: as it was before.")
    first = git(tmp_path, "rev-parse", "HEAD").stdout.strip()
    (tmp_path / "tools").mkdir()
    text = (REPOSITORY / "tools/commit_subjects.py").read_text("utf-8")
    (tmp_path / "tools/__init__.py").touch()
    (tmp_path / "tools/commit_subjects.py").write_text(text.replace(FIRST, first), "utf-8")
    shutil.copytree(REPOSITORY / "tools/hooks", tmp_path / "tools/hooks")
    return tmp_path


def look(folder: Path) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "tools.commit_subjects"]
    return subprocess.run(words, cwd=folder, env=WHO, capture_output=True, text=True)


GOOD = (
    "Read bytes through our own pipes",
    'Say "absent", not "failed", where lldpd is not running',
    "Judge what two ends say of a link: neither is believed alone",
    "Y" * 72,
)
BAD = {
    "Y" * 73: "it has 73 characters",
    "Read bytes through our own pipes.": "it ends with a full stop",
    "read bytes through our own pipes": "its first word has no capital",
    "Figures: check of 64 hosts": "it begins with a label: Figures:",
    "Fabric faults: found as declared": "it begins with a label: Fabric faults:",
    "Fix(lab): stop it": "it begins with a label: Fix(lab):",
}


def test_good_subjects_pass_and_what_was_before_is_left_alone(repository: Path) -> None:
    for subject in GOOD:
        git(repository, "commit", "-q", "--allow-empty", "-m", f"{subject}\n\nWhy: because.")
    done = look(repository)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("subject", BAD)
def test_each_fault_is_told_by_ci_and_by_the_hook(repository: Path, subject: str) -> None:
    git(repository, "commit", "-q", "--allow-empty", "-m", subject)
    commit = git(repository, "rev-parse", "--short", "HEAD").stdout.strip()
    done = look(repository)
    assert done.returncode == 1
    assert f"{commit} {subject}\n    {BAD[subject]}" in done.stderr
    git(repository, "config", "core.hooksPath", "tools/hooks")
    refused = git(repository, "commit", "--allow-empty", "-m", subject)
    assert refused.returncode == 1
    assert BAD[subject] in refused.stderr
    assert git(repository, "commit", "--allow-empty", "-m", GOOD[0]).returncode == 0


def test_a_merge_is_told(repository: Path) -> None:
    git(repository, "checkout", "-q", "-b", "other")
    git(repository, "commit", "-q", "--allow-empty", "-m", "Do one thing")
    git(repository, "checkout", "-q", "main")
    git(repository, "commit", "-q", "--allow-empty", "-m", "Do another thing")
    git(repository, "merge", "-q", "--no-ff", "-m", "Take both things", "other")
    done = look(repository)
    assert done.returncode == 1
    assert done.stderr.count("\n    ") == 1
    assert "Take both things\n    it is a merge" in done.stderr


def test_where_the_history_is_not_there_that_is_said(
    repository: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    git(repository, "commit", "-q", "--allow-empty", "-m", "fix bug.")
    shallow = tmp_path_factory.mktemp("clone") / "shallow"
    git(repository, "clone", "-q", "--depth", "1", f"file://{repository}", str(shallow))
    shutil.copytree(repository / "tools", shallow / "tools")
    done = look(shallow)
    assert (done.returncode, done.stderr) == (0, "")
    assert "not checked, the history does not go back to" in done.stdout
    shutil.rmtree(shallow / ".git")
    assert "not checked" in look(shallow).stdout
