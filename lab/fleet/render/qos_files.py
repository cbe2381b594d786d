"""/sys/class/net/NETDEV/qos, which some releases of the vendor's driver package have.

Where they are, mlnx_qos goes through them and not through netlink.
"""

from lab.fleet.model import HostModel
from lab.fleet.render.ethtool_netdevs import roce_nics


def files(host: HostModel) -> dict[str, str]:
    """Only where the driver has them."""
    found: dict[str, str] = {}
    for nic in roce_nics(host):
        if nic.qos.sysfs:
            found[f"/sys/class/net/{nic.netdev}/qos/trust"] = f"{nic.qos.trust}\n"
    return found
