"""The fake host is what a kernel would show: values written by hand, and lspci as a witness."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from lab.fakehost import ACS_ON, add_shell, build, hgx_h100, write_tools
from lab.fakehost.tools import BUSYBOX, dmesg_answer, lldpctl_answer, mlxconfig_answer

FAULTS = {
    ("0000:29:00.0", "width"): 8,
    ("0000:3a:00.0", "generation"): 4,
    ("0000:3a:00.0", "relaxed_ordering"): False,
    ("0000:58:01.0", "acs"): ACS_ON,
    ("0000:5a:01.0", "acs"): ACS_ON,
    ("mlx5_4", "mtu"): 1500,
    ("mlx5_5", "up"): False,
    ("enp186s0np0", "firmware"): "28.42.1000",
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("ember") / "root"
    build(root, hgx_h100(1, FAULTS))
    return root


def text(path: Path) -> str:
    return path.read_text().strip()


@pytest.fixture(scope="module")
def listing(tree: Path) -> dict[str, str]:
    """PCI address -> what lspci says about it."""
    if shutil.which("lspci") is None:
        pytest.skip("needs pciutils")
    command = ["lspci", "-A", "linux-sysfs", "-O", f"sysfs.path={tree}/sys/bus/pci", "-D", "-vv"]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {block.split()[0]: block for block in out.split("\n\n") if block.strip()}


def test_lspci_finds_every_function(listing: dict[str, str]) -> None:
    assert len(listing) == 115
    kinds = [block.split("\n")[0].split(" ", 1)[1] for block in listing.values()]
    assert sum("ConnectX-7" in kind for kind in kinds) == 10
    assert sum("H100" in kind for kind in kinds) == 8
    assert sum("PEX890xx" in kind for kind in kinds) == 8 * 4


def test_lspci_decodes_a_healthy_nic(listing: dict[str, str]) -> None:
    nic = listing["0000:18:00.0"]
    assert "Ethernet controller: Mellanox Technologies MT2910 Family [ConnectX-7]" in nic
    assert "Express (v2) Endpoint" in nic
    assert "MaxPayload 256 bytes, MaxReadReq 4096 bytes" in nic
    assert "RlxdOrd+ ExtTag+" in nic
    assert "SlotPowerLimit 75W" in nic
    assert re.search(r"LnkCap:.*Speed 32GT/s, Width x16", nic)
    assert re.search(r"LnkSta:\s+Speed 32GT/s( \(ok\))?, Width x16", nic)
    assert "Target Link Speed: 32GT/s" in nic
    assert "ATSCtl:\tEnable-" in nic
    assert "Total VFs: 8" in nic
    assert "NUMA node: 0" in nic
    assert "Kernel driver in use: mlx5_core" in nic


def test_lspci_decodes_the_faults(listing: dict[str, str]) -> None:
    # Both ends of a link show the same link.
    for address in ("0000:29:00.0", "0000:28:00.0"):
        assert re.search(r"LnkSta:\s+Speed 32GT/s( \(ok\))?, Width x8", listing[address]), address
    for address in ("0000:3a:00.0", "0000:39:00.0"):
        assert re.search(r"LnkSta:\s+Speed 16GT/s( \(downgraded\))?, Width x16", listing[address])
    assert "RlxdOrd- ExtTag+" in listing["0000:3a:00.0"]
    on = "ACSCtl:\tSrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-"
    off = "ACSCtl:\tSrcValid- TransBlk- ReqRedir- CmpltRedir- UpstreamFwd- EgressCtrl- DirectTrans-"
    assert on in listing["0000:58:01.0"]
    assert "Root Port (Slot+)" in listing["0000:58:01.0"]
    assert on in listing["0000:5a:01.0"]
    assert "Downstream Port (Slot+)" in listing["0000:5a:01.0"]
    assert off in listing["0000:5a:00.0"]


def test_lspci_sees_the_buses_nest(listing: dict[str, str]) -> None:
    assert "Bus: primary=15, secondary=16, subordinate=1a" in listing["0000:15:01.0"]
    assert "Bus: primary=16, secondary=17, subordinate=1a" in listing["0000:16:00.0"]
    assert "Bus: primary=17, secondary=19, subordinate=19" in listing["0000:17:01.0"]
    assert "Bus: primary=80, secondary=84, subordinate=84" in listing["0000:80:03.0"]


def test_every_link_resolves_inside_the_tree(tree: Path) -> None:
    links = [path for path in tree.rglob("*") if path.is_symlink()]
    assert len(links) > 500
    for link in links:
        assert not os.readlink(link).startswith("/"), link
        assert link.resolve(strict=True).is_relative_to(tree / "sys"), link


def test_attributes_are_as_the_kernel_prints_them(tree: Path) -> None:
    nic = tree / "sys/bus/pci/devices/0000:18:00.0"
    assert os.readlink(nic) == (
        "../../../devices/pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:00.0/0000:18:00.0"
    )
    assert (nic / "vendor").read_text() == "0x15b3\n"
    assert text(nic / "device") == "0x1021"
    assert text(nic / "class") == "0x020000"
    assert text(nic / "current_link_speed") == "32.0 GT/s PCIe"
    assert text(nic / "current_link_width") == "16"
    assert text(nic / "local_cpulist") == "0-55,112-167"
    assert text(nic / "iommu_group/type") == "identity"
    assert (nic / "driver").resolve().name == "mlx5_core"
    assert (nic / "config").stat().st_size == 4096
    assert text(tree / "sys/bus/pci/devices/0000:19:00.0/class") == "0x030200"
    assert text(tree / "sys/bus/pci/devices/0000:15:00.0/max_link_width") == "255"
    assert not (tree / "sys/bus/pci/devices/0000:00:1f.0/current_link_width").exists()
    assert (tree / "sys/bus/pci/devices/0000:00:1f.0/config").stat().st_size == 256


def test_rdma_and_netdev_agree_with_the_site(tree: Path) -> None:
    # The same numbers as in the samples of ibv_devinfo and show_gids for this host.
    rail = tree / "sys/class/infiniband/mlx5_1"
    assert text(rail / "node_guid") == "5c25:7303:00a0:0110"
    assert text(rail / "board_id") == "MT_0000000838"
    assert text(rail / "ports/1/rate") == "400 Gb/sec (4X NDR)"
    assert text(rail / "ports/1/gids/1") == "fe80:0000:0000:0000:5e25:73ff:fea0:0110"
    assert text(rail / "ports/1/gids/3") == "0000:0000:0000:0000:0000:ffff:0a15:0101"
    assert text(rail / "ports/1/gid_attrs/types/3") == "RoCE v2"
    assert text(rail / "ports/1/gid_attrs/ndevs/3") == "enp41s0np0"
    assert text(rail / "ports/1/gids/7") == "0000:0000:0000:0000:0000:0000:0000:0000"
    assert len(list((rail / "ports/1/hw_counters").iterdir())) == 32
    assert text(rail / "device/net/enp41s0np0/speed") == "400000"
    images = [text(tree / f"sys/class/infiniband/mlx5_{n}/sys_image_guid") for n in (8, 9)]
    assert images[0] == images[1] == "5c25:7303:00a0:0180"
    assert text(tree / "sys/class/net/eno1/mtu") == "1500"
    assert os.readlink(tree / "sys/class/net/lo") == "../../devices/virtual/net/lo"


def test_a_port_without_link(tree: Path) -> None:
    port = tree / "sys/class/infiniband/mlx5_5/ports/1"
    assert text(port / "state") == "1: DOWN"
    assert text(port / "phys_state") == "3: Disabled"
    netdev = tree / "sys/class/net/enp169s0np0"
    assert (text(netdev / "operstate"), text(netdev / "carrier")) == ("down", "0")
    assert text(netdev / "speed") == "-1"
    assert text(tree / "sys/class/net/enp152s0np0/mtu") == "1500"
    assert text(tree / "sys/class/infiniband/mlx5_6/fw_ver") == "28.42.1000"
    heard = json.loads(lldpctl_answer(hgx_h100(1, FAULTS)))["lldp"][0]["interface"]
    assert len(heard) == 10  # 10 RDMA ports and eno1, without the one that is down
    assert "enp169s0np0" not in {interface["name"] for interface in heard}


def test_the_gpu_driver_is_in_use(tree: Path) -> None:
    nvidia = tree / "sys/module/nvidia"
    assert int(text(nvidia / "refcnt")) > len(list((nvidia / "holders").iterdir())) == 3


def test_mlxconfig_has_the_layout_of_the_current_tool() -> None:
    waits = {"PCI_WR_ORDERING": ("per_mkey(0)", "force_relax(1)")}
    lines = mlxconfig_answer(hgx_h100(1, {("mlx5_0", "parameters"): waits}).nics[0]).splitlines()
    assert lines[1:3] == ["Device #1:", "----------"]
    assert lines[7] == "Device:             0000:18:00.0        "
    assert lines[9][56:63] == "Default"
    assert lines[9][90:97] == "Current"
    assert lines[9][124:133] == "Next Boot"
    (row,) = [line for line in lines if "PCI_WR_ORDERING" in line]
    assert row.split() == [
        *("*", "PCI_WR_ORDERING", "per_mkey(0)", "per_mkey(0)", "force_relax(1)")
    ]
    assert (row.index("PCI"), row.index("per"), row.index("force")) == (8, 56, 124)
    assert len(lines) > 110


def test_dmesg_names_the_port_that_limits() -> None:
    said = dmesg_answer(hgx_h100(1, FAULTS))
    assert "0000:18:00.0: 504.112 Gb/s available PCIe bandwidth (32.0 GT/s PCIe x16 link)\n" in said
    assert (
        "0000:29:00.0: 252.056 Gb/s available PCIe bandwidth, limited by 32.0 GT/s PCIe x8 link at "
        "0000:28:00.0 (capable of 504.112 Gb/s with 32.0 GT/s PCIe x16 link)\n" in said
    )


def test_hosts_share_no_identity() -> None:
    def identities(number: int) -> set[str]:
        host = hgx_h100(number)
        found = {host.boot_id, *(gpu.serial for gpu in host.gpus), *(gpu.uuid for gpu in host.gpus)}
        for nic in host.nics:
            found |= {nic.mac, nic.guid, str(nic.address_v4), f"{nic.neighbor}"}
        return found | {netdev.mac for netdev in host.netdevs if netdev.address}

    hosts = [identities(number) for number in (1, 2, 17, 255, 256, 257, 512, 4096, 24_575)]
    assert sum(map(len, hosts)) == len(set().union(*hosts))


def test_a_fault_that_fits_nothing_is_refused() -> None:
    with pytest.raises(KeyError, match=r"0000:99:01\.0 width"):
        hgx_h100(1, {("0000:99:01.0", "width"): 8})
    with pytest.raises(KeyError, match="mlx5_0 colour"):
        hgx_h100(1, {("mlx5_0", "colour"): "red"})


def test_parts_can_be_written_alone(tmp_path: Path) -> None:
    build(tmp_path / "a", hgx_h100(2), tools=False, identity=False)
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["sys"]
    write_tools(tmp_path / "b", hgx_h100(2))
    assert sorted(path.name for path in (tmp_path / "b").iterdir()) == ["opt", "usr"]
    assert os.access(tmp_path / "b/usr/bin/mlxconfig", os.X_OK)
    build(tmp_path / "b", hgx_h100(3))  # once more over the same folder: the new host stands there
    assert text(tmp_path / "b/proc/sys/kernel/hostname") == "ember-h003"


def test_writing_a_host_is_cheap(tree: Path) -> None:
    """0.06 s; how long a file takes is the disk's affair, how many there are is ours."""
    assert sum(1 for path in tree.rglob("*") if not path.is_dir() or path.is_symlink()) < 4_000


@pytest.mark.root
def test_the_tools_answer_in_a_bare_root(tmp_path: Path) -> None:
    if not BUSYBOX.exists():
        pytest.skip("needs busybox-static")
    build(tmp_path / "root", hgx_h100(1))
    add_shell(tmp_path / "root")

    def run(*command: str) -> "subprocess.CompletedProcess[str]":
        chroot = ["chroot", str(tmp_path / "root"), *command]
        return subprocess.run(chroot, capture_output=True, text=True, check=False)

    told = run("/usr/bin/mlxconfig", "-d", "84:00.1", "-e", "query")
    assert "Device:             0000:84:00.1" in told.stdout
    assert "Name:               MCX755106AS-HEA_Ax" in told.stdout
    assert run("/usr/bin/mlxconfig", "-d", "0000:77:00.0", "-e", "query").returncode == 3
    assert run("/usr/bin/mlxconfig", "-d", "18:00.0", "reset").returncode == 1
    assert json.loads(run("/usr/sbin/lldpctl", "-f", "json0").stdout)["lldp"][0]["interface"]
    assert run("/usr/bin/nvidia-smi", "-q", "-x").stdout.count("<gpu id=") == 8
    assert run("/usr/bin/nvidia-smi").returncode == 1
