"""A fabric of 16 hosts and 12 switches of four systems with eleven faults: an hour ago, and now."""

import fcntl
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from lab.fleet.fabric import build
from lab.fleet.fabric.model import End, Fabric
from lab.fleet.fabric.shapes import Shape
from lab.fleet.faults.switch_change import (
    cut,
    dscp,
    host_card,
    next_rail,
    port,
    swapped,
    whole_switch,
)
from lab.fleet.faults.switch_fault import Change, Place
from lab.fleet.lose_part import Part, lost
from lab.fleet.model import HostModel, with_faults
from lab.harness.fabric import fabric_snapshot
from railwright.store.snapshot import Snapshot

SYSTEMS = ("sonic", "cumulus", "eos", "onyx")
SHAPE = Shape(
    16, rails=8, hosts_per_leaf=16, uplinks=8, spines=4, host_mbps=200_000, uplink_mbps=200_000,
    leaf_systems=SYSTEMS, spine_systems=SYSTEMS, models={"sonic": "SN3700", "cumulus": "SN3700"},
)  # fmt: skip


@dataclass(frozen=True)
class Struck:
    """A change of the fabric at an end; an hour ago it was not there."""

    change: Change
    place: Place

    def apply(self, fabric: Fabric, *, before: bool) -> None:
        if not before:
            self.change(fabric, self.place)


def _host(work: Callable[[HostModel], HostModel]) -> Change:
    def change(fabric: Fabric, place: Place) -> None:
        machine = place.end.machine
        fabric.host_work[machine] = (*fabric.host_work.get(machine, ()), work)

    return change


def _without_card(host: HostModel) -> HostModel:
    """At the last boot: RDMA devices are numbered without it."""
    slot = host.nics[3].address.rpartition(".")[0]
    return lost(host, Part("nic", slot), "missing_at_boot")


def _without_gpu(host: HostModel) -> HostModel:
    return lost(host, Part("gpu", host.gpus[5].address), "removed")


def _narrow(host: HostModel) -> HostModel:
    return with_faults(host, {(host.nics[1].address, "width"): 8})


PENDING = {"parameters": {"ROCE_CC_PRIO_MASK_P1": ("255", "8")}}


def _faults(fabric: Fabric) -> Iterator[Struck]:
    def at_host(number: int, rail: int, change: Change) -> Struck:
        return Struck(change, Place(fabric, End(number - 1, rail)))

    def at_leaf(rail: int, number: int, change: Change) -> Struck:
        """At the leaf's port to that host."""
        link, links = fabric.by_end()[End(number - 1, rail)], fabric.links
        return Struck(change, Place(fabric, End(links.upper[link], links.upper_port[link])))

    yield at_host(2, 3, _host(_without_card))
    yield at_host(3, 5, cut)
    yield at_host(4, 2, host_card({"mtu": 1500}))
    yield at_host(5, 1, _host(_narrow))
    yield at_host(6, 4, host_card({"qos.trust": "pcp"}))
    yield at_host(7, 0, host_card(PENDING))
    yield at_host(8, 0, _host(_without_gpu))
    yield at_leaf(6, 9, port(mtu=1500))
    yield at_leaf(1, 10, port(pfc=(), watchdog=()))
    yield at_host(11, 0, swapped(next_rail))  # at leaf001 and leaf002
    yield at_leaf(3, 12, whole_switch(dscp(26, 0)))


def snapshots(folder: Path) -> tuple[Snapshot, Snapshot]:
    """An hour ago, and with the faults."""
    fabric = build(SHAPE)
    faults = list(_faults(fabric))
    assert len(faults) == 11
    return (
        fabric_snapshot(folder, fabric, faults, earlier=True),  # type: ignore[arg-type]
        fabric_snapshot(folder, fabric, faults),  # type: ignore[arg-type]
    )


def shared(folder: Path) -> Path:
    """A store with both in this folder, made by the first who asks. Not to be written to."""
    store, made = folder / "eleven", folder / "eleven.made"
    with (folder / "eleven.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not store.exists():
            snapshots(made)
            made.rename(store)
    return store
