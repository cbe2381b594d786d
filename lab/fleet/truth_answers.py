"""The truth about probes: what each one is asked about, how it ends, and what its filter drops."""

from collections.abc import Callable
from typing import NamedTuple

from lab.fleet.model import HostModel, Netdev, Nic
from lab.fleet.truth_firmware import cards, image_state
from lab.fleet.truth_host import PRIVATE_OPTIONS, loaded
from lab.fleet.truth_network import SONIC_END, heard, is_port_name
from lab.fleet.truth_places import (
    asked_netdevs,
    asked_nics,
    ethernet_ports,
    vendor_driver,
    words,
)
from lab.fleet.truth_rdma import devices

OF_THE_HOST = words(
    """
    boot_entries boot_modules cmdline config_owners cpu_power devlink_info dmesg dmi ecn ibv_devinfo
    infiniband ip_address ip_neighbor ip_route ip_rule ip_sysctl libraries limits lldpctl lscpu
    lspci mlxfwmanager modules mounts netdev numa nvidia_smi nvidia_topology pci pci_config
    pci_errors pci_root rdma_dev rdma_link rdma_statistic rdma_system roce_tos secure_boot services
    sysctl
    """
)
# These tell how a host was read: over ssh or from a folder is no matter of the host.
OF_THE_READING = ("ssh_route", "ssh_session")
OF_EVERY_NETDEV = ("ethtool", "ethtool_driver", "ethtool_statistics")
OF_ETHERNET_CARDS = words("dcb_app dcb_buffer dcb_ets dcb_pfc ethtool_fec ethtool_module mlnx_qos")
OF_EVERY_NIC = ("flint", "mlxconfig", "mlxfwreset", "mlxlink")
# Long answers of which most lines stay on the host on purpose.
MOSTLY_DROPPED = words("boot_entries config_owners dmesg lspci mounts nvidia_smi pci_errors")
# Keys of mlxlink that are not read; releases from 4.20 on have one more.
UNREAD_KEYS = 16
# Options of the GPU driver: 13 numbers and 5 texts.
UNREAD_OPTIONS = 18
# Lines of ibv_devinfo in words of their own, per device.
UNREAD_WORDS = 5
ABSENT, FAILED = "absent", "failed"


class Answer(NamedTuple):
    """How a probe ends and how much its filter drops; None = much, on purpose."""

    status: str
    dropped: int | None = 0


def answers(host: HostModel) -> dict[tuple[str, str], Answer]:
    """Every probe with everything that it is asked about."""
    found = {(probe, ""): _of_host(host, probe) for probe in OF_THE_HOST}
    for netdev in asked_netdevs(host):
        found |= {(probe, netdev.netdev): _of_netdev(netdev, probe) for probe in OF_EVERY_NETDEV}
        found[("ethtool_pause", netdev.netdev)] = Answer(
            ABSENT if isinstance(netdev, Nic) and netdev.link_layer == "InfiniBand" else "ok"
        )
        for probe in OF_ETHERNET_CARDS:
            found[(probe, netdev.netdev)] = Answer("ok" if _has(netdev, probe) else ABSENT)
    for pci, nic in asked_nics(host).items():
        for probe in OF_EVERY_NIC:
            found[(probe, pci)] = _of_nic(host, nic, probe)
    return found


def _has(netdev: Netdev, probe: str) -> bool:
    """Whether an interface has what is asked for: ports of RDMA cards on Ethernet do."""
    if not isinstance(netdev, Nic) or netdev.link_layer != "Ethernet":
        return False
    if probe == "ethtool_module":
        return netdev.optic.kind != "none"
    return probe != "dcb_buffer" or bool(netdev.qos.buffer_bytes)


def _of_netdev(netdev: Netdev, probe: str) -> Answer:
    """ethtool says how to wake the machine; the management port also what it logs, in two lines."""
    if probe != "ethtool" or not _is_ethernet(netdev):
        return Answer("ok")
    return Answer("ok", 2 if isinstance(netdev, Nic) else 4)


def _is_ethernet(netdev: Netdev) -> bool:
    return not isinstance(netdev, Nic) or netdev.link_layer == "Ethernet"


def _of_nic(host: HostModel, nic: Nic, probe: str) -> Answer:
    if not nic.firmware_access:
        return Answer(FAILED)
    if probe == "flint":
        return Answer("ok", 2)  # what the vendor and the maker of the server wrote
    if probe != "mlxlink":
        return Answer("ok")
    release = tuple(map(int, host.firmware_tools.split(".")[:2]))
    warned = nic.optic.kind == "none"  # a line about it on standard error
    return Answer("ok", UNREAD_KEYS + (release >= (4, 20)) + warned)


def _of_host(host: HostModel, probe: str) -> Answer:
    status = _STATUS[probe](host) if probe in _STATUS else "ok"
    if probe in MOSTLY_DROPPED:
        return Answer(status, None)
    filtered = status == "ok" and probe in _DROPPED
    return Answer(status, _DROPPED[probe](host) if filtered else 0)


def _ecn(host: HostModel) -> str:
    shown = any(vendor_driver(host, nic) for nic in ethernet_ports(host))
    return "ok" if shown else ABSENT


def _tos(host: HostModel) -> str:
    """One of two places: RDMA-CM's folder, which a reader may not make, or the vendor's file."""
    ethernet = [nic for nic in devices(host) if nic.link_layer == "Ethernet"]
    told = any(n.qos.default_tos is not None or vendor_driver(host, n) for n in ethernet)
    return "ok" if told else "not readable without a write"


_STATUS: dict[str, Callable[[HostModel], str]] = {
    "ecn": _ecn,
    "roce_tos": _tos,
    "boot_modules": lambda host: "ok" if host.kernel.boot_modules else ABSENT,
    "dmi": lambda host: ABSENT if host.dmi is None else "ok",
    "pci_root": lambda host: "ok" if any(bus.acpi for bus in host.buses) else ABSENT,
    "limits": lambda host: "ok" if host.kernel.limits else ABSENT,
    "pci_errors": lambda host: ABSENT if host.virtual else "ok",
    "libraries": lambda host: "ok" if host.kernel.library_settings else ABSENT,
    "mlxfwmanager": lambda host: "ok" if cards(host) else FAILED,
}


def _dropped_neighbors(host: HostModel) -> int:
    """What a neighbor can do, the end of a SONiC description, and words about a port."""
    count = 0
    for neighbor in heard(host).values():
        count += 1
        count += SONIC_END in neighbor.description
        count += not is_port_name(neighbor.port_description)
    return count


def _dropped_firmware(host: HostModel) -> int:
    """A heading, a line below each card's number, and two at the end that sum up."""
    states = {image_state(nic) for nic in cards(host)}
    summed = "Update required" in states or states == {"Up to date"}
    return 1 + len(cards(host)) + 2 * summed


_DROPPED: dict[str, Callable[[HostModel], int]] = {
    # A remark in each file.
    "boot_modules": lambda host: len({file for file, _ in host.kernel.boot_modules}),
    "cmdline": lambda host: sum(
        word.partition("=")[0] in PRIVATE_OPTIONS for word in host.kernel.command_line.split()
    ),
    "ibv_devinfo": lambda host: UNREAD_WORDS * len(devices(host)),
    "lldpctl": _dropped_neighbors,
    "mlxfwmanager": _dropped_firmware,
    # Which compiler made the GPU driver, and options of it that are not read.
    "modules": lambda host: (
        (1 + UNREAD_OPTIONS) * any(module.name == "nvidia" for module in loaded(host))
    ),
}
