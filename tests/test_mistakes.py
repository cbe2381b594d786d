"""What is typed by mistake: each message says what is wrong, quotes it, and gives the exact fix.

tests/mistakes/*.toml has the lines, and what stands on standard error exactly; HERE is the folder in
which they are typed. RAILWRIGHT_GOLDEN=write writes what is said now; then read it as a stranger would.
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import REPOSITORY

from railwright.demo import unpack
from railwright.toml import load_toml

FOLDER = REPOSITORY / "tests/mistakes"
FILES = sorted(path.stem for path in FOLDER.glob("*.toml"))
FEWEST = 60
LONGEST = 450  # signs of a line: more is not read


def mistakes(name: str) -> list[dict[str, Any]]:
    return load_toml((FOLDER / f"{name}.toml").read_text("utf-8"), name)["mistake"]


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store and things that are none."""
    folder = tmp_path_factory.mktemp("here")
    for path in unpack(folder / "store").glob("2026-11-13*"):
        shutil.rmtree(path)  # of one snapshot there is nothing to compare with
    (folder / "notes.txt").write_text("ember rack 3: riser on order\n")
    (folder / "typo.toml").write_text('profile = "roce-losless"\n')
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\xff\xfe")
    (folder / "no-hosts.txt").write_text("# none yet\n")
    (folder / "empty").mkdir()
    for name, text in (("cut", '{"format": 2'), ("newer", '{"format": 9}')):
        (folder / name).mkdir()
        (folder / name / "run.json").write_text(text)
    (folder / "home").mkdir()
    return folder


def run(here: Path, lines: list[str]) -> list[dict[str, Any]]:
    asked = []
    for line in lines:
        words = shlex.split(line)
        environment = {"RAILWRIGHT_STORE": str(here / "store"), "HOME": str(here / "home")}
        if "=" in words[0]:
            variable, _, value = words.pop(0).partition("=")
            environment[variable] = str(here / value)
        assert words.pop(0) == "railwright", line
        asked.append({"words": words, "environment": {**environment, "COLUMNS": "80"}})
    own = {name: value for name, value in os.environ.items() if "RAILWRIGHT" not in name}
    done = subprocess.run(
        [sys.executable, REPOSITORY / "tests/many_runs.py", str(here)],
        input=json.dumps(asked), capture_output=True, text=True, env=own,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def written(found: list[dict[str, Any]]) -> str:
    parts = []
    for one in found:
        typed = json.dumps(one["typed"], ensure_ascii=False)
        parts.append(f"[[mistake]]\ntyped = {typed}\nstatus = {one['status']}\nsays = '''\n{one['says']}'''\n")  # fmt: skip
    return "\n".join(parts)


@pytest.mark.parametrize("name", FILES)
def test_a_mistake_is_told_with_its_fix(name: str, here: Path) -> None:
    known = mistakes(name)
    before = sorted(path.name for path in (here / "store").iterdir())
    told = run(here, [one["typed"] for one in known])
    found = [
        {"typed": one["typed"], "status": said["status"], "says": said["stderr"].replace(str(here), "HERE")}
        for one, said in zip(known, told, strict=True)
    ]  # fmt: skip
    if os.environ.get("RAILWRIGHT_GOLDEN") == "write":
        (FOLDER / f"{name}.toml").write_text(written(found), "utf-8")
        known = mistakes(name)
    assert found == [{key: one[key] for key in ("typed", "status", "says")} for one in known]
    for one in told:  # a group of commands without one shows its help
        assert not one["stdout"] or " Usage: railwright" in one["stdout"]
    assert sorted(path.name for path in (here / "store").iterdir()) == before, "left something"


def test_what_is_told_is_two_or_three_lines_that_end_in_a_fix() -> None:
    everything = [one for name in FILES for one in mistakes(name)]
    assert len(everything) >= FEWEST
    assert len({one["typed"] for one in everything}) == len(everything)
    for one in everything:
        lines = one["says"].splitlines()
        assert one["status"] == 2, one
        assert lines[0].startswith("railwright: "), one
        assert 1 <= len(lines) <= 4, one
        assert max(map(len, lines)) <= LONGEST, one
        assert "Traceback" not in one["says"]
        assert "Errno" not in one["says"]
