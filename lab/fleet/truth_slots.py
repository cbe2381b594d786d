"""The truth about slots: where the cards of a model sit, by the firmware's names."""

from lab.fleet.model import HostModel
from lab.fleet.truth_places import Placed, Row, Rows, placed

_NETWORK = 0x02


def slots(host: HostModel) -> Rows:
    """Every physical function of a network card or GPU, and every port with nothing below."""
    roots = {bus.name: bus.acpi.path.removeprefix(r"\_SB_.") for bus in host.buses if bus.acpi}
    return [_row(spot, roots) for spot in placed(host).values() if _is_shown(spot)]


def _is_card(spot: Placed) -> bool:
    network = spot.function.class_code >> 16 == _NETWORK
    return spot.is_gpu or (network and not spot.function.physical)


def _is_empty(spot: Placed) -> bool:
    bridge = spot.function.class_code >> 8 == 0x0604
    return bridge and not spot.function.below


def _is_shown(spot: Placed) -> bool:
    return _is_card(spot) or _is_empty(spot)


def _row(spot: Placed, roots: dict[str, str]) -> Row:
    way = [f.address.rpartition(":")[2] for f in (*spot.above, spot.function)]
    if _is_card(spot):
        way[-1] = way[-1].partition(".")[0]  # a card is all its functions
    domain, bus = spot.root_bus.split(":")
    root = roots.get(spot.root_bus, bus)
    return {
        "pci": spot.function.address,
        "slot": "/".join([f"{domain}:{root}", *way]),
        "slot_by_bus": "/".join([spot.root_bus, *way]),
        "root_named_by": "acpi" if spot.root_bus in roots else "bus",
        "switch_slot": "/".join([f"{domain}:{root}", *way[:2]]) if len(spot.above) >= 3 else "",
        "kind": "port" if _is_empty(spot) else "gpu" if spot.is_gpu else "nic",
        "part": "" if _is_empty(spot) else f"{spot.function.vendor:04x}:{spot.function.device:04x}",
        "state": "empty" if _is_empty(spot) else "alive",
    }
