"""Congestion control in /sys, as the vendor's driver package shows it (en_ecn.c).

A netdev in another namespace has no folder here, nor has an InfiniBand port.
"""

import re

from lab.fleet.model import HostModel
from lab.fleet.port_model import Qos
from lab.fleet.render.ethtool_netdevs import roce_nics

# 24.10-1.1.4; the kernel's own driver, which has no such folder, says 6.8.0-45-generic.
VENDOR_PACKAGE = re.compile(r"\d+\.\d+-")
# The notification point sends at most one CNP per flow in so many microseconds.
NP_PARAMETERS = {"min_time_between_cnps": 4}
# The reaction point, with the firmware's defaults.
RP_PARAMETERS = {
    "clamp_tgt_rate": 0,
    "clamp_tgt_rate_after_time_inc": 1,
    "dce_tcp_g": 1019,
    "dce_tcp_rtt": 1,
    "initial_alpha_value": 1023,
    "rate_reduce_monitor_period": 4,
    "rate_to_set_on_first_cnp": 0,
    "rpg_ai_rate": 5,
    "rpg_byte_reset": 32767,
    "rpg_gd": 11,
    "rpg_hai_rate": 50,
    "rpg_max_rate": 0,
    "rpg_min_dec_fac": 50,
    "rpg_min_rate": 1,
    "rpg_threshold": 1,
    "rpg_time_reset": 300,
}


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
