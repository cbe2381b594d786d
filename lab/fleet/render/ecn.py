"""Congestion control in /sys, as the vendor's driver package shows it (en_ecn.c).

A netdev in another namespace has no folder here, nor has an InfiniBand port.
"""

import re

from lab.fleet.model import HostModel
from lab.fleet.port_model import NP_PARAMETERS, RP_PARAMETERS, Qos
from lab.fleet.render.ethtool_netdevs import roce_nics

# 24.10-1.1.4; the kernel's own driver, which has no such folder, says 6.8.0-45-generic.
VENDOR_PACKAGE = re.compile(r"\d+\.\d+-")


def settings(qos: Qos) -> dict[str, int]:
    """Path below a netdev's `ecn` folder -> value."""
    point = {"cnp_802p_prio": qos.cnp_priority, "cnp_dscp": qos.cnp_dscp}
    point |= NP_PARAMETERS | dict(qos.np_parameters)
    values = {f"roce_np/{name}": value for name, value in point.items()}
    values |= {f"roce_np/enable/{n}": int(on) for n, on in enumerate(qos.ecn_np)}
    reaction = RP_PARAMETERS | dict(qos.rp_parameters)
    values |= {f"roce_rp/{name}": value for name, value in reaction.items()}
    return values | {f"roce_rp/enable/{n}": int(on) for n, on in enumerate(qos.ecn_rp)}


def files(host: HostModel) -> dict[str, str]:
    """About 40 files per port."""
    found: dict[str, str] = {}
    for nic in roce_nics(host):
        if VENDOR_PACKAGE.match(nic.driver_version):
            folder = f"/sys/class/net/{nic.netdev}/ecn"
            found |= {f"{folder}/{path}": f"{value}\n" for path, value in settings(nic.qos).items()}
    return found
