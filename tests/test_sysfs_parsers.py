"""pci, netdev and infiniband: real trees, this machine, and answers that nobody would send."""

import errno
import json
import os
import random
import re
import shutil
import subprocess
from glob import glob
from pathlib import Path
from typing import Any

import pytest
from conftest import IN_CI, SHARED
from hypothesis import given, settings
from hypothesis import strategies as st
from test_parsers import assert_storable, rows_of

from railwright.parse.base import NotUnderstoodError

CAPTURES = SHARED / "captures/sysfs-infiniband"
PCI, NET, RDMA = "/sys/bus/pci/devices", "/sys/class/net", "/sys/class/infiniband"

Entries = list[tuple[str, str, bytes]]

# What each probe lists; the runner's globs know no {a,b}, so these are taken apart below.
LINKS = {
    "pci": [f"{PCI}/*", f"{PCI}/*/driver", f"{PCI}/*/iommu_group", f"{PCI}/*/physfn"],
    "netdev": [f"{NET}/*", f"{NET}/*/device", f"{NET}/*/master"],
}
FILES = {
    "pci": "vendor device class subsystem_vendor subsystem_device revision numa_node local_cpulist"
    " current_link_speed current_link_width max_link_speed max_link_width sriov_numvfs"
    " sriov_totalvfs power_state iommu_group/type",
    "netdev": "address mtu operstate carrier speed duplex ifindex type dev_port phys_port_name"
    " phys_switch_id carrier_changes flags",
}


def stream(entries: Entries) -> bytes:
    return b"".join(
        b"%s %d %s\n%s\n" % (kind.encode(), len(body), os.fsencode(path), body)
        for kind, path, body in entries
    )


def values(parser: str, entries: Entries, table: str) -> dict[Any, dict[str, Any]]:
    """The rows of a table by their first key column, all of them storable."""
    rows = rows_of(parser, stream(entries), "")
    assert_storable(rows, parser)
    found = [row.values for row in rows if row.table == table]
    return {next(iter(row.values())): row for row in found}


def picked(whole: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    return {name: whole[name] for name in part}


# ---- real trees ----------------------------------------------------------------------------


def tree(folder: Path, base: str) -> Entries:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return [("F", f"{base}/{path.relative_to(folder)}", path.read_bytes()) for path in paths]


def archive() -> dict[str, tuple[str, bytes]]:
    """The ttar archive of the procfs project: path -> (kind, body)."""
    found = {}
    text = (CAPTURES / "procfs-fixtures.ttar").read_text()
    for block in re.split(r"^# ttar[ -]*\n", text, flags=re.MULTILINE):
        if link := re.match(r"Path: fixtures(.*)\nSymlinkTo: (.*)\n", block):
            found[link[1]] = ("L", link[2].encode())
        elif file := re.match(r"Path: fixtures(.*)\nLines: \d+\n(.*)Mode: \d+\n", block, re.DOTALL):
            body = file[2].removesuffix("EOF\n") if file[2].endswith("EOF\n") else file[2]
            found[file[1]] = ("F", body.encode())
    return found


@pytest.mark.shared
def test_infiniband_of_an_h100_host() -> None:
    entries = tree(CAPTURES / "gpud-h100", RDMA)
    devices = values("infiniband", entries, "rdma_device")
    ports = values("infiniband", entries, "rdma_port")
    rails = {f"mlx5_{number}" for number in (0, 1, 4, 5, 6, 7, 8, 9)}
    assert set(devices) == set(ports) == rails | {"mlx5_bond_0"}
    assert {devices[rail]["hca_type"] for rail in rails} == {"MT4129"}
    assert {ports[rail]["rate_gbps"] for rail in rails} == {400.0}
    assert devices["mlx5_0"] == {
        "device": "mlx5_0",
        "pci": "",  # the capture holds no links; on a real host this means Soft-RoCE
        "node_guid": None,
        "sys_image_guid": None,
        "firmware_version": "28.41.1000",
        "hca_type": "MT4129",
        "psid": "MT_0000000838",
        "node_type": None,
    }
    bond = {"port": 1, "link_layer": "Ethernet", "state": "ACTIVE", "state_code": 4}
    bond |= {"physical_state": "LinkUp", "rate_gbps": 200.0, "rate_text": "200 Gb/sec (2X NDR)"}
    assert picked(ports["mlx5_bond_0"], bond) == bond


@pytest.mark.shared
def test_infiniband_of_the_procfs_project() -> None:
    listed = [(kind, path, body) for path, (kind, body) in archive().items() if RDMA in path]
    devices = values("infiniband", listed, "rdma_device")
    assert {name: row["psid"] for name, row in devices.items()} == {
        "hfi1_0": "HPE 100Gb 1-port OP101 QSFP28 x16 PCIe Gen3 with Intel Omni-Path Adapter",
        "mlx4_0": "SM_1141000001000",
        "mlx5_0": "SM_2001000001034",
    }
    assert devices["hfi1_0"]["hca_type"] == ""
    assert devices["mlx5_0"]["node_guid"] == "0a7f:bc12:45ef:d23b"
    rows = [row.values for row in rows_of("infiniband", stream(listed), "")]
    ports = [row for row in rows if "link_layer" in row]
    assert [(row["device"], row["port"], row["rate_gbps"]) for row in ports] == [
        ("hfi1_0", 1, 100.0),
        ("mlx4_0", 1, 40.0),
        ("mlx4_0", 2, 40.0),
        ("mlx5_0", 1, 25.0),
    ]
    assert {row["link_layer"] for row in ports} == {"InfiniBand"}  # once with a blank line more


@pytest.mark.shared
def test_pci_and_netdev_of_the_procfs_project() -> None:
    found = archive()
    entries: Entries = []
    for pci in ("0000:00:02.1", "0000:01:00.0", "0000:a2:00.0"):
        kind, target = found[f"{PCI}/{pci}"]
        entries.append((kind, f"{PCI}/{pci}", target))
        real = "/sys/" + target.decode().removeprefix("../../../")
        for name in ("driver", "iommu_group", *FILES["pci"].split()):
            if f"{real}/{name}" in found:
                kind, body = found[f"{real}/{name}"]
                entries.append((kind, f"{PCI}/{pci}/{name}", body))
    rows = values("pci", entries, "pci_function")
    disk = {"parent": "0000:00:02.1", "root_bus": "0000:00", "vendor": "c0a9", "class": "010802"}
    disk |= {"driver": "nvme", "numa_node": -1, "iommu_group": 11, "link_speed_gts": 8.0}
    disk |= {"link_width": 4, "link_width_max": 4, "vf_limit": 0, "power_state": "D0"}
    assert picked(rows["0000:01:00.0"], disk) == disk
    port = {"parent": "", "driver": "pcieport", "link_width": 4, "link_width_max": 8}
    assert picked(rows["0000:00:02.1"], port) == port
    nic = {"root_bus": "0000:a2", "device": "159b", "numa_node": 1, "local_cpus": "64-127"}
    nic |= {"iommu_group": -1, "iommu_type": "", "vf_count": 0, "vf_limit": 128, "revision": "02"}
    assert picked(rows["0000:a2:00.0"], nic) == nic

    listed = [(kind, path, body) for path, (kind, body) in found.items() if NET in path]
    eth0 = {"pci": "0000:00:1f.6", "kind": "physical", "mac": "01:01:01:01:01:01", "mtu": 1500}
    eth0 |= {"operstate": "up", "carrier": True, "speed_mbps": 1000, "duplex": "full"}
    eth0 |= {"ifindex": 2, "arp_type": 1, "port_name": "", "switch_id": "", "carrier_changes": 2}
    eth0 |= {"flags": "0x1303", "master": "", "dev_port": None}
    assert picked(values("netdev", listed, "netdev")["eth0"], eth0) == eth0


# ---- this machine, with lspci and ip as the other witnesses ----------------------------------


def read(path: str) -> tuple[str, str, bytes]:
    try:
        return "F", path, Path(path).read_bytes()
    except OSError as error:
        return "E", path, errno.errorcode[error.errno or errno.EIO].encode()


def of_this_machine(parser: str, base: str) -> Entries:
    entries: Entries = []
    for pattern in LINKS[parser]:
        for path in sorted(glob(pattern)):
            if os.path.islink(path):
                entries.append(("L", path, os.fsencode(os.readlink(path))))
            else:
                entries.append(("E", path, b"EINVAL"))
    for name in FILES[parser].split():
        for path in sorted(glob(f"{base}/*/{name}")):
            entries.append(read(path))
    return entries


@pytest.mark.skipif(not glob(f"{PCI}/*"), reason="a machine without PCI")
@pytest.mark.skipif(not shutil.which("lspci") and not IN_CI, reason="pciutils is not installed")
def test_lspci_agrees_on_this_machine() -> None:
    rows = values("pci", of_this_machine("pci", PCI), "pci_function")
    done = subprocess.run(["lspci", "-Dnvmmk"], capture_output=True, text=True, check=True)
    told = [
        dict(re.findall(r"^(\w+):\t(.*)$", block, re.MULTILINE))
        for block in done.stdout.split("\n\n")
    ]
    told = [block for block in told if block]
    assert {block["Slot"] for block in told} == set(rows)
    for block in told:
        row = rows[block["Slot"]]
        assert (row["vendor"], row["device"]) == (block["Vendor"], block["Device"])
        assert row["class"] == block["Class"] + block.get("ProgIf", row["class"][4:])
        assert row["revision"] == block.get("Rev", "00")
        assert row["driver"] == block.get("Driver", "")
        assert row["iommu_group"] == int(block.get("IOMMUGroup", -1))
        if "NUMANode" in block:
            assert row["numa_node"] == int(block["NUMANode"])


@pytest.mark.skipif(not shutil.which("ip") and not IN_CI, reason="iproute2 is not installed")
def test_ip_agrees_on_this_machine() -> None:
    rows = values("netdev", of_this_machine("netdev", NET), "netdev")
    done = subprocess.run(["ip", "-j", "link"], capture_output=True, text=True, check=True)
    links = json.loads(done.stdout)
    assert {link["ifname"] for link in links} == set(rows)
    for link in links:
        row = rows[link["ifname"]]
        assert (row["mtu"], row["ifindex"]) == (link["mtu"], link["ifindex"])
        assert row["mac"] == link.get("address", "")
        assert row["operstate"] == link["operstate"].lower()
        assert row["master"] == link.get("master", "")
        assert (int(row["flags"], 16) & 1 == 1) == ("UP" in link["flags"])


# ---- answers that nobody would send -----------------------------------------------------------

NAMES = {
    "pci": [f"{PCI}/0000:18:00.0", *FILES["pci"].split(), "driver", "iommu_group", "physfn"],
    "netdev": [f"{NET}/ens1", *FILES["netdev"].split(), "device", "master", "bonding/slaves"],
    "infiniband": [
        f"{RDMA}/mlx5_0",
        *("device", "fw_ver", "node_guid", "board_id", "node_type", "ports", "ports/1/state"),
        *("ports/1/rate", "ports/1/lid", "ports/1/gids/0", "ports/1/gid_attrs/ndevs/0"),
    ],
}
TEXTS = ["", "\n", "-1\n", "0x15b3\n", "16\n", "4: ACTIVE\n", "400 Gb/sec (4X NDR)\n", "9" * 5000]
TEXTS += ["EACCES", "ENOENT", "../../../0000:18:00.0", "../../devices/virtual/net/x"]
BODIES = st.sampled_from(TEXTS).map(str.encode) | st.binary(max_size=40)


@st.composite
def answers(draw: st.DrawFn, parser: str) -> Entries:
    base, *names = NAMES[parser]
    paths = st.sampled_from([base, *(f"{base}/{name}" for name in names), "/", "", base + "/" * 9])
    count = draw(st.integers(0, 25))
    return [(draw(st.sampled_from("FCLE")), draw(paths), draw(BODIES)) for _ in range(count)]


@pytest.mark.parametrize("parser", NAMES)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_entries_give_rows_or_are_not_understood(parser: str, data: st.DataObject) -> None:
    entries = data.draw(answers(parser))
    try:
        rows = rows_of(parser, stream(entries), "")
    except NotUnderstoodError:
        assert entries
        return
    assert_storable(rows, parser)
    # The order in which the machine lists its files says nothing.
    shuffled = list({path: (kind, body) for kind, path, body in entries}.items())
    random.Random(0).shuffle(shuffled)
    again = stream([(kind, path, body) for path, (kind, body) in shuffled])
    assert rows_of(parser, again, "") == rows
