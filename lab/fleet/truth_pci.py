"""The truth about PCI functions: as sysfs, as the configuration space and as lspci show them."""

from lab.fleet.model import Function, HostModel
from lab.fleet.truth_names import CLASSES, DEVICES, VENDORS
from lab.fleet.truth_places import (
    GIGATRANSFERS,
    MELLANOX,
    Placed,
    Row,
    Rows,
    Tables,
    cpu_total,
    placed,
    ports,
)

# Kind of a function -> word of the tables.
PORT_TYPES = {
    "endpoint": "endpoint",
    "root_port": "root_port",
    "upstream": "switch_upstream",
    "downstream": "switch_downstream",
    "to_pci": "pcie_to_pci_bridge",
    "inside": "rc_endpoint",
    "plain": "",
}
# Every slot of the fleet gives 75 W; a function inside the CPU is in none.
SLOT_POWER_W = 75.0
BRIDGE = 0x0604
# Bits of the ACS control register.
ACS_BITS = {
    "acs_source_validation": 0x01,
    "acs_request_redirect": 0x04,
    "acs_completion_redirect": 0x08,
    "acs_upstream_forwarding": 0x10,
    "acs_direct_translated": 0x40,
}
# Whose errors are read.
COUNTED_DRIVERS = ("mlx5_core", "nvidia", "pcieport")
# What a virtual function leaves to its physical one.
OF_PHYSICAL = (
    *("max_payload", "max_read_request", "relaxed_ordering", "no_snoop", "extended_tag", "aspm"),
)
EXPRESS = (
    *("max_payload_supported", "max_payload", "max_read_request", "relaxed_ordering", "no_snoop"),
    *("extended_tag", "link_speed_gts", "link_width", "link_speed_max_gts", "link_width_max"),
    *("link_target_speed_gts", "aspm", "slot_power_limit_w", "correctable_error"),
    *("nonfatal_error", "fatal_error", "unsupported_request"),
)


def tables(host: HostModel) -> Tables:
    """pci_function, pci_config, pci_error, lspci_function."""
    spots = placed(host)
    return {
        "pci_function": [_function(host, spot) for spot in spots.values()],
        "pci_config": [_config(spot) for spot in spots.values()],
        "pci_error": _errors(host),
        "lspci_function": [_lspci(host, spot) for spot in spots.values()],
    }


def _errors(host: HostModel) -> Rows:
    """Of NICs, GPUs and the ports between; none in a guest."""
    functions = [spot.function for spot in placed(host).values()]
    return [
        {
            "pci": f.address,
            "correctable": f.errors[0],
            "nonfatal": f.errors[1],
            "fatal": f.errors[2],
        }
        for f in functions
        if f.driver in COUNTED_DRIVERS and f.kind not in ("plain", "inside") and not host.virtual
    ]


def _has_link(function: Function) -> bool:
    return function.kind not in ("plain", "inside")


def _link(spot: Placed) -> Row:
    """Speeds and widths; NULL and 0 where there is no link."""
    function = spot.function
    if not _has_link(function):
        return {
            "link_speed_gts": None,
            "link_width": 0,
            "link_speed_max_gts": None,
            "link_width_max": 0,
        }
    generation, width = spot.link
    return {
        "link_speed_gts": GIGATRANSFERS.get(generation),
        "link_width": width,
        "link_speed_max_gts": GIGATRANSFERS[function.generation_max],
        "link_width_max": function.width_max,
    }


def _function(host: HostModel, spot: Placed) -> Row:
    function = spot.function
    passes = "iommu=pt" in host.kernel.command_line.split()
    everywhere = f"0-{cpu_total(host) - 1}"
    link = _link(spot)
    if function.kind == "inside":
        link["link_width_max"] = None  # the kernel says 255, which is its word for unknown
    return {
        "pci": function.address,
        "parent": spot.above[-1].address if spot.above else "",
        "root_bus": spot.root_bus,
        "vendor": f"{function.vendor:04x}",
        "device": f"{function.device:04x}",
        "class": f"{function.class_code:06x}",
        "subsystem_vendor": f"{function.subsystem[0]:04x}",
        "subsystem_device": f"{function.subsystem[1]:04x}",
        "revision": f"{function.revision:02x}",
        "driver": function.driver,
        "numa_node": spot.numa,
        "local_cpus": everywhere if spot.numa < 0 else host.cpus[spot.numa],
        **link,
        # A virtual machine of the fleet has no IOMMU.
        "iommu_group": -1 if host.virtual else spot.group,
        "iommu_type": "" if host.virtual else "identity" if passes else "DMA-FQ",
        "physical_function": function.physical,
        "vf_count": function.made_functions,
        "vf_limit": function.virtual_functions,
        "power_state": "D0",
    }


def _express(spot: Placed) -> Row:
    """The PCI Express capability; every function may use no-snoop and 8-bit tags here."""
    function = spot.function
    if function.kind == "plain":
        return {"port_type": "", **dict.fromkeys(EXPRESS)}
    row: Row = {
        "port_type": PORT_TYPES[function.kind],
        "max_payload_supported": function.max_payload_supported,
        "max_payload": function.max_payload,
        "max_read_request": function.read_request,
        "relaxed_ordering": function.relaxed_ordering,
        "no_snoop": True,
        "extended_tag": True,
        **_link(spot),
        "link_target_speed_gts": None,
        "aspm": "",
        "slot_power_limit_w": 0.0,
        "correctable_error": False,
        "nonfatal_error": False,
        "fatal_error": False,
        "unsupported_request": False,
    }
    if _has_link(function):
        row["link_target_speed_gts"] = row["link_speed_max_gts"]
        row["aspm"] = "disabled"
        row["slot_power_limit_w"] = SLOT_POWER_W
    if function.virtual:
        row |= dict.fromkeys(OF_PHYSICAL)
    return row


def _services(function: Function) -> Row:
    """Access Control Services, Address Translation Services."""
    control = function.acs
    return {
        "acs": "absent" if control is None else "present",
        **{n: None if control is None else bool(control & bit) for n, bit in ACS_BITS.items()},
        "ats": "absent" if function.ats is None else "present",
        "ats_enabled": function.ats,
    }


def _config(spot: Placed) -> Row:
    function = spot.function
    plain = function.kind == "plain"  # classic PCI: 256 bytes, no extended capabilities
    status = None if plain else 0
    return {
        "pci": function.address,
        "bytes_read": 256 if plain else 4096,
        "responds": True,
        **_express(spot),
        **_services(function),
        "aer": "absent" if plain else "present",
        "aer_uncorrectable_status": status,
        "aer_correctable_status": status,
    }


def _downgraded(host: HostModel, spot: Placed) -> bool | None:
    """lspci's own word: 3.6 to 3.8 judge each link, later ones only its lower end."""
    function = spot.function
    release = tuple(map(int, host.kernel.pciutils.split(".")[:2]))
    upper_end = function.kind in ("root_port", "downstream", "to_pci")
    if not _has_link(function) or release < (3, 6) or (release >= (3, 9) and upper_end):
        return None
    generation, width = spot.link
    return generation < function.generation_max or width < function.width_max


def _part_number(host: HostModel, function: Function) -> str:
    """Only cards of the RDMA vendor show vital product data, virtual functions not."""
    if function.vendor != MELLANOX or function.virtual:
        return ""
    return ports(host)[function.address].order_number


def _lspci(host: HostModel, spot: Placed) -> Row:
    function = spot.function
    bridge = function.class_code >> 8 == BRIDGE
    express = _express(spot)
    if function.kind == "endpoint" and not function.address.endswith(":00.0"):
        express["link_target_speed_gts"] = None  # lspci looks at the first function of a slot
    # A function inside the CPU prints no extended capability at all: nothing is known.
    services: Row = {**_services(function), "vf_limit": function.virtual_functions}
    services["vf_count"] = function.made_functions
    if function.kind == "inside":
        services = dict.fromkeys(services)
    prints_group = tuple(map(int, host.kernel.pciutils.split(".")[:2])) >= (3, 9)
    return {
        "pci": function.address,
        "class_text": CLASSES[function.class_code >> 8],
        "device_text": _device(function),
        "numa_node": spot.numa if spot.numa >= 0 else None,
        "iommu_group": spot.group if prints_group and not host.virtual else None,
        "driver": function.driver,
        "secondary_bus": f"{_buses(function)[0]:02x}" if bridge else "",
        "subordinate_bus": f"{_buses(function)[1]:02x}" if bridge else "",
        "responds": True,
        "capabilities_denied": False,
        **express,
        "says_downgraded": _downgraded(host, spot),
        **services,
        "part_number": _part_number(host, function),
    }


def _device(function: Function) -> str:
    """As lspci's list of names has it; what that does not know is printed by its number."""
    number = f"Device {function.device:04x}"
    return f"{VENDORS[function.vendor]} {DEVICES.get((function.vendor, function.device), number)}"


def _buses(function: Function) -> tuple[int, int]:
    """The bus below a bridge and the highest one below it; 0 where nothing is."""
    buses = [int(child.address.split(":")[1], 16) for child in function.below]
    if not buses:
        return 0, 0
    return buses[0], max([*buses, *(_buses(child)[1] for child in function.below)])
