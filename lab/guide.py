"""docs/start.md held to the truth: every command in it is run, its output kept or compared.

    python -m lab.guide            run the commands and write their output into the page
    python -m lab.guide --check    run them and fail where the page says something else

The site: 16 hosts where an ordinary user may log in. gpu003 has faults, sudo on gpu004 wants
a password, gpu005 does not listen. Needs root and the wheelhouse that `just wheelhouse` makes.
"""

import difflib
import re
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from lab import site
from lab.fleet import hgx_h100
from lab.live.files import REAL, REAL_PROGRAMS, Places, rendered, write_all
from lab.sshd_fleet import LAB, Fleet, Host, running

REPOSITORY = Path(__file__).parents[1]
PAGE = REPOSITORY / "docs/start.md"
MARK = "=== next command at"
SAY_WHEN = f'echo "{MARK} $EPOCHREALTIME"'
WHEN = re.compile(rf"{MARK} (\d+\.\d+)\n")
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)

HOSTS = 16
READER = "reader"  # the account of lab/rootfs.sh that is not root
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
    (r"less than a minute old|\d+ (seconds?|minutes?|hours?|days?) old|just now", "N old"),
    # How many rules there are is no matter of a page: every new one would make it wrong.
    (r"^\d+ rules(: .* decided.*| skipped)", "N rules"),
    (r"\b(\d+ rules: .*?) \([\d,]+\)", "N rules"),
    (r"sha256 [0-9a-f]{64}", "sha256 X"),
    (r"-?\d+\.\d+ s from ours", "0 s from ours"),
    (r"\b\d+\.\d+\.\d+-\S+", "KERNEL"),
    (r"Python 3\.11\.\d+", "Python 3.11"),
    (r"\b\d+\.\d\d\b", "0.00"),
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]+", "UUID"),
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
    """The guide's site, with the policy in place that `collect --sudoers` prints."""
    policy = subprocess.run(
        [sys.executable, "-m", "railwright", "collect", "--sudoers", "--user", READER],
        check=True,
        capture_output=True,
    ).stdout
    real = tuple((LAB / "rootfs/usr/bin" / name, f"/{REAL}/{name}") for name in REAL_PROGRAMS)
    hosts = []
    for number in range(1, HOSTS + 1):
        model = hgx_h100(number, FAULTS if number == 3 else {})
        tree = folder / f"tree{number}"
        files = rendered(replace(model, calls_itself=f"gpu{number:03d}"))
        # pam_limits, which sudo asks, wants its file to be there.
        del files.entries["etc/security/limits.conf"]
        write_all(Places(tree, tree / "files", None), files)
        kind = "refusing" if number == 5 else "healthy"
        extra = () if number == 4 else (("etc/sudoers.d/railwright", policy, 0o440),)
        name = f"gpu{number:03d}"
        hosts.append(Host(number, kind, tree, READER, extra, alias=name, mounts=real))
    return hosts


class Ran(NamedTuple):
    """What a command printed, and how long it took."""

    output: str
    seconds: float


def run_all(fleet: Fleet, lines: list[str], folder: Path, wheelhouse: Path) -> list[Ran]:
    """One shell session, as a person would have it."""
    work = folder / "work"
    work.mkdir()
    (work / "wheelhouse").symlink_to(wheelhouse)
    ssh = folder / "ssh"
    ssh.mkdir()
    (ssh / "config").write_text(fleet.ssh_config.read_text())
    script = ["exec 2>&1", f"cd {work}"]
    for line in lines:
        script += [SAY_WHEN, line]
    script.append(SAY_WHEN)
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
    _, *parts = WHEN.split(str(done.stdout))
    times = [float(part) for part in parts[::2]]
    return [
        Ran(PROGRESS.sub("", part).replace(str(work), "~"), ended - began)
        for part, began, ended in zip(parts[1::2], times, times[1:], strict=False)
    ]


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


def run_on_site(lines: list[str], wheelhouse: Path) -> list[Ran]:
    """These commands as they really answer today."""
    site.make_root()
    with tempfile.TemporaryDirectory(prefix="railwright-guide-") as name:
        folder = Path(name)
        with running("rwg", make_hosts(folder), folder / "run") as fleet:
            return run_all(fleet, lines, folder, wheelhouse)


def to_first_verdict(page: str) -> list[str]:
    """What is typed up to the first check, with it."""
    typed = commands(page)
    return typed[: 1 + next(at for at, line in enumerate(typed) if " check" in line)]


def differences(page: str, ran: list[Ran]) -> list[str]:
    """What the page says and the commands do not, or the other way round."""
    now = fill(page, [one.output for one in ran])
    return list(
        difflib.unified_diff(
            steady(page).splitlines(),
            steady(now).splitlines(),
            "docs/start.md",
            "what the commands print",
            lineterm="",
        )
    )


def main() -> None:
    """Write the page, or check it."""
    page = PAGE.read_text("utf-8")
    ran = run_on_site(commands(page), REPOSITORY / "wheelhouse")
    if "--check" in sys.argv:
        found = differences(page, ran)
        print("\n".join(found))
        sys.exit(1 if found else 0)
    PAGE.write_text(fill(page, [one.output for one in ran]), "utf-8")


if __name__ == "__main__":
    main()
