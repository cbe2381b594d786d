"""Guests that are up: a namespace with a bridge per rail, a tap per NIC, one QEMU per guest.

They stand on bridge br0 of the hub like the hosts of lab/sshd_fleet.py: in a hub of their own, or
in that of a fleet that is up. They end with whoever started them, even after kill -9; `down` leaves
no process, namespace, device or file. Needs root, and the image that image.sh makes once.
"""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from lab.guest.files import write_archive
from lab.guest.machine import GuestMachine
from lab.guest.model import Guest
from lab.guest.qemu import Files, arguments
from lab.sshd_fleet import LAB, clear_after_the_dead, ip_batch, make_hub, write_keys

IMAGE = Path(__file__).with_name("image.sh")
RAIL_MTU = 9216  # what switches have; above the guests' own 9000
# LLDP goes to an address that a bridge keeps to itself; this bit of the mask lets it pass.
FORWARD_LLDP = 1 << 14
SECONDS_TO_BOOT = 600  # 8 guests take less than two minutes on 2 idle cores; on busy ones far more


def make_image() -> None:
    """Kernel, initrd and root of all guests; made once, then cached. Minutes, the first time."""
    subprocess.run(["bash", str(IMAGE)], check=True)


@dataclass
class Guests:
    """Guests that are up."""

    name: str
    folder: Path
    hub: str  # the namespace from which they are reached
    guests: list[Guest]
    own_hub: bool = True
    processes: dict[int, "subprocess.Popen[bytes]"] = field(default_factory=dict)
    machines: list[GuestMachine] = field(default_factory=list)

    @property
    def ssh_config(self) -> Path:
        """For `ssh -F` and `railwright collect -F`."""
        return self.folder / "ssh_config"

    def ssh_blocks(self) -> str:
        """The guests' part of an ssh configuration, for one that holds other machines too."""
        return "\n".join(
            f"Host {guest.name}\n  HostName {guest.address}\n  User root\n" for guest in self.guests
        )

    def run(self, argv: list[str], **options: object) -> "subprocess.CompletedProcess[bytes]":
        """Run a program where the guests can be reached."""
        command = ["ip", "netns", "exec", self.hub, *argv]
        return subprocess.run(command, **options)  # type: ignore[call-overload,no-any-return]

    def rails(self) -> range:
        """Numbers of the rails."""
        return range(max(guest.rails for guest in self.guests))

    def has_ended(self, guest: Guest) -> bool:
        """Whether its QEMU is gone."""
        return self.processes[guest.number].poll() is not None

    def console(self, guest: Guest) -> Path:
        """What the guest writes there, over all its boots."""
        return self.folder / f"{guest.name}.log"

    def machine(self, guest: Guest) -> GuestMachine:
        """To ask it and to do something to it."""
        # Whoever asks a guest ends with us, too: a login to one that boots may take minutes.
        reach = (
            "setpriv", "--pdeathsig", "KILL", "ip", "netns", "exec", self.hub,
            "ssh", "-F", str(self.ssh_config), "-o", "BatchMode=yes",
        )  # fmt: skip
        return GuestMachine(guest, reach, self.console(guest))


def taps(guest: Guest) -> dict[int | None, str]:
    """The tap of each rail's NIC, and of the one for management (None)."""
    return {
        None: f"g{guest.number}m",
        **{rail: f"g{guest.number}r{rail}" for rail in range(guest.rails)},
    }


def _make_network(guests: Guests) -> None:
    if guests.own_hub:
        make_hub(guests.hub)
    lines = [
        f"link add rail{rail} mtu {RAIL_MTU} up type bridge group_fwd_mask {FORWARD_LLDP}"
        for rail in guests.rails()
    ]
    for guest in guests.guests:
        for rail, device in taps(guest).items():
            bridge, mtu = ("br0", 1500) if rail is None else (f"rail{rail}", RAIL_MTU)
            lines.append(f"tuntap add dev {device} mode tap")
            lines.append(f"link set {device} mtu {mtu} master {bridge} up")
    ip_batch(guests.hub, lines)


def _write_ssh_files(guests: Guests) -> None:
    # A login takes two seconds of an emulated processor, which on a busy machine are minutes.
    everyone = f"{write_keys(guests.folder)}  ConnectTimeout 300\n"
    guests.ssh_config.write_text(f"{guests.ssh_blocks()}\n{everyone}")


def start(guests: Guests, guest: Guest) -> None:
    """Start a guest's QEMU, for the first time or after it has ended."""
    archive = guests.folder / f"{guest.name}.tar"
    write_archive(archive, guest, {other.name: other.address for other in guests.guests})
    files = Files(LAB / "guest", archive, guests.console(guest))
    with (guests.folder / f"{guest.name}.qemu.log").open("ab") as log:
        guests.processes[guest.number] = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "ip", "netns", "exec", guests.hub,
             *arguments(guest, files, taps(guest))],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip


def answering(guests: Guests) -> Iterator[GuestMachine]:
    """Each of them when it answers, in their order."""
    deadline = time.monotonic() + SECONDS_TO_BOOT
    for machine in guests.machines:
        guest = machine.guest
        while machine.is_booting or not _answers(machine):
            if guests.has_ended(guest) or time.monotonic() > deadline:
                said = (guests.folder / f"{guest.name}.qemu.log").read_text()
                if machine.console.exists():
                    said += machine.console.read_text("utf-8", "replace")
                raise RuntimeError(f"{guest.name} did not come up: {said}")
            time.sleep(0.5)
        yield machine


def _answers(machine: GuestMachine) -> bool:
    try:
        return machine.run("cat /run/lab-is-up") == ""
    except (RuntimeError, subprocess.TimeoutExpired):
        return False


def begin(name: str, guests: int, rails: int, folder: Path, hub: str = "") -> Guests:
    """Start guests; `hub` is the namespace of a fleet that is up."""
    clear_after_the_dead()
    chosen = [Guest(number, rails) for number in range(1, guests + 1)]
    found = Guests(name, folder, hub or f"{name}-{os.getpid()}-hub", chosen, own_hub=not hub)
    folder.mkdir(parents=True)
    try:
        _make_network(found)
        _write_ssh_files(found)
        for guest in chosen:
            start(found, guest)
            found.machines.append(found.machine(guest))
    except BaseException:
        down(found)
        raise
    return found


def up(name: str, guests: int, rails: int, folder: Path, hub: str = "") -> Guests:
    """Start guests and wait until all answer."""
    found = begin(name, guests, rails, folder, hub)
    try:
        for _ in answering(found):
            pass
    except BaseException:
        down(found)
        raise
    return found


def down(guests: Guests) -> None:
    """End everything that `up` began."""
    for process in guests.processes.values():
        process.kill()
    for process in guests.processes.values():
        process.wait()
    if guests.own_hub:
        subprocess.run(["ip", "netns", "del", guests.hub], capture_output=True)
    else:
        names = [device for guest in guests.guests for device in taps(guest).values()]
        names += [f"rail{rail}" for rail in guests.rails()]
        lines = "".join(f"link del {device}\n" for device in names)
        subprocess.run(
            ["ip", "-n", guests.hub, "-force", "-batch", "-"],
            input=lines.encode(), capture_output=True,
        )  # fmt: skip
    shutil.rmtree(guests.folder, ignore_errors=True)


@contextmanager
def running(name: str, guests: int, rails: int, folder: Path, hub: str = "") -> Iterator[Guests]:
    """Guests for the length of a block."""
    found = up(name, guests, rails, folder, hub)
    try:
        yield found
    finally:
        down(found)
