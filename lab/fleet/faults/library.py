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
    _left_in_a_file(
        "no_such_interface", "nccl-bootstrap-interface", {"NCCL_SOCKET_IFNAME": "bond7"}
    ),
    _left_in_a_file(
        "no_such_device",
        "nccl-hca-missing",
        {"NCCL_IB_HCA": "=mlx5_0,mlx5_1,mlx5_77"},
        LISTED,
    ),
    _left_in_a_file(
        "no_such_device_of_ucx",
        "ucx-device-missing",
        {"UCX_NET_DEVICES": "mlx5_0:1,mlx5_77:1"},
        LISTED,
    ),
    _left_in_a_file(
        "all_devices",
        "nccl-hca-wrong",
        {"NCCL_IB_HCA": "mlx5"},
        ("hgx_h100", "hgx_a100_infiniband"),
        excuses=("nccl-hca-missing {host}",),  # no device is named, so none is missed
    ),
    _left_in_a_file("checks_off", "nccl-checks-off", {"NCCL_IGNORE_NET_MISMATCH": "1"}),
    _left_in_a_file("rdma_off", "nccl-rdma-off", {"NCCL_IB_DISABLE": "1"}),
    _left_in_a_file("peers_off", "nccl-local-paths-off", {"NCCL_P2P_DISABLE": "1"}, BARE_METAL),
    _left_in_a_file("algorithm_pinned", "nccl-tuning-pinned", {"NCCL_ALGO": "Ring"}),
    _left_in_a_file(
        "traffic_class_on_infiniband",
        "nvshmem-tc-on-infiniband",
        {"NVSHMEM_IB_TRAFFIC_CLASS": "106"},
        ("hgx_a100_infiniband", "passthrough_vm"),
    ),
    _left_in_a_file("nothing_left", "nccl-hca-missing", {"NCCL_IB_HCA": "^mlx5"}, LISTED),
    _left_in_a_file(
        "one_of_storage_left",
        "nccl-hca-wrong",
        {"NCCL_IB_HCA": "^mlx5_8"},
        ("hgx_h100",),
        excuses=("nccl-hca-missing {host}",),
    ),
    _left_in_a_file("arguments_unchecked", "nccl-checks-off", {"NCCL_CHECKS_DISABLE": "1"}),
    _left_in_a_file("sockets_only", "nccl-rdma-off", {"NCCL_NET": "Socket"}),
    _left_in_a_file("no_gpudirect", "nccl-rdma-off", {"NCCL_NET_GDR_LEVEL": "LOC"}),
    _left_in_a_file(
        "no_shared_memory", "nccl-local-paths-off", {"NCCL_SHM_DISABLE": "1"}, BARE_METAL
    ),
    _left_in_a_file("no_gpudirect_reads", "nccl-tuning-pinned", {"NCCL_NET_GDR_READ": "0"}),
)
