"""Many real sshd hosts on one machine, each in namespaces of its own, on one bridge.

Everything lives in a hub namespace and below one folder; `down` leaves no process, namespace, mount
or file. Needs root. A host may be healthy or one of the broken KINDS that a site really has.
"""

import math
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from lab import confine, first_process, proc_links
from lab.sshd_kinds import break_layer

LAB = Path(os.environ.get("LAB", str(Path.home() / ".cache/railwright-lab")))

NAMESPACES = Path("/run/netns")  # where iproute2 keeps their names


@dataclass(frozen=True)
class Host:
    """One host of the fleet."""

    number: int
    kind: str = "healthy"
    # A fake host's files: sys/ goes over /sys, what is in proc/ over its namesakes, files/ over /.
    tree: Path | None = None
    user: str = "root"  # whom ssh logs in as
    extra: tuple[tuple[str, str | bytes, int], ...] = ()  # (path, content, mode) put on the host
    alias: str = ""  # its name where that is not host1, host2, …
    mounts: tuple[tuple[Path, str], ...] = ()  # files of this machine, and where the host has them
    writable: tuple[str, ...] = ()  # patterns below tree/sys: what of it the host may write

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

    def base(self, host: Host) -> Path:
        """The host's folder on the fleet's tmpfs; u/ in it is its own layer of files."""
        return self.folder / "o" / str(host.number)

    def namespace(self, host: Host) -> str:
        """Its network namespace, which stays while the host is not up."""
        return f"{self.name}{host.number}"

    def root(self, host: Host) -> Path:
        """The host's root folder, from outside."""
        return first_process.root_of(self.processes[host.number])

    def open_root(self, host: Host) -> int | None:
        """A handle of it, waited for; None where the host does not run."""
        process = self.processes.get(host.number)
        return None if process is None else first_process.open_root(process)

    def init_pid(self, host: Host) -> int:
        """The first process inside the host's PID namespace."""
        return first_process.first_process(self.processes[host.number])

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


def _start_script(fleet: Fleet, host: Host) -> str:
    """What runs as the first process of a host."""
    base = fleet.base(host)
    root = base / "m"
    lines = [
        "set -e",
        f"hostname {host.name}",
        f"layers=lowerdir={_lower(host)},upperdir={base}/u,workdir={base}/w",
        f"mount -t overlay overlay -o $layers {root}",
        f"mkdir -p {root}/run/sshd {root}/dev",
        f"mount -t proc proc {root}/proc",
        *confine.proc_lines(root / "proc"),
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
        if host.writable:
            paths = " ".join(f"{host.tree}/sys/{pattern}" for pattern in host.writable)
            there = f'{root}/sys/"${{p#{host.tree}/sys/}}"'
            lines.append(f'for p in {paths}; do [ ! -e "$p" ] || mount --bind "$p" {there}; done')
        lines += _proc_mounts(fleet, host.tree, root)
    else:
        lines.append(f"mount -t sysfs sys {root}/sys")
    for source, target in host.mounts:
        place = root / target.lstrip("/")
        lines.append(f"mkdir -p {place.parent}; : > {place}; mount --bind {source} {place}")
    end = {
        "refusing": "sleep infinity",
        "silent": "/usr/bin/python3 /silent.py",
    }.get(host.kind, "/usr/sbin/sshd -D -e -o PidFile=none")
    lines.append(f"exec {confine.WITHOUT_POWERS} chroot {root} {end}")
    return "\n".join(lines)


def _proc_mounts(fleet: Fleet, tree: Path, root: Path) -> list[str]:
    """Files and folders of the host over those of the kernel."""
    if not (tree / "proc").is_dir():
        return []
    lines, processes = [], root / "proc"
    if proc_links.lacking(tree):
        links, real = fleet.folder / "o" / "proc", root / proc_links.REAL
        processes = real
        proc_links.make_links(links, tree)
        lines += [f"mkdir -p {real}", f"mount --move {root}/proc {real}"]
        lines.append(f"mount --bind -o ro {links} {root}/proc")
    pairs = [(f"proc/{name}", f"{root}/proc/{name}") for name in sorted(proc_links.own(tree))]
    first = proc_links.of_first_process(tree)
    pairs += [(f"proc/1/{name}", f"{processes}/1/{name}") for name in first]
    return lines + [f"mount --bind {tree}/{name} {place}" for name, place in pairs]


def _lower(host: Host) -> str:
    layers = [str(LAB / "rootfs")]
    if host.tree is not None and (host.tree / "files").is_dir():
        layers.insert(0, str(host.tree / "files"))
    return ":".join(layers)


def _prepare_upper(fleet: Fleet, host: Host) -> None:
    base = fleet.base(host)
    for name in ("u", "w", "m"):
        (base / name).mkdir(parents=True)
    upper = base / "u"
    hosts = upper / "etc/hosts"
    hosts.parent.mkdir(parents=True)
    names = "".join(f"{other.address} {other.name}\n" for other in fleet.hosts)
    hosts.write_text(f"127.0.0.1 localhost\n10.88.255.254 labhub\n{names}")
    for name, content, mode in host.extra:
        path = upper / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        path.chmod(mode)
    break_layer(upper, LAB / "rootfs", host.kind)


def clear_after_the_dead() -> None:
    """Namespaces of runs that were killed: their name says whose they were."""
    for namespace in NAMESPACES.glob("rw?-*-*"):
        owner = namespace.name.split("-")[1]
        if owner.isdigit() and not Path(f"/proc/{owner}").exists():
            subprocess.run(["ip", "netns", "del", namespace.name], capture_output=True)


def make_hub(namespace: str) -> None:
    """The namespace from which machines are reached, with the bridge that they stand on."""
    subprocess.run(["ip", "netns", "add", namespace], check=True)
    ip_batch(namespace, ["link set lo up", "link add br0 type bridge",
                         "addr add 10.88.255.254/16 dev br0", "link set br0 up"])  # fmt: skip


def _make_network(fleet: Fleet) -> None:
    hub = fleet.hub
    make_hub(hub)
    inside = []
    for host in fleet.hosts:
        subprocess.run(["ip", "netns", "add", f"{fleet.name}{host.number}"], check=True)
        inside.append(
            f"link add p{host.number} type veth peer name eth0 netns {fleet.name}{host.number}"
        )
        inside.append(f"link set p{host.number} master br0 up")
    ip_batch(hub, inside)
    for host in fleet.hosts:
        commands = [
            f"addr add {host.address}/16 dev eth0",
            "link set eth0 up",
            "link set lo up",
        ]
        ip_batch(f"{fleet.name}{host.number}", commands)


def ip_batch(namespace: str, commands: list[str]) -> None:
    """What `ip` is to do there."""
    subprocess.run(
        ["ip", "-n", namespace, "-batch", "-"], input="\n".join(commands).encode(), check=True
    )


def write_keys(folder: Path) -> str:
    """The lab's keys into a folder; what an ssh configuration says to use them."""
    key = (LAB / "rootfs/etc/ssh/ssh_host_ed25519_key.pub").read_text().split()
    (folder / "known_hosts").write_text(f"* {key[0]} {key[1]}\n")
    shutil.copy(LAB / "key", folder / "key")
    (folder / "key").chmod(0o600)
    return (
        f"Host *\n  IdentityFile {folder}/key\n  IdentitiesOnly yes\n"
        f"  UserKnownHostsFile {folder}/known_hosts\n  GlobalKnownHostsFile /dev/null\n"
    )


def _write_ssh_files(fleet: Fleet) -> None:
    blocks = []
    for host in fleet.hosts:
        user = "reader" if host.kind == "no root" else host.user
        blocks.append(f"Host {host.name}\n  HostName {host.address}\n  User {user}\n")
    blocks.append(write_keys(fleet.folder))
    fleet.ssh_config.write_text("\n".join(blocks))


def _most_mb(hosts: list[Host]) -> int:
    """The most that their files may take: twice what live HGX hosts do (lab/live/needs.py)."""
    return max(6144, 48 * len(hosts))


def prepare(name: str, hosts: list[Host], folder: Path) -> Fleet:
    """Folders, network and ssh files; no host is up yet."""
    clear_after_the_dead()
    fleet = Fleet(f"{name}-{os.getpid()}-", folder, hosts)
    folder.mkdir(parents=True)
    (folder / "o").mkdir()
    subprocess.run(
        [
            "mount",
            "-t",
            "tmpfs",
            "-o",
            f"size={_most_mb(hosts)}m,nr_inodes=0",
            "tmpfs",
            str(folder / "o"),
        ],
        check=True,
    )
    try:
        _make_network(fleet)
        _write_ssh_files(fleet)
        for host in hosts:
            _prepare_upper(fleet, host)
    except BaseException:
        down(fleet)
        raise
    return fleet


def start(fleet: Fleet, host: Host, uptime_s: float | None = None) -> None:
    """Start a host; `uptime_s` is how long it says it has been up, otherwise as this machine."""
    time_options = []
    if uptime_s is not None:
        # Rounded up: a clock that would begin before 0 is refused.
        offset = math.ceil(uptime_s - float(Path("/proc/uptime").read_text().split()[0]))
        time_options = ["--time", "--boottime", str(offset)]
    with (fleet.folder / f"{host.number}.log").open("ab") as log:
        fleet.processes[host.number] = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL",  # hosts end with us, even after kill -9
             "ip", "netns", "exec", fleet.namespace(host),
             "unshare", "--mount", "--uts", "--pid", *time_options, "--fork", "--kill-child",
             "--propagation", "private", "bash", "-c", _start_script(fleet, host)],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip


def stop(fleet: Fleet, host: Host) -> None:
    """End a host with all that runs on it; its files and its network stay."""
    process = fleet.processes.pop(host.number, None)
    if process is not None:
        first_process.end([process])


def up(name: str, hosts: list[Host], folder: Path) -> Fleet:
    """Start the hosts and wait until their sshd listens."""
    fleet = prepare(name, hosts, folder)
    try:
        for host in hosts:
            start(fleet, host)
        wait_until_up(fleet)
    except BaseException:
        down(fleet)
        raise
    return fleet


def listens(fleet: Fleet, host: Host) -> bool:
    """Whether something takes connections where sshd does."""
    probe = ["bash", "-c", f"exec 3<>/dev/tcp/{host.address}/22"]
    return fleet.run(probe, capture_output=True).returncode == 0


def wait_until_up(fleet: Fleet, seconds: float = 60) -> None:
    """Until sshd listens on every host that has one."""
    deadline = time.monotonic() + seconds
    for host in fleet.hosts:
        if host.kind == "refusing":
            continue
        while not listens(fleet, host):
            if time.monotonic() > deadline:
                log = (fleet.folder / f"{host.number}.log").read_text()
                raise RuntimeError(f"{host.name} did not come up: {log}")
            time.sleep(0.05)


def down(fleet: Fleet) -> None:
    """End everything that `up` began."""
    first_process.end(list(fleet.processes.values()))
    fleet.processes.clear()
    clear(fleet.name, fleet.folder)


def clear(prefix: str, folder: Path) -> None:
    """Namespaces, mount and files of a fleet without processes; also of one that was killed."""
    names = [path.name for path in NAMESPACES.glob(f"{prefix}*")]
    lines = "".join(f"netns del {name}\n" for name in names)
    subprocess.run(["ip", "-force", "-batch", "-"], input=lines.encode(), capture_output=True)
    for _ in range(50):  # of a fleet that was killed, some may still be ending
        done = subprocess.run(["umount", str(folder / "o")], capture_output=True)
        if done.returncode == 0 or not (folder / "o").is_mount():
            break
        time.sleep(0.1)
    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def running(name: str, hosts: list[Host], folder: Path) -> Iterator[Fleet]:
    """Hosts for the length of a block."""
    fleet = up(name, hosts, folder)
    try:
        yield fleet
    finally:
        down(fleet)
