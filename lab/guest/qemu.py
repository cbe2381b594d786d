"""The command line of a guest's QEMU."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lab.fleet.model import Nic
from lab.guest.model import Guest

MEMORY_MB = (160, 64)  # of the two NUMA nodes; judgement: 192 were enough for a root without Slurm
# Plain emulation runs everywhere. The guest's clock goes with the instructions that it has executed
# (8 ns each, about what a free core does) and, while it waits, with the real one: a busy machine
# makes guests slow, but passes no timeout of their kernels that a free one would not.
EMULATION = ("-accel", "tcg,thread=single,tb-size=64", "-icount", "shift=3")
# Where /dev/kvm works, LAB_ACCELERATOR=kvm boots in seconds; it is not tried by itself, because on
# nested machines it may be there and hang.
ACCELERATOR = os.environ.get("LAB_ACCELERATOR", "")
# Without the check of the timer: it takes real time, and a starved guest's kernel panicked there.
KERNEL = "console=ttyS0 quiet panic=-1 mitigations=off audit=0 net.ifnames=0 no_timer_check"


@dataclass(frozen=True)
class Files:
    """What a guest reads and writes."""

    image: Path  # the folder that image.sh makes
    archive: Path
    console: Path


def arguments(guest: Guest, files: Files, taps: dict[int | None, str]) -> list[str]:
    """QEMU and its arguments; None is the tap for management."""
    words = [
        "qemu-system-x86_64", "-name", guest.name,
        *(("-accel", ACCELERATOR) if ACCELERATOR else EMULATION),
        "-cpu", "max,la57=off", "-M", "q35,smm=off,hpet=off", "-smp", "1",
        "-m", str(sum(MEMORY_MB)), "-nodefaults", "-no-user-config", "-display", "none",
        "-chardev", f"file,id=console,path={files.console},append=on", "-serial", "chardev:console",
        "-kernel", str(files.image / "vmlinux"),
        "-initrd", str(files.image / "initrd.cpio"), "-append", KERNEL,
    ]  # fmt: skip
    for node, size in enumerate(MEMORY_MB):
        words += ["-object", f"memory-backend-ram,id=memory{node},size={size}M"]
        cpus = ",cpus=0" if node == 0 else ""
        words += ["-numa", f"node,nodeid={node}{cpus},memdev=memory{node}"]
    # All guests read one image; a lock would let one of them have it.
    for place, file in enumerate((files.image / "root.img", files.archive)):
        how = "format=raw,readonly=on,file.locking=off"
        words += ["-drive", f"if=none,id=disk{place},file={file},{how}"]
        words += ["-device", f"virtio-blk-pci,drive=disk{place}"]
    words += _nic("management", taps[None], guest.management_mac, "")
    for rail, card in enumerate(guest.cards):
        words += _slot(rail, card, guest.place(card).numa)
        words += _nic(f"rail{rail}", taps[rail], card.mac, f",bus=port{rail}")
    return words


def _slot(rail: int, card: Nic, numa_node: int) -> Iterator[str]:
    """A root bus of that NUMA node, numbered so that what is below its one port is the card's bus.

    The port says Gen4 x16; every emulated endpoint trains at 2.5 GT/s x1 all the same.
    """
    bus = int(card.address.split(":")[1], 16)
    root = f"id=root{rail},bus=pcie.0,bus_nr={bus - 1},numa_node={numa_node}"
    port = f"id=port{rail},bus=root{rail},chassis={rail + 1},x-speed=16,x-width=16"
    yield from ("-device", f"pxb-pcie,{root}", "-device", f"pcie-root-port,{port}")


def _nic(name: str, device: str, mac: str, bus: str) -> Iterator[str]:
    yield from ("-netdev", f"tap,id={name},ifname={device},script=no,downscript=no")
    # Without its option ROM: nothing boots from it.
    yield from ("-device", f"virtio-net-pci,netdev={name},mac={mac},romfile={bus}")
