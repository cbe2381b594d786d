"""PCI functions of healthy hosts: cards, GPUs, switches, and what a board has of its own."""

from dataclasses import dataclass

from lab.fleet.healthy.parts import Part
from lab.fleet.model import ACS_OFF, Function
from lab.fleet.platform import AMD, BRIDGE, BROADCOM, INFINIBAND, INTEL, MELLANOX, NVIDIA

BROADCOM_NIC, MATROX, PLDA, MICROCHIP, ATI = 0x14E4, 0x102B, 0x1556, 0x11F8, 0x1002
DMA_CONTROLLER, ACCELERATOR, GPU_CLASS = 0x080100, 0x120000, 0x030200
PEX890 = 0xC030
# A switch of this maker has its management behind port 1f; it calls itself a storage controller.
PEX_MANAGEMENT, SAS = 0x00B2, 0x010700


def at(bus: int, device: int = 0, function: int = 0, domain: int = 0) -> str:
    """0000:18:00.0."""
    return f"{domain:04x}:{bus:02x}:{device:02x}.{function}"


def card(
    part: Part, bus: int, *, infiniband: tuple[int, ...] = (), domain: int = 0, ports: int = 0
) -> tuple[Function, ...]:
    """The functions of a card; `infiniband` are those that are not Ethernet."""
    return tuple(
        Function(
            at(bus, 0, number, domain), part.vendor, part.device,
            INFINIBAND if number in infiniband else part.class_code, "endpoint", part.driver,
            subsystem=(part.vendor, part.subsystem), read_request=4096, ats=False,
            generation=part.generation, generation_max=part.generation, width=part.width,
            width_max=part.width, virtual_functions=part.virtual_functions,
        )
        for number in range(ports or part.ports)
    )  # fmt: skip


def gpu(bus: int, device: int, subsystem: int, *, generation: int = 5, domain: int = 0) -> Function:
    """An NVIDIA GPU."""
    return Function(
        at(bus, 0, 0, domain), NVIDIA, device, GPU_CLASS, "endpoint", "nvidia",
        subsystem=(NVIDIA, subsystem), revision=0xA1, ats=False, generation=generation,
        generation_max=generation,
    )  # fmt: skip


@dataclass(frozen=True)
class Chip:
    """What the ports of one switch have in common."""

    vendor: int
    device: int
    generation: int = 5
    width: int = 16
    revision: int = 0
    subsystem: tuple[int, int] = (0, 0)
    generation_max: int = 0  # 0 = as it runs


PEX = Chip(BROADCOM, PEX890, revision=0xB0)
_BOARD = Chip(MICROCHIP, 0x4128, 4, 2, subsystem=(NVIDIA, 0x1643))


def bridge(place: str, kind: str, below: tuple[Function, ...], chip: Chip = PEX) -> Function:
    """One port of a switch."""
    return Function(
        place, chip.vendor, chip.device, BRIDGE, kind, "pcieport", revision=chip.revision,
        generation=chip.generation, generation_max=chip.generation_max or chip.generation,
        width=chip.width, width_max=chip.width, max_payload_supported=2048, read_request=128,
        subsystem=chip.subsystem, acs=ACS_OFF if kind in ("downstream", "root_port") else None,
        below=below,
    )  # fmt: skip


def pex_management(bus: int) -> Function:
    """The management function of a PEX890xx: looks like a storage controller and is none."""
    return Function(
        at(bus), BROADCOM, PEX_MANAGEMENT, SAS, "endpoint", "mpt3sas", revision=0xB0,
        subsystem=(BROADCOM, 0x1003),
    )  # fmt: skip


def pex(bus: int, slots: tuple[tuple[int, tuple[Function, ...]], ...]) -> Function:
    """A switch whose upstream port is on `bus` and whose ports are on the next one."""
    ports = tuple(bridge(at(bus + 1, device), "downstream", below) for device, below in slots)
    return bridge(at(bus), "upstream", ports)


def instinct(bus: int) -> Function:
    """An MI300X on `bus` + 2, behind two bridges of its own."""
    gpu_ = Function(
        at(bus + 2), ATI, 0x74A1, ACCELERATOR, "endpoint", "amdgpu", subsystem=(ATI, 0x74A1),
        ats=True,
    )  # fmt: skip
    inner = bridge(at(bus + 1), "downstream", (gpu_,), Chip(ATI, 0x1501))
    return bridge(at(bus), "upstream", (inner,), Chip(AMD, 0x1500))


def nic_bridges(inside: int, first: int, domain: int, functions: tuple[Function, ...]) -> Function:
    """The bridges that a card has of its own, over its functions."""
    chip = Chip(MELLANOX, inside)
    lower = bridge(at(first + 1, 0, 0, domain), "downstream", functions, chip)
    return bridge(at(first, 0, 0, domain), "upstream", (lower,), chip)


def lom(bus: int) -> tuple[Function, Function]:
    """Two gigabit ports of a Dell board: one lane of two is in use, and that is how it is."""
    first, second = (
        Function(
            at(bus, 0, number), BROADCOM_NIC, 0x165F, 0x020000, "endpoint", "tg3",
            subsystem=(0x1028, 0x0B73), generation=2, generation_max=2, width=1, width_max=2,
        )
        for number in (0, 1)
    )  # fmt: skip
    return first, second


def idrac(bus: int) -> Function:
    """The display of a Dell's management controller, behind a bridge."""
    display = Function(
        at(bus + 1), MATROX, 0x0536, 0x030000, "plain", "mgag200", revision=0x04,
        subsystem=(0x1028, 0x0B73),
    )  # fmt: skip
    return Function(
        at(bus), PLDA, 0xBE00, BRIDGE, "to_pci", revision=0x02, generation=2, generation_max=2,
        width=1, width_max=1, below=(display,),
    )  # fmt: skip


def chipset_port(device: int, number: int, below: tuple[Function, ...]) -> Function:
    """A root port of the chipset of a Sapphire Rapids server: 8086:1bbc, 1bbe."""
    return Function(
        at(0, device), INTEL, number, BRIDGE, "root_port", "pcieport", revision=0x11,
        generation=3, generation_max=3, width=2, width_max=2, read_request=128, acs=ACS_OFF,
        below=below,
    )  # fmt: skip


def nvswitches(root: int) -> tuple[Function, ...]:
    """Four NVSwitches of an HGX H100 board, behind a switch of Microchip's: two lanes each."""
    bus = root + 1
    chips = tuple(
        Function(
            at(bus + 2 + number), NVIDIA, 0x22A3, 0x068000, "endpoint", "nvidia-nvswitch",
            subsystem=(NVIDIA, 0x1796), revision=0xA1, generation=4, generation_max=4, width=2,
            width_max=2,
        )
        for number in range(4)
    )  # fmt: skip
    below = tuple(
        bridge(at(bus + 1, number), "downstream", (chip,), _BOARD)
        for number, chip in enumerate(chips)
    )
    upstream = bridge(at(bus), "upstream", below, _BOARD)
    management = Function(
        at(bus, 0, 1), MICROCHIP, 0x4128, 0x058000, "endpoint", "switchtec",
        subsystem=(NVIDIA, 0x1643), generation=4, generation_max=4, width=2,
    )  # fmt: skip
    return upstream, management
