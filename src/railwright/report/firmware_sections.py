"""What the overview counts of firmware parameters, over cards that are set alike."""

from railwright.report.section import Section, query

FIRMWARE = (
    Section(
        "Firmware parameters that wait for a reset",
        "NICs",
        ("parameter", "now", "after it"),
        ("pci",),
        ("mlxconfig",),
        query("parameters_pending"),
        none="no NVIDIA NIC",
    ),
    Section(
        "Firmware parameters unlike most of the same part number",
        "NICs",
        ("parameter", "here", "most have"),
        ("pci",),
        ("mlxconfig",),
        query("parameters_unlike_most"),
        none="no NVIDIA NIC",
        before=query("odd_parameter"),
    ),
)
