"""Names that the truth needs and no model holds: as the public lists of PCI ids have them."""

VENDORS = {
    0x1000: "Broadcom / LSI",
    0x1022: "Advanced Micro Devices, Inc. [AMD]",
    0x10DE: "NVIDIA Corporation",
    0x144D: "Samsung Electronics Co Ltd",
    0x15B3: "Mellanox Technologies",
    0x1A03: "ASPEED Technology, Inc.",
    0x8086: "Intel Corporation",
}
# Devices of the fleet that the list of Ubuntu 22.04 knows; all others are printed by number.
DEVICES = {
    (0x1000, 0xC010): "PEX880xx PCIe Gen 4 Switch",
    (0x1000, 0xC030): "PEX890xx PCIe Gen 5 Switch",
    (0x1022, 0x1480): "Starship/Matisse Root Complex",
    (0x1022, 0x1481): "Starship/Matisse IOMMU",
    (0x1022, 0x1482): "Starship/Matisse PCIe Dummy Host Bridge",
    (0x1022, 0x1483): "Starship/Matisse GPP Bridge",
    (0x10DE, 0x20B2): "GA100 [A100 SXM4 80GB]",
    (0x10DE, 0x20B5): "GA100 [A100 PCIe 80GB]",
    (0x10DE, 0x2330): "GH100 [H100 SXM5 80GB]",
    (0x144D, 0xA824): "NVMe SSD Controller PM173X",
    (0x15B3, 0x101B): "MT28908 Family [ConnectX-6]",
    (0x15B3, 0x101E): "ConnectX Family mlx5Gen Virtual Function",
    (0x15B3, 0x1021): "MT2910 Family [ConnectX-7]",
    (0x1A03, 0x1150): "AST1150 PCI-to-PCI Bridge",
    (0x1A03, 0x2000): "ASPEED Graphics Family",
    (0x8086, 0x09A2): "Ice Lake Memory Map/VT-d",
    (0x8086, 0x09A3): "Ice Lake RAS",
    (0x8086, 0x09A4): "Ice Lake Mesh 2 PCIe",
    (0x8086, 0x1563): "Ethernet Controller X550",
}
CLASSES = {
    0x0108: "Non-Volatile memory controller",
    0x0200: "Ethernet controller",
    0x0207: "Infiniband controller",
    0x0300: "VGA compatible controller",
    0x0302: "3D controller",
    0x0600: "Host bridge",
    0x0601: "ISA bridge",
    0x0604: "PCI bridge",
    0x0806: "IOMMU",
    0x0880: "System peripheral",
    0x0C03: "USB controller",
    0x0C05: "SMBus",
}
