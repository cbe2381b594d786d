"""Files of those who own settings: netplan or NetworkManager, a unit, tuned, Ansible."""

from itertools import islice

from lab.fleet.model import HostModel, Nic
from lab.fleet.storage import is_red_hat

UNIT = "roce-qos.service"


def _netplan(host: HostModel) -> str:
    """As cloud-init writes it at the first boot."""
    text = (
        "# This file is generated from information provided by the datasource.  Changes\n"
        "# to it will not persist across an instance reboot.  To disable cloud-init's\n"
        "# network configuration capabilities, write a file\n"
        "network:\n    version: 2\n    ethernets:\n"
    )
    for netdev in managed(host):
        text += (
            f"        {netdev}:\n            dhcp4: false\n            addresses:\n"
            "            - 192.0.2.1/24\n            nameservers:\n                search:\n"
            f"                - lab.example\n            mtu: {mtu_of(host, netdev)}\n"
        )
    return text


def managed(host: HostModel) -> list[str]:
    """The management port; rails are a daemon's."""
    others = (n.netdev for n in host.netdevs if n.netdev != "lo" and not isinstance(n, Nic))
    return [*islice(others, 1)]


def mtu_of(host: HostModel, netdev: str) -> int:
    """What it has now."""
    return next(one.mtu for one in host.netdevs if one.netdev == netdev)


def _connection(host: HostModel, netdev: str) -> str:
    return (
        f"[connection]\nid={netdev}\nuuid=5fb06bd0-0bb0-7ffb-45f1-d6edd65f3e03\ntype=ethernet\n"
        f"interface-name={netdev}\n\n[ethernet]\nmtu={mtu_of(host, netdev)}\n\n"
        "[802-1x]\nidentity=lab\npassword=nobodys\n\n[ipv4]\nmethod=auto\n"
    )


def files(host: HostModel) -> dict[str, str]:
    """Of /etc."""
    found: dict[str, str] = {}
    if is_red_hat(host):
        for netdev in managed(host):
            path = f"/etc/NetworkManager/system-connections/{netdev}.nmconnection"
            found[path] = _connection(host, netdev)
        found["/etc/tuned/active_profile"] = "throughput-performance\n"
    elif managed(host):
        found["/etc/netplan/50-cloud-init.yaml"] = _netplan(host)
    if host.kernel.managed_by:
        found["/etc/sysctl.d/90-rdma.conf"] = (
            f"# {host.kernel.managed_by} managed: do not edit\nnet.core.rmem_max = 16777216\n"
        )
    if host.kernel.qos_unit:
        calls = "".join(
            f"ExecStart=/usr/bin/mlnx_qos -i {netdev} --trust dscp --pfc 0,0,0,1,0,0,0,0\n"
            for netdev in host.kernel.qos_unit
        )
        found[f"/etc/systemd/system/{UNIT}"] = (
            "[Unit]\nDescription=Trust and PFC of the rails\nAfter=network-pre.target\n\n"
            f"[Service]\nType=oneshot\nEnvironment=SITE_TOKEN=nobodys\n{calls}"
        )
    return found
