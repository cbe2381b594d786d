"""Finding the parts of a model by the names that people and tools have for them."""

from typing import Any

from lab.fleet.faults.place import above, functions
from lab.fleet.model import Function, HostModel, Netdev, Nic, carrier_changes, is_mlx5
from lab.fleet.pci import placed
from lab.fleet.render.ethtool_netdevs import ports

MELLANOX = 0x15B3


def card_of(nic: Nic) -> str:
    """What all functions of one card have in common."""
    return nic.image_guid or nic.guid or nic.address[:-2]


def functions_of(model: HostModel, nic: Nic) -> tuple[Nic, ...]:
    """All functions of the card that a tool can open, those of the other half as well."""
    key = card_of(nic)
    return tuple(one for one in model.nics if is_mlx5(one) and card_of(one) == key)


def function(model: HostModel, address: str) -> Function | None:
    """A PCI function by its whole address."""
    return next((one for one in functions(model) if one.address == address), None)


def path_of(model: HostModel, address: str) -> str:
    """Its folder below /sys."""
    return next((p.path for p, one in placed(model) if one.address == address), "")


def whole_address(word: str) -> str:
    """18:00.0 -> 0000:18:00.0."""
    return f"0000:{word}" if word.count(":") == 1 else word


def nic_of_device(model: HostModel, word: str) -> Nic | None:
    """The card's function that a firmware tool is told: a PCI address, an RDMA device, /dev/mst."""
    cards = list(ports(model))
    if word.startswith("/dev/mst/"):
        return _of_mst(cards, word.removeprefix("/dev/mst/"))
    if word.startswith("/dev/fwctl/fwctl"):
        return dict(zip(map(str, range(len(cards))), cards, strict=True)).get(
            word.removeprefix("/dev/fwctl/fwctl")
        )
    address = whole_address(word.lower())
    return next((nic for nic in cards if address == nic.address or word == nic.name), None)


def _of_mst(cards: list[Nic], word: str) -> Nic | None:
    """mt4129_pciconf3.1: the fourth card's second function."""
    slots: dict[str, list[Nic]] = {}
    for nic in cards:
        slots.setdefault(nic.address[:-2], []).append(nic)
    counts: dict[str, int] = {}
    for functions_of_slot in slots.values():
        chip = functions_of_slot[0].chip.lower()
        number = counts.setdefault(chip, 0)
        counts[chip] += 1
        for nic in functions_of_slot:
            place = int(nic.address[-1])
            if word == f"{chip}_pciconf{number}" + (f".{place}" if place else ""):
                return nic
    return None


def is_pcie_switch(model: HostModel, nic: Nic) -> bool:
    """Whether the card is one that resets all of its kind: a bridge of its own, or a BlueField."""
    own = any(port.vendor == MELLANOX for port in above(model, nic.address))
    return own or nic.family.lower().startswith("bluefield")


def names_of(model: HostModel, subject: str) -> set[str]:
    """Everything that the same port is called."""
    for nic in model.nics:
        names = {nic.name, nic.netdev, nic.address}
        if subject in names:
            return names - {""}
    return {subject}


def subject_of(model: HostModel, subject: str) -> object | None:
    """The record that a subject stands for."""
    if subject == "host":
        return model
    for nic in model.nics:
        if subject in (nic.name, nic.netdev):
            return nic
    found: Netdev | None = next((n for n in model.netdevs if n.netdev == subject), None)
    return found or function(model, subject)


def value_of(model: HostModel, subject: str, name: str) -> Any:
    """A field; None where the subject is not there."""
    found: object | None = subject_of(model, subject)
    if name == "carrier_changes":
        return carrier_changes(found) if isinstance(found, Netdev) else None
    for word in name.split("."):
        found = getattr(found, word, None)
    return found
