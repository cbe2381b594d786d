"""Hosts and switches of one fabric for the length of a block, without a keeper: for tests."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lab.live import switches
from lab.live.cluster import Cluster, node_set
from lab.live.fabric import FabricState
from lab.live.hosts import Hosts
from lab.live.switches import Switches

COLLECT_S = 1800.0


@dataclass(frozen=True)
class Whole:
    """A lab that is up, and how to read it."""

    cluster: Cluster
    hosts: Hosts
    switches: Switches
    folder: Path

    @property
    def ssh_config(self) -> Path:
        """For `ssh -F`: all machines."""
        return self.folder / "ssh_config"

    def run(self, *argv: str) -> "subprocess.CompletedProcess[str]":
        """A program at the hub."""
        return self.hosts.fleet.run(list(argv), capture_output=True, text=True, timeout=COLLECT_S)  # type: ignore[return-value]

    def ssh(self, machine: str, command: str) -> str:
        """What a machine prints."""
        return self.run("ssh", "-F", str(self.ssh_config), machine, command).stdout

    def collect(
        self, store: Path, *, with_hosts: bool = True
    ) -> "subprocess.CompletedProcess[str]":
        """Read all of it in one run."""
        names = node_set(one.name for one in self.cluster.machines)
        hosts = ["-w", names] if with_hosts else []
        return self.run(
            sys.executable, "-m", "railwright", "collect", "-F", str(self.ssh_config),
            "--store", str(store), "--state-from", "none", *hosts,
            *self.switches.collect_arguments(),
        )  # fmt: skip


@contextmanager
def running(made: Cluster, folder: Path) -> Iterator[Whole]:
    """All hosts must be of the fabric."""
    hosts = Hosts(made.machines, seconds_to_boot=0)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        hub = hosts.prepare(folder / "run")
        for _ in hosts.up(hub):
            pass
        with switches.running(Switches(FabricState(made.fabric), hosts.rebase), hub) as up:
            whole = Whole(made, hosts, up, folder)
            whole.ssh_config.write_text(up.ssh_config() + hosts.ssh_config())
            yield whole
    finally:
        hosts.down()
