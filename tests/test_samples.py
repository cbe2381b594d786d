"""Every shared sample is a case of its parser: its bytes stand in tests/evidence with expectations.

The cases themselves are run by test_parsers.py; this test sees to it that none is forgotten.
"""

from pathlib import Path

import pytest

EVIDENCE = Path(__file__).parent / "evidence"
SAMPLES = Path(__file__).parents[2] / "shared" / "formats" / "samples"
pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not SAMPLES.is_dir(), reason="no shared samples beside the repository"),
]

# The sample's folder -> the parsers that read it.
PARSERS = {
    "cmdline": ("cmdline",),
    "dcb": ("dcb_pfc", "dcb_app", "dcb_ets", "dcb_buffer"),
    "devlink": ("devlink_info",),
    "dmesg": ("dmesg",),
    "eos-show": ("eos_show",),
    "ethtool": ("ethtool",),
    "ethtool-S": ("ethtool_statistics",),
    "ethtool-a": ("ethtool_pause",),
    "ethtool-fec": ("ethtool_fec",),
    "ethtool-i": ("ethtool_driver",),
    "ethtool-m": ("ethtool_module",),
    "flint": ("flint",),
    "ibdev2netdev": ("infiniband",),
    "ibstat": ("infiniband",),
    "ibv_devinfo": ("ibv_devinfo",),
    "lldpctl": ("lldpctl",),
    "lscpu": ("lscpu",),
    "lsmod": ("modules",),
    "lspci": ("lspci",),
    "mlnx_qos": ("mlnx_qos",),
    "mlxconfig": ("mlxconfig",),
    "mlxfwmanager": ("mlxfwmanager",),
    "mlxfwreset": ("mlxfwreset",),
    "mlxlink": ("mlxlink",),
    "nccl-log": ("nccl_log",),
    "nccl-tests": ("nccl_tests",),
    "numactl": ("numa",),
    "nvidia-smi": ("nvidia_smi", "nvidia_topology"),
    "nvue-show": ("nvue_show",),
    "onyx-show": ("onyx_show",),
    "perftest": ("perftest",),
    "rdma": ("rdma_link", "rdma_dev", "rdma_statistic", "rdma_system"),
    "show_gids": ("infiniband",),
    "sonic-config-db": ("sonic_config_db",),
    "sonic-show": ("sonic_show",),
}


def sample_files() -> list[Path]:
    if not SAMPLES.is_dir():
        return []
    return sorted(path for path in SAMPLES.glob("*/*") if ".expect." not in path.name)


def test_every_command_has_its_parser() -> None:
    assert {path.parent.name for path in sample_files()} == set(PARSERS)


@pytest.mark.parametrize("path", sample_files(), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_the_sample_is_a_case(path: Path) -> None:
    data = path.read_bytes()
    cases = [
        case
        for parser in PARSERS[path.parent.name]
        for case in (EVIDENCE / parser).glob("*.out")
        if case.stat().st_size == len(data) and case.read_bytes() == data
    ]
    assert cases, f"no evidence case holds the bytes of {path.parent.name}/{path.name}"
