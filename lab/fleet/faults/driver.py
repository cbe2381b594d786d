"""Drivers: what the kernel's log says about cards, and what processes may do."""

from dataclasses import replace

from lab.fleet.faults.change import card, host, kernel, message, several, without_modules
from lab.fleet.faults.fault import Fault
from lab.fleet.faults.place import Place
from lab.fleet.model import HostModel
from lab.fleet.system_model import Kernel

ALL = (
    *("hgx_h100", "hgx_a100_infiniband", "two_socket_4x400g", "socket_direct"),
    *("kubernetes_worker", "passthrough_vm"),
)
# With the vendor's driver package; the kernel's own has no version of its own.
VENDOR_STACK = tuple(model for model in ALL if model != "two_socket_4x400g")
OTHER_DRIVER = "25.01-0.6.0"
_STACK = ("mlx5_ib", "ib_uverbs", "ib_core", "mlx5_core", "mlxfw")

# In the driver's own words (Linux mlx5 health.c, cmd.c).
_FATAL = (
    "mlx5_core {pci}: print_health_info:430:(pid 0): Health issue observed, unrecoverable hardware "
    "error, severity(2) CRITICAL:"
)
_LOADED = "mlx5_core {pci}: firmware version: {firmware}"
_REFUSED = (
    "mlx5_core {pci}: mlx5_cmd_out_err:810:(pid 2211): CREATE_MKEY(0x200) op_mod(0x0) failed, "
    "status bad resource state(0x9), syndrome (0x32d26e), err(-22)"
)


def _other_stack(place: Place) -> HostModel:
    now = place.host
    loaded = tuple(
        replace(module, version=OTHER_DRIVER) if module.name in _STACK else module
        for module in now.kernel.modules
    )
    return replace(
        now,
        kernel=replace(now.kernel, modules=loaded),
        nics=tuple(replace(nic, driver_version=OTHER_DRIVER) for nic in now.nics),
    )


def _little_memory(now: Kernel) -> Kernel:
    return replace(
        now, limits=(("*", "soft", "memlock", "65536"), ("*", "hard", "memlock", "65536"))
    )


FAULTS = (
    Fault(
        name="gpu_may_not_drive_nics",
        rule="DRV-07",
        models=("hgx_h100",),
        at="host",
        site="gpu_driven",
        change=kernel(lambda now: replace(now, gpu_driver_options=())),  # as the driver comes
        expects=("DRV-07 {host}",),
    ),
    Fault(
        name="no_management_node",
        rule="N-11",
        models=("hgx_a100_infiniband",),
        at="rail",
        change=card({"management_node": False}),
        expects=("N-11 {port}",),
    ),
    Fault(
        name="peer_memory_refused",
        rule="DRV-01",
        models=ALL,
        at="host",
        change=several(
            without_modules("nvidia_peermem"),
            message(
                "nvidia_peermem: disagrees about version of symbol ib_register_peer_memory_client",
                "nvidia_peermem: Unknown symbol ib_register_peer_memory_client (err -22)",
            ),
        ),
        expects=("DRV-01 {host}",),
        implies=("FLT-01 {host}",),
        # With open GPU modules dma-buf serves instead.
        excuses=("GDR-08 {host}",),
        severity="high",
    ),
    Fault(
        name="card_lost",
        rule="DRV-04",
        models=ALL,
        at="rail",
        change=message(_FATAL),
        expects=("DRV-04 {nic}",),
    ),
    Fault(
        name="card_lost_and_recovered",
        rule="DRV-08",
        models=ALL,
        at="rail",
        change=message(_FATAL, _LOADED),
        expects=("DRV-08 {nic}",),
    ),
    Fault(
        name="commands_refused",
        rule="DRV-09",
        models=ALL,
        at="rail",
        change=message(_REFUSED, _REFUSED, _REFUSED),
        expects=("DRV-09 {nic}",),
    ),
    Fault(
        name="kernel_work_failed",
        rule="DRV-10",
        models=ALL,
        at="rail",
        change=message("infiniband {device}: dump_cqe:272:(pid 0): dump error cqe"),
        expects=("DRV-10 {device}",),
    ),
    Fault(
        name="little_locked_memory",
        rule="DRV-05",
        models=ALL,
        at="host",
        change=kernel(_little_memory),
        expects=("DRV-05 {host}",),
        implies=("FLT-01 {host}",),
    ),
    Fault(
        name="other_driver",
        rule="DRV-06",
        models=VENDOR_STACK,
        at="host",
        change=_other_stack,
        expects=("DRV-06 {host}",),
    ),
    Fault(
        name="verbs_closed",
        rule="N-12",
        models=("hgx_h100", "socket_direct", "kubernetes_worker"),
        at="host",
        change=host({"verbs_open": False}),
        expects=("N-12 {host}",),
        hides=("MTU-02 {rails}",),  # only verbs tell the RDMA MTU
        needs_peers=True,
    ),
    Fault(
        name="verbs_closed_on_infiniband",
        rule="N-12",
        models=("hgx_a100_infiniband", "passthrough_vm"),
        at="host",
        change=host({"verbs_open": False}),
        expects=("N-12 {host}",),
        hides=("MTU-01 {rails}", "MTU-02 {rails}"),
        needs_peers=True,
    ),
)
