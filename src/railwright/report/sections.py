"""What the overview counts: a query per section, one row per thing, NULL where it was not read."""

from railwright.report.firmware_sections import FIRMWARE
from railwright.report.section import Section, query
from railwright.schema.value_state import with_states

MACROS = query("macros")
HELPERS = query("things") + query("cards")


LLDP = Section(
    "LLDP neighbors of RDMA NICs",
    "netdevs",
    ("neighbors", "netdev is"),
    ("infiniband", "netdev"),
    ("lldpctl",),
    query("lldp"),
    none="no Ethernet netdev of an RDMA NIC",
)

_KERNEL = (
    Section(
        "Hosts",
        "",
        ("system", "kernel", "arch"),
        (),
        (),
        "SELECT target, said(operating_system), kernel, architecture FROM host",
    ),
    Section(
        "RDMA NICs",
        "each",
        ("part number", "PSID", "firmware", "chip"),
        ("infiniband",),
        ("mlxconfig",),
        query("nics"),
        none="no RDMA device",
        each=True,
    ),
    Section(
        "RDMA ports",
        "ports",
        ("link layer", "state", "rate"),
        ("infiniband",),
        (),
        query("ports"),
        none="no RDMA port",
    ),
    Section(
        "PCIe of RDMA NICs",
        "NICs",
        ("link", "of", "MPS", "MRRS", "relaxed"),
        ("infiniband",),
        ("pci", "pci_config"),
        query("pcie"),
        none="no RDMA device on PCIe",
    ),
    Section(
        "ACS of PCIe switch ports",
        "ports",
        ("ACS",),
        ("pci_config",),
        (),
        query("acs"),
        none="no PCIe switch",
    ),
    Section(
        "Netdevs of RDMA NICs",
        "netdevs",
        ("MTU", "state"),
        ("infiniband",),
        ("netdev",),
        query("netdevs"),
        none="no RDMA device on PCIe",
    ),
    Section(
        "GPUs",
        "each",
        ("GPU", "id", "driver", "PCIe now"),
        ("pci",),
        ("nvidia_smi",),
        query("gpus"),
        none="no GPU",
        each=True,
    ),
)

_PLACE = (
    Section(
        "Roles of RDMA ports",
        "ports",
        ("role", "because", "nearest GPU"),
        ("infiniband",),
        ("pci", "ip_address", "ip_route"),
        query("roles"),
        none="no RDMA port",
    ),
    Section(
        "QoS of RoCE ports",
        "netdevs",
        ("trust", "PFC on", "DSCP 26 to", "DSCP 48 to"),
        ("infiniband", "netdev"),
        ("mlnx_qos",),
        query("qos"),
        none="no RoCE port with a netdev here",
    ),
    Section(
        "Optics of RDMA ports",
        "ports",
        ("module or cable", "FEC", "state"),
        ("infiniband",),
        ("mlxlink",),
        query("optics").replace("{modules}", with_states("mlxlink_port", "part_number")),
        none="no RDMA port",
    ),
    Section(
        "GPUDirect and the kernel",
        "",
        ("peermem", "GPU driver", "iommu", "governor"),
        ("modules",),
        ("cmdline", "cpu_power"),
        query("gpudirect"),
    ),
    Section(
        "Two sources that disagree",
        "things",
        ("about", "one says", "the other"),
        ("pci", "infiniband", "netdev"),
        (),
        query("disagreements"),
        none="none where both were read",
    ),
)

SECTIONS = (*_KERNEL, LLDP, *_PLACE, *FIRMWARE)
HEARD_SWITCHES = query("heard_switches")
