"""What the firmware says about the machine: /sys/class/dmi/id, and the ACPI names of root bridges.

A field that the firmware does not give has no file (Linux drivers/firmware/dmi-id.c), and many give
a placeholder. Strings are those that real machines were seen to give, where a comment says nothing
else; serial numbers are invented, and no reader has any business with them.
"""

from collections.abc import Callable, Iterable
from dataclasses import fields, replace

from lab.fleet.model import HostModel, RootBus
from lab.fleet.system_model import AcpiNode, Dmi
from lab.fleet.tree import Tree

# Readable by root alone: Linux drivers/firmware/dmi-id.c.
SERIALS = ("product_serial", "product_uuid", "board_serial", "chassis_serial")
_AMI = "American Megatrends International, LLC."
_OEM = "To be filled by O.E.M."

# The name as sold; of the board only the product page speaks. The placeholders are those that
# another Supermicro of the same generation prints.
SUPERMICRO_821GE = Dmi(
    sys_vendor="Supermicro", product_name="SYS-821GE-TNHR", product_sku=_OEM,
    product_family="Family", product_version="0123456789", board_vendor="Supermicro",
    board_name="X13DEG-OAD", board_version="1.01", chassis_vendor="Supermicro",
    chassis_version="0123456789", chassis_asset_tag=_OEM, bios_vendor=_AMI, bios_version="2.1",
    bios_date="12/06/2023",
)  # fmt: skip
DGX_A100 = Dmi(
    sys_vendor="NVIDIA", product_name="DGXA100 920-23687-2530-000", product_sku="Default string",
    product_family="DGXA100", product_version="v1.0", board_vendor="NVIDIA",
    board_name="DGXA100", board_version="v1.0", chassis_vendor="NVIDIA",
    chassis_version="920-23687-2530-000", chassis_asset_tag="0" * 32,
    bios_vendor="American Megatrends Inc.", bios_version="1.21", bios_date="03/29/2023",
)  # fmt: skip
# The board's version is 22 blanks on the machine seen.
CRAY_XD665 = Dmi(
    sys_vendor="HPE", product_name="HPE Cray SC XD665", product_sku="Default string",
    product_family="Default string", product_version="Default string", board_vendor="HPE",
    board_name="HPE Cray XD665 MB PCA", board_version=" " * 22, chassis_vendor="HPE",
    chassis_version="Default string", chassis_asset_tag="Default string", bios_vendor=_AMI,
    bios_version="1.21", bios_date="05/30/2023",
)  # fmt: skip
# The form is that of an R750. An R750xa was not seen: its board's number is invented, and the
# number of its SKU left out as Dell's firmware does it.
POWEREDGE_R750XA = Dmi(
    sys_vendor="Dell Inc.", product_name="PowerEdge R750xa",
    product_sku="SKU=NotProvided;ModelName=PowerEdge R750xa", product_family="PowerEdge",
    product_version=None, board_vendor="Dell Inc.", board_name="0XA750", board_version="A02",
    chassis_vendor="Dell Inc.", chassis_version=None, chassis_asset_tag="",
    bios_vendor="Dell Inc.", bios_version="1.13.2", bios_date="12/19/2023",
)  # fmt: skip
# The asset tag is the one that all machines of this cloud have, and tells it from plain Hyper-V.
AZURE_VM = Dmi(
    sys_vendor="Microsoft Corporation", product_name="Virtual Machine", product_sku="None",
    product_family="Virtual Machine", product_version="Hyper-V UEFI Release v4.1",
    board_vendor="Microsoft Corporation", board_name="Virtual Machine",
    board_version="Hyper-V UEFI Release v4.1", chassis_vendor="Microsoft Corporation",
    chassis_version="Hyper-V UEFI Release v4.1",
    chassis_asset_tag="7783-7084-3265-9085-8269-3286-77",
    bios_vendor="Microsoft Corporation", bios_version="Hyper-V UEFI Release v4.1",
    bios_date="05/13/2024",
)  # fmt: skip

# The name is the inverse of the label that NVIDIA's own tools make of it; the number in the SKU is
# that of the board's PCI functions (1028:0b73, captures/lspci/gpud-h100-host-vvv.txt).
POWEREDGE_XE9680 = replace(
    POWEREDGE_R750XA, product_name="PowerEdge XE9680",
    product_sku="SKU=0B73;ModelName=PowerEdge XE9680", board_name="0XE968",
    bios_version="2.3.5", bios_date="08/22/2024",
)  # fmt: skip
POWEREDGE_R750 = replace(
    POWEREDGE_R750XA, product_name="PowerEdge R750",
    product_sku="SKU=090E;ModelName=PowerEdge R750", board_name="04V528",
)  # fmt: skip
# By the form of a DGX H100, which says DGXH100 for both.
DGX_B200 = Dmi(
    sys_vendor="NVIDIA", product_name="DGXB200", product_sku="Default string",
    product_family="DGX", product_version="Default string", board_vendor="NVIDIA",
    board_name="DGXB200", board_version="555.07L01.0001", chassis_vendor="NVIDIA",
    chassis_version="Default string", chassis_asset_tag="Default string", bios_vendor=_AMI,
    bios_version="1.6.7", bios_date="01/23/2025",
)  # fmt: skip
# An unbranded board: the product says nothing, and only the board's name (made up) is a model.
SUPERMICRO_B300 = replace(
    SUPERMICRO_821GE,
    product_name="Super Server",
    board_name="X14DBG-B300",
    board_version="1.00",
    bios_version="1.2",
    bios_date="08/12/2025",
)
SUPERMICRO_4125GS = replace(
    SUPERMICRO_821GE, product_name="AS -4125GS-TNRT2", board_name="H13DSG-O-CPU",
    bios_version="1.7", bios_date="10/24/2023",
)  # fmt: skip
# The asset tag is the one that all machines of this cloud have (cloud-init DataSourceOracle); the
# product's name was not seen.
ORACLE_GPU = Dmi(
    sys_vendor="Oracle Corporation", product_name="ORACLE SERVER GPU", product_sku=None,
    product_family=None, product_version="Not Specified", board_vendor="Oracle Corporation",
    board_name="ASM,MOTHERBOARD,GPU", board_version="Rev 05", chassis_vendor="Oracle Corporation",
    chassis_version="Not Specified", chassis_asset_tag="OracleCloud.com", bios_vendor=_AMI,
    bios_version="77050100", bios_date="03/12/2024",
)  # fmt: skip
GB200_TRAY = Dmi(
    sys_vendor="NVIDIA", product_name="GB200 NVL", product_sku=None, product_family=None,
    product_version="PVT", board_vendor="WIWYNN", board_name="KINABALU BMC CARD",
    board_version="PVT", chassis_vendor="WIWYNN", chassis_version="PVT", chassis_asset_tag=None,
    bios_vendor="NVIDIA", bios_version="02.03.19", bios_date="20241105",
)  # fmt: skip


def intel_roots(buses: Iterable[RootBus]) -> tuple[RootBus, ...]:
    """Root bridges of Intel CPUs: PC00, PC01, … in the order of their buses."""
    return _named(buses, lambda number: rf"\_SB_.PC{number:02X}")


def amd_roots(buses: Iterable[RootBus]) -> tuple[RootBus, ...]:
    """Root bridges of two EPYC processors: S0D0 to S0D3, S1D0 to S1D3."""
    return _named(buses, lambda number: rf"\_SB_.S{number // 4}D{number % 4}")


def _named(buses: Iterable[RootBus], path: Callable[[int], str]) -> tuple[RootBus, ...]:
    """Numbered by bus, in the order given."""
    listed = tuple(buses)
    numbers = {name: number for number, name in enumerate(sorted(bus.name for bus in listed))}
    return tuple(
        replace(bus, acpi=AcpiNode(path(numbers[bus.name]), str(numbers[bus.name])))
        for bus in listed
    )


def write_dmi(sys: Tree, host: HostModel) -> None:
    """/sys/class/dmi/id; nothing where the kernel has no DMI."""
    if host.dmi is None:
        return
    given = {field.name: getattr(host.dmi, field.name) for field in fields(host.dmi)}
    text = {name: f"{value}\n" for name, value in given.items() if value is not None}
    sys.write("devices/virtual/dmi/id", text, {"subsystem": "../../../../class/dmi"})
    serial = f"NOT-TO-BE-READ-{host.number:06d}"
    sys.write("devices/virtual/dmi/id", dict.fromkeys(SERIALS, f"{serial}\n"), mode=0o400)
    sys.write("class/dmi", {}, {"id": "../../devices/virtual/dmi/id"})


def write_root_bridges(sys: Tree, host: HostModel) -> None:
    """The ACPI node of each root bridge, which its folder links to as firmware_node."""
    known: dict[str, int] = {}
    for bus in host.buses:
        if bus.acpi is None:
            continue
        number = known.setdefault(bus.acpi.hid, 0)
        known[bus.acpi.hid] += 1
        place = f"LNXSYSTM:00/LNXSYBUS:00/{bus.acpi.hid}:{number:02x}"
        files = {name: f"{getattr(bus.acpi, name)}\n" for name in ("path", "uid", "hid")}
        root = f"devices/pci{bus.name}"
        sys.write(f"devices/{place}", files, {"physical_node": f"../../../pci{bus.name}"})
        sys.write(root, {}, {"firmware_node": f"../{place}"})


def by_domain(buses: Iterable[RootBus]) -> tuple[RootBus, ...]:
    """Root bridges of Arm servers: each is a PCI domain of its own, and named by it."""
    return tuple(
        replace(
            bus, acpi=AcpiNode(rf"\_SB_.PCI{int(bus.name[:4], 16):X}", str(int(bus.name[:4], 16)))
        )
        for bus in buses
    )
