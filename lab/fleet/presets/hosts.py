"""Hosts as vendors and guides leave them: `mlx5.toml`, applied to a host of the lab."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from lab.fleet.identity import interface_id, link_local, link_local_gid
from lab.fleet.model import HostModel, Netdev, Nic, roce_mtu, with_faults
from lab.fleet.port_model import USUAL_DSCP, GidEntry, Qos
from lab.fleet.presets.sourced import read
from lab.fleet.software import modules
from lab.fleet.system_model import Route

_VALUES = frozenset({
    "driver", "trust", "dscp", "pfc", "classes", "class_schedulers", "cable_m", "pause", "mtu",
    "default_tos", "device_traffic_class", "cnp_dscp", "cnp_priority", "ecn", "buffers",
    "priority_buffers", "read_request", "library", "parameters", "vlan", "addresses",
})  # fmt: skip
_EIGHT = range(8)
_VLAN_INDEX = 100  # above the numbers of real devices
# Two prefixes per rail: a router may announce several.
_SLAAC = ("2001:db8:{rail:x}", "2001:db8:1{rail:03x}")


@dataclass(frozen=True)
class HostPreset:
    """What a host's cards, driver and libraries are set to."""

    name: str
    values: Mapping[str, Any]

    @property
    def sources(self) -> Mapping[str, str]:
        """Where each value is from."""
        found: Mapping[str, str] = self.values["sources"]
        return found

    def applied(self, host: HostModel, rails: int) -> HostModel:
        """The host with its first `rails` cards, and the storage card behind them, set so."""
        devices = ",".join(nic.name for nic in host.nics[:rails])
        told = {key: f"={devices}" if value == "all" else value
                for key, value in self.values["library"].items()}  # fmt: skip
        library = tuple(("/etc/nccl.conf", key, value) for key, value in told.items())
        kernel = replace(host.kernel, library_settings=library)
        nics = tuple(self._nic(nic) for nic in host.nics)
        if self.values["driver"] == "kernel":
            kernel = replace(kernel, modules=modules(host.gpu_driver))
            nics = tuple(replace(nic, driver_version=kernel.release) for nic in nics)
        made = replace(host, nics=nics, kernel=kernel)
        request = {(nic.address, "read_request"): self.values["read_request"] for nic in nics}
        made = with_faults(made, request)
        if "vlan" in self.values:
            made = _tagged(made, rails, self.values["vlan"])
        return _by_advertisement(made, rails) if "addresses" in self.values else made

    def _nic(self, nic: Nic) -> Nic:
        values, mtu = self.values, self.values["mtu"]
        pauses = {"pause_rx": values["pause"], "pause_tx": values["pause"]}
        stored = {"CNP_DSCP_P1": values["cnp_dscp"], "CNP_802P_PRIO_P1": values["cnp_priority"],
                  **values.get("parameters", {})}  # fmt: skip
        parameters = {key: (str(value), str(value)) for key, value in stored.items()}
        return replace(
            nic, mtu=mtu, active_mtu=roce_mtu(mtu), link=replace(nic.link, **pauses),
            qos=_qos(values, nic.qos), parameters={**nic.parameters, **parameters},
        )  # fmt: skip


def _qos(values: Mapping[str, Any], now: Qos) -> Qos:
    points = list(USUAL_DSCP)
    for dscp, priority in values.get("dscp", {}).items():
        points[int(dscp)] = priority
    by_dscp = values["trust"] == "dscp"
    reacts = (values["ecn"] == "all",) * 8
    return replace(
        now, trust=values["trust"], dscp_priority=tuple(points),
        app_dscps=tuple(range(64)) if by_dscp else (),
        pfc=tuple(p in values["pfc"] for p in _EIGHT),
        priority_class=tuple(values["classes"]), class_scheduler=(values["class_schedulers"],) * 8,
        class_bandwidth=(0,) * 8, cable_length_m=values["cable_m"],
        buffer_bytes=tuple(values["buffers"]), priority_buffer=tuple(values["priority_buffers"]),
        ecn_np=reacts, ecn_rp=reacts, cnp_dscp=values["cnp_dscp"],
        cnp_priority=values["cnp_priority"], default_tos=values["default_tos"],
        traffic_class=values["device_traffic_class"],
    )  # fmt: skip


def _tagged(host: HostModel, rails: int, number: int) -> HostModel:
    """A VLAN on each rail; the rail's addresses, and so its GIDs, are the VLAN's."""
    names = {nic.netdev: f"{nic.netdev}.{number}" for nic in host.nics[:rails]}
    nics, made = [], []
    for place, nic in enumerate(host.nics):
        if nic.netdev not in names:
            nics.append(nic)
            continue
        name, local = names[nic.netdev], f"{link_local(nic.mac)}/64"
        made.append(
            Netdev(
                name, "", nic.mac, _VLAN_INDEX + place, nic.mtu, nic.speed, nic.up,
                addresses=nic.addresses, arp=nic.arp, lower=nic.netdev,
            )
        )  # fmt: skip
        own = [GidEntry(at, link_local_gid(nic.mac), kind, nic.netdev)
               for at, kind in enumerate(("IB/RoCE v1", "RoCE v2"))]  # fmt: skip
        on_top = [replace(gid, index=gid.index + 2, netdev=name) for gid in nic.gids]
        nics.append(replace(nic, addresses=(local,), gids=(*own, *on_top)))
    routes = tuple(replace(one, netdev=names.get(one.netdev, one.netdev)) for one in host.routes)
    return replace(host, nics=tuple(nics), netdevs=(*host.netdevs, *made), routes=routes)


def _by_advertisement(host: HostModel, rails: int) -> HostModel:
    """IPv6 alone on the rails; each router announces itself as a way out."""
    nics, routes = list(host.nics), []
    for rail, nic in enumerate(nics[:rails]):
        groups = interface_id(nic.mac)
        prefixes = [text.format(rail=rail) for text in _SLAAC]
        short = ":".join(f"{part:x}" for part in groups)
        addresses = [f"{prefix}:0:{short}/64" for prefix in prefixes]
        gids = [link_local_gid(nic.mac)]
        for prefix in prefixes:
            whole = [*(int(part, 16) for part in prefix.split(":")), 0, *groups]
            gids.append(":".join(f"{part:04x}" for part in whole))
        nics[rail] = replace(
            nic, addresses=(*addresses, f"{link_local(nic.mac)}/64"),
            gids=tuple(
                GidEntry(2 * at + version, gid, ("IB/RoCE v1", "RoCE v2")[version], nic.netdev)
                for at, gid in enumerate(gids) for version in (0, 1)
            ),
        )  # fmt: skip
        routes.append(Route("default", nic.netdev, gateway="fe80::1", protocol="ra", metric=1024))
    own = {nic.netdev for nic in nics[:rails]}
    kept = tuple(one for one in host.routes if one.netdev not in own)
    rules = tuple(one for one in host.rules if one.source == "all")
    return replace(host, nics=tuple(nics), routes=(*kept, *routes), rules=rules)


@cache
def host_presets() -> dict[str, HostPreset]:
    """All, by name."""
    listed = read(Path(__file__).parent / "mlx5.toml", _VALUES)
    return {name: HostPreset(name, values) for name, values in listed.items()}


def host_preset(name: str) -> HostPreset:
    """One of them."""
    return host_presets()[name]
