"""The files of one guest, as a tar archive that is its second disk: see `init` and `initrd`."""

import io
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from lab.fleet.model import Nic
from lab.fleet.port_model import Qos
from lab.fleet.tools import write_files, write_programs
from lab.fleet.tree import Folder
from lab.guest.model import PROGRAMS, Guest

SETTINGS = "/etc/railwright-lab"
# Neighbors must be heard soon after boot; lldpd's own 30 s would be most of a test.
LLDP = "configure lldp tx-interval 5\nconfigure lldp portidsubtype ifname\n"


def write_archive(path: Path, guest: Guest, names: dict[str, str]) -> None:
    """Write the archive in place: a guest that is up has the file open and reads it at reboot."""
    with tempfile.TemporaryDirectory() as folder:
        write_programs(Path(folder), guest.model, PROGRAMS)
        write_files(Folder(Path(folder)), _files(guest, names))
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as archive:
            for file in sorted(Path(folder).rglob("*")):
                if file.is_file():  # folders that the image has keep their modes
                    archive.add(file, str(file.relative_to(folder)), filter=_of_root)
        path.write_bytes(packed.getvalue())


def _of_root(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = "root"
    return member


def _files(guest: Guest, names: dict[str, str]) -> dict[str, str]:
    """Absolute path -> content; `names` are the lab's machines and their addresses."""
    known = "".join(f"{address} {name}\n" for name, address in names.items())
    return {
        "/etc/hosts": f"127.0.0.1 localhost\n10.88.255.254 labhub\n{known}",
        "/etc/lldpd.d/lab.conf": LLDP,
        f"{SETTINGS}/name": f"{guest.name}\n",
        f"{SETTINGS}/networks": "".join(_networks(guest)),
        f"{SETTINGS}/rdma": "".join(
            f"{card.netdev} rxe{rail}\n" for rail, card in enumerate(guest.cards)
        ),
        f"{SETTINGS}/dcb": "".join(f"{line}\n" for card in guest.cards for line in dcb(card)),
        f"{SETTINGS}/sysfs": "".join(_sysfs(guest)),
    }


def _networks(guest: Guest) -> Iterator[str]:
    yield f"{guest.management_mac} eth0 {guest.address}/16 1500\n"
    for card in guest.cards:
        yield f"{card.mac} {card.netdev} {card.addresses[0]} {card.mtu}\n"


def _sysfs(guest: Guest) -> Iterator[str]:
    """The runner calls firmware tools for cards of their vendor alone, and virtio is Red Hat's."""
    for card in guest.cards:
        function = guest.place(card).function
        vendor, device = function.subsystem
        says = {
            "vendor": function.vendor,
            "device": function.device,
            "subsystem_vendor": vendor,
            "subsystem_device": device,
        }
        for name, number in says.items():
            yield f"/sys/bus/pci/devices/{card.address}/{name} 0x{number:04x}\n"


def dcb(card: Nic) -> Iterator[str]:
    """Arguments of `dcb` that give a netdev the QoS of the model's card."""
    for kind, words in _dcb_words(card.qos):
        yield f"{kind} {'add' if kind == 'app' else 'set'} dev {card.netdev} {words}"


def _dcb_words(qos: Qos) -> Iterator[tuple[str, str]]:
    switches = pairs("on" if on else "off" for on in qos.pfc)
    yield "pfc", f"delay {qos.cable_length_m} prio-pfc {switches}"
    schedulers, shares = pairs(qos.class_scheduler), pairs(qos.class_bandwidth)
    yield "ets", f"tc-tsa {schedulers} tc-bw {shares} prio-tc {pairs(qos.priority_class)}"
    sizes = pairs(qos.buffer_bytes)
    yield "buffer", f"prio-buffer {pairs(qos.priority_buffer)} buffer-size {sizes}"
    points = " ".join(f"{point}:{qos.dscp_priority[point]}" for point in qos.app_dscps)
    yield "app", f"dscp-prio {points}"


def pairs(values: Iterable[object]) -> str:
    """0:a 1:b …, as dcb wants lists."""
    return " ".join(f"{place}:{value}" for place, value in enumerate(values))
