"""Where on a host a fault can strike, and how the subjects there are called."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from string import Formatter

from lab.fleet.model import Function, Gpu, HostModel, Netdev, Nic, rdma_is_here

PLACES = ("host", "rail", "storage", "virtual", "gpu")


@dataclass(frozen=True)
class Place:
    """A host and what is struck on it; a card and a GPU of the same number go together."""

    host: HostModel
    nic: Nic | None = None
    gpu: Gpu | None = None

    @property
    def card(self) -> Nic:
        """The card that is struck."""
        if self.nic is None:
            raise ValueError(f"nothing on {self.host.name} was named that has a card")
        return self.nic

    @property
    def processor(self) -> Gpu:
        """The GPU that is struck, or that has the number of the card."""
        if self.gpu is None:
            raise ValueError(f"nothing on {self.host.name} was named that has a GPU")
        return self.gpu

    @property
    def name(self) -> str:
        """What is struck, in one word."""
        if self.nic is not None:
            return self.nic.name
        return self.gpu.address if self.gpu is not None else ""

    def on(self, host: HostModel) -> "Place":
        """The same place of a host that has changed."""
        nic = next((n for n in host.nics if self.nic is not None and n.name == self.nic.name), None)
        return Place(host, nic or self.nic, self.gpu)


def functions(host: HostModel) -> Iterator[Function]:
    """Every PCI function, those above before those below."""
    waiting = [function for bus in reversed(host.buses) for function in reversed(bus.functions)]
    while waiting:
        function = waiting.pop()
        yield function
        waiting += reversed(function.below)


def above(host: HostModel, address: str) -> tuple[Function, ...]:
    """The ports over a function, the nearest first."""
    over = {below.address: port for port in functions(host) for below in port.below}
    found = []
    while address in over:
        found.append(over[address])
        address = over[address].address
    return tuple(found)


def _virtual(host: HostModel) -> set[str]:
    """Addresses of virtual functions; in a virtual machine they are what there is."""
    return set() if host.virtual else {f.address for f in functions(host) if f.virtual}


def rails(host: HostModel) -> tuple[Nic, ...]:
    """Compute cards: of the kind that the first one is of."""
    virtual = _virtual(host)
    return tuple(n for n in host.nics if n.psid == host.nics[0].psid and n.address not in virtual)


def storage(host: HostModel) -> tuple[Nic, ...]:
    """The other cards."""
    return tuple(n for n in host.nics if n.psid != host.nics[0].psid)


def _seen(host: HostModel, nics: tuple[Nic, ...]) -> tuple[Nic, ...]:
    return tuple(nic for nic in nics if rdma_is_here(host, nic))


def places(host: HostModel, at: str) -> tuple[Place, ...]:
    """Where a fault of this kind can strike."""
    if at == "host":
        return (Place(host),)
    if at == "gpu":
        return tuple(Place(host, None, gpu) for gpu in host.gpus)
    if at == "virtual":
        virtual = _virtual(host)
        return tuple(Place(host, nic) for nic in host.nics if nic.address in virtual)
    if at == "storage":
        return tuple(Place(host, nic) for nic in storage(host))
    gpus = host.gpus if len(host.gpus) == len(rails(host)) else (None,) * len(rails(host))
    pairs = zip(rails(host), gpus, strict=True)
    return tuple(Place(host, nic, gpu) for nic, gpu in pairs if not nic.in_pod)


def front_end(host: HostModel) -> Netdev:
    """The first port without RDMA."""
    return next(netdev for netdev in host.netdevs if netdev.address)


def _several(place: Place, word: str) -> list[str]:
    host = place.host
    cards = [*rails(host), *storage(host)]
    names: dict[str, list[str]] = {
        "rails": [f"{nic.name}/1" for nic in _seen(host, rails(host))],
        "ports": [f"{nic.name}/1" for nic in _seen(host, (*rails(host), *storage(host)))],
        "nics": [nic.address for nic in rails(host)],
        "cards": [nic.address for nic in cards],
        "gpus": [gpu.address for gpu in host.gpus],
    }
    return [f"{host.name}:{name}" for name in names[word]]


def subjects(place: Place, template: str) -> list[str]:
    """What a template stands for at a place: `{port}` -> ember-h001:mlx5_3/1."""
    words = [word for _, word, _, _ in Formatter().parse(template) if word]
    for word in words:
        if word in ("rails", "ports", "nics", "cards", "gpus"):
            return [template.replace(f"{{{word}}}", text) for text in _several(place, word)]
    host = place.host.name
    twin = re.sub("[0-9]+$", "001", host)
    known = {"host": host, "third": re.sub("[0-9]+$", "003", host)}
    if "front_end" in words:
        known["front_end"] = f"{host}:{front_end(place.host).address}"
    if place.nic is not None:
        nic = place.nic
        known |= {
            "nic": f"{host}:{nic.address}",
            "port": f"{host}:{nic.name}/1",
            "device": f"{host}:{nic.name}",
            "twin_port": f"{twin}:{nic.name}/1",
        }
    if place.gpu is not None:
        known["gpu"] = f"{host}:{place.gpu.address}"
    return [template.format(**known)]
