"""Network cards as they are sold: what their chip, flash and label say, whoever's host they are in.

PSIDs and order numbers are those of the project's reference data; where it has none, the value is
made up and the line says so.
"""

from dataclasses import dataclass, replace

from lab.fleet.platform import ETHERNET, MELLANOX

INTEL = 0x8086


@dataclass(frozen=True)
class Part:
    """One sort of card."""

    device: int
    subsystem: int
    chip: str
    family: str
    firmware: str
    psid: str
    order_number: str
    part_number: str  # as the firmware spells it
    description: str
    ports: int = 1
    gbps: int = 400  # of a port
    lanes: int = 4
    form: str = "OSFP"
    copper: bool = False
    generation: int = 5
    parameter_set: str = ""
    vendor: int = MELLANOX
    class_code: int = ETHERNET
    driver: str = "mlx5_core"
    virtual_functions: int = 8
    width: int = 16


CX7_400G = Part(
    device=0x1021, chip="MT4129", family="ConnectX7", firmware="28.43.2026",
    subsystem=0x0041, psid="MT_0000000838", order_number="MCX75310AAS-NEAT",
    part_number="MCX75310AAS-NEA_Ax",
    description="NVIDIA ConnectX-7 HHHL Adapter card; 400GbE / NDR IB (default mode); "
    "Single-port OSFP; PCIe 5.0 x16; Crypto Disabled; Secure Boot Enabled;",
)  # fmt: skip
CX7_2X200G = replace(
    CX7_400G,
    subsystem=0x0023, psid="MT_0000000834", order_number="MCX755106AS-HEAT",
    part_number="MCX755106AS-HEA_Ax", ports=2, gbps=200, lanes=2, form="QSFP112", copper=True,
    description="NVIDIA ConnectX-7 HHHL Adapter Card; 200GbE (default mode) / NDR200 IB; "
    "Dual-port QSFP112; PCIe 5.0 x16 with x16 PCIe extension option; Crypto Disabled; "
    "Secure Boot Enabled", parameter_set="MT_0000000834",
)  # fmt: skip
# The card of Oracle's H100 shape: subsystem 15b3:0038; PSID and order number are made up.
CX7_OCI = replace(
    CX7_400G,
    subsystem=0x0038, psid="ORC0000000038", order_number="CX7-OCI-2X200",
    part_number="CX7-OCI-2X200_Ax", ports=2, gbps=200, lanes=2, form="QSFP112", copper=True,
    description="NVIDIA ConnectX-7 adapter card; 200GbE; Dual-port; PCIe 5.0 x16; Crypto Disabled",
    parameter_set="MT_0000000834",
)  # fmt: skip
# Four chips on a network module of a DGX; the PSID is made up.
CX7_DGX = replace(
    CX7_400G,
    subsystem=0x0040, psid="MT_0000000891", order_number="MCX750500B-692",
    part_number="MCX750500B-692_Ax",
    description="NVIDIA ConnectX-7 module for DGX; 400GbE / NDR IB (default mode); PCIe 5.0 x16; "
    "Crypto Disabled; Secure Boot Enabled;",
)  # fmt: skip
# Two chips on a mezzanine of a GB200 tray; the PSID is made up.
CX7_MEZZANINE = replace(
    CX7_400G,
    subsystem=0x0042, psid="MT_0000001171", order_number="900-24768-0002-000",
    part_number="900-24768-0002-000_Ax",
    description="NVIDIA 2x ConnectX-7 Mezz; 400GbE / NDR IB (default mode); PCIe 5.0 x16; "
    "Crypto Disabled; Secure Boot Enabled;",
)  # fmt: skip
# How a NVSwitch board is managed: the chip of a ConnectX-7, and no card. Its PSID is made up.
NVLINK_BRIDGE = replace(
    CX7_400G,
    subsystem=0x0041, psid="NVD0000000054", order_number="692-9X760-00SE-S00",
    part_number="692-9X760-00SE-S00_Ax",
    description="NVIDIA NVLink management bridge; SW_MNG", ports=4, width=2,
    virtual_functions=0,
)  # fmt: skip
CX8_800G = Part(
    device=0x1023, subsystem=0x0041, chip="MT4131", family="ConnectX8", firmware="40.45.1200",
    psid="MT_0000001222",  # made up
    order_number="900-9X81E-00EX-ST0", part_number="900-9X81E-00EX-ST0_Ax",
    description="NVIDIA ConnectX-8 C8180 SuperNIC; 800Gb/s XDR IB (default mode) / 2x400GbE; "
    "single-cage OSFP; PCIe 6 x16; Secure Boot; No Crypto", gbps=800, generation=6,
)  # fmt: skip
CX6_DX = Part(
    device=0x101D, subsystem=0x0016, chip="MT4125", family="ConnectX6DX", firmware="22.39.3004",
    psid="MT_0000000359",  # not in the reference data
    order_number="MCX623106AN-CDAT", part_number="MCX623106AN-CDA_Ax", ports=2, gbps=100,
    description="ConnectX-6 Dx EN adapter card; 100GbE; Dual-port QSFP56; PCIe 4.0 x16;",
    form="QSFP28", copper=True, generation=4, parameter_set="connectx6",
)  # fmt: skip
BF2_2X100G = Part(
    device=0xA2D6, subsystem=0x0062, chip="MT41686", family="BlueField2", firmware="24.39.3004",
    psid="MT_0000000768", order_number="MBF2H536C-CECOT", part_number="MBF2H536C-CECO_Ax",
    description="BlueField-2 P-Series DPU 100GbE Dual-Port QSFP56; PCIe Gen4 x16; Crypto Disabled;",
    ports=2, gbps=100, form="QSFP28", copper=True, generation=4, parameter_set="connectx6",
)  # fmt: skip
BF3_B3220 = replace(
    CX7_400G, device=0xA2DC, chip="MT41692", family="BlueField3", firmware="32.43.2024",
    subsystem=0x0084, psid="MT_0000000884", order_number="900-9D3B6-00CV-AA0",
    part_number="900-9D3B6-00CV-A_Ax", ports=2, gbps=200, lanes=2, form="QSFP112", copper=True,
    description="NVIDIA BlueField-3 B3220 P-Series FHHL DPU; 200GbE (default mode) / NDR200 IB; "
    "Dual-port QSFP112; PCIe Gen5.0 x16; Crypto Enabled", parameter_set="MT_0000000834",
)  # fmt: skip
BF3_B3240 = replace(
    BF3_B3220, gbps=400, lanes=4, copper=False,
    subsystem=0x0085, psid="MT_0000001075",  # made up
    order_number="900-9D3B6-00CN-PA0", part_number="900-9D3B6-00CN-P_Ax", ports=2,
    description="NVIDIA BlueField-3 B3240 P-Series DPU; 400GbE / NDR IB (default mode); "
    "Dual-port QSFP112; PCIe Gen5.0 x16; Crypto Disabled", form="QSFP112",
    parameter_set="MT_0000000834",
)  # fmt: skip
E810_XXV = Part(
    vendor=INTEL, device=0x159B, subsystem=0x0003, chip="", family="E810", firmware="1.71",
    psid="", order_number="", part_number="", driver="ice", ports=2, gbps=25, lanes=1,
    description="Intel Ethernet Network Adapter E810-XXV-2; 25GbE", form="SFP28", copper=True,
    generation=4, width=8, virtual_functions=0,
)  # fmt: skip
