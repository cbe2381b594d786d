"""GPUDirect: the way between GPU and NIC, who translates it, and what lets it be used at all."""

from dataclasses import replace

from lab.fleet.faults.change import (
    host,
    kernel,
    parameters,
    port_above,
    several,
    without_function,
    without_modules,
)
from lab.fleet.faults.fault import Change, Fault
from lab.fleet.faults.pcie import OTHER_KIND
from lab.fleet.faults.place import Place
from lab.fleet.model import ACS_ON, Function, HostModel, RootBus, with_faults
from lab.fleet.platform import MELLANOX, address, intel_root_port
from lab.fleet.system_model import Kernel

BARE_METAL = (
    *("hgx_h100", "hgx_a100_infiniband", "two_socket_4x400g", "socket_direct"),
    "kubernetes_worker",
)
VENDOR_STACK = (
    *("hgx_h100", "hgx_a100_infiniband", "socket_direct", "kubernetes_worker"),
    "passthrough_vm",
)
# What is not asked of a host that has guests.
HAS_GUESTS = (
    *(
        "acs-redirect {nics}",
        "iommu-translates {host}",
        "gpudirect-no-provider {host}",
        "gpu-without-near-nic {gpus}",
    ),
    *(
        "* {port}",
        "* {device}",
        "pcie-capped-by-firmware {nic}",
        "pcie-below-port-rate {nic}",
        "nic-without-rdma {nic}",
    ),
)
GUESTS = ("guest_without_ats", "guest_with_ats_and_without_acs")


def _handed_to_guest(place: Place) -> HostModel:
    """The card and the GPU beside it are a guest's."""
    now = place.host
    gone, gpu = place.card, place.processor
    texts = {text.partition("/")[0] for text in gone.addresses}
    kept = replace(
        now,
        gpus=tuple(one for one in now.gpus if one.address != gpu.address),
        routes=tuple(route for route in now.routes if route.netdev != gone.netdev),
        rules=tuple(rule for rule in now.rules if rule.source not in texts),
    )
    return with_faults(
        kept,
        {
            (gone.address, "driver"): "vfio-pci",
            (gpu.address, "driver"): "vfio-pci",
            (gone.name, "in_guest"): True,
        },
    )


def _guest(ats: str) -> Change:
    return several(parameters({"ATS_ENABLED": (ats, ats)}), _handed_to_guest)


def _bus_of(now: HostModel, pci: str) -> RootBus:
    def holds(one: Function) -> bool:
        return one.address == pci or any(holds(inner) for inner in one.below)

    return next(bus for bus in now.buses if any(holds(one) for one in bus.functions))


def _with_root_port(place: Place, bus: RootBus, device: int, below: Function) -> HostModel:
    """One more root port on a bus, with a device in it."""
    port = intel_root_port(int(bus.name[-2:], 16), device, (below,))
    buses = tuple(
        replace(one, functions=(*one.functions, port)) if one.name == bus.name else one
        for one in place.host.buses
    )
    return replace(place.host, buses=buses)


def _apart(place: Place) -> HostModel:
    """The NIC's DMA function behind another root port than the GPU: another IOMMU group."""
    gpu = place.processor
    dma = Function(
        address(int(gpu.address[5:7], 16) + 3), MELLANOX, 0x2100, 0x080100, "endpoint",
        subsystem=(MELLANOX, 0x0099), ats=False,
    )  # fmt: skip
    return _with_root_port(place, _bus_of(place.host, gpu.address), 3, dma)


def _in_another_slot(place: Place) -> HostModel:
    """The card sits in a root port of its own instead of the GPU's switch."""
    now, pci = place.host, place.card.address
    bus = _bus_of(now, pci)
    card = next(one for one in _all(bus) if one.address == pci)
    moved = without_function(now, pci)
    return _with_root_port(place.on(moved), bus, 3, card)


def _all(bus: RootBus) -> list[Function]:
    found = list(bus.functions)
    for one in found:
        found += one.below
    return found


def _translating(now: Kernel) -> Kernel:
    words = [word for word in now.command_line.split(" ") if word != "iommu=pt"]
    return replace(now, command_line=" ".join(words))


FAULTS = (
    Fault(
        name="acs_redirect",
        rule="acs-redirect",
        models=("hgx_h100", "hgx_a100_infiniband", "two_socket_4x400g", "kubernetes_worker"),
        at="rail",
        change=port_above({"acs": ACS_ON}),
        expects=("acs-redirect {nic}",),
    ),
    Fault(
        name="guest_without_ats",
        rule="ats-off-for-guests",
        models=("kubernetes_worker",),
        at="rail",
        change=_guest("False(0)"),
        expects=("ats-off-for-guests {nic}",),
        hides=(
            "rdma-device-missing {nic}",
            "link-missing {nic}",
        ),  # its devices and links only the guest knows
        excuses=(*OTHER_KIND, *HAS_GUESTS),
        clashes=GUESTS,
        severity="high",
    ),
    Fault(
        name="guest_with_ats_and_without_acs",
        rule="acs-wrong-for-guests",
        models=("kubernetes_worker",),
        at="rail",
        change=_guest("True(1)"),
        expects=("acs-wrong-for-guests {nic}",),
        hides=(
            "rdma-device-missing {nic}",
            "link-missing {nic}",
        ),  # its devices and links only the guest knows
        excuses=(*OTHER_KIND, *HAS_GUESTS),
        clashes=GUESTS,
        severity="high",
    ),
    Fault(
        name="dma_function_apart",
        rule="data-direct-iommu-group",
        models=("hgx_h100",),
        at="gpu",
        change=_apart,
        expects=("data-direct-iommu-group {gpu}",),
        severity="high",
    ),
    Fault(
        name="card_in_another_slot",
        rule="gpu-without-near-nic",
        models=("hgx_h100",),
        at="rail",
        change=_in_another_slot,
        expects=("gpu-without-near-nic {gpu}",),
        implies=("part-missing {host}",),  # from its own slot it is missing
        # Its inferred role is another one, so it is in a group of its own.
        excuses=(
            "firmware-differs {nic}",
            "rdma-mtu-differs {port}",
            "port-slower-than-peers {port}",
            "gid-index-differs {port}",
        ),
        severity="medium",
    ),
    Fault(
        name="iommu_translates",
        rule="iommu-translates",
        models=BARE_METAL,
        at="host",
        change=kernel(_translating),
        expects=("iommu-translates {host}",),
        implies=("host-config-differs {host}",),  # the command line differs from the peers'
    ),
    Fault(
        name="no_peer_memory",
        rule="gpudirect-no-provider",
        models=(*BARE_METAL, "passthrough_vm"),
        at="host",
        change=several(without_modules("nvidia_peermem"), host({"kernel.gpu_driver_open": False})),
        expects=("gpudirect-no-provider {host}",),
        implies=("host-config-differs {host}",),
        excuses=("peermem-not-registered {host}",),
        severity="high",
        clashes=("peer_memory_refused",),
    ),
    Fault(
        name="peer_memory_not_registered",
        rule="peermem-not-registered",
        models=VENDOR_STACK,
        at="host",
        change=host({"kernel.gpu_driver_open": False, "kernel.peer_memory_registered": False}),
        expects=("peermem-not-registered {host}",),
        implies=("host-config-differs {host}",),
        severity="high",
        clashes=("peer_memory_refused",),  # a closed driver without the module is another fault
    ),
)
