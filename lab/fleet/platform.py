"""PCI functions that servers of several kinds have: vendors, root ports, chipsets, drives."""

from lab.fleet.model import ACS_OFF, Function

MELLANOX, NVIDIA, INTEL, BROADCOM, SAMSUNG, ASPEED = 0x15B3, 0x10DE, 0x8086, 0x1000, 0x144D, 0x1A03
AMD = 0x1022
BRIDGE, ETHERNET, INFINIBAND = 0x060400, 0x020000, 0x020700

# By PCIe generation: the root port of an Intel CPU; of an AMD one the root complex, IOMMU,
# placeholder and root port.
_INTEL_PORTS = {4: 0x347A, 5: 0x352A}
_AMD_PARTS = {4: (0x1480, 0x1481, 0x1482, 0x1483), 5: (0x14A4, 0x149E, 0x149F, 0x14AB)}


def address(bus: int, device: int = 0, function: int = 0) -> str:
    """0000:18:00.0."""
    return f"0000:{bus:02x}:{device:02x}.{function}"


def intel_functions(bus: int) -> tuple[Function, ...]:
    """What each root bus of an Intel CPU has of its own."""
    devices = ((0, 0x09A2), (1, 0x09A4), (2, 0x09A3), (4, 0x0B23))
    return tuple(
        Function(address(bus, 0, number), INTEL, device, 0x088000, "inside", revision=0x04)
        for number, device in devices
    )


def intel_uncore(first_bus: int) -> tuple[Function, ...]:
    """The 200 functions inside an Intel CPU: two per core on one bus, others on the one before."""
    ids = (0x3240, 0x3241, 0x3242, 0x3245, 0x3246, 0x3247, 0x3250, 0x3251)
    inside = [(first_bus, place, ids[place % 8]) for place in range(88)]
    inside += [(first_bus + 1, place, 0x324C + place % 2) for place in range(112)]
    return tuple(
        Function(
            address(bus, place // 8, place % 8), INTEL, device, 0x088000, "inside",
            max_payload=128, max_payload_supported=128, read_request=128, relaxed_ordering=False,
        )
        for bus, place, device in inside
    )  # fmt: skip


def intel_root_port(
    bus: int, device: int, below: tuple[Function, ...], generation_max: int = 5
) -> Function:
    """The port of an Intel CPU with something in it."""
    return Function(
        address(bus, device), INTEL, _INTEL_PORTS[generation_max], BRIDGE, "root_port", "pcieport",
        revision=0x04, generation_max=generation_max, max_payload_supported=2048,
        read_request=128, acs=ACS_OFF, below=below,
    )  # fmt: skip


def amd_functions(bus: int, generation: int = 4) -> tuple[Function, ...]:
    """Root complex, IOMMU and the placeholders of an AMD CPU: none has a link or PCI Express."""
    complex_, iommu, dummy, _ = _AMD_PARTS[generation]
    return (
        Function(address(bus), AMD, complex_, 0x060000, "plain"),
        Function(address(bus, 0, 2), AMD, iommu, 0x080600, "plain"),
        *(
            Function(address(bus, device), AMD, dummy, 0x060000, "plain")
            for device in (1, 2, 3, 4, 5, 7, 8)
        ),
    )


def amd_root_port(
    bus: int, device: int, below: tuple[Function, ...], generation_max: int = 4
) -> Function:
    """The port of an AMD CPU with something in it; device n.0 is a placeholder."""
    return Function(
        address(bus, device, 1), AMD, _AMD_PARTS[generation_max][3], BRIDGE, "root_port",
        "pcieport", generation_max=generation_max, max_payload=512, read_request=512, acs=ACS_OFF,
        below=below,
    )  # fmt: skip


def drive(bus: int) -> Function:
    """An NVMe drive."""
    return Function(
        address(bus), SAMSUNG, 0xA824, 0x010802, "endpoint", "nvme", subsystem=(SAMSUNG, 0xA801),
        generation=4, generation_max=4, width=4, width_max=4,
    )  # fmt: skip


def management_card(bus: int) -> Function:
    """A 10G port."""
    return Function(
        address(bus), INTEL, 0x1563, ETHERNET, "endpoint", "ixgbe", subsystem=(INTEL, 0x001D),
        generation=3, generation_max=3, width=4, width_max=4,
    )  # fmt: skip


def bmc(bus: int) -> Function:
    """The management controller's bridge and, on the bus after it, its display."""
    display = Function(address(bus + 1), ASPEED, 0x2000, 0x030000, "plain", "ast", revision=0x52)
    return Function(
        address(bus), ASPEED, 0x1150, BRIDGE, "to_pci", revision=0x06, generation=2,
        generation_max=2, width=1, width_max=1, below=(display,),
    )  # fmt: skip


def chipset(bus: int, root: tuple[Function, ...]) -> tuple[Function, ...]:
    """The first root bus of an Intel server: its root ports, USB, LPC and SMBus."""
    return (
        *intel_functions(bus),
        *root,
        Function(address(bus, 0x14), INTEL, 0x1BCD, 0x0C0330, "plain", "xhci_hcd", revision=0x11),
        Function(address(bus, 0x1F), INTEL, 0x1B81, 0x060100, "plain", revision=0x11),
        Function(address(bus, 0x1F, 4), INTEL, 0x1BC9, 0x0C0500, "plain", "i801_smbus"),
    )
