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
        rule="gpu-options-ibgda",
        models=("hgx_h100",),
        at="host",
        site="gpu_driven",
        change=kernel(lambda now: replace(now, gpu_driver_options=())),  # as the driver comes
        expects=("gpu-options-ibgda {host}",),
    ),
    Fault(
        name="no_management_node",
        rule="verbs-device-missing",
        models=("hgx_a100_infiniband",),
        at="rail",
        change=card({"management_node": False}),
        expects=("verbs-device-missing {port}",),
    ),
    Fault(
        name="peer_memory_refused",
        rule="module-symbol-mismatch",
        models=ALL,
        at="host",
        change=several(
            without_modules("nvidia_peermem"),
            message(
                "nvidia_peermem: disagrees about version of symbol ib_register_peer_memory_client",
                "nvidia_peermem: Unknown symbol ib_register_peer_memory_client (err -22)",
            ),
        ),
        expects=("module-symbol-mismatch {host}",),
        implies=("host-config-differs {host}",),
        # With open GPU modules dma-buf serves instead.
        excuses=("peermem-not-registered {host}",),
        severity="high",
    ),
    Fault(
        name="card_lost",
        rule="nic-fatal-error",
        models=ALL,
        at="rail",
        change=message(_FATAL),
        expects=("nic-fatal-error {nic}",),
    ),
    Fault(
        name="card_lost_and_recovered",
        rule="nic-fatal-error-recovered",
        models=ALL,
        at="rail",
        change=message(_FATAL, _LOADED),
        expects=("nic-fatal-error-recovered {nic}",),
    ),
    Fault(
        name="commands_refused",
        rule="nic-commands-fail",
        models=ALL,
        at="rail",
        change=message(_REFUSED, _REFUSED, _REFUSED),
        expects=("nic-commands-fail {nic}",),
    ),
    Fault(
        name="kernel_work_failed",
        rule="kernel-cqe-errors",
        models=ALL,
        at="rail",
        change=message("infiniband {device}: dump_cqe:272:(pid 0): dump error cqe"),
        expects=("kernel-cqe-errors {device}",),
    ),
    Fault(
        name="little_locked_memory",
        rule="memlock-limited",
        models=ALL,
        at="host",
        change=kernel(_little_memory),
        expects=("memlock-limited {host}",),
        implies=("host-config-differs {host}",),
    ),
    Fault(
        name="other_driver",
        rule="driver-differs",
        models=VENDOR_STACK,
        at="host",
        change=_other_stack,
        expects=("driver-differs {host}",),
    ),
    Fault(
        name="verbs_closed",
        rule="verbs-cannot-open",
        models=("hgx_h100", "socket_direct", "kubernetes_worker"),
        at="host",
        change=host({"verbs_open": False}),
        expects=("verbs-cannot-open {host}",),
        hides=("rdma-mtu-differs {rails}",),  # only verbs tell the RDMA MTU
        needs_peers=True,
    ),
    Fault(
        name="verbs_closed_on_infiniband",
        rule="verbs-cannot-open",
        models=("hgx_a100_infiniband", "passthrough_vm"),
        at="host",
        change=host({"verbs_open": False}),
        expects=("verbs-cannot-open {host}",),
        hides=("rdma-mtu-small {rails}", "rdma-mtu-differs {rails}"),
        needs_peers=True,
    ),
)
