"""Kernel modules and settings that hosts of several models have."""

from functools import lru_cache

from lab.fleet.system_model import Module

MODULE_NAMES = (
    *("ib_core", "ib_uverbs", "mlx5_core", "mlx5_ib", "nvidia", "nvidia_modeset"),
    *("nvidia_peermem", "nvidia_uvm", "rdma_cm"),
)


@lru_cache(maxsize=16)
def modules(gpu: str, vendor: str = "") -> tuple[Module, ...]:
    """As in the sample of lsmod: what matters to RDMA, in the order in which it was loaded.

    `gpu` is the GPU driver's version, `vendor` that of the driver package of the NICs; the kernel's
    own modules have none.
    """
    core_users = (
        *("rdma_cm", "ib_ipoib", "nvidia_peermem", "iw_cm", "rdma_ucm", "ib_uverbs"),
        *("mlx5_ib", "ib_cm"),
    )
    gpu_users = ("nvidia_uvm", "nvidia_peermem", "nvidia_modeset")
    return (
        Module("nvidia_uvm", 4_956_160, references=8, version=gpu),
        Module("nvidia_peermem", 16_384, version=gpu),
        Module("nvidia", 11_505_664, gpu_users, references=1401, version=gpu),
        Module("mlx5_ib", 512_000, version=vendor),
        Module("ib_uverbs", 196_608, ("nvidia_peermem", "rdma_ucm", "mlx5_ib"), version=vendor),
        Module("ib_core", 507_904, core_users, version=vendor),
        Module("mlx5_core", 2_473_984, ("mlx5_ib",), version=vendor),
        Module("mlxfw", 36_864, ("mlx5_core",), version=vendor),
    )


SYSCTLS = (
    ("fs.file-max", "9223372036854775807"),
    ("kernel.nmi_watchdog", "0"),
    ("kernel.numa_balancing", "0"),
    ("kernel.sched_rt_runtime_us", "950000"),
    ("net.core.netdev_max_backlog", "250000"),
    ("net.core.rmem_default", "212992"),
    ("net.core.rmem_max", "16777216"),
    ("net.core.wmem_default", "212992"),
    ("net.core.wmem_max", "16777216"),
    ("net.ipv4.ip_local_reserved_ports", ""),
    ("net.ipv4.neigh.default.gc_thresh1", "1024"),
    ("net.ipv4.neigh.default.gc_thresh2", "4096"),
    ("net.ipv4.neigh.default.gc_thresh3", "8192"),
    ("net.ipv4.tcp_mtu_probing", "0"),
    ("vm.max_map_count", "1048576"),
    ("vm.min_free_kbytes", "1048576"),
    ("vm.nr_hugepages", "64"),
    ("vm.overcommit_memory", "0"),
    ("vm.zone_reclaim_mode", "0"),
)


def library_settings(rails: int) -> tuple[tuple[str, str, str], ...]:
    """What /etc/nccl.conf says on a RoCE host."""
    devices = ",".join(f"mlx5_{rail}" for rail in range(rails))
    return (
        ("/etc/nccl.conf", "NCCL_IB_GID_INDEX", "3"),
        ("/etc/nccl.conf", "NCCL_IB_HCA", f"={devices}"),
        ("/etc/nccl.conf", "NCCL_IB_TC", "106"),
    )
