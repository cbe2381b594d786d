"""Each kind of fake host has what makes it different: truths by hand, and lspci as a witness."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lab.fleet import MODELS, HostModel, build
from lab.fleet.render import all_commands, all_files
from lab.fleet.render.lldpctl import heard


def text(path: Path) -> str:
    return path.read_text().strip()


def lspci(tree: Path) -> dict[str, str]:
    """PCI address -> what the real lspci says about it."""
    if shutil.which("lspci") is None:
        pytest.skip("needs pciutils")
    command = ["lspci", "-A", "linux-sysfs", "-O", f"sysfs.path={tree}/sys/bus/pci", "-D", "-vv"]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {block.split()[0]: block for block in out.split("\n\n") if block.strip()}


Tree = tuple[HostModel, Path]
Trees = Callable[[str], Tree]


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trees]:
    """Host and tree of a model. Host 2 of the Kubernetes site also hides RDMA devices."""
    folder = tmp_path_factory.mktemp("kinds")
    made: dict[str, Tree] = {}

    def tree(name: str) -> Tree:
        if name not in made:
            host = MODELS[name](2 if name == "kubernetes_worker" else 1)
            build(folder / name, host)
            made[name] = host, folder / name
        return made[name]

    yield tree
    shutil.rmtree(folder)


# RDMA devices and netdevs that the host itself sees, functions that lspci finds, NUMA nodes of NICs.
SEEN = {
    "hgx_h100": (10, 12, 115, [0, 0, 0, 0, 1, 1, 1, 1, 1, 1]),
    "hgx_a100_infiniband": (9, 13, 145, [3, 3, 1, 1, 7, 7, 5, 5, 6]),
    "two_socket_4x400g": (8, 6, 72, [0, 0, 1, 1, 0, 0, 1, 1]),
    "socket_direct": (2, 4, 48, [0, 1]),
    "kubernetes_worker": (6, 8, 115, [1, 1, 1, 1, 1, 1]),
    "passthrough_vm": (8, 10, 16, [0] * 8),
}


@pytest.mark.parametrize("name", MODELS)
def test_what_each_model_shows(name: str, trees: Trees) -> None:
    host, root = trees(name)
    sys = root / "sys"
    devices = sorted((sys / "class/infiniband").iterdir(), key=lambda path: int(path.name[-1]))
    netdevs = [path for path in (sys / "class/net").iterdir() if path.is_symlink()]
    numa = [int(text(path / "device/numa_node")) for path in devices]
    found = lspci(root)
    if name == "hgx_a100_infiniband":  # mlx5_bond_0 sorts beside mlx5_0
        numa.sort(key=[3, 1, 7, 5, 6].index)
    assert (len(devices), len(netdevs), len(found), numa) == SEEN[name]
    for link in (path for path in root.rglob("*") if path.is_symlink()):
        assert link.resolve(strict=True).is_relative_to(sys), link
    hidden = {nic.netdev for nic in host.nics} - {path.name for path in netdevs}
    assert not [path for path in all_files(host) for netdev in hidden if f"/{netdev}/" in path]
    assert not hidden & {netdev.netdev for netdev in heard(host)}


def test_infiniband_behind_two_layers_of_switches(trees: Trees) -> None:
    _, root = trees("hgx_a100_infiniband")
    port = root / "sys/class/infiniband/mlx5_3/ports/1"
    names = ("link_layer", "rate", "lid", "sm_lid", "cap_mask", "gids/0", "gids/1", "pkeys/0")
    assert [text(port / name) for name in names] == [
        *("InfiniBand", "200 Gb/sec (4X HDR)", "0x5", "0x1", "0xa651e848"),
        "fe80:0000:0000:0000:b83f:d203:0000:0130",
        "fe80:0000:0000:0000:0000:0000:0000:0000",
        "0xffff",
    ]
    assert text(port / "gid_attrs/types/0") == "IB/RoCE v1"
    assert not any(map(text, (port / "gid_attrs/ndevs").iterdir()))  # no GID has a netdev
    assert not (port / "hw_counters/np_cnp_sent").exists()
    net = root / "sys/class/net"
    assert (text(net / "ib3/type"), text(net / "ib3/mtu")) == ("32", "4092")
    assert text(net / "ib3/address").endswith(":b8:3f:d2:03:00:00:01:30")
    nic = lspci(root)["0000:54:00.0"]
    assert "Infiniband controller: Mellanox Technologies MT28908 Family [ConnectX-6]" in nic
    assert re.search(r"LnkSta:\s+Speed 16GT/s( \(ok\))?, Width x16", nic)
    assert text(root / "sys/bus/pci/devices/0000:54:00.0/local_cpulist") == "16-31,144-159"
    # The bond: one RDMA device on the first port, one address for both.
    assert text(net / "bonding_masters") == "bond0"
    assert text(net / "bond0/bonding/slaves") == "enp225s0f0np0 enp225s0f1np1"
    member = net / "enp225s0f1np1"
    assert (member / "master").resolve().name == "bond0"
    assert text(member / "address") == text(net / "bond0/address")
    assert text(member / "bonding_slave/perm_hwaddr") != text(member / "address")
    gid = root / "sys/class/infiniband/mlx5_bond_0/ports/1/gid_attrs/ndevs/3"
    assert text(gid) == "bond0"


def test_virtual_functions_of_two_sockets(trees: Trees) -> None:
    _, root = trees("two_socket_4x400g")
    card = root / "sys/bus/pci/devices/0000:a3:00.0"
    assert (text(card / "sriov_totalvfs"), text(card / "sriov_numvfs")) == ("1", "1")
    assert os.readlink(card / "virtfn0") == "../0000:a3:00.1"
    virtual = root / "sys/bus/pci/devices/0000:a3:00.1"
    assert (virtual / "physfn").resolve() == card.resolve()
    assert (text(virtual / "current_link_speed"), text(virtual / "current_link_width")) == (
        *("Unknown", "0"),
    )
    found = lspci(root)
    assert "Number of VFs: 1" in found["0000:a3:00.0"]
    assert "mlx5Gen Virtual Function" in found["0000:a3:00.1"]
    port = root / "sys/class/infiniband/mlx5_6/ports/1"
    assert text(port / "gid_attrs/types/3") == "RoCE v2"
    assert not any(map(text, (port / "gid_attrs/ndevs").iterdir()))  # its netdev is in a pod
    assert not (root / "sys/class/infiniband/mlx5_0/tc").exists()  # the kernel's own driver
    assert not (root / "sys/kernel/config").exists()


def test_one_card_in_two_sockets(trees: Trees) -> None:
    host, root = trees("socket_direct")
    legs = [root / f"sys/class/infiniband/mlx5_{n}" for n in (0, 1)]
    images, guids = ({text(leg / name) for leg in legs} for name in ("sys_image_guid", "node_guid"))
    assert (len(images), len(guids)) == (1, 2)
    assert [text(leg / "device/current_link_width") for leg in legs] == ["16", "16"]
    assert host.nics[0].neighbor == host.nics[1].neighbor
    assert host.nics[0].serial == host.nics[1].serial
    tos = root / "sys/kernel/config/rdma_cm/mlx5_1/ports/1/default_roce_tos"
    assert (text(tos), text(legs[1] / "tc/1/traffic_class")) == ("106", "Global tclass=106")
    # Its command line lets DMA pass through the IOMMU.
    assert text(legs[0] / "device/iommu_group/type") == "identity"


def test_a_virtual_machine_is_flat(trees: Trees) -> None:
    host, root = trees("passthrough_vm")
    gpu = root / "sys/bus/pci/devices/0001:00:00.0"
    assert (text(gpu / "numa_node"), text(gpu / "local_cpulist")) == ("-1", "0-95")
    assert "/VMBUS:00/" in os.readlink(gpu)
    assert not (gpu / "iommu_group").exists()
    nic = lspci(root)["0105:00:00.0"]
    assert re.search(r"LnkSta:\s+Speed unknown.*, Width x0", nic)
    command = "mlxconfig -d 0105:00:00.0 -e query"
    (refused,) = [said for said in all_commands(host) if said.command == command]
    assert (refused.stderr, refused.code) == ("-E- Failed to open the device\n", 3)
