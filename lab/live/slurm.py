"""Slurm as a part of the lab: a controller at the hub, a slurmd on every host."""

from collections.abc import Iterator

from lab import slurm, sshd_fleet
from lab.live.hosts import Hosts
from lab.live.part import Hub, Part, Status


class SlurmPart(Part):
    """Real Slurm on the live hosts."""

    name = "slurm"

    def __init__(self, hosts: Hosts) -> None:
        self._hosts = hosts
        self._slurm: slurm.Slurm | None = None

    def up(self, hub: Hub) -> Iterator[str]:
        """Start it and wait until all nodes are idle."""
        del hub  # the hosts' fleet knows it
        fleet = self._hosts.fleet
        self._slurm = slurm.up(fleet, fleet.hosts)
        yield f"Slurm: {len(fleet.hosts)} nodes idle"

    def down(self) -> None:
        """End it."""
        if self._slurm is not None:
            slurm.down(self._slurm)
            self._slurm = None

    def status(self) -> list[Status]:
        """The controller."""
        if self._slurm is None:
            return []
        runs = all(process.poll() is None for process in self._slurm.processes)
        return [Status("labhub", "slurmctld", "up" if runs else "ended")]

    def tick(self) -> None:
        """Start slurmd again where the host was restarted."""
        if self._slurm is None:
            return
        fleet = self._hosts.fleet
        for host in fleet.hosts:
            process = self._slurm.on_host[host.number]
            is_back = host.number in fleet.processes and process.poll() is not None
            if is_back and sshd_fleet.listens(fleet, host):
                slurm.start_on_host(self._slurm, host)

    def environment(self) -> dict[str, str]:
        """Where srun and sinfo find it."""
        if self._slurm is None:
            return {}
        return {"SLURM_CONF": str(self._slurm.folder / "slurm.conf")}
