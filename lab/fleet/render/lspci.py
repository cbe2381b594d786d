"""`lspci -D -vvv` as root sees it, from the model of the PCI tree.

What carries facts (links, payload sizes, ordering, ACS, buses, NUMA nodes) is the same as what the
real lspci decodes from the configuration space that lab.fleet writes; a test holds it to that.
The rest is the text that such a device prints on a real host, so that the size is real too.
"""

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from lab.fleet.model import Function, HostModel, Nic, RootBus
from lab.fleet.render.base import Said
from lab.fleet.render.ethtool_netdevs import ports
from lab.fleet.render.lspci_names import device_name, names
from lab.fleet.render.lspci_tree import Spot, buses_below, spots
from lab.fleet.render.lspci_words import changed, link_words, release

SPEEDS = {1: "2.5GT/s", 2: "5GT/s", 3: "8GT/s", 4: "16GT/s", 5: "32GT/s", 6: "64GT/s"}
EXPRESS_NAMES = {
    "endpoint": "Endpoint",
    "root_port": "Root Port (Slot+)",
    "upstream": "Upstream Port",
    "downstream": "Downstream Port (Slot+)",
    "to_pci": "PCI-Express to PCI/PCI-X Bridge",
    "inside": "Root Complex Integrated Endpoint",
}
_ACS_BITS = (
    *("SrcValid", "TransBlk", "ReqRedir", "CmpltRedir", "UpstreamFwd", "EgressCtrl", "DirectTrans"),
)
# Modules that name the device in their alias tables, where these are not just the driver.
_MODULES = {
    "nvidia": "nvidiafb, nouveau, nvidia_drm, nvidia",
    "xhci_hcd": "xhci_pci",
    "i801_smbus": "i2c_i801",
    "pcieport": "",
}
_MELLANOX = 0x15B3


class Extended(NamedTuple):
    """A capability whose heading is not part of its block."""

    at: str
    title: str
    block: str = ""


_ERRORS = "Advanced Error Reporting"
_ARI = Extended("150 v1", "Alternative Routing-ID Interpretation (ARI)", "ari")
_PHYSICAL = Extended("370 v1", "Physical Layer 16.0 GT/s <?>")
_LATENCY = Extended("2d0 v1", "Latency Tolerance Reporting", "ltr")
_MARGIN = Extended("320 v1", "Lane Margining at the Receiver <?>")
_FEATURE = Extended("420 v1", "Data Link Feature <?>")
_SECONDARY = Extended("1c0 v1", "Secondary PCI Express", "secondary")
_CHANNEL = Extended("2f0 v1", "Virtual Channel", "vc")
_CONTAINMENT = Extended("1a0 v1", "Downstream Port Containment", "dpc")
_BUDGET = Extended("2b8 v1", "Power Budgeting <?>")

# What each sort of function prints, in that order; "express" and "vpd" are made, not looked up.
PROFILES: dict[str, tuple[str | Extended, ...]] = {
    "nic": (
        *("express", "vpd", "msix_nic", "vendor_nic", "power_nic"),
        *(Extended("100 v1", _ERRORS, "errors"), _ARI),
        *(Extended("180 v1", "Single Root I/O Virtualization (SR-IOV)", "sriov"), _SECONDARY),
        *("optional", _MARGIN, _PHYSICAL, Extended("3b0 v1", "Extended Capability ID 0x2a")),
        _FEATURE,
    ),
    "virtual": ("express", "msix_nic", "vendor_nic", _ARI, "optional"),
    "gpu": (
        *("power", "msi_gpu", "express", "msix_gpu", _SECONDARY, _LATENCY, "bars_gpu", _FEATURE),
        *(_PHYSICAL, Extended("188 v1", "Extended Capability ID 0x2a")),
        *(Extended("1b8 v2", _ERRORS, "errors"), _MARGIN, _ARI),
        Extended("250 v1", "Single Root I/O Virtualization (SR-IOV)", "sriov_gpu"),
        *(Extended("2a4 v1", "Vendor Specific Information: ID=0001 Rev=1 Len=014 <?>"), _BUDGET),
        *("optional", Extended("2c8 v1", "Extended Capability ID 0x2e"), "serial"),
    ),
    "nvme": (
        *("power", "msix_nvme", "express", "msi_nvme", Extended("100 v2", _ERRORS, "errors")),
        *(_CHANNEL, _BUDGET, _ARI, "serial", _SECONDARY, _LATENCY, _FEATURE, _PHYSICAL, _MARGIN),
        *("optional", Extended("450 v1", "Process Address Space ID (PASID)", "pasid")),
        Extended("700 v1", "L1 PM Substates", "l1"),
        Extended("800 v1", "Designated Vendor-Specific: Vendor=8086 ID=003e Rev=1 Len=112 <?>"),
    ),
    "endpoint": (
        *("power", "msi_nvme", "msix_nvme", "express", Extended("100 v2", _ERRORS, "errors")),
        *("serial", _ARI, _CHANNEL, _BUDGET, "optional", _SECONDARY, _LATENCY),
    ),
    "root_port": (
        *("express", "power_bridge", "subsystem_root", "msi_root"),
        *(Extended("100 v2", _ERRORS, "errors"), "errors_root", "optional"),
        Extended("190 v1", "Vendor Specific Information: ID=0003 Rev=0 Len=00a <?>"),
        *(_CONTAINMENT, Extended("140 v1", "Precision Time Measurement", "ptm"), _CHANNEL, "vc1"),
        *(_SECONDARY, _FEATURE, _PHYSICAL, Extended("ae0 v1", "Extended Capability ID 0x2a")),
        *(_MARGIN, Extended("b20 v1", "Extended Capability ID 0x2b")),
    ),
    "upstream": (
        *("power_bridge", "express", "switch", "serial", _SECONDARY, _CHANNEL),
        Extended("1e0 v1", "Vendor Specific Information: ID=0001 Rev=2 Len=010 <?>"),
        *(_PHYSICAL, _MARGIN, _FEATURE, "optional", Extended("1f0 v1", _ERRORS, "errors")),
        Extended("220 v1", "Vendor Specific Information: ID=2000 Rev=1 Len=020 <?>"),
    ),
    "downstream": (
        *("power_bridge", "express", "switch", "msi_bridge", "serial", _SECONDARY, _CHANNEL),
        Extended("1e0 v1", "Vendor Specific Information: ID=0001 Rev=2 Len=010 <?>"),
        *(_PHYSICAL, _MARGIN, _FEATURE, "optional"),
        Extended("160 v1", "Native PCIe Enclosure Management <?>"),
        *(Extended("1f0 v1", _ERRORS, "errors"), _CONTAINMENT),
    ),
    "to_pci": ("power", "express", "optional", _CHANNEL, Extended("800 v1", _ERRORS, "errors")),
    "inside": ("express", "optional"),
    "plain": ("power",),
}


@lru_cache(maxsize=1)
def _blocks() -> dict[str, str]:
    text = (Path(__file__).parent / "lspci_blocks.txt").read_text("utf-8")
    parts = [part.partition("\n") for part in text.split("== ")[1:]]
    return {name: block for name, _, block in parts}


def _first_line(function: Function) -> str:
    known = names()
    code, interface = f"{function.class_code >> 8:04x}", f"{function.class_code & 0xFF:02x}"
    line = f"{function.address} {known.get(('class', code), f'Class {code}')}: "
    line += device_name(function.vendor, function.device)
    if function.revision:
        line += f" (rev {function.revision:02x})"
    name = known.get(("class", code, interface))
    if name:
        line += f" (prog-if {interface} [{name}])"
    elif interface != "00":
        line += f" (prog-if {interface})"
    return line + "\n"


def _subsystem(function: Function) -> str:
    vendor, device = function.subsystem
    if not vendor:
        return ""
    # The list of names has no entry for the boards, and these cards bear the chip's own number.
    name = device_name(vendor, function.device if vendor == _MELLANOX else device)
    return f"\tSubsystem: {name}\n"


def _sign(value: object) -> str:
    return "+" if value else "-"


def _profile(function: Function) -> str:
    if function.kind != "endpoint":
        return function.kind
    if function.virtual:
        return "virtual"
    if function.vendor == _MELLANOX:
        return "nic"
    if function.class_code >> 8 == 0x0302:
        return "gpu"
    return "nvme" if function.class_code >> 8 == 0x0108 else "endpoint"


def _express(function: Function, at: str, pciutils: tuple[int, int]) -> str:
    kind = function.kind
    below_a_slot = kind in ("endpoint", "upstream", "to_pci")
    above_a_slot = kind in ("root_port", "downstream")
    head = f"MaxPayload {function.max_payload_supported} bytes, PhantFunc 0"
    flags = "ExtTag+ AttnBtn- AttnInd- PwrInd- RBE+" if below_a_slot else "ExtTag+ RBE+"
    tail = ""
    if kind == "endpoint":
        head += ", Latency L0s unlimited, L1 unlimited"
        flags, tail = f"{flags} FLReset+", " FLReset-"
    elif kind in ("inside", "to_pci"):
        flags += " FLReset-" if kind == "inside" else ""
        tail = " BrConfRtry-" if kind == "to_pci" else ""
    flags += " SlotPowerLimit 75W" if below_a_slot else ""
    text = (
        f"\tCapabilities: [{at}] Express (v2) {EXPRESS_NAMES[kind]}, MSI 00\n"
        f"\t\tDevCap:\t{head}\n\t\t\t{flags}\n"
        "\t\tDevCtl:\tCorrErr+ NonFatalErr+ FatalErr+ UnsupReq-\n"
        f"\t\t\tRlxdOrd{_sign(function.relaxed_ordering)} ExtTag+ PhantFunc- AuxPwr- NoSnoop+"
        f"{tail}\n"
        f"\t\t\tMaxPayload {function.max_payload} bytes, MaxReadReq {function.read_request} bytes\n"
        "\t\tDevSta:\tCorrErr- NonFatalErr- FatalErr- UnsupReq- AuxPwr- TransPend-\n"
    )
    blocks = _blocks()
    if kind == "inside":
        return text + blocks["second_inside"]
    values = _link_values(function, pciutils)
    text += blocks["link"].format(**values)
    text += blocks["slot"].format(**values) if above_a_slot else ""
    text += blocks["root"] if kind == "root_port" else ""
    text += blocks[f"second_{kind}"] + blocks["link2_can"].format(**values)
    # lspci asks for the wanted speed only where the link is the function's own.
    if kind != "endpoint" or function.address.endswith(":00.0"):
        text += blocks["link2_wants"].format(**values)
    return text + blocks["link2_has"]


def _link_values(function: Function, pciutils: tuple[int, int]) -> dict[str, str]:
    best, kind = SPEEDS[function.generation_max], function.kind
    port = kind in ("root_port", "downstream")
    speed_word, width_word = link_words(function, pciutils)
    return {
        "speed_max": best,
        "width_max": str(function.width_max),
        "speed": SPEEDS.get(function.generation, "unknown"),
        "width": str(function.width),
        "speed_word": speed_word,
        "width_word": width_word,
        "port": _sign(port),
        "complete": _sign(kind == "endpoint"),
        "rcb": "" if kind in ("upstream", "downstream") else "RCB 64 bytes, ",
        "active": _sign(port and function.width),
        "speeds": f"2.5-{best}" if function.generation_max > 1 else best,
        # Retimers are a matter of 16 GT/s and above.
        "modern": _sign(function.generation_max >= 4),
        "selectable": ", Selectable De-emphasis: -6dB" if kind == "downstream" else "",
    }


def _optional(function: Function) -> str:
    """Capabilities that a function of the model has or has not."""
    text, blocks = "", _blocks()
    if function.ats is not None:
        text += "\tCapabilities: [2e0 v1] Address Translation Service (ATS)\n"
        text += blocks["ats"].format(ats=_sign(function.ats))
    if function.acs is not None:
        flags = (f"{name}{_sign(function.acs >> bit & 1)}" for bit, name in enumerate(_ACS_BITS))
        text += "\tCapabilities: [230 v1] Access Control Services\n"
        text += blocks["acs"].format(acs=" ".join(flags))
    return text


def _top(spot: Spot, number: int, pciutils: tuple[int, int]) -> str:
    """From the first line to the first capability."""
    function = spot.function
    blocks, profile = _blocks(), _profile(function)
    bridge = function.class_code >> 8 == 0x0604
    control = "inside" if function.kind == "inside" else "bridge" if bridge else "device"
    text = _first_line(function) + _subsystem(function)
    text += blocks[f"control_{control}"].format(irq=220 + number)
    if spot.numa >= 0:
        text += f"\tNUMA node: {spot.numa}\n"
    if pciutils >= (3, 9) and spot.group >= 0:
        text += f"\tIOMMU group: {spot.group}\n"
    if bridge:
        secondary, subordinate = buses_below(function)
        text += blocks["bridge"].format(
            primary=function.address[5:7],
            secondary=f"{secondary:02x}",
            subordinate=f"{subordinate:02x}",
        )
    elif function.kind != "inside":
        regions = profile if profile in ("nic", "gpu", "virtual") else "other"
        text += blocks[f"regions_{regions}"].format(digit=f"{number % 16:x}")
    return text


def _bottom(function: Function) -> str:
    if not function.driver:
        return ""
    modules = _MODULES.get(function.driver, function.driver)
    return f"\tKernel driver in use: {function.driver}\n" + (
        f"\tKernel modules: {modules}\n" if modules else ""
    )


def _silent(spot: Spot, pciutils: tuple[int, int]) -> str:
    """What is left of a function that does not answer: the names that the kernel has kept.

    From 3.8 on lspci has them and the revision from the kernel; before, all but two are read ones.
    """
    function = spot.function
    code = f"{function.class_code >> 8:04x}"
    title = names().get(("class", code), f"Class {code}")
    mark = "\t!!! Unknown header type 7f\n"
    if pciutils < (3, 8):
        device = device_name(function.vendor, function.device)
        line = f"{function.address} {title}: {device} (rev ff) (prog-if ff)\n"
        return f"{line}{mark}{_bottom(function)}\n"
    text = _first_line(function) + _subsystem(function) + mark
    text += f"\tNUMA node: {spot.numa}\n" if spot.numa >= 0 else ""
    if pciutils >= (3, 9) and spot.group >= 0:
        text += f"\tIOMMU group: {spot.group}\n"
    return f"{text}{_bottom(function)}\n"


@lru_cache(maxsize=4096)
def _paragraph(spot: Spot, number: int, pciutils: tuple[int, int], root: bool) -> tuple[str, str]:
    """What stands before and behind the vital product data; all of it is in front without them."""
    function = spot.function
    if function.dead:
        return _silent(spot, pciutils), ""
    halves = [_top(spot, number, pciutils), ""]
    half, blocks, profile = 0, _blocks(), _profile(function)
    values = {
        "total": function.virtual_functions,
        "made": function.made_functions,
        "enabled": _sign(function.made_functions),
        "digit": f"{number % 16:x}",
        "device": f"{function.device:04x}",
        "next": 0,
        "vendor": names().get((f"{function.vendor:04x}",), ""),
    }
    for part in PROFILES[profile] if root else ():
        if isinstance(part, Extended):
            if part.block.startswith("sriov") and not function.virtual_functions:
                continue
            halves[half] += f"\tCapabilities: [{part.at}] {part.title}\n"
            halves[half] += blocks[part.block].format(**values) if part.block else ""
        elif part == "vpd":
            half = 1
        elif part == "express":
            at = "60" if function.kind in ("endpoint", "inside") else "68"
            halves[half] += _express(function, at, pciutils)
        elif part == "optional":
            halves[half] += _optional(function)
        elif part == "serial":
            bus = function.address[5:7]
            serial = f"00-80-5e-{bus}-5f-09-56-{number % 256:02x}"
            halves[half] += f"\tCapabilities: [6f0 v1] Device Serial Number {serial}\n"
        else:
            halves[half] += blocks[part].format(**values)
    if not root:
        halves[0] += "\tCapabilities: <access denied>\n"
    halves[half] += _bottom(function) + "\n"
    return changed(halves[0], pciutils), changed(halves[1], pciutils)


@lru_cache(maxsize=64)
def _listing(
    buses: tuple[RootBus, ...],
    cards: tuple[str, ...],
    pciutils: tuple[int, int],
    root: bool,
    virtual: bool,
) -> tuple[tuple[str, str, str], ...]:
    """(address, before the vital product data, behind them), in the order of lspci."""
    numbers = {address: number for number, address in enumerate(cards)}
    found = []
    for count, (address, spot) in enumerate(spots(buses).items()):
        number = numbers.get(address, count)
        shown = spot._replace(group=-1) if virtual else spot  # machines without an IOMMU
        found.append((address, *_paragraph(shown, number, pciutils, root)))
    return tuple(sorted(found))


def _vital(nic: Nic, function: Function) -> str:
    part = nic.order_number
    return _blocks()["vpd"].format(
        product=nic.product, part=part, serial=nic.serial, identity=nic.uid, model=part[1:9],
        generation=function.generation_max, width=function.width_max,
        function=nic.address[-1],
    )  # fmt: skip


def paragraphs(host: HostModel, *, root: bool = True) -> dict[str, str]:
    """Every function's paragraph by its address."""
    pciutils = release(host.kernel.pciutils)
    nics = {nic.address: nic for nic in ports(host)}
    found = {}
    places = spots(host.buses)
    for address, before, behind in _listing(host.buses, tuple(nics), pciutils, root, host.virtual):
        vital = (
            _vital(nics[address], places[address].function) if behind and address in nics else ""
        )
        found[address] = before + vital + behind
    return found


def commands(host: HostModel) -> Iterator[Said]:
    """`lspci -D -vvv`."""
    yield Said("lspci -D -vvv", "".join(paragraphs(host).values()))
