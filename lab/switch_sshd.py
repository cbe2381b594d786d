"""One real sshd; behind each of its addresses or ports answers another switch.

A switch whose login is a shell gets a real shell whose programs (`show`, `nv`, ...) print what they
are given. One with a CLI of its own gets switch_cli.py on the terminal that ssh asks for. Answers
are files, read when a command is given: `Site.put` changes a switch that is up.

By default on the loopback, a port each; with a `Ground` in a lab's network, an address each. Needs
root: sshd wants /run/sshd, and gets it in a mount namespace of its own.
"""

import json
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from lab import confine, first_process
from lab.settle import File, settle

CLI = Path(__file__).with_name("switch_cli.py")
DUMP = Path(__file__).with_name("switch_dump.py")
ASK = Path(__file__).with_name("switch_ask.py")
TOOLS = ("show", "nv", "sonic-db-dump", "vtysh", "sudo")
SSH_PORT = 22
LOOPBACK = "127.0.0.1"
# The words of the command line, with all that is no letter as _, name the file with the answer.
_TOOL = """#!/bin/sh
name=${0##*/}; [ "$name" = sudo ] && { [ "$1" = -n ] && shift; name=$1; shift; }
file="$RW_ANSWERS/$(printf '%s' "$name $*" | tr -c 'A-Za-z0-9' _)"
[ -e "$file.code" ] && { cat "$file" 2>/dev/null; exit "$(cat "$file.code")"; }
[ -e "$file.hang" ] && exec sleep 600
[ -e "$file.flood" ] && exec yes "$name $name $name $name $name $name $name $name"
# NVUE pages what a person would see.
[ -e "$file" ] && [ "$name" = nv ] && [ -t 1 ] && exec ${PAGER:-more} "$file"
[ -e "$file" ] && exec cat "$file"
[ -n "$RW_ASK" ] && case "$name $*" in
config*|pfcwd*|nv*|systemd-run*|systemctl*|reboot*|"cat /etc/sonic/config_db.json"|"show feature"*)
  exec "$RW_PYTHON" -I "$RW_ASK" "$RW_ASKED" "$name" "$@";;
esac
[ "$name" = sonic-db-dump ] && exec "$RW_PYTHON" -I "$RW_DUMP" "$RW_ANSWERS" "$@"
echo "Usage: $name [OPTIONS]"; echo "Error: No such command \\"$1\\"." >&2; exit 2
"""
_LOGIN = """RW_ANSWERS={own}/answers RW_PYTHON={python} RW_DUMP={dump}
RW_ASK={ask} RW_ASKED={asked}
PATH={own}/bin:/usr/bin:/bin
PS1='admin@{name}:~$ '
export RW_ANSWERS RW_PYTHON RW_DUMP RW_ASK RW_ASKED PATH PS1
[ -n "$SSH_ORIGINAL_COMMAND" ] && exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"
exec /bin/sh
"""
# A root of their own for logins: what is done there is gone with the lab.
_OWN_ROOT = """set -e
mount -t tmpfs tmpfs {top}
mkdir {top}/u {top}/w {top}/m
mount -t overlay overlay -o lowerdir={lower},upperdir={top}/u,workdir={top}/w {top}/m
mkdir -p {top}/m/run/sshd {top}/m/dev
mount -t proc proc {top}/m/proc
{confined}
mount -t tmpfs dev {top}/m/dev
cd {top}/m/dev
for n in null zero urandom random tty; do : > $n; mount --bind /dev/$n $n; done
cd /
mkdir {top}/m/dev/pts
mount -t devpts devpts {top}/m/dev/pts -o newinstance,ptmxmode=0666
ln -s pts/ptmx {top}/m/dev/ptmx
mkdir -p {top}/m{folder}
mount --bind {folder} {top}/m{folder}
exec {without_powers} chroot {top}/m {serve}
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
    floods: tuple[str, ...] = ()  # commands of a shell that never stop printing
    files: dict[str, str] = field(default_factory=dict)  # beside the answers
    tools: tuple[str, ...] = TOOLS  # programs of a shell
    address: str = LOOPBACK
    port: int = 0
    asks: bool = False  # what it has no answer to, it asks the lab's keeper


@dataclass(frozen=True)
class Ground:
    """A lab's network: its namespace, the root that logins see, and the keys of its hosts."""

    namespace: str
    root: Path
    host_key: Path  # private
    user_key: Path  # public


@dataclass
class Site:
    """Switches that are up."""

    folder: Path
    switches: list[Switch]
    ground: Ground | None = None

    @property
    def ssh_config(self) -> Path:
        """For `railwright collect -F`."""
        return self.folder / "ssh_config"

    def ssh_blocks(self) -> str:
        """What a client must know of each switch."""
        return "".join(
            f"Host {one.name}\n  HostName {one.address}\n  Port {one.port}\n  User root\n"
            for one in self.switches
        )

    def typed(self, name: str) -> str:
        """What was typed into a CLI."""
        log = self.folder / name / "typed"
        return log.read_text("utf-8") if log.exists() else ""

    def put(self, switch: Switch) -> list[str]:
        """Make a switch answer as it says now; gives the files that were not so."""
        return settle(self.folder / switch.name / "on", dict(self._files(switch)))

    def _files(self, switch: Switch) -> Iterator[tuple[str, File]]:
        folder = self.folder / switch.name
        own = folder / "on"
        for command, text in switch.answers.items():
            yield f"answers/{file_name(command)}", File(text)
        for name, text in switch.files.items():
            yield f"answers/{name}", File(text)
        python = sys.executable if self.ground is None else "/usr/bin/python3"
        if switch.way == "terminal":
            own_settings = {"answers": f"{own}/answers", "log": f"{folder}/typed"}
            own_settings |= {"asks": str(folder)} if switch.asks else {}
            settings = {**own_settings, **switch.settings}
            yield "settings.json", File(json.dumps(settings))
            yield "login", File(f"exec {python} -I {self.folder}/cli.py {own}/settings.json\n")
            return
        for command, code in switch.codes.items():
            yield f"answers/{file_name(command)}.code", File(str(code))
        for suffix, commands in (("hang", switch.hangs), ("flood", switch.floods)):
            for command in commands:
                yield f"answers/{file_name(command)}.{suffix}", File("")
        for tool in switch.tools:
            yield f"bin/{tool}", File(_TOOL, 0o755)
        words = {"own": own, "python": python, "dump": f"{self.folder}/dump.py",
                 "ask": f"{self.folder}/switch_ask.py" if switch.asks else "",
                 "asked": folder}  # fmt: skip
        yield "login", File(_LOGIN.format(name=switch.name, **words))


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind((LOOPBACK, 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def _key(path: Path) -> None:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True)


def _keys(site: Site) -> None:
    """Those of the ground, or fresh ones."""
    folder, ground = site.folder, site.ground
    if ground is None:
        _key(folder / "host")
        _key(folder / "user")
        shutil.copy(folder / "user.pub", folder / "authorized")
        return
    shutil.copy(ground.host_key, folder / "host")
    (folder / "host").chmod(0o600)
    shutil.copy(ground.user_key, folder / "authorized")


def _write(site: Site) -> None:
    folder = site.folder
    _keys(site)
    shutil.copy(CLI, folder / "cli.py")
    shutil.copy(DUMP, folder / "dump.py")
    shutil.copy(ASK, folder / ASK.name)
    for switch in site.switches:
        site.put(switch)
    listen = "".join(f"ListenAddress {one.address}:{one.port}\n" for one in site.switches)
    blocks = "".join(
        f"Match LocalAddress {one.address} LocalPort {one.port}\n"
        f"  ForceCommand /bin/sh {folder}/{one.name}/on/login\n"
        for one in site.switches
    )
    (folder / "sshd_config").write_text(
        f"{listen}HostKey {folder}/host\nPidFile none\nUsePAM no\nUseDNS no\n"
        f"AuthorizedKeysFile {folder}/authorized\nStrictModes no\nPermitRootLogin yes\n"
        f"MaxStartups 100\nPrintMotd no\n{blocks}"
    )
    if site.ground is None:
        key = " ".join((folder / "host.pub").read_text().split()[:2])
        (folder / "known").write_text(f"* {key}\n")
        site.ssh_config.write_text(
            f"{site.ssh_blocks()}Host *\n  IdentityFile {folder}/user\n  IdentitiesOnly yes\n"
            f"  UserKnownHostsFile {folder}/known\n  GlobalKnownHostsFile /dev/null\n"
        )


def _start(site: Site) -> list[str]:
    """The command: everything that it starts ends with it, and it ends with us."""
    folder, ground = site.folder, site.ground
    serve = f"/usr/sbin/sshd -D -e -f {folder}/sshd_config"
    script = f"mount -t tmpfs tmpfs /run && mkdir /run/sshd && exec {serve}"
    if ground is not None:
        top = folder / "root"
        top.mkdir(exist_ok=True)
        script = _OWN_ROOT.format(
            top=top, lower=ground.root, folder=folder, serve=serve,
            confined="\n".join(confine.proc_lines(top / "m/proc")),
            without_powers=confine.WITHOUT_POWERS,
        )  # fmt: skip
    inside = ["ip", "netns", "exec", ground.namespace] if ground is not None else []
    return ["setpriv", "--pdeathsig", "KILL", *inside, "unshare", "--mount", "--uts", "--pid",
            "--fork", "--kill-child", "--propagation", "private", "sh", "-c", script]  # fmt: skip


@contextmanager
def running(folder: Path, switches: list[Switch], ground: Ground | None = None) -> Iterator[Site]:
    """The switches for the length of a block."""
    site, process = up(folder, switches, ground)
    try:
        yield site
    finally:
        down(process)


def up(
    folder: Path, switches: list[Switch], ground: Ground | None = None
) -> tuple[Site, "subprocess.Popen[bytes]"]:
    """Start them, and wait until each can be reached."""
    folder.mkdir(parents=True)
    if ground is None:
        for switch, port in zip(switches, _free_ports(len(switches)), strict=True):
            switch.port = port
    else:
        for switch in switches:
            switch.port = SSH_PORT
        _give_addresses(ground, switches)
    site = Site(folder, switches, ground)
    _write(site)
    return site, serve(site)


def serve(site: Site) -> "subprocess.Popen[bytes]":
    """The sshd of switches that are written, for the first time or after it has ended."""
    with (site.folder / "sshd.log").open("ab") as log:
        process = subprocess.Popen(
            _start(site), stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
    try:
        _wait(site, process)
    except BaseException:
        down(process)
        raise
    return process


def down(process: "subprocess.Popen[bytes]") -> None:
    """End the sshd and every session."""
    first_process.end([process])


def _give_addresses(ground: Ground, switches: list[Switch]) -> None:
    """On the bridge of the hub, so that hosts reach the switches too."""
    lines = "\n".join(f"addr replace {switch.address}/32 dev br0" for switch in switches)
    subprocess.run(["ip", "-n", ground.namespace, "-batch", "-"], input=lines.encode(), check=True)


def _is_up(site: Site, switch: Switch) -> bool:
    if site.ground is None:
        try:
            socket.create_connection((switch.address, switch.port), 1).close()
        except OSError:
            return False
        return True
    probe = ["bash", "-c", f"exec 3<>/dev/tcp/{switch.address}/{switch.port}"]
    command = ["ip", "netns", "exec", site.ground.namespace, *probe]
    return subprocess.run(command, capture_output=True).returncode == 0


def _wait(site: Site, process: "subprocess.Popen[bytes]", seconds: float = 60) -> None:
    """One sshd listens on all addresses at once: the last to be there is enough to ask for."""
    deadline = time.monotonic() + seconds
    for switch in site.switches if site.ground is None else site.switches[-1:]:
        while not _is_up(site, switch):
            if time.monotonic() > deadline or process.poll() is not None:
                raise RuntimeError((site.folder / "sshd.log").read_text())
            time.sleep(0.05)
