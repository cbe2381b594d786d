"""GPUs and NVSwitches: what their driver writes into the kernel's log."""

from lab.fleet.faults.change import message
from lab.fleet.faults.fault import Fault

ALL = (
    *("hgx_h100", "hgx_a100_infiniband", "two_socket_4x400g", "socket_direct"),
    *("kubernetes_worker", "passthrough_vm"),
)

FAULTS = (
    Fault(
        name="gpu_off_the_bus",
        rule="gpu-xid",
        models=ALL,
        at="gpu",
        change=message(
            "NVRM: GPU at PCI:{gpu}: GPU-6f9c0dd3-6c5b-4e3e-9b0e-1c9f4f5d2a11",
            "NVRM: Xid (PCI:{gpu}): 79, pid='<unknown>', name=<unknown>, "
            "GPU has fallen off the bus.",
        ),
        expects=("gpu-xid {host}",),
        severity="blocker",
    ),
    Fault(
        name="memory_row_waits",
        rule="gpu-xid",
        models=("hgx_h100",),
        at="gpu",
        change=message(
            "NVRM: Xid (PCI:{gpu}): 63, pid=2211, name=python3, Row Remapper: "
            "New row (0x00000000000abcde) marked for remapping, reset gpu to activate.",
        ),
        expects=("gpu-xid {host}",),
        severity="low",
        clashes=("gpu_off_the_bus",),
    ),
    Fault(
        name="nvswitch_failed",
        rule="nvswitch-sxid",
        models=("hgx_h100", "hgx_a100_infiniband"),
        at="host",
        change=message(
            "nvidia-nvswitch0: SXid (PCI:0000:83:00.0): 12028, Fatal, "
            "Link 41 egress non-posted PRIV error (First)",
            "nvidia-nvswitch0: SXid (PCI:0000:83:00.0): 12028, Data {{0x00000000, 0x00000000}}",
        ),
        expects=("nvswitch-sxid {host}",),
        severity="high",
    ),
)
