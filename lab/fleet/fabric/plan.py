"""What an operator of a fabric would write: its cabling plan, and its site file."""

import csv
import io

from lab.fleet.fabric.hearing import netdev
from lab.fleet.fabric.model import Fabric

COLUMNS = ("a_device", "a_port", "b_device", "b_port", "length_m", "rail", "plane")
CABLING = "cabling.csv"
STORAGE_DSCP = 34

_SITE = """profile = "{profile}"
{cabling}
[fabric]
{fabric}
[[class]]
name = "hgx"
{hosts}compute_nics = {nics}
gpus = 8
port_rate_gbps = {rate}
numa_nodes = 2
[[role]]
role = "compute"
{hosts}devices = [{compute}]
"""
_STORAGE_ROLE = '[[role]]\nrole = "storage"\n{hosts}devices = ["mlx5_8", "mlx5_9"]\n'
_WANTED = """mtu = {mtu}
{netns}pfc_watchdog = true
switch_mtu = 9216
oversubscription = {oversubscription}
"""
VARIANTS = ("usual", "storage", "observed")


def _port(fabric: Fabric, machine: int, port: int) -> str:
    if fabric.is_host(machine):
        rail, plane = divmod(port, fabric.planes)
        return netdev(rail, plane, fabric.planes)
    return fabric.switch(machine).ports[port].name


def cabling(fabric: Fabric) -> str:
    """The plan: every cable as it was meant to be; a rail of several is left open."""
    planned, text = fabric.planned, io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for at in range(len(planned)):
        ends = ((planned.lower[at], planned.lower_port[at]),
                (planned.upper[at], planned.upper_port[at]))  # fmt: skip
        named = [word for machine, port in ends
                 for word in (fabric.name(machine), _port(fabric, machine, port))]  # fmt: skip
        rail = "" if planned.rail[at] < 0 else planned.rail[at]
        writer.writerow([*named, f"{planned.metres[at]:g}", rail, planned.plane[at]])
    return text.getvalue()


def oversubscription(fabric: Fabric) -> float:
    """Of the leaf that has most host ports per uplink."""
    down: dict[int, int] = {}
    up: dict[int, int] = {}
    planned = fabric.planned
    for at in range(len(planned)):
        if planned.tier[at] == 1:
            down[planned.upper[at]] = down.get(planned.upper[at], 0) + planned.speed_mbps[at]
        elif planned.tier[at] == 2:
            up[planned.lower[at]] = up.get(planned.lower[at], 0) + planned.speed_mbps[at]
    return max(down[leaf] / up[leaf] for leaf in down)


def site(fabric: Fabric, variant: str = "usual", hosts: str = "") -> str:
    """The site file; `observed` says nothing about the fabric, and has no plan.

    `hosts` are those of the fabric, where there are others.
    """
    which = f'hosts = "{hosts}"\n' if hosts else ""
    is_observed = variant == "observed"
    netns = "" if hosts else 'rdma_netns_mode = "shared"\n'  # others may have it otherwise
    most = oversubscription(fabric)
    wanted = _WANTED.format(mtu=fabric.host_mtu, netns=netns, oversubscription=most)
    if variant == "storage":
        wanted += f"storage_dscp = {STORAGE_DSCP}\n"
    compute = ", ".join(f'"mlx5_{port}"' for port in range(fabric.host_ports))
    text = _SITE.format(
        profile="observe" if is_observed else "roce-lossless",
        cabling="" if is_observed else f'cabling = "{CABLING}"',
        fabric="" if is_observed else wanted,
        nics=fabric.rails,
        rate=fabric.links.speed_mbps[0] // 1000,
        compute=compute,
        hosts=which,
    )
    return text + (_STORAGE_ROLE.format(hosts=which) if fabric.planes == 1 else "")
