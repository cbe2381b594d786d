"""The fleet's host-level tools: held to real tools and captures, and what has no sample."""

import json
import re
import shutil
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lab.fleet import ACS_ON, MODELS, hgx_a100_infiniband, write_sys
from lab.fleet.rdma import CONGESTION_COUNTERS, HW_COUNTERS
from lab.fleet.render import (
    cpu,
    devlink,
    ip,
    kernel,
    kubernetes,
    lspci,
    nvidia_smi,
    rdma_tool,
    verbs,
)
from lab.fleet.system_model import Cpu
from tests.fleet_host_samples import SHARED, degraded, ember, said

needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="needs ../shared")

# ---- captures and real tools


def sizes(text: str) -> dict[str, float]:
    """Bytes of a function's paragraph by what it is, on average."""
    found: dict[str, list[int]] = {}
    for block in filter(None, text.split("\n\n")):
        kind = re.search(
            r"Root Port|Upstream|Downstream|3D controller|ConnectX-7|Non-Vol|Device 324c|Mesh 2",
            block,
        )
        if kind:
            found.setdefault(kind[0].replace("Mesh 2", "Device 324c"), []).append(len(block))
    return {kind: sum(lengths) / len(lengths) for kind, lengths in found.items()}


@pytest.mark.shared
@needs_shared
def test_lspci_is_as_long_as_a_real_one() -> None:
    real = (SHARED / "captures/lspci/gpud-h100-host-vvv.txt").read_text()
    ours = said(lspci, ember(), "lspci -D -vvv")
    expected = sizes(real)
    assert len(expected) == 7
    for kind, length in sizes(ours).items():
        assert length == pytest.approx(expected[kind], rel=0.12), kind
    # The real one has 400 functions of the CPU's inside more, at 1 kB each.
    assert len(ours) > 390_000


def test_nvidia_smi_is_as_long_as_a_real_one() -> None:
    """13 kB of values and 15 kB of supported clocks per H100."""
    assert 24_000 < len(nvidia_smi.query(ember())) / 8 < 32_000


FACTS = re.compile(
    r"LnkCap:|LnkSta:|LnkCtl2?:|TrErr-|DevCtl:|RlxdOrd|MaxPayload \d+ bytes, MaxReadReq|ACSC|NUMA node|"
    r"IOMMU group|Bus: |ATSCtl|Initial VFs|Kernel driver"
)
LINK_FAULTS = {
    "hgx_h100": degraded("29:00.0", width=8) | degraded("a7:00.0", generation=4)
    | degraded("17:02.0", below=()) | degraded("5a:01.0", acs=ACS_ON, relaxed_ordering=False),
}  # fmt: skip


def facts(paragraph: str) -> list[str]:
    """Lines that carry facts; our endpoints can be reset alone, those of /sys do not say."""
    lines = (line.strip().removesuffix(" FLReset-") for line in paragraph.splitlines())
    return sorted(line for line in lines if FACTS.match(line))


@pytest.mark.skipif(shutil.which("lspci") is None, reason="needs pciutils")
@pytest.mark.parametrize("model", MODELS)
def test_lspci_says_what_the_real_one_decodes(model: str, tmp_path: Path) -> None:
    version = subprocess.run(["lspci", "--version"], capture_output=True, text=True).stdout.split()[
        -1
    ]
    host = MODELS[model](1, LINK_FAULTS.get(model))
    host = replace(host, kernel=replace(host.kernel, pciutils=version))
    write_sys(tmp_path / "sys", host)
    command = [
        "lspci",
        "-A",
        "linux-sysfs",
        "-O",
        f"sysfs.path={tmp_path}/sys/bus/pci",
        "-D",
        "-vvv",
    ]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    real = {block.split()[0]: block for block in out.split("\n\n") if block.strip()}
    ours = lspci.paragraphs(host)
    assert list(ours) == list(real)
    for address, paragraph in ours.items():
        assert facts(paragraph) == facts(real[address]), address


# ---- what has no sample


def test_addresses_are_as_iproute2_prints_them() -> None:
    """Keys and their order: read off release 6.1; the flags of bonds are by its source."""
    host = hgx_a100_infiniband(1, {("ib3", "up"): False})
    rows = {row["ifname"]: row for row in ip.addresses(host)}
    assert json.dumps(rows["eno1"]).startswith(
        '{"ifindex": 2, "ifname": "eno1", "flags": ["BROADCAST", "MULTICAST", "UP", "LOWER_UP"], '
        '"mtu": 1500, "qdisc": "mq", "operstate": "UP", "group": "default", "txqlen": 1000, '
        '"link_type": "ether", "address": '
    )
    second, bond = rows["enp225s0f1np1"], rows["bond0"]
    assert list(second)[5:7] == ["master", "operstate"]
    assert second["flags"] == ["BROADCAST", "MULTICAST", "SLAVE", "UP", "LOWER_UP"]
    assert second["permaddr"] != second["address"] == bond["address"]
    assert "MASTER" in bond["flags"]
    assert [a["family"] for a in bond["addr_info"]] == ["inet", "inet6"]
    assert rows["ib3"]["flags"] == ["NO-CARRIER", "BROADCAST", "MULTICAST", "UP"]
    assert (rows["ib3"]["link_type"], rows["ib3"]["operstate"]) == ("infiniband", "DOWN")
    assert rows["lo"]["addr_info"][1]["local"] == "::1"
    down = [row for row in ip.routes(host) if row["dev"] == "ib3"]
    assert down[0]["flags"] == ["linkdown"]
    assert all("pref" not in row for row in down)  # no IPv6 without a carrier


def test_routes_and_rules_of_the_rails() -> None:
    routes, rules = ip.routes(ember()), ip.rules(ember())
    assert routes[0] == {
        "dst": "10.21.0.0/24", "dev": "enp24s0np0", "table": "100", "protocol": "static",
        "scope": "link", "prefsrc": "10.21.0.1", "flags": [],
    }  # fmt: skip
    assert {"type": "local", "dst": "10.21.0.1", "dev": "enp24s0np0", "table": "local",
            "protocol": "kernel", "scope": "host", "prefsrc": "10.21.0.1", "flags": []} in routes  # fmt: skip
    assert {"dst": "fe80::/64", "dev": "enp24s0np0", "protocol": "kernel", "metric": 256,
            "flags": [], "pref": "medium"} in routes  # fmt: skip
    assert [rule["priority"] for rule in rules[:2]] == [0, 32000]
    assert rules[1] == {"priority": 32000, "src": "10.21.0.1", "table": "100"}


def test_what_a_pod_took_is_gone() -> None:
    shared, alone = MODELS["kubernetes_worker"](1), MODELS["kubernetes_worker"](2)
    names = {netdev.netdev for netdev in ip.netdevs(shared)}
    assert names == {"lo", "eno1", "enp132s0f0np0", "enp132s0f1np1"}
    assert len(rdma_tool.links(shared)) == 10
    assert "netdev" not in rdma_tool.links(shared)[0]
    assert [row["ifindex"] for row in rdma_tool.links(alone)] == [4, 5, 6, 7, 8, 9]
    assert said(rdma_tool, alone, "rdma -j system show") == "netns exclusive copy-on-fork on\n"
    assert not [p for p in kernel.files(shared) if "enp24s0np0" in p]
    assert verbs.show_gids(shared).splitlines()[2].endswith("v1\t")
    resources = kubernetes.node_object(shared)["status"]["allocatable"]
    assert (resources["nvidia.com/gpu"], resources["nvidia.com/hostdev"]) == ("8", "8")


def test_counters_are_those_of_sysfs() -> None:
    hosts = (ember(), hgx_a100_infiniband(1))
    for host, names in zip(hosts, ((*HW_COUNTERS, *CONGESTION_COUNTERS), HW_COUNTERS), strict=True):
        row = rdma_tool.statistics(host)[0]
        assert {*row} == {"ifname", "port", *names}
        assert row["rx_write_requests"] == host.nics[0].hw_counters["rx_write_requests"] > 0


def test_a_virtual_function_tells_little() -> None:
    host = MODELS["two_socket_4x400g"](1)
    told = devlink.information(host)
    assert told["pci/0000:03:00.1"] == {"driver": "mlx5_core"}
    assert told["pci/0000:03:00.0"]["board.serial_number"] == host.nics[0].serial
    paragraph = lspci.paragraphs(host)["0000:03:00.1"]
    assert "LnkSta:\tSpeed unknown" in paragraph
    assert "Vital Product Data" not in paragraph
    assert "0000:03:00.1: firmware version" in kernel.dmesg(host)
    assert "0000:03:00.1: 0" not in kernel.dmesg(host)


def test_four_gpus_without_a_switch_share_their_links() -> None:
    assert "GPU0\t X \tNV6\tNV6\tNV6\tPHB\t" in nvidia_smi.topology(MODELS["two_socket_4x400g"](1))


def test_a_node_object() -> None:
    node = kubernetes.node_object(ember(), ready=False, cordoned=True)
    assert node["metadata"]["labels"]["nvidia.com/gpu.product"] == "NVIDIA-H100-80GB-HBM3"
    assert node["metadata"]["labels"]["network.nvidia.com/operator.mofed.wait"] == "false"
    assert node["status"]["capacity"]["rdma/rdma_shared_device_a"] == "63"
    assert node["status"]["addresses"][0] == {"address": "192.0.2.11", "type": "InternalIP"}
    assert {c["status"] for c in node["status"]["conditions"]} == {"Unknown"}
    assert node["spec"]["unschedulable"]
    assert len({t["key"] for t in node["spec"]["taints"]}) == 3


def test_files_of_processors_and_nodes() -> None:
    files = cpu.files(replace(ember(), cpu=replace(Cpu(), slow_cpus=(7,))))
    system = "/sys/devices/system"
    assert files[f"{system}/node/node1/distance"] == "21 10\n"
    assert files[f"{system}/node/node0/meminfo"].startswith(
        "Node 0 MemTotal:       1056647168 kB\n"
    )
    assert files[f"{system}/cpu/cpu7/cpufreq/scaling_governor"] == "powersave\n"
    assert files[f"{system}/cpu/cpu223/cpuidle/state3/disable"] == "1\n"
    assert files[f"{system}/cpu/intel_pstate/no_turbo"] == "0\n"
    assert f"{system}/cpu/cpufreq/boost" not in files
    other = cpu.files(hgx_a100_infiniband(1))
    assert other[f"{system}/cpu/cpufreq/boost"] == "1\n"
    assert other[f"{system}/cpu/cpu0/cpufreq/scaling_driver"] == "acpi-cpufreq\n"
    machine = cpu.files(MODELS["passthrough_vm"](1))
    assert not [path for path in machine if "cpufreq" in path or "cpuidle" in path]
    flat = json.loads(cpu.lscpu(Cpu(), ((0, "0-223"),), "2.38.1"))["lscpu"]
    assert not [row for row in flat if "children" in row]  # 2.38 nests on a terminal only


def test_files_of_the_kernel() -> None:
    files = kernel.files(ember())
    assert files["/proc/modules"].startswith(
        "nvidia_uvm 4956160 8 - Live 0xffffffffc0000000 (OE)\n"
    )
    assert (
        "\nnvidia 11505664 1404 nvidia_uvm,nvidia_peermem,nvidia_modeset, Live "
        in files["/proc/modules"]
    )
    assert files["/sys/module/nvidia/version"] == "570.86.15\n"
    assert "Open Kernel Module for x86_64  570.86.15  " in files["/proc/driver/nvidia/version"]
    assert files["/proc/sys/net/core/rmem_max"] == "16777216\n"
    assert files["/proc/sys/net/ipv4/conf/enp24s0np0/arp_ignore"] == "1\n"
    assert files["/etc/nccl.conf"].splitlines()[0] == "NCCL_IB_GID_INDEX=3"
    assert (
        files["/etc/security/limits.d/90-rdma.conf"]
        == "* soft memlock unlimited\n* hard memlock unlimited\n"
    )
    set_in = (("/etc/profile.d/nccl.sh", "NCCL_DEBUG", "INFO"),)
    host = replace(ember(), kernel=replace(ember().kernel, library_settings=set_in))
    assert kernel.files(host)["/etc/profile.d/nccl.sh"] == "export NCCL_DEBUG=INFO\n"


@pytest.mark.parametrize("model", MODELS)
def test_the_kernel_log_is_in_order(model: str) -> None:
    lines = kernel.dmesg(MODELS[model](1)).splitlines()
    times = [float(line[1:13]) for line in lines]
    assert times == sorted(times)
    assert len(lines) > 250
    assert not [line for line in lines if "{" in line]


def test_the_kernel_names_the_uppermost_of_equal_limits() -> None:
    log = kernel.dmesg(ember(degraded("a7:00.0", generation=4)))
    assert (
        "0000:a9:00.0: 252.048 Gb/s available PCIe bandwidth, limited by 16.0 GT/s PCIe x16 link at 0000:a6:01.0 (capable of 504.112 Gb/s with 32.0 GT/s PCIe x16 link)\n"
        in log
    )


@pytest.mark.parametrize("model", MODELS)
def test_a_host_is_rendered_quickly(model: str) -> None:
    modules: tuple[Any, ...] = (lspci, nvidia_smi, ip, rdma_tool, devlink, verbs, cpu, kernel)
    taken = []
    for number in range(1, 5):
        host = MODELS[model](number)
        started = time.process_time()
        assert all(
            told.stdout or told.stderr for module in modules for told in module.commands(host)
        )
        assert cpu.files(host).keys() | kernel.files(host).keys()
        assert json.dumps(kubernetes.node_object(host))
        taken.append(time.process_time() - started)
    assert min(taken) < 0.03
