"""Libraries: what files of the host tell NCCL, UCX and NVSHMEM."""

from lab.fleet.faults.change import settings
from lab.fleet.faults.driver import ALL
from lab.fleet.faults.fault import Fault

BARE_METAL = tuple(model for model in ALL if model != "passthrough_vm")
# Where RDMA devices move into pods, a list that does not fit is not judged.
LISTED = tuple(model for model in ALL if model != "kubernetes_worker")


def _left_in_a_file(
    name: str,
    rule: str,
    values: dict[str, str],
    models: tuple[str, ...] = ALL,
    excuses: tuple[str, ...] = (),
) -> Fault:
    return Fault(
        name=name,
        rule=rule,
        models=models,
        at="host",
        change=settings(values),
        expects=(f"{rule} {{host}}",),
        excuses=excuses,
    )


FAULTS = (
    _left_in_a_file("no_such_interface", "N-21", {"NCCL_SOCKET_IFNAME": "bond7"}),
    _left_in_a_file(
        "no_such_device",
        "NCC-01",
        {"NCCL_IB_HCA": "=mlx5_0,mlx5_1,mlx5_77"},
        LISTED,
    ),
    _left_in_a_file(
        "no_such_device_of_ucx",
        "NCC-09",
        {"UCX_NET_DEVICES": "mlx5_0:1,mlx5_77:1"},
        LISTED,
    ),
    _left_in_a_file(
        "all_devices",
        "NCC-02",
        {"NCCL_IB_HCA": "mlx5"},
        ("hgx_h100", "hgx_a100_infiniband"),
        excuses=("NCC-01 {host}",),  # no device is named, so none is missed
    ),
    _left_in_a_file("checks_off", "NCC-03", {"NCCL_IGNORE_NET_MISMATCH": "1"}),
    _left_in_a_file("rdma_off", "NCC-04", {"NCCL_IB_DISABLE": "1"}),
    _left_in_a_file("peers_off", "NCC-10", {"NCCL_P2P_DISABLE": "1"}, BARE_METAL),
    _left_in_a_file("algorithm_pinned", "NCC-11", {"NCCL_ALGO": "Ring"}),
    _left_in_a_file(
        "traffic_class_on_infiniband",
        "NCC-07",
        {"NVSHMEM_IB_TRAFFIC_CLASS": "106"},
        ("hgx_a100_infiniband", "passthrough_vm"),
    ),
    _left_in_a_file("nothing_left", "NCC-01", {"NCCL_IB_HCA": "^mlx5"}, LISTED),
    _left_in_a_file(
        "one_of_storage_left",
        "NCC-02",
        {"NCCL_IB_HCA": "^mlx5_8"},
        ("hgx_h100",),
        excuses=("NCC-01 {host}",),
    ),
    _left_in_a_file("arguments_unchecked", "NCC-03", {"NCCL_CHECKS_DISABLE": "1"}),
    _left_in_a_file("sockets_only", "NCC-04", {"NCCL_NET": "Socket"}),
    _left_in_a_file("no_gpudirect", "NCC-04", {"NCCL_NET_GDR_LEVEL": "LOC"}),
    _left_in_a_file("no_shared_memory", "NCC-10", {"NCCL_SHM_DISABLE": "1"}, BARE_METAL),
    _left_in_a_file("no_gpudirect_reads", "NCC-11", {"NCCL_NET_GDR_READ": "0"}),
)
