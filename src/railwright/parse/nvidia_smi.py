"""`nvidia-smi -q -x`: the GPUs as their driver sees them, and their PCIe links.

Only the elements named in TAGS are needed: attached_gpus, cuda_version, current_link_gen,
current_link_width, driver_version, gpu, max_link_gen, max_link_width, minor_number, pci_bus_id,
persistence_mode, product_name, replay_counter, serial, uuid, vbios_version; and of <fabric> its
state and status. The machine removes all other lines before the answer leaves it. What arrives has
lost closing tags, so it is no XML: lines are read one by one, nothing is nested and no entity is
expanded. An element counts only when it has a line of its own: a process may carry `<uuid>` in its
name.
"""

import re
from collections.abc import Iterator

from railwright.parse.base import NotUnderstoodError, Row, Value, text_of

# The elements this parser reads; the probe's allow-list must let them through.
TAGS = (
    "attached_gpus",
    "cuda_version",
    "current_link_gen",
    "current_link_width",
    "driver_version",
    "gpu",
    "max_link_gen",
    "max_link_width",
    "minor_number",
    "pci_bus_id",
    "persistence_mode",
    "product_name",
    "replay_counter",
    "serial",
    "uuid",
    "vbios_version",
)
# Elements of <fabric>, whose names mean something else elsewhere.
_OF_FABRIC = {"state": "fabric_state", "status": "fabric_status"}
_GPU = re.compile(r"""<gpu(?:\s+id=["']([^"'<>]*)["'])?\s*>""")
_ELEMENT = re.compile(r"<([a-z_]+)>([^<>]*)</\1>")
# The domain has eight digits here and four in the kernel; the bus is in capitals.
_PCI = re.compile(r"([0-9a-fA-F]{1,8}):([0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7])")
# Ways in which the tool says that it could not read a value.
_UNREAD = frozenset(
    {
        "",
        "ERR!",
        "Function Not Found",
        "GPU is lost",
        "GPU requires reset",
        "Insufficient Permissions",
        "N/A",
        "Not Found",  # the CUDA version of a host without the CUDA library
        "Not Supported",
        "Requested functionality has been deprecated",
        "Unknown Error",
    }
)
_NUMBER = re.compile(r"([0-9]{1,18})x?")  # a width is printed as 16x
_NO_GPUS = "No devices were found"
# Slices of a GPU are listed in front of its own uuid, with some drivers by theirs.
_OF_A_SLICE = "MIG-"


def _blocks(text: str) -> tuple[dict[str, str], list[dict[str, str]]]:
    """The elements of the host and of each GPU. The first of a name counts: nested ones follow."""
    host: dict[str, str] = {}
    gpus: list[dict[str, str]] = []
    in_fabric = False
    for line in text.split("\n"):
        stripped = line.strip()
        if stripped in ("<fabric>", "</fabric>"):
            in_fabric = stripped == "<fabric>"
            continue
        opening = _GPU.fullmatch(stripped)
        if opening:
            gpus.append({"gpu": opening[1] or ""})
            in_fabric = False
            continue
        element = _ELEMENT.fullmatch(stripped)
        if element and element[1] in _OF_FABRIC:
            if in_fabric and gpus:
                gpus[-1].setdefault(_OF_FABRIC[element[1]], element[2].strip())
        elif element and element[1] in TAGS and not element[2].startswith(_OF_A_SLICE):
            (gpus[-1] if gpus else host).setdefault(element[1], element[2].strip())
    return host, gpus


def _read(block: dict[str, str], tag: str) -> str | None:
    """The text of an element; None where it is missing or says that it could not be read."""
    text = block.get(tag, "")
    return None if text.strip("[]") in _UNREAD else text


def _number(block: dict[str, str], tag: str, bits: int = 31) -> int | None:
    match = _NUMBER.fullmatch(block.get(tag, ""))
    number = int(match[1]) if match else None
    return number if number is not None and number < 2**bits else None


def _of_fabric(gpu: dict[str, str], tag: str) -> str | None:
    """A GPU that is in no NVLink fabric has N/A there; older drivers print nothing."""
    return "" if gpu.get(tag) == "N/A" else _read(gpu, tag)


def _address(gpu: dict[str, str]) -> str | None:
    """The PCI address as the kernel writes it, from the GPU's id or else from its PCI part."""
    for printed in (gpu["gpu"], gpu.get("pci_bus_id", "")):
        match = _PCI.fullmatch(printed)
        if match:
            return f"{int(match[1], 16):04x}:{match[2].lower()}"
    return None


def _row(pci: str, gpu: dict[str, str], host: dict[str, str]) -> Row:
    values: dict[str, Value] = {
        "pci": pci,
        "name": _read(gpu, "product_name"),
        "uuid": _read(gpu, "uuid"),
        "serial": _read(gpu, "serial"),
        "minor_number": _number(gpu, "minor_number"),
        "vbios_version": _read(gpu, "vbios_version"),
        "driver_version": _read(host, "driver_version"),
        "cuda_version": _read(host, "cuda_version"),
        "persistence_mode": _read(gpu, "persistence_mode"),
        "pcie_gen_current": _number(gpu, "current_link_gen"),
        "pcie_gen_max": _number(gpu, "max_link_gen"),
        "pcie_width_current": _number(gpu, "current_link_width"),
        "pcie_width_max": _number(gpu, "max_link_width"),
        "replay_counter": _number(gpu, "replay_counter", bits=63),
        "fabric_state": _of_fabric(gpu, "fabric_state"),
        "fabric_status": _of_fabric(gpu, "fabric_status"),
    }
    return Row("gpu_smi", values)


def parse(data: bytes, instance: str) -> Iterator[Row]:  # noqa: ARG001 - one answer per host
    """Rows of gpu_smi; none on a host where the driver finds no GPU, which is an answer."""
    text = text_of(data)
    host, gpus = _blocks(text)
    rows: dict[str, Row] = {}
    for gpu in gpus:
        pci = _address(gpu)
        if pci is not None:
            rows.setdefault(pci, _row(pci, gpu, host))
    none_there = host.get("attached_gpus") == "0" or text.strip().startswith(_NO_GPUS)
    if not rows and (gpus or not none_there):
        raise NotUnderstoodError("no GPU with a PCI address")
    return iter(rows.values())
