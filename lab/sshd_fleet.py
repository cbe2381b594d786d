"""Many real sshd hosts on one machine: a namespace of every kind each, on one bridge.

Everything lives in a hub namespace and below one folder; `down` leaves no process, namespace, mount
or file. Needs root. A host may be healthy or one of the broken KINDS that a site really has.
"""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

LAB = Path(os.environ.get("LAB", str(Path.home() / ".cache/railwright-lab")))

# A program in place of Python that never answers; it ends when its input does, as a reader stuck on
# the connection would.
_HANG = "#!/bin/sh\nexec cat >/dev/null\n"
_FLOOD = "#!/bin/sh\nhead -c 100000000 /dev/zero | tr '\\0' x\n"

# kind -> what is different about that host
KINDS = {
    "healthy": "",
    "refusing": "no sshd listens",
    "silent": "accepts the connection and never says a word",
    "hanging": "the interpreter never answers",
    "flooding": "sends 100 MB without a newline",
    "no python": "has no Python at all",
    "no root": "the login is an ordinary user without sudo",
}


@dataclass(frozen=True)
class Host:
    """One host of the fleet."""

    number: int
    kind: str = "healthy"
    tree: Path | None = None  # a fake host's files: its sys/ goes over /sys, the rest over /
    user: str = "root"  # whom ssh logs in as
    extra: tuple[tuple[str, str | bytes, int], ...] = ()  # (path, content, mode) put on the host
    alias: str = ""  # its name where that is not host1, host2, …

    @property
    def name(self) -> str:
        """Its host name, and the name that ssh knows it by."""
        return self.alias or f"host{self.number}"

    @property
    def address(self) -> str:
        """Its address on the bridge."""
        return f"10.88.{self.number // 250}.{self.number % 250 + 2}"


@dataclass
class Fleet:
    """Hosts that are up."""

    name: str
    folder: Path
    hosts: list[Host]
    processes: dict[int, "subprocess.Popen[bytes]"] = field(default_factory=dict)

    @property
    def hub(self) -> str:
        """The namespace from which the hosts can be reached."""
        return f"{self.name}hub"

    @property
    def ssh_config(self) -> Path:
        """For `ssh -F` and `railwright collect -F`."""
        return self.folder / "ssh_config"

    def run(self, argv: list[str], **options: object) -> "subprocess.CompletedProcess[bytes]":
        """Run a program where the hosts can be reached."""
        command = ["ip", "netns", "exec", self.hub, *argv]
        return subprocess.run(command, **options)  # type: ignore[call-overload,no-any-return]

    def root(self, host: Host) -> Path:
        """The host's root folder, from outside."""
        return Path(f"/proc/{self.init_pid(host)}/root")

    def init_pid(self, host: Host) -> int:
        """The first process inside the host's PID namespace."""
        parent = self.processes[host.number].pid
        children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
        return int(children[0])

    def processes_on(self, host: Host) -> list[str]:
        """What runs on one host, its own sshd and services aside."""
        return self.processes_left().get(host.name, [])

    def processes_left(self) -> dict[str, list[str]]:
        """What runs on every host, by name, in one pass over all processes of the machine."""
        names = {}
        for host in self.hosts:
            try:
                names[os.readlink(f"/proc/{self.init_pid(host)}/ns/pid")] = host.name
            except (OSError, IndexError):
                continue
        found: dict[str, list[str]] = {}
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                name = names.get(os.readlink(entry / "ns/pid"))
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
            except OSError:
                continue
            if name and command and not command.startswith(_OWN):
                found.setdefault(name, []).append(command)
        return found


_OWN = (
    "sshd: /usr/sbin/sshd",
    "/usr/sbin/sshd -D",
    "sleep infinity",
    "/usr/bin/python3 /silent.py",
    "/usr/sbin/slurmd",
    "/usr/sbin/munged",
    "slurmstepd: [",
)

_SILENT = """
import socket, time
listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("0.0.0.0", 22))
listener.listen(16)
kept = []
while True:
    kept.append(listener.accept())
"""


def _start_script(fleet: Fleet, host: Host) -> str:
    """What runs as the first process of a host."""
    base = fleet.folder / "o" / str(host.number)
    root = base / "m"
    lines = [
        "set -e",
        f"hostname {host.name}",
        f"layers=lowerdir={_lower(host)},upperdir={base}/u,workdir={base}/w",
        f"mount -t overlay overlay -o $layers {root}",
        f"mkdir -p {root}/run/sshd {root}/dev",
        f"mount -t proc proc {root}/proc",
        f"mount -t tmpfs dev {root}/dev",
        f"cd {root}/dev",
        "for n in null zero urandom random tty ptmx; do : > $n; mount --bind /dev/$n $n; done",
        "cd /",
        f"mkdir {root}/dev/pts {root}/dev/shm",
        f"mount -t devpts devpts {root}/dev/pts -o newinstance,ptmxmode=0666",
        f"mount --bind {root}/dev/pts/ptmx {root}/dev/ptmx",
    ]
    if host.tree is not None:
        lines.append(f"mount --bind -o ro {host.tree}/sys {root}/sys")
    else:
        lines.append(f"mount -t sysfs sys {root}/sys")
    end = {
        "refusing": "/usr/bin/sleep infinity",
        "silent": "/usr/bin/python3 /silent.py",
    }.get(host.kind, "/usr/sbin/sshd -D -e -o PidFile=none")
    lines.append(f"exec chroot {root} {end.replace('/usr/bin/sleep', 'sleep')}")
    return "\n".join(lines)


def _lower(host: Host) -> str:
    layers = [str(LAB / "rootfs")]
    if host.tree is not None and (host.tree / "files").is_dir():
        layers.insert(0, str(host.tree / "files"))
    return ":".join(layers)


def _prepare_upper(fleet: Fleet, host: Host) -> None:
    base = fleet.folder / "o" / str(host.number)
    for name in ("u", "w", "m"):
        (base / name).mkdir(parents=True)
    upper = base / "u"
    hosts = upper / "etc/hosts"
    hosts.parent.mkdir(parents=True)
    names = "".join(f"{other.address} {other.name}\n" for other in fleet.hosts)
    hosts.write_text(f"127.0.0.1 localhost\n10.88.255.254 labhub\n{names}")
    if host.kind == "silent":
        (upper / "silent.py").write_text(_SILENT)
    for name, content, mode in host.extra:
        path = upper / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        path.chmod(mode)
    if host.kind in ("hanging", "flooding", "no python"):
        binaries = upper / "usr/bin"
        binaries.mkdir(parents=True)
        for path in (LAB / "rootfs/usr/bin").glob("python3*"):
            # A character device 0/0 is how an overlay says "deleted".
            os.mknod(binaries / path.name, 0o600 | 0o020000, os.makedev(0, 0))
        if host.kind != "no python":
            (binaries / "python3").unlink()
            (binaries / "python3").write_text(_HANG if host.kind == "hanging" else _FLOOD)
            (binaries / "python3").chmod(0o755)


def clear_after_the_dead() -> None:
    """Namespaces of runs that were killed: their name says whose they were."""
    for namespace in Path("/run/netns").glob("rw?-*-*"):
        owner = namespace.name.split("-")[1]
        if owner.isdigit() and not Path(f"/proc/{owner}").exists():
            subprocess.run(["ip", "netns", "del", namespace.name], capture_output=True)


def _make_network(fleet: Fleet) -> None:
    hub = fleet.hub
    subprocess.run(["ip", "netns", "add", hub], check=True)
    inside = [
        "link set lo up",
        "link add br0 type bridge",
        "addr add 10.88.255.254/16 dev br0",
        "link set br0 up",
    ]
    for host in fleet.hosts:
        subprocess.run(["ip", "netns", "add", f"{fleet.name}{host.number}"], check=True)
        inside.append(
            f"link add p{host.number} type veth peer name eth0 netns {fleet.name}{host.number}"
        )
        inside.append(f"link set p{host.number} master br0 up")
    _ip_batch(hub, inside)
    for host in fleet.hosts:
        commands = [
            f"addr add {host.address}/16 dev eth0",
            "link set eth0 up",
            "link set lo up",
        ]
        _ip_batch(f"{fleet.name}{host.number}", commands)


def _ip_batch(namespace: str, commands: list[str]) -> None:
    subprocess.run(
        ["ip", "-n", namespace, "-batch", "-"], input="\n".join(commands).encode(), check=True
    )


def _write_ssh_files(fleet: Fleet) -> None:
    key = (LAB / "rootfs/etc/ssh/ssh_host_ed25519_key.pub").read_text().split()
    (fleet.folder / "known_hosts").write_text(f"* {key[0]} {key[1]}\n")
    shutil.copy(LAB / "key", fleet.folder / "key")
    (fleet.folder / "key").chmod(0o600)
    blocks = []
    for host in fleet.hosts:
        user = "reader" if host.kind == "no root" else host.user
        blocks.append(f"Host {host.name}\n  HostName {host.address}\n  User {user}\n")
    blocks.append(
        f"Host *\n  IdentityFile {fleet.folder}/key\n  IdentitiesOnly yes\n"
        f"  UserKnownHostsFile {fleet.folder}/known_hosts\n  GlobalKnownHostsFile /dev/null\n"
    )
    fleet.ssh_config.write_text("\n".join(blocks))


def up(name: str, hosts: list[Host], folder: Path) -> Fleet:
    """Start the hosts and wait until their sshd listens."""
    clear_after_the_dead()
    fleet = Fleet(f"{name}-{os.getpid()}-", folder, hosts)
    folder.mkdir(parents=True)
    (folder / "o").mkdir()
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=6g", "tmpfs", str(folder / "o")], check=True
    )
    try:
        _make_network(fleet)
        _write_ssh_files(fleet)
        for host in hosts:
            _prepare_upper(fleet, host)
            log = (folder / f"{host.number}.log").open("wb")
            fleet.processes[host.number] = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL",  # hosts end with us, even after kill -9
                 "ip", "netns", "exec", f"{fleet.name}{host.number}",
                 "unshare", "--mount", "--uts", "--pid", "--fork", "--kill-child",
                 "--propagation", "private", "bash", "-c", _start_script(fleet, host)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
            log.close()
        _wait_until_up(fleet)
    except BaseException:
        down(fleet)
        raise
    return fleet


def _wait_until_up(fleet: Fleet, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    for host in fleet.hosts:
        if host.kind == "refusing":
            continue
        probe = ["bash", "-c", f"exec 3<>/dev/tcp/{host.address}/22"]
        while fleet.run(probe, capture_output=True).returncode != 0:
            if time.monotonic() > deadline:
                log = (fleet.folder / f"{host.number}.log").read_text()
                raise RuntimeError(f"{host.name} did not come up: {log}")
            time.sleep(0.05)


def down(fleet: Fleet) -> None:
    """End everything that `up` began."""
    for process in fleet.processes.values():
        try:
            os.kill(process.pid, signal.SIGKILL)
        except OSError:
            pass
    for process in fleet.processes.values():
        process.wait()
    for host in fleet.hosts:
        subprocess.run(["ip", "netns", "del", f"{fleet.name}{host.number}"], capture_output=True)
    subprocess.run(["ip", "netns", "del", fleet.hub], capture_output=True)
    for _ in range(50):  # the hosts' own mounts go with their last process
        done = subprocess.run(["umount", str(fleet.folder / "o")], capture_output=True)
        if done.returncode == 0:
            break
        time.sleep(0.1)
    shutil.rmtree(fleet.folder, ignore_errors=True)


@contextmanager
def running(name: str, hosts: list[Host], folder: Path) -> Iterator[Fleet]:
    """Hosts for the length of a block."""
    fleet = up(name, hosts, folder)
    try:
        yield fleet
    finally:
        down(fleet)
