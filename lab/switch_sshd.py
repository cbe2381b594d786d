"""One real sshd on the loopback; behind each of its ports answers another switch.

A switch whose login is a shell gets a real /bin/sh whose programs (`show`, `nv`, ...) print what
the test gives them. One with a CLI of its own gets switch_cli.py on the terminal that ssh asks for.
Needs root: sshd wants /run/sshd, and gets it in a mount namespace of its own.
"""

import json
import shutil
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

CLI = Path(__file__).with_name("switch_cli.py")
TOOLS = ("show", "nv", "sonic-db-dump", "vtysh", "sudo")
# The words of the command line, with all that is no letter as _, name the file with the answer.
_TOOL = """#!/bin/sh
[ "$(basename "$0")" = sudo ] && shift
name="$(basename "$0")"; [ "$name" = sudo ] && { name=$1; shift; }
file="$RW_ANSWERS/$(printf '%s' "$name $*" | tr -c 'A-Za-z0-9' _)"
[ -e "$file.code" ] && { cat "$file" 2>/dev/null; exit "$(cat "$file.code")"; }
[ -e "$file.hang" ] && exec sleep 600
[ -e "$file" ] && exec cat "$file"
echo "Usage: $name [OPTIONS]"; echo "Error: No such command \\"$1\\"." >&2; exit 2
"""


def file_name(command: str) -> str:
    """Under which name the tools look for the answer to a command."""
    plain = command.removeprefix("sudo -n ").replace("'", "")
    return "".join(c if c.isascii() and c.isalnum() else "_" for c in plain)


@dataclass
class Switch:
    """One switch."""

    name: str
    way: str  # shell or terminal
    answers: dict[str, str]  # command as it is sent -> what it prints
    settings: dict[str, object] = field(default_factory=dict)  # of switch_cli.py
    codes: dict[str, int] = field(default_factory=dict)  # command -> exit status
    hangs: tuple[str, ...] = ()  # commands of a shell that never end
    port: int = 0


@dataclass
class Site:
    """Switches that are up."""

    folder: Path
    switches: list[Switch]

    @property
    def ssh_config(self) -> Path:
        """For `railwright collect -F`."""
        return self.folder / "ssh_config"

    def typed(self, name: str) -> str:
        """What was typed into a CLI."""
        log = self.folder / name / "typed"
        return log.read_text("utf-8") if log.exists() else ""


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def _key(path: Path) -> None:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True)


def _force_command(site: Site, switch: Switch) -> str:
    folder = site.folder / switch.name
    folder.mkdir()
    if switch.way == "terminal":
        settings = {"answers": switch.answers, "log": str(folder / "typed"), **switch.settings}
        (folder / "settings.json").write_text(json.dumps(settings))
        return f"{sys.executable} -I {CLI} {folder}/settings.json"
    for name, text in switch.answers.items():
        (folder / file_name(name)).write_text(text)
    for name, code in switch.codes.items():
        (folder / f"{file_name(name)}.code").write_text(str(code))
    for name in switch.hangs:
        (folder / f"{file_name(name)}.hang").touch()
    for tool in TOOLS:
        path = folder / "bin" / tool
        path.parent.mkdir(exist_ok=True)
        path.write_text(_TOOL)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    places = f"{folder}/bin:/usr/bin:/bin"
    return f'RW_ANSWERS={folder} PATH={places} exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"'


def _write(site: Site) -> None:
    folder = site.folder
    _key(folder / "host")
    _key(folder / "user")
    shutil.copy(folder / "user.pub", folder / "authorized")
    ports = "".join(f"Port {switch.port}\n" for switch in site.switches)
    blocks = "".join(
        f"Match LocalPort {switch.port}\n  ForceCommand {_force_command(site, switch)}\n"
        for switch in site.switches
    )
    (folder / "sshd_config").write_text(
        f"{ports}ListenAddress 127.0.0.1\nHostKey {folder}/host\nPidFile none\nUsePAM no\n"
        f"AuthorizedKeysFile {folder}/authorized\nStrictModes no\nPermitRootLogin yes\n"
        f"MaxStartups 100\nPrintMotd no\n{blocks}"
    )
    hosts = "".join(
        f"Host {switch.name}\n  HostName 127.0.0.1\n  Port {switch.port}\n"
        for switch in site.switches
    )
    key = " ".join((folder / "host.pub").read_text().split()[:2])
    (folder / "known").write_text(f"* {key}\n")
    site.ssh_config.write_text(
        f"{hosts}Host *\n  User root\n  IdentityFile {folder}/user\n  IdentitiesOnly yes\n"
        f"  UserKnownHostsFile {folder}/known\n  GlobalKnownHostsFile /dev/null\n"
    )


@contextmanager
def running(folder: Path, switches: list[Switch]) -> Iterator[Site]:
    """The switches for the length of a block."""
    folder.mkdir(parents=True)
    for switch, port in zip(switches, _free_ports(len(switches)), strict=True):
        switch.port = port
    site = Site(folder, switches)
    _write(site)
    serve = f"exec /usr/sbin/sshd -D -e -f {folder}/sshd_config"
    start = f"mount -t tmpfs tmpfs /run && mkdir /run/sshd && {serve}"
    log = (folder / "sshd.log").open("wb")
    process = subprocess.Popen(
        ["setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--propagation", "private",
         "sh", "-c", start],
        stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
    )  # fmt: skip
    try:
        _wait(site, process)
        yield site
    finally:
        process.kill()
        process.wait()
        log.close()


def _wait(site: Site, process: "subprocess.Popen[bytes]", seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    for switch in site.switches:
        while True:
            try:
                socket.create_connection(("127.0.0.1", switch.port), 1).close()
                break
            except OSError:
                if time.monotonic() > deadline or process.poll() is not None:
                    raise RuntimeError((site.folder / "sshd.log").read_text()) from None
                time.sleep(0.05)
