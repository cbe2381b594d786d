"""The fake host is what a kernel would show: values written by hand, and lspci as a witness."""

import json
import os
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from lab.fleet import ACS_ON, MODELS, HostModel, add_shell, build, hgx_h100, write_tools
from lab.fleet.identity import LARGEST
from lab.fleet.render import all_commands
from lab.fleet.render.lldpctl import neighbors
from lab.fleet.render.mlxconfig import CURRENT, parameters
from lab.fleet.render.mlxconfig import answer as mlxconfig
from lab.fleet.tools import BUSYBOX, answer_name

EVIDENCE = Path(__file__).parent / "evidence"

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


def lspci(tree: Path) -> dict[str, str]:
    """PCI address -> what the real lspci says about it."""
    if shutil.which("lspci") is None:
        pytest.skip("needs pciutils")
    command = ["lspci", "-A", "linux-sysfs", "-O", f"sysfs.path={tree}/sys/bus/pci", "-D", "-vv"]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {block.split()[0]: block for block in out.split("\n\n") if block.strip()}


@pytest.fixture(scope="module")
def listing(tree: Path) -> dict[str, str]:
    return lspci(tree)


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
    down = hgx_h100(1, FAULTS)
    listed = json.loads(neighbors(down, "json0"))["lldp"][0]["interface"]
    assert len(listed) == 10  # 10 RDMA ports and eno1, without the one that is down
    assert "enp169s0np0" not in {interface["name"] for interface in listed}


def test_the_gpu_driver_is_in_use(tree: Path) -> None:
    nvidia = tree / "sys/module/nvidia"
    assert int(text(nvidia / "refcnt")) > len(list((nvidia / "holders").iterdir())) == 3


def folded(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines()]


def test_mlxconfig_says_the_samples() -> None:
    """The card of the samples, with the three changes that wait there; and the analysed cluster."""
    waits = {
        "NUM_OF_VFS": ("8", "4"),
        "ROCE_ADAPTIVE_ROUTING_EN": ("False(0)", "True(1)"),
        "PCI_WR_ORDERING": ("per_mkey(0)", "force_relax(1)"),
    }
    nic = hgx_h100(1, {("mlx5_0", "parameters"): waits}).nics[0]
    cluster = MODELS["two_socket_4x400g"](1).nics[0]
    for card, address, name in (
        (nic, nic.address, "cx7-400g-full-e-query"),
        (cluster, "0000:29:00.0", "cluster-case-e-query"),
    ):
        sample = (EVIDENCE / f"mlxconfig/{name}.out").read_text("utf-8")
        assert folded(mlxconfig(card, address)) == folded(sample)
    assert 24_000 < len(mlxconfig(nic, nic.address)) < 26_000


def test_mlxconfig_has_the_layout_of_the_current_tool() -> None:
    waits = {"PCI_WR_ORDERING": ("per_mkey(0)", "force_relax(1)")}
    nic = hgx_h100(1, {("mlx5_0", "parameters"): waits}).nics[0]
    lines = mlxconfig(nic, nic.address, CURRENT).splitlines()
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
    assert len(lines) > 210


def test_cards_have_their_own_parameters() -> None:
    storage = {row.name: row for row in parameters(hgx_h100(1).nics[8])}
    assert storage["LINK_TYPE_P2"] == ("LINK_TYPE_P2", "ETH(2)", "ETH(2)", "ETH(2)")
    assert storage["NUM_OF_PF"].default == "2"
    old = {row.name for row in parameters(MODELS["hgx_a100_infiniband"](1).nics[0])}
    assert len(old) > 120
    assert not old & {"PHY_IB_NDR_FEC_OVERRIDE_P1", "NUM_OF_PLANES_P1", "LINK_TYPE_P2"}
    with pytest.raises(KeyError, match="NUM_OF_PLANES_P1"):
        parameters(
            replace(
                hgx_h100(1).nics[0],
                parameter_set="connectx6",
                parameters={"NUM_OF_PLANES_P1": ("2", "2")},
            )
        )


def test_lldpctl_says_the_samples() -> None:
    host = hgx_h100(1)
    rails = replace(host, nics=host.nics[:8], netdevs=())
    for shape, model, name in (
        ("json", rails, "json-host-to-sonic-leaves"),
        ("json", replace(rails, nics=()), "json-no-neighbors"),
        ("json0", replace(rails, nics=()), "json0-no-neighbors"),
    ):
        sample = (EVIDENCE / f"lldpctl/{name}.out").read_text("utf-8")
        assert folded(neighbors(model, shape)) == folded(sample)
    for count, shape in ((1, "json"), (1, "json0"), (8, "json0")):
        told = neighbors(replace(rails, nics=host.nics[9 - count : 9]), shape)
        assert told == json.dumps(json.loads(told), indent=2) + "\n"


def test_dmesg_names_the_port_that_limits() -> None:
    told = {said.command: said.stdout for said in all_commands(hgx_h100(1, FAULTS))}["dmesg"]
    assert "0000:18:00.0: 504.112 Gb/s available PCIe bandwidth (32.0 GT/s PCIe x16 link)\n" in told
    assert (
        "0000:29:00.0: 252.056 Gb/s available PCIe bandwidth, limited by 32.0 GT/s PCIe x8 link at "
        "0000:28:00.0 (capable of 504.112 Gb/s with 32.0 GT/s PCIe x16 link)\n" in told
    )


# ---- identity


def identities(host: HostModel) -> set[str]:
    """What must not occur on any other host."""
    found = {host.name, host.boot_id, host.kernel.command_line}
    found |= {text for gpu in host.gpus for text in (gpu.serial, gpu.uuid)}
    for nic in host.nics:
        found |= {nic.mac, nic.guid, nic.image_guid, nic.serial, nic.uid, nic.optic.serial}
        found |= {str(nic.address_v4), *nic.addresses, *(entry.gid for entry in nic.gids)}
        found |= {f"{host.name.split('-')[0]} {nic.neighbor}"} if nic.neighbor else set()
    for netdev in host.netdevs:
        if netdev.netdev != "lo":
            found |= {netdev.permanent_mac or netdev.mac, *netdev.addresses}
    return found - {""}


def test_hosts_share_no_identity() -> None:
    """Around every number at which some scheme begins anew, on all sites together."""
    ends = (1, 100, 128, 200, 250, 256, 600, 4000, 4096, 6250, 8192, 14_400, 24_576, 65_536)
    numbers = {end + step for end in (*ends, 100_000) for step in (0, 1, 2)} | {LARGEST}
    seen: dict[str, str] = {}
    for model in MODELS.values():
        for number in sorted(numbers):
            host = model(number)
            for identity in identities(host):
                assert seen.setdefault(identity, host.name) == host.name, identity
    with pytest.raises(ValueError, match="1 to 131071"):
        hgx_h100(LARGEST + 1)


def test_ports_share_no_identity() -> None:
    host = hgx_h100(70_000)
    for name in ("mac", "guid", "uid", "address_v4", "index", "netdev", "name"):
        per_card = name == "uid"
        assert len({getattr(nic, name) for nic in host.nics}) == 9 + (not per_card), name
    assert len({nic.optic.serial for nic in host.nics}) == 10
    octets = [part for nic in host.nics for part in nic.address_v4]
    assert all(0 <= octet <= 255 for octet in octets)
    assert host.nics[0].mac.startswith("a0:88:c2:")


def test_host_1_is_the_host_of_the_samples() -> None:
    host = hgx_h100(1)
    rail = host.nics[1]
    assert (rail.serial, rail.uid) == ("MT2448X01011", "7be1000280042c95ef1180005c2573a00110")
    assert rail.addresses == ("10.21.1.1/24", "fe80::5e25:73ff:fea0:110/64")
    assert [nic.index for nic in host.nics[:8]] == list(range(4, 12))
    assert host.nics[0].optic.serial == "MT2445FT0A118"
    assert host.nics[8].optic.serial == "MT2438VB0C019"
    assert host.nics[8].serial == host.nics[9].serial == "MT2448X08018"
    assert host.netdevs[0].addresses[0] == "192.0.2.11/24"
    assert (host.nics[0].qos.dscp_priority[26], host.nics[0].qos.dscp_priority[48]) == (3, 6)
    assert "root=UUID=3f0c8f5e-5f31-4c6d-9f2e-0d1e5a7b9c21 ro iommu=pt" in host.kernel.command_line
    assert {route.table for route in host.routes} == {"main", *(f"{n}" for n in range(100, 108))}
    assert ("10.21.3.1", "103") in [(rule.source, rule.table) for rule in host.rules]


# ---- faults


def test_a_fault_that_fits_nothing_is_refused() -> None:
    with pytest.raises(KeyError, match=r"0000:99:01\.0 width"):
        hgx_h100(1, {("0000:99:01.0", "width"): 8})
    with pytest.raises(KeyError, match="mlx5_0 colour"):
        hgx_h100(1, {("mlx5_0", "colour"): "red"})


def test_a_fault_may_lie_inside_and_has_consequences() -> None:
    faults = {("mlx5_0", "qos.trust"): "pcp", ("host", "cpu.governor"): "powersave"}
    host = hgx_h100(1, faults | {("enp24s0np0", "mtu"): 1500})
    assert (host.nics[0].qos.trust, host.nics[1].qos.trust) == ("pcp", "dscp")
    assert (host.nics[0].active_mtu, host.nics[1].active_mtu) == (1024, 4096)
    assert host.cpu.governor == "powersave"


# ---- writing


def test_parts_can_be_written_alone(tmp_path: Path) -> None:
    build(tmp_path / "a", hgx_h100(2), tools=False, identity=False)
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["sys"]
    write_tools(tmp_path / "b", hgx_h100(2))
    assert "sys" not in {path.name for path in (tmp_path / "b").iterdir()}
    assert os.access(tmp_path / "b/usr/bin/mlxconfig", os.X_OK)
    build(tmp_path / "b", hgx_h100(3))  # once more over the same folder: the new host stands there
    assert text(tmp_path / "b/proc/sys/kernel/hostname") == "ember-h003"


def test_writing_a_host_is_cheap(tree: Path) -> None:
    """0.1 s; how long a file takes is the disk's affair, how many there are is ours."""
    assert sum(1 for path in tree.rglob("*") if not path.is_dir() or path.is_symlink()) < 6_000


@pytest.mark.root
def test_the_tools_answer_in_a_bare_root(tmp_path: Path) -> None:
    """Every answer, through the scripts, byte for byte."""
    if not BUSYBOX.exists():
        pytest.skip("needs busybox-static")
    host = MODELS["socket_direct"](1)
    build(tmp_path / "root", host)
    add_shell(tmp_path / "root")

    def run(*command: str) -> "subprocess.CompletedProcess[bytes]":
        return subprocess.run(["chroot", str(tmp_path / "root"), *command], capture_output=True)

    for answer in all_commands(host):
        program, *arguments = answer.command.split(" ")
        folders = [f for f in ("usr/sbin", "usr/bin") if (tmp_path / "root" / f / program).exists()]
        for folder in folders:
            got = run(f"/{folder}/{program}", *arguments)
            assert (got.stdout, got.stderr) == (answer.stdout.encode(), answer.stderr.encode())
            assert got.returncode == answer.code, answer.command
        assert folders
    told = run("/usr/bin/mlxconfig", "-d", "ca:00.0", "-e", "query")  # without the domain
    assert b"Device:         0000:ca:00.0" in told.stdout
    unknown = run("/usr/sbin/lldpctl", "-f", "xml/1")
    assert unknown.returncode == 1
    assert unknown.stderr == b"this lab's lldpctl has no answer to: lldpctl -f xml/1\n"
    assert answer_name(["-i", "a/b"]) == "_-i_a%b"
