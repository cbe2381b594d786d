"""The truth about what is worked out from facts: paths, nearness, roles, rails.

Only what a model makes plain: words that explain a judgement are not in it.
"""

from collections import Counter

from lab.fleet.model import HostModel, Nic
from lab.fleet.truth_gpu import nearness
from lab.fleet.truth_places import (
    GIGATRANSFERS,
    NVIDIA,
    Placed,
    Row,
    Rows,
    Tables,
    here,
    placed,
)
from lab.fleet.truth_rdma import devices, lanes_and_speed, rate, state
from lab.fleet.truth_slots import slots

DISTANCES = ("PIX", "PXB", "PHB", "NODE", "SYS")


def tables(host: HostModel) -> Tables:
    """Derived tables; some columns only."""
    spots = placed(host)
    ends = [s for s in spots.values() if s.is_gpu or (s.is_nic and not s.function.physical)]
    near = _gpu_nic(ends)
    return {
        "card_function": [_function(spot) for spot in spots.values() if _is_card(spot)],
        "gpu": _gpus(host, spots),
        "pcie_path": [row for spot in ends for row in _path(spot)],
        "pcie_endpoint": [_endpoint(spot) for spot in ends],
        "gpu_nic": near,
        "host_kind": [_kind(host, spots)],
        "port": _ports(host, spots, near),
        "netdev_role": _netdev_roles(host, spots),
        "slot": slots(host),
    }


def _gpus(host: HostModel, spots: dict[str, Placed]) -> Rows:
    """Every GPU of the bus, which here is every one that the driver knows."""
    rows: Rows = []
    for gpu in host.gpus:
        spot = spots[gpu.address]
        generation, width = spot.link
        rows.append(
            {
                "pci": gpu.address,
                "device_id": f"{spot.function.device:04x}",
                "numa_node": spot.numa,
                "link_speed_gts": GIGATRANSFERS[generation],
                "link_width": width,
                "name": gpu.product,
                "uuid": gpu.uuid,
                "driver_version": host.gpu_driver,
                "smi_status": "ok",
            }
        )
    return rows


# ---- kinds of functions

# Classes of the PCI code list: network, display, processing accelerator; the models have no others
# that look like a card.
_CARDS = (0x02, 0x03, 0x12)


def _is_card(spot: Placed) -> bool:
    function = spot.function
    return function.class_code >> 16 in _CARDS or function.vendor == NVIDIA


def _function(spot: Placed) -> Row:
    function = spot.function
    if function.physical:
        kind = "virtual function"
    elif spot.is_gpu:
        kind = "gpu"
    elif function.class_code >> 16 == 0x02:
        kind = "nic"
    else:
        kind = "nvswitch" if function.vendor == NVIDIA else "other"
    return {
        "pci": function.address,
        "kind": kind,
        "vendor": f"{function.vendor:04x}",
        "device_id": f"{function.device:04x}",
        "is_rdma": kind == "nic" and spot.is_nic,
    }


# ---- paths


def gigabits(generation: int, width: int) -> float | None:
    """What a link carries behind its encoding."""
    if generation not in GIGATRANSFERS:
        return None
    part = 0.8 if generation <= 2 else 128 / 130 if generation <= 5 else 242 / 256
    return GIGATRANSFERS[generation] * width * part


def _hops(spot: Placed) -> list[Placed]:
    """The function itself, then upwards."""
    above = [
        Placed(port, spot.above[:place], spot.root_bus, spot.numa, spot.group)
        for place, port in enumerate(spot.above)
    ]
    return [spot, *reversed(above)]


def _path(spot: Placed) -> Rows:
    return [
        {
            "pci": spot.function.address,
            "place": place,
            "hop": hop.function.address,
            "speed_gts": GIGATRANSFERS.get(hop.link[0]),
            "width": hop.link[1],
            "speed_max_gts": GIGATRANSFERS[hop.function.generation_max],
            "width_max": hop.function.width_max,
            "gbps": gigabits(*hop.link),
        }
        for place, hop in enumerate(_hops(spot))
    ]


def _endpoint(spot: Placed) -> Row:
    """Of hops that are equally narrow the uppermost; one that is not known hides them all."""
    hops = _hops(spot)
    function = spot.function
    own = gigabits(function.generation_max, function.width_max)
    carried = [(gigabits(*hop.link), hop.function.address) for hop in hops]
    known = [(rate, address) for rate, address in carried if rate is not None]
    row: Row = {
        "pci": function.address,
        "kind": "gpu" if spot.is_gpu else "nic",
        "hops": len(hops),
        "root_port": hops[-1].function.address,
        "own_gbps": own,
        "narrowest_gbps": None,
        "narrowest_hop": None,
        "is_narrowed": None,
    }
    if len(known) == len(carried) and own is not None:
        least = min(rate for rate, _ in known)
        row["narrowest_gbps"] = least
        row["narrowest_hop"] = [address for rate, address in known if rate == least][-1]
        row["is_narrowed"] = least < own
    return row


# ---- nearness


def _relation(gpu: Placed, nic: Placed) -> str | None:
    """As nvidia-smi would say; it calls SYS what it does not know, a fact is then unknown."""
    known = gpu.numa >= 0 and nic.numa >= 0
    return nearness(gpu, nic) if known else None


def _common(gpu: Placed, nic: Placed) -> str:
    """The lowest port that both are below."""
    shared = [p.address for p, q in zip(gpu.above, nic.above, strict=False) if p == q]
    return shared[-1] if shared else ""


def _gpu_nic(ends: list[Placed]) -> Rows:
    nics = [spot for spot in ends if spot.is_nic]
    rows: Rows = []
    for gpu in (spot for spot in ends if spot.is_gpu):
        relations = [_relation(gpu, nic) for nic in nics]
        far = [None if word is None else DISTANCES.index(word) for word in relations]
        least = None if None in far else min(d for d in far if d is not None)
        rows += [
            {
                "gpu": gpu.function.address,
                "nic": nic.function.address,
                "relation": word,
                "distance": distance,
                "common_hop": _common(gpu, nic),
                "is_nearest": None if least is None else distance == least,
            }
            for nic, word, distance in zip(nics, relations, far, strict=True)
        ]
    return rows


# ---- kinds, roles, rails


def _physical(host: HostModel, spots: dict[str, Placed]) -> list[Nic]:
    """RDMA devices of physical functions, as far as the host's own namespaces have them."""
    return [nic for nic in devices(host) if not spots[nic.address].function.physical]


def _kind(host: HostModel, spots: dict[str, Placed]) -> Row:
    gpus = Counter(spots[gpu.address].function.device for gpu in host.gpus)
    nics = Counter(nic.psid for nic in _physical(host, spots))
    words = [f"{count}x 10de:{device:04x}" for device, count in sorted(gpus.items())]
    ordered = sorted(nics.items(), key=lambda item: (-item[1], item[0]))
    words += [f"{count}x {psid}" for psid, count in ordered]
    return {
        "kind": ", ".join(words),
        "gpus": len(host.gpus),
        "nic_functions": sum(nics.values()),
    }


def _role(nic: Nic) -> str:
    """The card with two ports is for storage."""
    return "storage" if nic.ports == 2 else "compute"


def _own_netdev(nic: Nic) -> str:
    """The bond where the port belongs to one; none where a pod has taken it."""
    return "" if nic.in_pod else nic.master or nic.netdev


def _ports(host: HostModel, spots: dict[str, Placed], near: Rows) -> Rows:
    """Rails count the compute cards by their first PCI address, planes the ports of a card.

    A card whose RDMA device a pod has taken keeps its number.
    """
    nics = _physical(host, spots)
    every = [nic for nic in host.nics if not spots[nic.address].function.physical]
    compute = sorted((n for n in every if _role(n) == "compute"), key=lambda n: n.address)
    cards = list(dict.fromkeys(nic.image_guid for nic in compute))
    rows: Rows = []
    for nic in nics:
        role = _role(nic)
        siblings = [other for other in compute if other.image_guid == nic.image_guid]
        mine = [row for row in near if row["nic"] == nic.address]
        known = all(row["is_nearest"] is not None for row in mine)
        nearest = sorted(str(row["gpu"]) for row in mine if row["is_nearest"])
        lanes, speed = lanes_and_speed(rate(nic))
        rows.append(
            {
                "device": nic.name,
                "port": 1,
                "pci": nic.address,
                "card": min(n.address for n in nics if n.image_guid == nic.image_guid),
                "netdev": _own_netdev(nic),
                "link_layer": nic.link_layer,
                "state": state(nic).logical,
                "rate_gbps": lanes * speed,
                "role": role,
                "rail": cards.index(nic.image_guid) if role == "compute" else None,
                "plane": siblings.index(nic) if role == "compute" else None,
                "nearest_gpus": ",".join(nearest) if known else None,
            }
        )
    return rows


def _netdev_roles(host: HostModel, spots: dict[str, Placed]) -> Rows:
    """Of a bond's members that of the bond; the default route makes a port one of management."""
    ports = {_own_netdev(nic): nic for nic in _physical(host, spots) if _own_netdev(nic)}
    out = {route.netdev for route in host.routes if route.destination == "default"}
    out -= {nic.netdev for nic in host.nics}
    rows: Rows = []
    for netdev in here(host):
        nic = ports.get(netdev.netdev) or ports.get(netdev.master)
        if nic is not None:
            role = _role(nic)
        elif netdev.netdev in out:
            role = "management"
        else:
            role = "virtual"
        rows.append({"netdev": netdev.netdev, "role": role})
    return rows
