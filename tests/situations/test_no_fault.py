"""Hosts with which nothing is wrong: what a rule must not say of them."""

import json
from collections.abc import Callable

import pytest

from lab.harness.fleets import Reading
from situations.by_text import (
    MEDIUM_OR_WORSE,
    RAILS,
    Fleet,
    Report,
    assert_nothing_at,
    assert_nothing_to_report,
    change,
    each,
    entries,
    entry,
    files,
    in_file,
    links,
    mtu,
    plain,
    port_down,
    unanswered,
    without_files,
    without_nccl_file,
    words,
)

pytestmark = pytest.mark.root
Make = Callable[[dict[str, Reading]], Fleet]
Healthy = Callable[..., dict[str, Reading]]
DEVICES = "/sys/bus/pci/devices"
# The buses of the eight compute NICs; two below each is its switch, one above it its GPU.
NIC_BUSES = (0x18, 0x29, 0x3A, 0x5B, 0x98, 0xA9, 0xBA, 0xDB)


def at_rate(
    host: Reading, device: str, netdev: str, pci: str, rate: str, gbps: tuple[int, int]
) -> Reading:
    """Every tool gives the port another rate than it had: sysfs words, and numbers (was, is)."""
    was, now = gbps
    sysfs = {f"/sys/class/infiniband/{device}/ports/1/rate": rate}
    host = change(host, "infiniband", files(sysfs))
    host = change(host, "netdev", files({f"/sys/class/net/{netdev}/speed": f"{now}000\n"}))
    host = change(host, "ethtool", words((f"Speed: {was}000Mb/s", f"Speed: {now}000Mb/s")), netdev)
    return change(host, "mlxlink", words((f": {was}G \n", f": {now}G \n")), pci)


# ---- GPU and NIC meet in the NIC's own switch (HGX B300, MGX with ConnectX-8)


def b300(host: Reading) -> Reading:
    """ConnectX-8 at 800G: Gen6 between GPU and NIC, Gen5 x16 from the NIC's switch to the CPU."""
    gen6, values = "64.0 GT/s PCIe\n", {}
    for bus in NIC_BUSES:
        upstream, nic, gpu = (f"{DEVICES}/0000:{bus + n:02x}:00.0" for n in (-2, 0, 1))
        values |= {f"{upstream}/vendor": "0x15b3\n", f"{upstream}/device": "0x197b\n"}
        values[f"{upstream}/max_link_speed"] = gen6
        for number in (0, 1, 2):
            port = f"{DEVICES}/0000:{bus - 1:02x}:0{number}.0"
            values |= {f"{port}/vendor": "0x15b3\n", f"{port}/device": "0x197b\n"}
            values[f"{port}/max_link_speed"] = gen6
            if number < 2:  # the third leads to a drive
                values[f"{port}/current_link_speed"] = gen6
        values |= {f"{nic}/device": "0x1023\n", f"{gpu}/device": "0x3182\n"}
        for end in (nic, gpu):
            values |= {f"{end}/max_link_speed": gen6, f"{end}/current_link_speed": gen6}
    host = change(host, "pci", files(values))
    for rail, netdev in enumerate(RAILS):
        pci = f"0000:{NIC_BUSES[rail]:02x}:00.0"
        host = at_rate(host, f"mlx5_{rail}", netdev, pci, "800 Gb/sec (4X XDR)\n", (400, 800))
    return host


@pytest.fixture(scope="module")
def of_b300(lasting_fleet: Make, healthy: Healthy) -> Fleet:
    return lasting_fleet(each(healthy("hgx_h100", 1), b300))


def port_ceilings(fleet: Fleet) -> dict[str, float | None]:
    """What `predict ceiling` says that each compute port of host 1 can carry."""
    told = json.loads(fleet.run("predict", "ceiling", "--format", "json").stdout)
    return {
        one["device"]: one["write_gbps"]
        for one in told["ports"]
        if one["device"] in {f"mlx5_{rail}" for rail in range(8)}
    }


def test_gpu_and_nic_meet_in_the_nics_own_switch(of_b300: Fleet) -> None:
    assert_nothing_to_report(of_b300.check())


def test_the_ceiling_there_is_that_of_the_port(of_b300: Fleet) -> None:
    # 800 Gb/s, 4096 bytes of data in a packet of 4178: 784.3.
    assert port_ceilings(of_b300) == {
        f"mlx5_{rail}": pytest.approx(784.3, abs=1) for rail in range(8)
    }


# ---- a kernel that does not know the link mode


@pytest.fixture(scope="module")
def placeholder_rate(lasting_fleet: Make, healthy: Healthy) -> Fleet:
    """sysfs says 40 for every 400G port that is up; ethtool and mlxlink say 400."""

    def edit(host: Reading) -> Reading:
        port = "/sys/class/infiniband/mlx5_{}/ports/1/rate"
        return change(
            host, "infiniband", files({port.format(n): "40 Gb/sec (4X QDR)\n" for n in range(8)})
        )

    return lasting_fleet(each(healthy("hgx_h100", 2), edit))


CLASS = '[[class]]\nname = "hgx"\ncompute_nics = 8\ngpus = 8\nport_rate_gbps = 400\n'


def test_a_placeholder_is_no_slow_port(placeholder_rate: Fleet) -> None:
    report = placeholder_rate.check(f'profile = "roce-lossless"\n{CLASS}')
    assert report.found() == []
    # Either the other tools are believed, or it is unknown because they disagree.
    assert all("disagree" in why for _, _, why in report.open_questions())
    assert report.exit_status in (0, 3)


def test_no_ceiling_rests_on_a_placeholder(placeholder_rate: Fleet) -> None:
    assert all(gbps is None or gbps > 300 for gbps in port_ceilings(placeholder_rate).values())


# ---- jobs may lock memory though no file says so


def test_a_kubernetes_worker_without_memlock_lines(fleet: Make, healthy: Healthy) -> None:
    # Pods have IPC_LOCK; containerd's unit is as it is shipped.
    shipped = entry("/etc/security/limits.conf", "") + entry(
        "/etc/systemd/system/multi-user.target.wants/containerd.service", ""
    )
    hosts = each(healthy("kubernetes_worker", 1), lambda h: change(h, "limits", lambda _: shipped))
    assert_nothing_to_report(fleet(hosts).check())


def test_a_host_without_any_file_on_limits(fleet: Make, healthy: Healthy) -> None:
    (host,) = healthy("two_socket_4x400g", 1).values()
    report = fleet({"garnet-n001": unanswered(host, "limits", "absent")}).check()
    assert report.found() == []
    assert report.reason("memlock-limited", "garnet-n001")
    assert report.exit_status == 3


# ---- three hosts that are unusual, each in its own way


def with_two_storage_ports_of_400g(host: Reading) -> Reading:
    """Both ports of one card in one Gen5 x16 slot: they are there for each other."""
    for number, netdev in enumerate(("enp132s0f0np0", "enp132s0f1np1")):
        device, rate = f"mlx5_{8 + number}", "400 Gb/sec (4X NDR)\n"
        host = at_rate(host, device, netdev, f"0000:84:00.{number}", rate, (200, 400))
    return host


def without_peer_memory_module(host: Reading) -> Reading:
    """The open GPU modules, and no nvidia_peermem: what NVIDIA recommends."""
    loaded = in_file(
        "/proc/modules",
        ("nvidia_peermem 16384 0 - Live 0xffffffffc1000000 (OE)\n", ""),
        ("nvidia_uvm,nvidia_peermem,nvidia_modeset", "nvidia_uvm,nvidia_modeset"),
        ("3 nvidia_peermem,rdma_ucm", "2 rdma_ucm"),
        ("8 rdma_cm,ib_ipoib,nvidia_peermem,iw_cm", "7 rdma_cm,ib_ipoib,iw_cm"),
    )
    host = change(change(host, "modules", loaded), "modules", without_files("peermem|memory_peers"))
    return change(host, "boot_modules", without_files("nvidia-peermem"))


def with_drive_behind_vmd(host: Reading) -> Reading:
    """A drive behind Intel VMD: its PCI domain has five digits."""
    drive = {
        "vendor": "0x8086\n", "device": "0x0a54\n", "class": "0x010802\n", "numa_node": "0\n",
        "current_link_speed": "8.0 GT/s PCIe\n", "max_link_speed": "8.0 GT/s PCIe\n",
        "current_link_width": "4\n", "max_link_width": "4\n",
    }  # fmt: skip
    own = f"{DEVICES}/10000:01:00.0"
    where = "../../../devices/pci0000:00/0000:00:0e.0/pci10000:00/10000:00:02.0/10000:01:00.0"
    host = change(host, "pci", files({f"{own}/{key}": value for key, value in drive.items()}))
    return change(host, "pci", links({own: where}))


@pytest.fixture(scope="module")
def unusual(lasting_fleet: Make, healthy: Healthy) -> Fleet:
    # One that alone lacked a module would rightly differ from its peers.
    hosts = each(healthy("hgx_h100", 3), without_peer_memory_module)
    return lasting_fleet(
        {
            "ember-h001": with_two_storage_ports_of_400g(hosts["ember-h001"]),
            "ember-h002": hosts["ember-h002"],
            "ember-h003": with_drive_behind_vmd(hosts["ember-h003"]),
        }
    )


@pytest.fixture(scope="module")
def of_unusual(unusual: Fleet) -> Report:
    return unusual.check()


def test_two_storage_ports_of_400g_in_one_slot(of_unusual: Report) -> None:
    assert_nothing_at(of_unusual, "ember-h001")


def test_gpudirect_through_dma_buf(of_unusual: Report) -> None:
    assert_nothing_at(of_unusual, "ember-h002")


def test_a_pci_domain_of_five_digits(unusual: Fleet, of_unusual: Report) -> None:
    assert_nothing_at(of_unusual, "ember-h003")
    query = "SELECT vendor, class FROM pci_function WHERE pci = '10000:01:00.0'"
    assert unusual.run("sql", query, "--format", "csv").stdout.splitlines()[1] == "8086,010802"


# ---- hosts without NVIDIA GPUs


def mi300x(host: Reading) -> Reading:
    """Eight MI300X instead of the H100: no NVIDIA driver, no nvidia-smi."""
    values = {}
    for bus in NIC_BUSES:
        gpu = f"{DEVICES}/0000:{bus + 1:02x}:00.0"
        values |= {f"{gpu}/vendor": "0x1002\n", f"{gpu}/device": "0x74a1\n"}
        values |= {f"{gpu}/class": "0x120000\n"}
        values[f"{gpu}/driver"] = "../../../../bus/pci/drivers/amdgpu"
    host = without_nvidia(change(host, "pci", files(values)))
    driver = "amdgpu 14942208 0 - Live 0xffffffffc2000000 (OE)\n"
    uverbs = "ib_uverbs 196608"
    return change(host, "modules", in_file("/proc/modules", (uverbs, driver + uverbs)))


def without_nvidia(host: Reading) -> Reading:
    """Neither NVIDIA's tools nor its modules."""

    def unloaded(text: str) -> str:
        kept = without_files("nvidia|memory_peers")(text)
        told = ""
        for kind, zeros, path, content in entries(kept):
            lines = content
            if path == "/proc/modules":
                listed = [x for x in content.splitlines() if not x.startswith("nvidia")]
                lines = "\n".join(listed).replace("nvidia_peermem,", "") + "\n"
            told += entry(path, lines, kind, zeros)
        return told

    host = change(host, "modules", unloaded)
    host = change(host, "boot_modules", without_files("nvidia"))
    for probe in ("nvidia_smi", "nvidia_topology"):
        host = unanswered(host, probe, "absent", "no such program on this host")
    return host


def test_faults_of_a_host_with_amd_gpus(fleet: Make, healthy: Healthy) -> None:
    (host,) = healthy("hgx_h100", 1).values()
    host = mi300x(without_nccl_file(host))
    host = port_down(mtu(host, RAILS[3], 1500), "mlx5_5", RAILS[5])
    report = fleet({"ember-h001": host}).check()
    assert report.severity("port-down", "ember-h001:mlx5_5/1") in MEDIUM_OR_WORSE
    assert report.severity("rdma-mtu-small", "ember-h001:mlx5_3/1") in MEDIUM_OR_WORSE
    assert [u["rule"] for u in report.unknown if "nvidia" in plain(u["why"])] == []
    assert report.exit_status == 1


def test_a_storage_server_without_gpus(fleet: Make, healthy: Healthy) -> None:
    drives = {}
    for bus in ("06", "26", "a6", "c6"):
        drive = f"{DEVICES}/0000:{bus}:00.0"
        drives |= {f"{drive}/vendor": "0x144d\n", f"{drive}/device": "0xa80a\n"}
        drives |= {f"{drive}/class": "0x010802\n"}
        drives[f"{drive}/driver"] = "../../../../bus/pci/drivers/nvme"
    (host,) = healthy("two_socket_4x400g", 1).values()
    host = without_nvidia(change(without_nccl_file(host), "pci", files(drives)))
    assert_nothing_to_report(fleet({"garnet-n001": host}).check())


# ---- devices that are there for the subnet manager


def with_planes(text: str) -> str:
    """smi1 beside mlx5_0: the same card's four planes, without a device file of verbs."""
    added = ""
    for kind, zeros, path, content in entries(text):
        if "/infiniband/mlx5_0" not in path:
            continue
        plane = path.replace("/mlx5_0", "/smi1")
        told = content.replace("infiniband/mlx5_0", "infiniband/smi1")
        added += entry(plane, told, kind, zeros)
        if "/ports/1/" in path:
            numbers = (plane.replace("/ports/1/", f"/ports/{n}/") for n in (2, 3, 4))
            added += "".join(entry(number, told, kind, zeros) for number in numbers)
    return text + added


def test_planes_for_the_subnet_manager(fleet: Make, healthy: Healthy) -> None:
    (host,) = healthy("hgx_a100_infiniband", 1).values()
    report = fleet({"basalt-h001": change(host, "infiniband", with_planes)}).check()
    assert_nothing_to_report(report)
