"""Real Slurm on the sshd fleet: munge, slurmctld at the hub, one slurmd per healthy host."""

import os
import secrets
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from lab.sshd_fleet import Fleet, Host

_CONFIGURATION = """\
ClusterName=lab
SlurmctldHost=labhub(10.88.255.254)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={socket}
CredType=cred/munge
MpiDefault=none
MailProg=/bin/true
JobAcctGatherType=jobacct_gather/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
StateSaveLocation={folder}/state
SlurmdSpoolDir=/var/spool/slurmd
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
SlurmctldPort=16817
SlurmdPort=16818
SlurmctldTimeout=60
MessageTimeout=60
DebugFlags=NO_CONF_HASH
SlurmdParameters=config_overrides
TreeWidth=16
{nodes}
PartitionName=gpu Nodes={names} Default=YES MaxTime=INFINITE State=UP
"""
_CGROUP = "CgroupPlugin=cgroup/v1\nCgroupAutomount=no\nConstrainCores=no\n"
_ENDS_WITH_US = ("setpriv", "--pdeathsig", "KILL")
_SOCKET = "/run/munge/munge.socket.2"


@dataclass
class Slurm:
    """A cluster that is up."""

    fleet: Fleet
    folder: Path
    handle: int  # of the folder
    key: bytes = field(default_factory=lambda: secrets.token_bytes(1024))
    processes: list["subprocess.Popen[bytes]"] = field(default_factory=list)  # at the hub
    on_host: dict[int, "subprocess.Popen[bytes]"] = field(default_factory=dict)

    @property
    def socket(self) -> str:
        """Munge's at the hub; through the open folder, because a socket's path may not be long."""
        return f"/proc/{os.getpid()}/fd/{self.handle}/munge.socket"

    def environment(self) -> dict[str, str]:
        """For srun, sinfo and everything that calls them."""
        return {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf")}

    def run(self, argv: list[str], **options: object) -> "subprocess.CompletedProcess[bytes]":
        """Run a program at the hub, under the hub's own host name."""
        inside = ["unshare", "--uts", "sh", "-c", 'hostname labhub; exec "$@"', "sh", *argv]
        return self.fleet.run(inside, env=self.environment(), **options)


def _configure(slurm: Slurm, hosts: list[Host]) -> None:
    nodes = "\n".join(
        f"NodeName={h.name} NodeHostname={h.name} NodeAddr={h.address} CPUs=1 State=UNKNOWN"
        for h in hosts
    )
    names = ",".join(host.name for host in hosts)
    values = {"nodes": nodes, "names": names, "folder": slurm.folder}
    for socket, path in ((slurm.socket, slurm.folder), (_SOCKET, None)):
        text = _CONFIGURATION.format(socket=socket, **values)
        targets = [path] if path else [slurm.fleet.root(host) / "etc/slurm" for host in hosts]
        for target in targets:
            target.mkdir(parents=True, exist_ok=True)
            (target / "slurm.conf").write_text(text)
            (target / "cgroup.conf").write_text(_CGROUP)


def _start_munge_at_hub(slurm: Slurm) -> None:
    path = slurm.folder / "munge.key"
    path.write_bytes(slurm.key)
    path.chmod(0o400)
    slurm.processes.append(
        subprocess.Popen(
            [*_ENDS_WITH_US, "ip", "netns", "exec", slurm.fleet.hub,
             "munged", "--foreground", "--force",
             "--key-file", str(path), "--socket", slurm.socket,
             "--pid-file", f"{slurm.folder}/munge.pid", "--log-file", f"{slurm.folder}/munge.log",
             "--seed-file", f"{slurm.folder}/munge.seed"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )
    )  # fmt: skip


def start_on_host(slurm: Slurm, host: Host) -> None:
    """Munge and slurmd on one host; once more after it was restarted."""
    root = slurm.fleet.root(host)
    (root / "etc/munge").mkdir(exist_ok=True)
    (root / "etc/munge/munge.key").write_bytes(slurm.key)
    script = (
        "mkdir -p /run/munge /var/lib/munge /var/log/munge /var/spool/slurmd; "
        "chown -R munge:munge /run/munge /var/lib/munge /var/log/munge /etc/munge; "
        "chmod 755 /run/munge; chmod 400 /etc/munge/munge.key; "
        "setpriv --reuid munge --regid munge --clear-groups /usr/sbin/munged; "
        f"exec /usr/sbin/slurmd -D -N {host.name}"
    )
    log = (slurm.folder / f"slurmd-{host.number}.log").open("wb")
    slurm.on_host[host.number] = subprocess.Popen(
        [*_ENDS_WITH_US, "nsenter", "-t", str(slurm.fleet.init_pid(host)),
         "-m", "-u", "-p", "-n", "-T", "-r", "-w", "/bin/sh", "-c", script],
        stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
    )  # fmt: skip
    log.close()


def up(fleet: Fleet, hosts: list[Host]) -> Slurm:
    """Start everything and wait until all nodes are idle."""
    folder = fleet.folder / "slurm"
    (folder / "state").mkdir(parents=True)
    slurm = Slurm(fleet, folder, os.open(folder, os.O_PATH))
    try:
        _start(slurm, hosts)
    except BaseException:
        down(slurm)
        raise
    return slurm


def _start(slurm: Slurm, hosts: list[Host]) -> None:
    _configure(slurm, hosts)
    _start_munge_at_hub(slurm)
    for host in hosts:
        start_on_host(slurm, host)
    controller = [
        *_ENDS_WITH_US, "ip", "netns", "exec", slurm.fleet.hub, "unshare", "--uts", "sh", "-c",
        'hostname labhub; exec slurmctld -D -c', "sh",
    ]  # fmt: skip
    log = (slurm.folder / "slurmctld.log").open("wb")
    slurm.processes.append(
        subprocess.Popen(
            controller, env=slurm.environment(), stdout=log, stderr=log, start_new_session=True
        )
    )
    log.close()
    _wait_until_idle(slurm, len(hosts))


def _wait_until_idle(slurm: Slurm, count: int, seconds: float = 90) -> None:
    deadline = time.monotonic() + seconds
    said = b""
    while time.monotonic() < deadline:
        done = slurm.run(["timeout", "10", "sinfo", "-h", "-o", "%T %D"], capture_output=True)
        said = done.stdout + done.stderr
        if done.stdout.split() == [b"idle", str(count).encode()]:
            return
        time.sleep(0.5)
    log = (slurm.folder / "slurmctld.log").read_text()[-2000:]
    raise RuntimeError(f"Slurm did not come up: {said!r}\n{log}")


def down(slurm: Slurm) -> None:
    """End it; what runs on the hosts ends with them or here."""
    started = [*slurm.processes, *slurm.on_host.values()]
    for process in started:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except OSError:
            pass
    for process in started:
        process.wait()
    if slurm.handle >= 0:
        os.close(slurm.handle)
        slurm.handle = -1


@contextmanager
def running(fleet: Fleet, hosts: list[Host]) -> Iterator[Slurm]:
    """Slurm for the length of a block."""
    slurm = up(fleet, hosts)
    try:
        yield slurm
    finally:
        down(slurm)
