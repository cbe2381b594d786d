"""docs/start.md: every command is run on real sshd hosts, and its output is what the page shows."""

import subprocess
import sys
from pathlib import Path

import pytest

from lab import guide

REPOSITORY = Path(__file__).parents[1]


@pytest.mark.fleet
def test_the_first_hour_is_as_the_page_tells_it(tmp_path: Path) -> None:
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    subprocess.run(
        ["bash", str(REPOSITORY / "tools/wheelhouse.sh"), "--python", version, "--only-needed",
         "--output", str(tmp_path / "wheelhouse")],
        check=True, capture_output=True, env={"PYTHON": sys.executable, "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    found = guide.differences(tmp_path / "wheelhouse")
    assert found == [], "run: just guide\n" + "\n".join(found)


def test_the_page_has_commands() -> None:
    typed = guide.commands(guide.PAGE.read_text("utf-8"))
    assert len(typed) >= 12
    verbs = {line.split()[1] for line in typed if line.startswith("railwright ")}
    assert verbs >= {"collect", "facts", "show", "store"}
