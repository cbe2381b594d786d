"""ethtool: link, driver, counters, module, FEC and pause of each physical network device."""

from collections.abc import Iterator

from lab.fleet.model import HostModel, Netdev, Nic
from lab.fleet.render.base import Said
from lab.fleet.render.ethtool_link import driver, fec, pause, settings
from lab.fleet.render.ethtool_module import module
from lab.fleet.render.ethtool_netdevs import PARAVIRTUAL, driver_of, physical
from lab.fleet.render.ethtool_statistics import statistics

NOT_SUPPORTED = "netlink error: Operation not supported\n"
# What the kernel answers where the cage is empty.
NO_MODULE = "netlink error: Input/output error\n"


def _refused(command: str, message: str = NOT_SUPPORTED) -> Said:
    return Said(command, "", message, 1)


def _module(netdev: Netdev) -> Said:
    command = f"ethtool -m {netdev.netdev}"
    if not isinstance(netdev, Nic) or netdev.link_layer != "Ethernet":
        return _refused(command)  # no cage, or IPoIB: its operations lack the module's memory
    if netdev.optic.kind == "none":
        return _refused(command, NO_MODULE)
    return Said(command, module(netdev))


def _fec(netdev: Netdev) -> Said:
    command = f"ethtool --show-fec {netdev.netdev}"
    if not isinstance(netdev, Nic) or netdev.link_layer != "Ethernet":
        return _refused(command)
    return Said(command, fec(netdev))


def _pause(host: HostModel, netdev: Netdev) -> Said:
    command = f"ethtool -a {netdev.netdev}"
    infiniband = isinstance(netdev, Nic) and netdev.link_layer != "Ethernet"
    if infiniband or driver_of(host, netdev) in PARAVIRTUAL:
        return _refused(command)
    return Said(command, pause(netdev))


def commands(host: HostModel) -> Iterator[Said]:
    """Six questions to each device."""
    for netdev in physical(host):
        name = netdev.netdev
        yield Said(f"ethtool {name}", settings(host, netdev))
        yield Said(f"ethtool -i {name}", driver(host, netdev))
        yield Said(f"ethtool -S {name}", statistics(host, netdev))
        yield _module(netdev)
        yield _fec(netdev)
        yield _pause(host, netdev)
