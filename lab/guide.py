"""docs/start.md held to the truth: every command in it is run, its output kept or compared.

    python -m lab.guide            run the commands and write their output into the page
    python -m lab.guide --check    run them and fail where the page says something else

The site: gpu001 and gpu002 are in order, gpu003 has faults, gpu004 lets us in without root, gpu005
does not listen. Needs root and the wheelhouse that `just wheelhouse` makes.
"""

import difflib
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from lab import site
from lab.fleet import hgx_h100, write_sys, write_tools
from lab.sshd_fleet import Fleet, Host, running

REPOSITORY = Path(__file__).parents[1]
PAGE = REPOSITORY / "docs/start.md"
MARK = "=== next command ==="
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)

FAULTS = {
    ("0000:3a:00.0", "width"): 8,
    ("enp91s0np0", "mtu"): 1500,
}

# How far a run is, printed every few seconds: whether it appears at all depends on the machine.
PROGRESS = re.compile(r"^reading: .* to go.*\n", re.MULTILINE)

# What differs from run to run, and what stands for it in a comparison.
MOVING = (
    (r"\d{4}-\d\d-\d\dT\d{4}Z(-\d+)?", "2026-11-14T2215Z"),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", "2026-11-14 22:15 UTC"),
    (r"\d+(\.\d+)? (s|seconds?|minutes?|MB|bytes)\b", "N"),
    (r"less than a minute old|\d+ (seconds?|minutes?) old|just now", "N old"),
    (r"sha256 [0-9a-f]{64}", "sha256 X"),
    (r"-?\d+\.\d+ s from ours", "0 s from ours"),
    (r"\b\d+\.\d+\.\d+-\S+", "KERNEL"),
    (r"Python 3\.11\.\d+", "Python 3.11"),
    (r"\b\d+\.\d\d\b", "0.00"),
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]+", "UUID"),
    # What the lab's hosts have from the machine that plays them: its own /proc.
    (r"(?m)^  (cmdline|modules|sysctl|limits|ip_sysctl) .*$", r"  \1"),
    (r"(?m)^( +\d+  nvidia_peermem) .*$", r"\1"),
    (r"(?m)^(GPUDirect and the kernel: known on) .*$", r"\1"),
    (r" +\d+(?= +\d+$)", " N"),
    (r" +", " "),
)


def commands(page: str) -> list[str]:
    """Every line that a reader types."""
    return [
        line[2:]
        for block in BLOCK.findall(page)
        for line in block.splitlines()
        if line.startswith("$ ")
    ]


def make_hosts(folder: Path) -> list[Host]:
    """The guide's site."""
    trees = []
    for number in range(1, 6):
        model = hgx_h100(number, FAULTS if number == 3 else {})
        tree = folder / f"tree{number}"
        write_sys(tree / "sys", model)
        write_tools(tree / "files", model)
        trees.append(tree)
    kinds = {4: "no root", 5: "refusing"}
    return [
        Host(number, kinds.get(number, "healthy"), trees[number - 1], alias=f"gpu{number:03d}")
        for number in range(1, 6)
    ]


def run_all(fleet: Fleet, lines: list[str], folder: Path, wheelhouse: Path) -> list[str]:
    """One shell session, as a person would have it; the output of each command."""
    work = folder / "work"
    work.mkdir()
    (work / "wheelhouse").symlink_to(wheelhouse)
    ssh = folder / "ssh"
    ssh.mkdir()
    (ssh / "config").write_text(fleet.ssh_config.read_text())
    script = ["exec 2>&1", f"cd {work}"]
    for line in lines:
        script += [f"echo '{MARK}'", line]
    (folder / "session").write_text("\n".join(script) + "\n")
    # ssh takes its configuration from the account's home, wherever $HOME points: hence the mount.
    home = Path("~root").expanduser()
    (home / ".ssh").mkdir(mode=0o700, exist_ok=True)
    inside = f"mount --bind {ssh} {home}/.ssh; exec bash {folder}/session"
    done = fleet.run(
        ["unshare", "--mount", "--propagation", "private", "sh", "-c", inside],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(work), "LC_ALL": "C.UTF-8"},
    )
    parts = str(done.stdout).split(f"{MARK}\n")[1:]
    return [PROGRESS.sub("", part).replace(str(work), "~") for part in parts]


def fill(page: str, outputs: list[str]) -> str:
    """The page with these outputs below its commands."""
    remaining = iter(outputs)

    def block(match: re.Match[str]) -> str:
        lines = [line for line in match.group(1).splitlines() if line.startswith("$ ")]
        return "```console\n" + "".join(f"{line}\n{next(remaining)}" for line in lines) + "```"

    return BLOCK.sub(block, page)


def steady(text: str) -> str:
    """A text without what differs from run to run."""
    for pattern, stand_in in MOVING:
        text = re.sub(pattern, stand_in, text, flags=re.MULTILINE)
    return "\n".join(line.rstrip() for line in text.splitlines())


def make_page(wheelhouse: Path) -> str:
    """docs/start.md as the commands in it really answer today."""
    site.make_root()
    page = PAGE.read_text("utf-8")
    with tempfile.TemporaryDirectory(prefix="railwright-guide-") as name:
        folder = Path(name)
        with running("rwg", make_hosts(folder), folder / "run") as fleet:
            return fill(page, run_all(fleet, commands(page), folder, wheelhouse))


def differences(wheelhouse: Path) -> list[str]:
    """What the page says and the commands do not, or the other way round."""
    now = make_page(wheelhouse)
    return list(
        difflib.unified_diff(
            steady(PAGE.read_text("utf-8")).splitlines(),
            steady(now).splitlines(),
            "docs/start.md",
            "what the commands print",
            lineterm="",
        )
    )


def main() -> None:
    """Write the page, or check it."""
    wheelhouse = REPOSITORY / "wheelhouse"
    if "--check" in sys.argv:
        found = differences(wheelhouse)
        print("\n".join(found))
        sys.exit(1 if found else 0)
    PAGE.write_text(make_page(wheelhouse), "utf-8")


if __name__ == "__main__":
    main()
