"""Fleet: hosts that differ from their peers."""

import re
from dataclasses import replace

from lab.fleet.faults.change import card, kernel
from lab.fleet.faults.driver import ALL
from lab.fleet.faults.fault import Fault
from lab.fleet.faults.place import Place, rails
from lab.fleet.model import HostModel
from lab.fleet.system_model import Kernel


def _balancing(now: Kernel) -> Kernel:
    settings = tuple(
        (name, "1") if name == "kernel.numa_balancing" else (name, value)
        for name, value in now.sysctls
    )
    return replace(now, sysctls=settings)


def _swapped(place: Place) -> HostModel:
    """The kernel found two cards in another order, and numbered them so."""
    first, second = [nic.name for nic in rails(place.host) if not nic.in_pod][:2]
    names = {first: second, second: first}
    nics = tuple(replace(nic, name=names.get(nic.name, nic.name)) for nic in place.host.nics)
    return replace(place.host, nics=nics)


def _of_first_host(place: Place) -> HostModel:
    """Installed from the first host's image, name and all."""
    return replace(place.host, calls_itself=re.sub("[0-9]+$", "001", place.host.name))


def _third_host_again(place: Place) -> HostModel:
    """The name leads to the third host."""
    return replace(place.host, boot_id=f"{place.host.boot_id[:-8]}{3:08x}")


FAULTS = (
    Fault(
        name="cloned_name",
        rule="N-27",
        models=ALL,
        at="host",
        change=_of_first_host,
        expects=("N-27 {host}",),
        severity="medium",
    ),
    Fault(
        name="third_host_again",
        rule="INV-05",
        models=ALL,
        at="host",
        change=_third_host_again,
        expects=("INV-05 {host}", "INV-05 {third}"),
        severity="medium",
    ),
    Fault(
        name="other_setting",
        rule="FLT-01",
        models=ALL,
        at="host",
        change=kernel(_balancing),
        expects=("FLT-01 {host}",),
        severity="medium",
    ),
    Fault(
        name="names_swapped",
        rule="FLT-05",
        models=("hgx_h100", "hgx_a100_infiniband", "two_socket_4x400g", "passthrough_vm"),
        at="host",
        change=_swapped,
        expects=("FLT-05 {host}",),
    ),
    Fault(
        name="other_rdma_mtu",
        rule="MTU-02",
        models=("hgx_h100", "socket_direct", "kubernetes_worker"),
        at="rail",
        # The driver kept the size of before, while the network device has the usual one.
        change=card({"active_mtu": 2048}),
        expects=("MTU-02 {port}",),
        implies=("MTU-01 {port}",),
    ),
)
