"""The words that changes are made of: each gives a function Place -> HostModel."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from lab.fleet.faults.fault import Change
from lab.fleet.faults.place import Place, above
from lab.fleet.model import Function, HostModel, with_faults
from lab.fleet.system_model import Kernel


def several(*changes: Change) -> Change:
    """One after the other."""

    def change(place: Place) -> HostModel:
        host = place.host
        for one in changes:
            host = one(place.on(host))
        return host

    return change


def card(values: Mapping[str, Any]) -> Change:
    """Fields of the card; those of a record inside it with a dot: "qos.trust"."""

    def change(place: Place) -> HostModel:
        return with_faults(place.host, {(place.card.name, name): v for name, v in values.items()})

    return change


def counters(kind: str, values: Mapping[str, int]) -> Change:
    """Add to counters of the card: `counters`, `hw_counters` or `statistics`."""

    def change(place: Place) -> HostModel:
        now: Mapping[str, int] = getattr(place.card, kind)
        more = {name: now.get(name, 0) + value for name, value in values.items()}
        return with_faults(place.host, {(place.card.name, kind): {**now, **more}})

    return change


def parameters(values: Mapping[str, tuple[str, str]]) -> Change:
    """Firmware parameters of the card: name -> (current, next boot)."""

    def change(place: Place) -> HostModel:
        known = {**place.card.parameters, **values}
        return with_faults(place.host, {(place.card.name, "parameters"): known})

    return change


def function(values: Mapping[str, Any]) -> Change:
    """Fields of the card's PCI function."""

    def change(place: Place) -> HostModel:
        address = place.card.address
        return with_faults(place.host, {(address, name): v for name, v in values.items()})

    return change


def port_above(values: Mapping[str, Any], kind: str = "") -> Change:
    """Fields of the nearest port over the card, or of the nearest one of a kind."""

    def change(place: Place) -> HostModel:
        ports = above(place.host, place.card.address)
        address = next(port.address for port in ports if kind in ("", port.kind))
        return with_faults(place.host, {(address, name): v for name, v in values.items()})

    return change


def host(values: Mapping[str, Any]) -> Change:
    """Fields of the host."""

    def change(place: Place) -> HostModel:
        return with_faults(place.host, {("host", name): value for name, value in values.items()})

    return change


def kernel(work: Callable[[Kernel], Kernel]) -> Change:
    """The host's kernel, made over."""

    def change(place: Place) -> HostModel:
        return replace(place.host, kernel=work(place.host.kernel))

    return change


def message(*texts: str) -> Change:
    """Lines of the kernel's log; {pci}, {netdev}, {device} and {firmware} are those of the card,
    {gpu} is the GPU as its driver writes it, without the function."""

    def change(place: Place) -> HostModel:
        nic = place.nic
        names = {}
        if nic is not None:
            names = {"pci": nic.address, "netdev": nic.netdev, "device": nic.name}
            names["firmware"] = nic.firmware
        if place.gpu is not None:
            names["gpu"] = place.gpu.address.partition(".")[0]
        said = tuple(text.format(**names) for text in texts)
        now = place.host.kernel
        return replace(place.host, kernel=replace(now, messages=now.messages + said))

    return change


def without_modules(*names: str) -> Change:
    """These kernel modules are not loaded."""

    def change(place: Place) -> HostModel:
        now = place.host
        told = tuple(
            replace(module, users=tuple(u for u in module.users if u not in names))
            for module in now.kernel.modules
            if module.name not in names
        )
        kept = tuple(name for name in now.modules if name not in names)
        return replace(now, modules=kept, kernel=replace(now.kernel, modules=told))

    return change


def settings(values: Mapping[str, str]) -> Change:
    """Settings of the communication libraries; '' takes one out."""

    def change(place: Place) -> HostModel:
        now = place.host.kernel
        kept = tuple(row for row in now.library_settings if row[1] not in values)
        new = tuple((_file(name), name, value) for name, value in values.items() if value)
        return replace(place.host, kernel=replace(now, library_settings=kept + new))

    return change


def _file(name: str) -> str:
    """Only NCCL's settings have a file of their own that all jobs read."""
    return "/etc/nccl.conf" if name.startswith("NCCL_") else "/etc/environment"


def without_card(place: Place) -> HostModel:
    """No driver speaks for the card: no RDMA device, no netdev, no routes; its function stays."""
    now = place.host
    gone = place.card
    texts = {text.partition("/")[0] for text in gone.addresses}
    return replace(
        now,
        nics=tuple(nic for nic in now.nics if nic.name != gone.name),
        routes=tuple(route for route in now.routes if route.netdev != gone.netdev),
        rules=tuple(rule for rule in now.rules if rule.source not in texts),
    )


def without_function(host: HostModel, pci: str) -> HostModel:
    """The host without one PCI function: its slot is empty."""

    def kept(functions: tuple[Function, ...]) -> tuple[Function, ...]:
        return tuple(replace(f, below=kept(f.below)) for f in functions if f.address != pci)

    buses = tuple(replace(bus, functions=kept(bus.functions)) for bus in host.buses)
    return replace(host, buses=buses)
