"""Tab in bash, zsh and fish, as `railwright --install-completion` sets it up: in a real terminal."""

import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import IN_CI, REPOSITORY

from lab.harness.by_hand import with_derived
from lab.harness.small_fabric import fabric

PROGRAM = Path(sys.executable).parent
SHELLS = {
    "bash": ["bash", "-i"],
    "zsh": ["zsh", "-i"],
    "fish": ["fish", "--private", "-i"],
}
INSTALLED = {  # what the page says is written, below the home
    "bash": {".bashrc", ".bash_completions/railwright.sh"},
    "zsh": {".zshrc", ".zfunc/_railwright"},
    "fish": {".config/fish/completions/railwright.fish"},
}
TYPED = {
    "railwright sto": "railwright store",
    "railwright store ver": "railwright store verify",
    "railwright check --sev": "railwright check --severity",
    "railwright explain pcie-link-n": "railwright explain pcie-link-narrow",
    "railwright show leaf2": "railwright show leaf2",
    # A colon parts words in bash, and in no other shell.
    "railwright path gpu1:0000:10": "railwright path gpu1:0000:10:10.0",
}
WAIT_S = 60.0  # for one answer
# As it is typed, and as it is printed: so the line that is typed is not taken for the answer.
TYPED_MARK, MARK = "X''Y", "XY"
ANSWER = re.compile(rf"(?:^|\r){MARK} (railwright.*?) *{MARK}\r?$", re.MULTILINE)
BELL = r"\x07"  # where nothing completes
# What moves the cursor, colors and asks the terminal, but none of the signs themselves.
CODES = re.compile(r"\x1b(?:\[[0-9;?>=]*[a-zA-Z@]|[\]P][^\x07\x1b]*(?:\x07|\x1b\\)?|[()].|[=>])")


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest) -> str:
    if not shutil.which(request.param) and not IN_CI:
        pytest.skip(f"{request.param} is not installed")
    return str(request.param)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store")
    with_derived(folder, fabric())
    return folder


@pytest.fixture
def home(shell: str, store: Path, tmp_path: Path) -> dict[str, str]:
    """A user who has just typed the command that the page gives."""
    environment = {
        "PATH": f"{PROGRAM}:/usr/bin:/bin", "HOME": str(tmp_path), "TERM": "xterm",
        "LC_ALL": "C.UTF-8", "RAILWRIGHT_STORE": str(store),
    }  # fmt: skip
    # Else fish reads all man pages of the machine when it starts for the first time.
    (tmp_path / ".local/share/fish/generated_completions").mkdir(parents=True)
    page = (REPOSITORY / "docs/install.md").read_text("utf-8")
    assert "\nrailwright --install-completion\n" in page
    # The shell is found by looking at who has started the program: it must not become it.
    done = subprocess.run(
        [shell, "-c", "railwright --install-completion; true"],
        env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert f"{shell} completion installed" in done.stdout, done.stderr
    assert all((tmp_path / name).is_file() for name in INSTALLED[shell])
    assert all(f"`~/{name}`" in page for name in INSTALLED[shell])
    return environment


def read_until(terminal: int, wanted: re.Pattern[str] | None) -> str:
    """What comes up to a match; without one, up to a second of silence."""
    seen, ends = "", time.monotonic() + WAIT_S
    while time.monotonic() < ends:
        ready, _, _ = select.select([terminal], [], [], 1.0)
        if ready:
            seen += os.read(terminal, 65536).decode(errors="replace")
        bare = CODES.sub("", seen)
        if wanted and (hit := wanted.search(bare)):
            return hit[1]
        if not wanted and not ready:
            return bare
    pytest.fail(f"no answer: {seen!r}")


def after_tab(shell: str, environment: dict[str, str], typed: dict[str, str]) -> list[str]:
    """Command lines as they stand behind Tab: each is printed instead of run."""
    child, terminal = pty.fork()
    if not child:
        os.execvpe(SHELLS[shell][0], SHELLS[shell], environment)
    try:
        read_until(terminal, None)  # the prompt stands
        found = []
        for line, expected in typed.items():
            os.write(terminal, f"{line}\t".encode())
            # zsh drops a completion when more is typed meanwhile.
            read_until(terminal, re.compile(f"({re.escape(expected)}|{BELL})"))
            # To the beginning of the line, to its end, Enter.
            os.write(terminal, f"\x01echo {TYPED_MARK} \x05 {TYPED_MARK}\r".encode())
            found.append(read_until(terminal, ANSWER))
        return found
    finally:
        os.kill(child, signal.SIGKILL)
        os.close(terminal)
        os.waitpid(child, 0)


def test_tab_completes_as_installed(shell: str, home: dict[str, str]) -> None:
    assert after_tab(shell, home, TYPED) == list(TYPED.values())
