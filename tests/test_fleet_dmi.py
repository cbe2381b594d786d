"""What firmware says about a fake machine, where Linux has it: DMI and ACPI, by hand."""

import re
from pathlib import Path

import pytest

from lab.fleet import MODELS, build, fill_sys, hgx_h100
from lab.fleet.tree import Memory


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("dmi") / "root"
    build(root, hgx_h100(1), tools=False)
    return root


def text(path: Path) -> str:
    return path.read_text().strip()


def test_the_firmware_names_the_machine_and_its_root_bridges(tree: Path) -> None:
    """As Linux 5.15 has them: both are links, serial numbers are for root."""
    dmi = tree / "sys/class/dmi/id"
    assert dmi.readlink() == Path("../../devices/virtual/dmi/id")
    names = ("sys_vendor", "product_name", "product_sku", "board_name", "bios_date")
    assert [(dmi / name).read_text() for name in names] == [
        *("Supermicro\n", "SYS-821GE-TNHR\n", "To be filled by O.E.M.\n"),
        *("X13DEG-OAD\n", "12/06/2023\n"),
    ]
    assert (dmi / "product_name").stat().st_mode & 0o777 == 0o644
    assert (dmi / "board_serial").stat().st_mode & 0o777 == 0o400
    root = tree / "sys/devices/pci0000:15/firmware_node"
    assert root.readlink() == Path("../LNXSYSTM:00/LNXSYBUS:00/PNP0A08:01")
    assert (root / "path").read_text() == "\\_SB_.PC01\n"
    assert [text(root / name) for name in ("uid", "hid")] == ["1", "PNP0A08"]


@pytest.mark.parametrize(
    ("model", "product", "last_root"),
    [
        ("hgx_h100", "SYS-821GE-TNHR", r"\_SB_.PC09"),
        ("kubernetes_worker", "SYS-821GE-TNHR", r"\_SB_.PC09"),
        ("hgx_a100_infiniband", "DGXA100 920-23687-2530-000", r"\_SB_.S1D2"),
        ("two_socket_4x400g", "HPE Cray SC XD665", r"\_SB_.S1D0"),
        ("socket_direct", "PowerEdge R750xa", r"\_SB_.PC06"),
        ("passthrough_vm", "Virtual Machine", ""),
    ],
)
def test_every_model_says_what_it_is(model: str, product: str, last_root: str) -> None:
    """Serial files are there in all; the roots of a virtual machine are the hypervisor's."""
    memory = Memory()
    fill_sys(memory, MODELS[model](1))
    at = "devices/virtual/dmi/id"
    assert memory.entries[f"{at}/product_name"].content == f"{product}\n".encode()
    assert memory.entries[f"{at}/product_uuid"].mode == 0o400
    nodes = sorted(
        entry.content.decode().strip()
        for name, entry in memory.entries.items()
        if re.fullmatch(r"devices/LNXSYSTM:00/LNXSYBUS:00/PNP0A08:../path", name)
    )
    assert (nodes[-1] if nodes else "") == last_root
