"""`devlink -j dev info` of iproute2."""

import json
from collections.abc import Iterator
from typing import Any

from lab.fleet.model import HostModel, Nic
from lab.fleet.render.base import Said
from lab.fleet.render.ethtool_netdevs import ports
from lab.fleet.render.lspci_tree import spots


def device(nic: Nic, *, virtual: bool) -> dict[str, Any]:
    """What one function's driver tells; `fw` repeats `fw.version`. A virtual one tells nothing."""
    if virtual:
        return {"driver": "mlx5_core"}
    running, stored = nic.firmware, nic.flash.stored or nic.firmware
    return {
        "driver": "mlx5_core",
        "serial_number": nic.uid,
        "board.serial_number": nic.serial,
        "versions": {
            "fixed": {"fw.psid": nic.psid},
            "running": {"fw.version": running, "fw": running},
            "stored": {"fw.version": stored, "fw": stored},
        },
    }


def information(host: HostModel) -> dict[str, dict[str, Any]]:
    """Every function by its handle; devlink knows no namespaces of netdevs."""
    places = spots(host.buses)
    return {
        f"pci/{nic.address}": device(nic, virtual=places[nic.address].function.virtual)
        for nic in ports(host)
        if not places[nic.address].function.dead
    }


def information_text(host: HostModel, *, function_uid: bool = False) -> str:
    """`devlink dev info` without -j; newer kernels add function.uid."""
    lines = []
    for nic, (handle, told) in zip(ports(host), information(host).items(), strict=True):
        lines.append(f"{handle}:")
        lines += [f"  {name} {value}" for name, value in told.items() if name != "versions"]
        if function_uid:
            lines.append(f"  function.uid {nic.serial}MLNXS0D0F{nic.address[-1]}")
        for kind, versions in told.get("versions", {}).items():
            lines += ["  versions:"] if kind == "fixed" else []
            lines.append(f"      {kind}:")
            lines += [f"        {name} {value}" for name, value in versions.items()]
    return "".join(f"{line}\n" for line in lines)


def commands(host: HostModel) -> Iterator[Said]:
    """`devlink -j dev info`: one line."""
    text = json.dumps({"info": information(host)}, separators=(",", ":"))
    yield Said("devlink -j dev info", text + "\n")
