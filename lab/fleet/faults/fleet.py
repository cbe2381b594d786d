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
        rule="hostname-of-another",
        models=ALL,
        at="host",
        change=_of_first_host,
        expects=("hostname-of-another {host}",),
        severity="medium",
    ),
    Fault(
        name="third_host_again",
        rule="machine-twice",
        models=ALL,
        at="host",
        change=_third_host_again,
        expects=("machine-twice {host}", "machine-twice {third}"),
        severity="medium",
    ),
    Fault(
        name="other_setting",
        rule="host-config-differs",
        models=ALL,
        at="host",
        change=kernel(_balancing),
        expects=("host-config-differs {host}",),
        severity="medium",
    ),
    Fault(
        name="names_swapped",
        rule="nic-names-differ",
        models=("hgx_h100", "hgx_a100_infiniband", "two_socket_4x400g", "passthrough_vm"),
        at="host",
        change=_swapped,
        expects=("nic-names-differ {host}",),
    ),
    Fault(
        name="other_rdma_mtu",
        rule="rdma-mtu-differs",
        models=("hgx_h100", "socket_direct", "kubernetes_worker"),
        at="rail",
        # The driver kept the size of before, while the network device has the usual one.
        change=card({"active_mtu": 2048}),
        expects=("rdma-mtu-differs {port}",),
        implies=("rdma-mtu-small {port}",),
    ),
)
